"""Decides whether a history of concurrent operations is linearizable: whether each operation can have happened at one
moment between its call and its return, so that the results are those of one user's events in one order.

The search is that of Wing and Gong (1993), with the lifting of entries and the memory of visited configurations of Lowe
("Testing for linearizability", 2017): a configuration is the set of operations that were placed, and the state after
them. Histories of different users are checked one by one; that is sound, as linearizability is local (Herlihy and Wing,
1990).
"""

from dataclasses import dataclass

FOREVER = float("inf")


@dataclass(frozen=True)
class Call:
    """One operation on a user.

    `kind` is "write" (sets the register to `value` by so many `events`), "swap" (the same, if the user is at version
    `expected`), "event" (events that leave the register) or "read". `output` is what it returned: a write's and an
    event's version, a swap's ("stored", version) or ("refused", version), a read's (version, value). It is None if the outcome
    is unknown; then `end` is FOREVER, or the time at which a retry is known to have settled it.
    """

    kind: str
    begin: float
    end: float
    value: object = None
    expected: int | None = None
    output: object = None
    name: str = ""
    events: int = 1

    def __str__(self):
        end = "never" if self.end == FOREVER else f"{self.end:.4f}"
        given = "" if self.value is None else f" {self.value}"
        given += "" if self.expected is None else f" expecting {self.expected}"
        return f"{self.kind}{given} -> {self.output} [{self.begin:.4f}, {end}] {self.name}"


def step(state, call):
    """The state after `call`; None if it cannot have returned what it did. A state is (version, value); the first event
    of a user comes after the one that makes the user."""
    version, value = state
    after = version + call.events + (1 if version == 0 else 0)
    if call.kind == "read":
        return state if call.output is None or call.output == state else None
    if call.kind == "swap":
        is_here = version == call.expected
        if call.output is None:
            return (after, call.value) if is_here else state
        what, number = call.output
        if what == "stored":
            return (after, call.value) if is_here and number == after else None
        return state if not is_here and number == version else None
    if call.output is not None and call.output != after:
        return None
    return (after, call.value if call.kind == "write" else value)


class _Entry:
    __slots__ = ("index", "match", "before", "after")

    def __init__(self, index):
        self.index, self.match, self.before, self.after = index, None, None, None


def _entries(calls):
    """Calls and returns in the order of time, as a list with links; a call at the time of a return comes before it, so
    both count as concurrent."""
    ends = []
    for index, call in enumerate(calls):
        begin, end = _Entry(index), _Entry(index)
        begin.match = end
        ends += [(call.begin, 0, index, begin), (call.end, 1, index, end)]
    ends.sort(key=lambda each: each[:3])
    head = last = _Entry(-1)
    for *_, entry in ends:
        last.after, entry.before = entry, last
        last = entry
    return head


def _lift(call):
    for entry in (call, call.match):
        entry.before.after = entry.after
        if entry.after:
            entry.after.before = entry.before


def _put_back(call):
    for entry in (call.match, call):
        entry.before.after = entry
        if entry.after:
            entry.after.before = entry


class Undecided(Exception):
    """The search took more steps than it was given."""


def explain(calls, initial=(0, None), steps=2_000_000):
    """None if the history is linearizable; else how far an order was found, and the operations that fit nowhere after
    it. A read with an unknown outcome says nothing, and is skipped."""
    calls = [each for each in calls if each.kind != "read" or each.output is not None]
    head = _entries(calls)
    state, placed, order, longest = initial, 0, [], []
    longest_state = initial
    seen = {(0, initial)}
    entry = head.after
    while head.after:
        steps -= 1
        if steps < 0:
            raise Undecided(f"{len(calls)} operations")
        if entry is not None and entry.match:
            after = step(state, calls[entry.index])
            mark = (placed | 1 << entry.index, after)
            if after is not None and mark not in seen:
                seen.add(mark)
                order.append((entry, state, placed))
                placed, state = mark
                _lift(entry)
                if len(order) > len(longest):
                    longest, longest_state = [each[0].index for each in order], state
                entry = head.after
            else:
                entry = entry.after
            continue
        # A return, or the end: something was placed too late or wrongly.
        if not order:
            return _report(calls, longest, longest_state)
        entry, state, placed = order.pop()
        _put_back(entry)
        entry = entry.after
    return None


def _report(calls, longest, state):
    left = sorted((each for index, each in enumerate(calls) if index not in set(longest)), key=lambda each: each.begin)
    first = min(each.end for each in left)
    stuck = [each for each in left if each.begin <= first]
    return (f"no order explains it: after {len(longest)} of {len(calls)} operations the user is at {state}; "
            + "the last are\n"
            + "".join(f"      {calls[index]}\n" for index in longest[-4:]) + "    and none of these fits:\n"
            + "".join(f"      {each}\n" for each in stuck[:8]))
