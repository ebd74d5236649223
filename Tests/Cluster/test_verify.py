"""What `verify` and a whole round say of clusters that lose, double, tear and hide writes."""

import argparse
import os
import pathlib
import shutil
import tempfile
import unittest

os.environ["PROFILED"] = str(pathlib.Path(__file__).with_name("fake_profiled.py"))  # before `cluster` looks

import clients  # noqa: E402
import cluster as parts  # noqa: E402
import rounds  # noqa: E402
import verify  # noqa: E402
from clients import ACKED, PENDING, REFUSED, UNAVAILABLE, Operation  # noqa: E402


def event(position, tag, user=1, version=1):
    return {"position": position, "user_number": user, "version": version, "kind": "customEventLogged",
            "properties": {"n": tag}}


def operation(outcome, *tags, key=None, position=None):
    return Operation(1, 1, "client 1", "event", "n1", "POST", "/v1/log/event", {}, key, "u", tags, outcome=outcome,
                     position=position)


class VerifyTests(unittest.TestCase):
    def assertFound(self, what, failures):
        self.assertEqual(len(failures), 1, failures)
        self.assertIn(what, failures[0])

    def test_acknowledged_refused_and_unknown_writes_are_where_they_may_be(self):
        operations = [operation(ACKED, "a", position=1), operation(REFUSED, "b"), operation(PENDING, "c"),
                      operation(PENDING, "d"), operation(UNAVAILABLE, "e")]
        self.assertEqual(verify.outcomes(operations, [event(1, "a"), event(2, "d")]), [])

    def test_a_lost_write_is_found(self):
        self.assertFound("is missing", verify.outcomes([operation(ACKED, "a")], []))

    def test_a_write_at_another_place_is_found(self):
        self.assertFound("not where it was told", verify.outcomes([operation(ACKED, "a", position=2)], [event(1, "a")]))

    def test_a_doubled_write_is_found(self):
        events = [event(1, "a"), event(2, "a")]
        for outcome in (ACKED, PENDING):
            self.assertFound("more than once", verify.outcomes([operation(outcome, "a")], events))

    def test_a_write_that_was_refused_and_is_there_is_found(self):
        for outcome in (REFUSED, UNAVAILABLE):
            self.assertFound("cannot be stored", verify.outcomes([operation(outcome, "a")], [event(1, "a")]))

    def test_an_append_in_parts_is_found(self):
        self.assertFound("in parts", verify.outcomes([operation(PENDING, "a", "b")], [event(1, "a")]))

    def test_an_unknown_append_may_come_later_also_if_one_of_the_same_bytes_is_there(self):
        acked, unknown = operation(ACKED, "a", position=1), operation(PENDING, "a")
        self.assertEqual(verify.may_come([acked, unknown], [event(1, "a")]), [unknown])
        self.assertEqual(verify.may_come([acked, unknown], [event(1, "a"), event(2, "a")]), [])
        self.assertEqual(verify.may_come([unknown], []), [unknown])
        self.assertEqual(verify.may_come([unknown], [event(1, "a")]), [])

    def test_an_event_of_nobody_is_found(self):
        self.assertFound("nobody sent", verify.outcomes([], [event(1, "a")]))

    def test_the_same_bytes_twice_are_one_append_with_a_key_and_two_without(self):
        one, two = [event(1, "a")], [event(1, "a"), event(2, "a")]
        keyed = [operation(ACKED, "a", key="k", position=1) for _ in range(2)]
        free = [operation(ACKED, "a", position=position) for position in (1, 2)]
        self.assertEqual(verify.outcomes(keyed, one), [])
        self.assertEqual(verify.outcomes(free, two), [])
        self.assertFound("more than once", verify.outcomes(keyed, two))
        self.assertFound("missing", [each for each in verify.outcomes(free, one) if "missing" in each])

    def test_gaps_and_differences_are_found(self):
        self.assertEqual(verify.gapless("n1", [event(3, "a"), event(4, "b", version=2)], 2), [])
        self.assertFound("where 3 should be", verify.gapless("n1", [event(4, "a")], 2))
        self.assertFound("after version 1", verify.gapless("n1", [event(1, "a"), event(2, "b", version=3)], 0))
        self.assertEqual(verify.equal({"n1": [event(1, "a")], "n2": [event(1, "a")]}), [])
        self.assertFound("differ at position 1", verify.equal({"n1": [event(1, "a")], "n2": [event(1, "b")]}))
        self.assertFound("has 0", verify.equal({"n1": [event(1, "a")], "n2": []}))

    def test_a_value_before_its_erasure_is_found(self):
        erased = {"position": 2, "user_number": 1, "version": 2, "kind": "userErased"}
        self.assertFound("still has a", verify.erasures([], [event(1, "a"), erased]))

    def test_a_read_that_goes_back_is_found(self):
        def read(version):
            made = Operation(1, 1, "client 1", "read", "n1", "GET", "", None, None, "u", outcome=ACKED)
            made.version = version
            return made

        self.assertEqual(verify.forward([read(1), read(2), read(2)]), [])
        self.assertFound("went back", verify.forward([read(2), read(1)]))

    def own(self, status, found, timeout=0, is_calm=False):
        """What is said of a read at another node after a write that was acknowledged at position 7, as version 3."""
        write = Operation(1, 1, "client 1", "write", "n1", "POST", "", {}, None, "r", ("a",), value="a",
                          floor=4)
        clients.judge(write, 200, {"position": 7, "version": 3, "cursor": "7-00000001"}, {})
        read = Operation(2, 1, "client 1", "own", "n2", "GET", "/v1/profile", None, None, "r", follows=1,
                         waits_for=write.cursors[0], timeout=timeout)
        if status:
            clients.judge(read, status, found, {})
        else:
            read.outcome = PENDING
        return verify.reads([write, read], is_calm)

    def test_a_read_with_its_write_or_too_late_is_sound(self):
        for version, value in ((3, "a"), (4, "b")):
            found = {"version": version, "position": version + 4, "custom_attributes": {"reg": value}}
            self.assertEqual(self.own(200, found, is_calm=True), [])
        mine = {**event(7, None), "kind": "customAttributesChanged", "attributes": {"reg": "a"}}
        self.assertEqual(self.own(200, {"events": [event(9, "b"), mine], "last": 9}), [])
        full = [event(100 - each, f"b{each}") for each in range(clients.EVENTS_OF_A_READ)]
        self.assertEqual(self.own(200, {"events": full, "last": 100}), [])
        for status, code in ((504, "not_reached"), (503, "lagging"), (0, "")):
            self.assertEqual(self.own(status, {"code": code}), [])
        self.assertEqual(self.own(504, {"code": "not_reached"}, timeout=0, is_calm=True), [])

    def test_a_read_without_the_write_that_it_waited_for_is_found(self):
        full = [event(clients.EVENTS_OF_A_READ + 3 - each, f"b{each}") for each in range(clients.EVENTS_OF_A_READ)]
        for found in ({"version": 2, "position": 8}, {"version": 3, "position": 6}, {"events": [], "last": 7},
                      {"version": 3, "position": 7, "custom_attributes": {"reg": "b"}},
                      {"events": [event(7, "b")], "last": 7}, {"events": [event(6, "b")], "last": 6},
                      {"events": full, "last": 60}):
            self.assertFound("without the write", self.own(200, found))

    def test_a_refused_read_is_found(self):
        for status, code in ((409, "other_history"), (404, "unknown_user"), (400, "invalid"), (500, ""), (504, "")):
            self.assertFound("a read was refused", self.own(status, {"code": code}))

    def test_a_read_without_an_answer_while_nothing_is_done_is_found(self):
        for status, code in ((504, "not_reached"), (503, "lagging"), (0, "")):
            self.assertFound("while nothing is done", self.own(status, {"code": code}, timeout=10, is_calm=True))


