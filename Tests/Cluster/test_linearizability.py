"""Good histories pass the checker, and bad ones do not."""

import itertools
import random
import unittest

from fake import NO_FENCE, SOUND, TWO_IN_FLIGHT, Model
from linearizability import FOREVER, Call, Undecided, explain, step


def write(begin, end, value, version=None):
    return Call("write", begin, end, value=value, output=version)


def read(begin, end, version, value):
    return Call("read", begin, end, output=(version, value))


def swap(begin, end, value, expected, output):
    return Call("swap", begin, end, value=value, expected=expected, output=output)


def slow(calls, initial=(0, None)):
    """The definition itself: some order that keeps to time explains all results."""
    for order in itertools.permutations(calls):
        if any(later.end < earlier.begin for earlier, later in itertools.combinations(order, 2)):
            continue
        state = initial
        for call in order:
            state = step(state, call)
            if state is None:
                break
        else:
            return True
    return False


class HistoryTests(unittest.TestCase):
    def assertGood(self, *calls):
        self.assertIsNone(explain(calls))

    def assertBad(self, *calls):
        self.assertIn("no order explains it", explain(calls) or "it was explained")

    def test_writes_one_after_the_other_have_ascending_versions(self):
        self.assertGood(write(0, 1, "a", 2), write(2, 3, "b", 3), read(4, 5, 3, "b"))
        self.assertBad(write(0, 1, "a", 3), write(2, 3, "b", 2))

    def test_concurrent_writes_may_have_either_order(self):
        self.assertGood(write(0, 5, "a", 3), write(1, 4, "b", 2), read(6, 7, 3, "a"))
        self.assertBad(write(0, 5, "a", 3), write(1, 4, "b", 2), read(6, 7, 3, "b"))

    def test_two_writes_with_one_version_are_found(self):
        self.assertBad(write(0, 5, "a", 2), write(1, 4, "b", 2))

    def test_a_lost_write_is_found(self):
        self.assertBad(write(0, 1, "a", 2), read(2, 3, 0, None))

    def test_a_doubled_write_is_found(self):
        self.assertBad(write(0, 1, "a", 2), read(2, 3, 3, "a"))

    def test_a_read_that_goes_back_is_found(self):
        self.assertBad(write(0, 9, "a", 2), read(1, 2, 2, "a"), read(3, 4, 0, None))

    def test_an_unknown_write_may_have_happened_or_not_or_happen_later(self):
        unknown = write(0, FOREVER, "u")
        self.assertGood(unknown, read(1, 2, 0, None))
        self.assertGood(unknown, read(1, 2, 2, "u"))
        self.assertGood(unknown, write(1, 2, "a", 2), read(3, 4, 2, "a"), read(5, 6, 3, "u"))
        self.assertBad(unknown, read(1, 2, 2, "u"), read(3, 4, 0, None))

    def test_an_unknown_write_happens_once(self):
        self.assertBad(write(0, FOREVER, "u"), read(1, 2, 2, "u"), write(3, 4, "a", 3), read(5, 6, 4, "u"))

    def test_a_conditional_write_is_stored_where_its_version_is(self):
        self.assertGood(write(0, 1, "a", 2), swap(2, 3, "b", 2, ("stored", 3)), swap(4, 5, "c", 2, ("refused", 3)))
        self.assertBad(write(0, 1, "a", 2), swap(2, 6, "b", 2, ("stored", 3)), swap(3, 5, "c", 2, ("stored", 3)))
        self.assertBad(write(0, 1, "a", 2), swap(2, 3, "b", 2, ("refused", 2)))

    def test_an_unknown_conditional_write_may_be_either(self):
        unknown = swap(2, FOREVER, "b", 2, None)
        self.assertGood(write(0, 1, "a", 2), unknown, read(3, 4, 3, "b"))
        self.assertGood(write(0, 1, "a", 2), unknown, read(3, 4, 2, "a"), write(5, 6, "c", 3))

    def test_the_search_agrees_with_the_definition(self):
        outcomes = set()
        for seed in range(600):
            with self.subTest(seed=seed):
                chance, calls = random.Random(seed), []
                for number in range(chance.randint(2, 6)):
                    begin = chance.randint(0, 6)
                    end = FOREVER if chance.random() < 0.15 else begin + chance.randint(1, 5)
                    version = chance.randint(2, 5)
                    if chance.random() < 0.4 and end != FOREVER:
                        value = chance.choice([None, "0", "1", "2"])
                        calls.append(read(begin, end, version if value else 0, value))
                    elif chance.random() < 0.3:
                        output = chance.choice([("stored", version), ("refused", version)]) if end != FOREVER else None
                        calls.append(swap(begin, end, str(number), chance.randint(2, 4), output))
                    else:
                        calls.append(write(begin, end, str(number), None if end == FOREVER else version))
                outcomes.add(slow(calls))
                self.assertEqual(explain(calls) is None, slow(calls), [str(each) for each in calls])
        self.assertEqual(outcomes, {True, False})

    def test_a_long_history_of_many_at_once_is_decided(self):
        calls = []
        for group in range(60):
            for each in range(10):
                calls.append(write(group * 10, group * 10 + 9, f"{group}.{each}", group * 10 + (each * 7) % 10 + 2))
        self.assertIsNone(explain(calls))

    def test_a_search_without_an_end_is_given_up(self):
        calls = [write(0, FOREVER, str(each)) for each in range(30)] + [read(1, 2, 20, "none of them")]
        with self.assertRaises(Undecided):
            explain(calls, steps=10_000)


class ModelTests(unittest.TestCase):
    def test_histories_of_a_sound_cluster_pass(self):
        for seed in range(300):
            with self.subTest(seed=seed):
                self.assertIsNone(explain(Model(seed, SOUND).history()))

    def test_a_cluster_without_the_expectation_is_caught(self):
        self.assertCaught(NO_FENCE)

    def test_a_cluster_with_two_batches_in_flight_is_caught(self):
        self.assertCaught(TWO_IN_FLIGHT)

    def assertCaught(self, kind):
        caught = sum(explain(Model(seed, kind).history()) is not None for seed in range(300))
        self.assertGreater(caught, 100, f"{kind}: {caught} of 300 histories were refused")


if __name__ == "__main__":
    unittest.main()
