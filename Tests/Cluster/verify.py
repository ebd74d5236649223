"""What must hold of a history and of the logs of all nodes: pure functions, which give failures as sentences."""

import collections

import linearizability
from clients import ACKED, EVENTS_OF_A_READ, PENDING, READS, REFUSED, UNAVAILABLE, position_of, tag_of


def gapless(name, events, after):
    """Positions ascend by one, and each user's versions do."""
    failures, expected, versions = [], after + 1, {}
    for event in events:
        if event["position"] != expected:
            failures.append(f"{name}: position {event['position']} comes where {expected} should be")
            expected = event["position"]
        expected += 1
        user, version = event.get("user_number"), event.get("version")
        if user is None or version is None:
            continue
        if user in versions and version != versions[user] + 1:
            failures.append(f"{name}: position {event['position']} has version {version} of user {user} "
                            f"after version {versions[user]}")
        versions[user] = version
    return failures


def equal(logs):
    """All nodes have the same events at the same positions."""
    names = sorted(logs)
    first, failures = logs[names[0]], []
    for name in names[1:]:
        other = logs[name]
        if other == first:
            continue
        if len(other) != len(first):
            failures.append(f"{names[0]} has {len(first)} events and {name} has {len(other)}")
        for ours, theirs in zip(first, other):
            if ours != theirs:
                failures.append(f"{names[0]} and {name} differ at position {ours['position']}: {ours} and {theirs}")
                break
    return failures


def outcomes(operations, events):
    """Each acknowledged write is there once and where it was told, a refused one is nowhere, an unknown one is either,
    and each append is there whole or not at all."""
    failures = []
    places = collections.defaultdict(list)
    erased = set()  # numbers of users
    for event in events:
        if event.get("erased") or event.get("kind") == "userErased":
            erased.add(event.get("user_number"))
        if (tag := tag_of(event)) is not None:
            places[tag].append(event["position"])
    groups = collections.defaultdict(list)
    for operation in operations:
        if operation.tags:
            groups[operation.tags].append(operation)
    seen = set()
    erasures = {each.user for each in operations if each.kind == "erase" and each.verdict in (ACKED, PENDING)}
    for tags, group in groups.items():
        first = group[0]
        seen.update(tags)
        counts = [len(places[tag]) for tag in tags]
        acked = [each for each in group if each.verdict == ACKED]
        unknown = sum(each.verdict == PENDING for each in group)
        if first.key:
            least, most = (1, 1) if acked else (0, 1 if unknown else 0)
        else:
            least, most = len(acked), len(acked) + unknown
        if first.user in erasures:
            least = 0  # its values are gone, wherever it came before the erasure
        if min(counts) < least:
            failures.append(f"an acknowledged write is missing: {counts} times instead of {least}: {first}")
        if max(counts) > most:
            what = "is there more than once" if most else "was not acknowledged and cannot be stored, and is there"
            failures.append(f"a write {what}, {counts} times at {[places[tag] for tag in tags]}: "
                            + " AND ".join(str(each) for each in group))
        if len(set(counts)) > 1:
            failures.append(f"an append is there in parts, {counts}: {first}")
        for each in acked:
            if each.user in erasures or not places[tags[-1]]:
                continue
            if each.reached is not None and min(places[tags[-1]]) > each.reached:
                failures.append(f"a write is at {places[tags[-1]]}, after {each.reached}, which its answer named: "
                                + str(each))
            if each.position is None:
                continue
            if each.position not in places[tags[-1]]:
                failures.append(f"a write is at {places[tags[-1]]} and not where it was told: {each}")
        if not first.key and len({each.position for each in acked if each.position}) < len(
                [each for each in acked if each.position]):
            failures.append("two appends without a key have one position: " + " AND ".join(map(str, acked)))
    for tag in places:
        if tag not in seen:
            failures.append(f"an event is at {places[tag]} that nobody sent: {tag}")
    return failures