class RoundTests(unittest.TestCase):
    """A whole round on a program that goes wrong in one way, without brokers."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="profilelog-cluster-unit-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        start = parts.Cluster.start_brokers
        parts.Cluster.start_brokers = lambda _: None
        self.addCleanup(setattr, parts.Cluster, "start_brokers", start)
        begin = parts.Broker.start
        parts.Broker.start = lambda _: None
        self.addCleanup(setattr, parts.Broker, "start", begin)

    def failures(self, fault):
        options = argparse.Namespace(seed=1, clients=6, folder=self.folder, keep=False, only="nothing",
                                     short=False, rounds=1, minutes=None, most_failures=1)
        run = rounds.Run(options)
        run.environment = {"FAKE_FAULT": fault}
        with run.fresh():
            failures = run.round(1, "nothing")[0]
        self.row, self.operations = run.table["nothing"], run.history.operations
        return failures

    def test_a_sound_program_has_no_failures(self):
        self.assertEqual(self.failures(""), [])
        self.assertEqual(self.row["late"], 0)
        numbers = {each.follows for each in self.operations if each.kind == "own"}
        self.assertGreaterEqual(self.row["own"], len(numbers))
        # With the cursor of the body, or of the header where the body has none.
        self.assertLessEqual({"event", "track", "write"}, {each.kind for each in self.operations
                                                           if each.number in numbers})

    def test_each_way_of_going_wrong_is_caught(self):
        for fault, words in (("lose", "is missing"), ("double", "more than once"), ("part", "in parts"),
                             ("stale", "no order explains it"), ("fence", "no order explains it"),
                             ("foreign", "other_history"), ("early", "without the write that it waited for"),
                             ("never", "no answer while nothing is done")):
            with self.subTest(fault=fault):
                found = self.failures(fault)
                self.assertTrue(any(words in each for each in found), found[:5])


if __name__ == "__main__":
    unittest.main()