def may_come(operations, events):
    """The unknown appends that are not there yet: fewer are than clients were told of, or of the same bytes."""
    there = collections.Counter(tag_of(each) for each in events)
    sent = collections.Counter(each.tags for each in operations if each.verdict in (ACKED, PENDING) and each.tags)
    return [each for each in operations
            if each.verdict == PENDING and each.tags and there[each.tags[0]] < sent[each.tags]]


def erasures(operations, events):
    """Of an erased user no value is left before the erasure."""
    ends = {}
    for event in events:
        if event.get("kind") == "userErased":
            ends[event.get("user_number")] = event["position"]
    failures = [f"position {event['position']} of user {event['user_number']}, erased at "
                f"{ends[event['user_number']]}, still has {tag_of(event)}"
                for event in events if tag_of(event) is not None
                and event["position"] < ends.get(event.get("user_number"), 0)]
    told = {each.position: each for each in operations if each.kind == "erase" and each.outcome == ACKED}
    for position, operation in told.items():
        if position and position not in ends.values():
            failures.append(f"an acknowledged erasure is not at its position: {operation}")
    return failures


def linearizable(operations, initial=None):
    """Each user's register had its values in one order that all clients saw."""
    failures, users, count = [], collections.defaultdict(list), 0
    for operation in operations:
        if operation.kind in ("write", "swap", "read") and (call := operation.call()):
            users[operation.user].append(call)
    for user, calls in sorted(users.items()):
        count += len(calls)
        try:
            found = linearizability.explain(calls, (initial or {}).get(user, (0, None)))
        except linearizability.Undecided as error:
            found = f"the search was given up: {error}"
        if found:
            failures.append(f"user {user}: {found}")
    return failures, count


def forward(operations):
    """What one client reads of a user at one node never goes back."""
    failures, seen = [], {}
    for each in operations:
        if each.kind != "read" or each.outcome != ACKED:
            continue
        place = (each.client, each.node, each.user)
        before = seen.get(place)
        if before is not None and each.version < before.version:
            failures.append(f"a read went back: {before} THEN {each}")
        seen[place] = each
    return failures


def lacks(read, write):
    """What an answered read lacks of an acknowledged write; None if it has it."""
    if isinstance(read.value, list):
        if read.reached < position_of(read.waits_for):
            return f"the log ends at {read.reached}"
        if any(tag == write.tags[-1] for _, tag in read.value):
            return None
        # A page that is full and ends with later events says nothing.
        is_whole = len(read.value) < EVENTS_OF_A_READ or read.value[-1][0] <= write.floor
        return "its event is not there" if is_whole else None
    if read.version < write.version:
        return f"version {read.version} comes before {write.version}"
    if read.position is not None and write.position and read.position < write.position:
        return f"position {read.position} comes before {write.position}"
    if write.value is not None and read.version == write.version and read.value != write.value:
        return f"version {read.version} has {read.value}"
    return None


def reads(operations, is_calm=False):
    """A read with the cursor of an acknowledged write has that write, at any node, or is late: 504, 503, or no answer.
    Nothing is late with much time while nothing is done to the cluster (`is_calm`). No read is refused."""
    failures, writes = [], {each.number: each for each in operations if each.kind not in READS}
    for each in operations:
        if each.kind not in READS:
            continue
        if each.outcome == REFUSED:
            failures.append(f"a read was refused: {each}" + after(each, writes))
        elif each.kind == "own" and each.outcome == ACKED:
            if lack := lacks(each, writes[each.follows]):
                failures.append(f"a read is without the write that it waited for, {lack}: {each}" + after(each, writes))
        elif each.kind == "own" and is_calm and (each.timeout >= 10 or each.status != 504):
            failures.append(f"a read has no answer while nothing is done: {each}" + after(each, writes))
    return failures


def after(read, writes):
    return f" of {read.path}" + (f" AFTER {writes[read.follows]}" if read.follows in writes else "")


def counts(operations):
    found = collections.Counter(each.outcome for each in operations if each.kind not in READS)
    return {name: found[name] for name in (ACKED, PENDING, REFUSED, UNAVAILABLE)}
