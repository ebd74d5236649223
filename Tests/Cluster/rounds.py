"""Rounds of faults under clients, and what must hold after each.

    rounds.py [--rounds N] [--seed N] [--only FAULT,…] [--minutes M]

A failure names the seed, the round, the fault and the operation; `--seed N --only FAULT` plays the same faults again.
"""

import argparse
import collections
import contextlib
import datetime
import http.client
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import clients
import cluster as parts
import faults
import verify
from clients import ACKED, PENDING, READS, UNAVAILABLE
from cluster import Cluster, ClusterError

TABLES = ("log", "names", "meta")
# Then it is stopped and compared whole, and another one begins: with its stream, a copy and its disks.
ROUNDS_OF_A_CLUSTER = 30


def run(*command, seconds=300, environment=None):
    """A command's output; a failure says what it said."""
    environment = {**os.environ, **(environment or {})}
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=environment)
    if done.returncode:
        raise ClusterError(f"{' '.join(command)} ended with {done.returncode}: "
                           f"{(done.stdout + done.stderr).strip()[:2000]}")
    return done.stdout


def rows(store, table):
    """The rows of a table as text, key and value in turn."""
    text = run("mdb_dump", "-s", table, store)
    return text.partition("HEADER=END\n")[2].splitlines()


class Run:
    def __init__(self, options):
        self.options, self.failures, self.passed, self.failed = options, [], 0, 0
        self.table = collections.OrderedDict()
        self.totals = collections.Counter()
        self.generation = 0
        self.environment = {}

    # MARK: - A round

    def events(self, node, after=0):
        """All events of a node after a position."""
        found = []
        while True:
            answer = node.ask("GET", f"/v1/events?after={after}&limit=1000", timeout=60)
            if answer.status != 200:
                raise ClusterError(f"{node.name} does not give its events after {after}: {answer}")
            page = answer.json["events"]
            found += page
            if not page:
                return found
            after = page[-1]["position"]

    def load(self, number, fault, note):
        """Clients run while the fault comes, holds and is repaired, until writes go on."""
        seed = f"{self.options.seed} round {number}"
        stop = threading.Event()
        some = [clients.Client(self.cluster, self.history, number, each, seed, stop)
                for each in range(self.options.clients)]
        for each in some:
            each.start()
        try:
            chance = random.Random(seed)
            time.sleep(chance.uniform(0.3, 1.0))
            faults.FAULTS[fault][0](self.cluster, chance, note)
            self.cluster.bring_back()
            for node in self.cluster.nodes:
                node.wait_until_ready()
            self.probe(number)
            time.sleep(0.5)
        finally:
            stop.set()
            for each in some:
                each.join(60)
                if each.is_alive():
                    raise ClusterError(f"{each.name} has waited for an answer for a minute")

    def probe(self, number, seconds=60):
        """A write through each node, and reads of it at the others: all of them work again."""
        for node in self.cluster.nodes:
            client = clients.Client(self.cluster, self.history, number, node.name, f"probe {number}", None)
            others = [each for each in self.cluster.nodes if each is not node]

            def is_done():
                operation = client.event(f"u-{number}-0")
                operation.key = operation.key or f"{random.getrandbits(96):024x}"
                operation.client = f"probe {node.name}"
                return operation if client.send(operation, node).outcome == ACKED else None

            def is_answered(write, other):
                # `verify.reads` says what is wrong with a refusal.
                return client.read_own(write, other, 10).outcome not in (PENDING, UNAVAILABLE)

            try:
                write = parts.until(seconds, f"a write through {node.name} is acknowledged", is_done, 0.1)
                for other in others:
                    parts.until(seconds, f"a write through {node.name} is read at {other.name}",
                                lambda: is_answered(write, other), 0.1)
            except ClusterError as error:
                last = self.history.operations[-1]
                raise ClusterError(f"{error}; the last answer: {last}\n    {node.name}: {node.tail()}") from None
            finally:
                client.sender.close()

    def round(self, number, fault):
        begin, notes = time.monotonic(), []
        wall = datetime.datetime.now(datetime.timezone.utc)
        self.load(number, fault, notes.append)
        settled = clients.settle(self.cluster, self.history.of(number))
        self.cluster.wait_for_brokers()
        self.cluster.wait_until_equal()
        operations = self.history.of(number)
        logs = {node.name: self.events(node, self.position) for node in self.cluster.nodes}
        failures = self.judge(operations, logs, wall, fault)
        if not parts.IS_FAKE:
            failures += self.compare_tables()
            node = self.cluster.nodes[number % 3]
            failures += self.check(node, replay=number % 10 == 0)
            if number % 10 == 0:
                failures += self.attempt(parts.COMMAND, "cluster", "verify", "--url", node.url)
        acks = sorted(each.end for each in operations if each.kind not in READS and each.outcome == ACKED)
        gap = max((later - earlier for earlier, later in zip(acks, acks[1:])), default=0)
        self.count(fault, operations, settled, gap, failures)
        logs = logs[self.cluster.nodes[0].name]
        self.position = logs[-1]["position"] if logs else self.position
        return failures, notes, gap, time.monotonic() - begin

    def judge(self, operations, logs, wall, fault):
        """What the answers and the logs of a round say."""
        failures = verify.equal(logs)
        for name, events in logs.items():
            failures += verify.gapless(name, events, self.position)
        events = logs[self.cluster.nodes[0].name]
        # An append without a key that was never answered may come late.
        late = [each for each in self.unanswered if each not in operations]
        failures += verify.outcomes(operations + late, events)
        failures += verify.erasures(operations, events)
        failures += verify.forward(operations)
        failures += verify.reads(operations, is_calm=fault == "nothing")
        found, count = verify.linearizable(operations)
        failures += found
        self.totals["checked for linearizability"] += count
        failures += [f"still not known after all retries: {each}" for each in operations
                     if each.key and each.verdict == PENDING]
        self.unanswered = verify.may_come(late + operations, events)
        for event in events:
            moment = datetime.datetime.fromisoformat(event["recorded_at"].replace("Z", "+00:00"))
            off = (moment - wall).total_seconds()
            if off < -45 or off > 45 + (datetime.datetime.now(datetime.timezone.utc) - wall).total_seconds():
                failures.append(f"position {event['position']} was recorded at {moment}, by a clock that is off")
                break
        return failures

    def compare_tables(self):
        """The truth, byte for byte."""
        failures = []
        for table in TABLES:
            found = {node.name: rows(node.store, table) for node in self.cluster.nodes}
            names = list(found)
            for name in names[1:]:
                if found[name] == found[names[0]]:
                    continue
                place = next((index for index, pair in enumerate(zip(found[names[0]], found[name]))
                              if pair[0] != pair[1]), min(len(found[names[0]]), len(found[name])))
                failures.append(
                    f"table {table} of {names[0]} and {name} differs at line {place} of the dump: "
                    + " / ".join(str(found[each][place - place % 2:place - place % 2 + 2])[:300]
                                 for each in (names[0], name)))
        self.totals["tables compared"] += len(TABLES) * len(self.cluster.nodes)
        return failures

    def attempt(self, *command):
        try:
            run(*command, environment={"PROFILELOG_KEY": self.cluster.key})
            self.totals[f"profilecli {command[1]}"] += 1
            return []
        except (ClusterError, subprocess.TimeoutExpired) as error:
            return [str(error)]

    def check(self, node, replay):
        failures = self.attempt(parts.COMMAND, "check", "--store", node.store)
        if replay:
            failures += self.attempt(parts.COMMAND, "replay", "--verify", "--store", node.store)
        return failures

    def count(self, fault, operations, settled, gap, failures):
        row = self.table.setdefault(fault, collections.Counter())
        row["rounds"] += 1
        row["reads"] += sum(each.kind == "read" and each.outcome == ACKED for each in operations)
        own = [each.outcome for each in operations if each.kind == "own"]
        row["own"] += own.count(ACKED)
        row["late"] += own.count(PENDING) + own.count(UNAVAILABLE)
        for name, number in verify.counts(operations).items():
            row[name] += number
        row["settled"] += settled
        row["gap"] = max(row["gap"], gap)
        row["failures"] += len(failures)

    # MARK: - The end

    def finish(self):
        """All nodes are stopped as an operator would, and all is compared from the first position on."""
        failures = []
        if not self.history.operations:
            return failures
        logs = {node.name: self.events(node) for node in self.cluster.nodes}
        failures += verify.equal(logs)
        for name, events in logs.items():
            failures += verify.gapless(name, events, 0)
        failures += verify.outcomes(self.history.operations, logs["n1"])
        failures += verify.erasures(self.history.operations, logs["n1"])
        for node in [] if parts.IS_FAKE else self.cluster.nodes:
            if (code := node.stop()) != 0:
                failures.append(f"{node.name} ended with {code} after SIGTERM:\n    {node.tail()}")
        if not parts.IS_FAKE:
            failures += self.compare_tables()
            for node in self.cluster.nodes:
                failures += self.check(node, replay=True)
        return failures

    def report(self, number, fault, failures, notes=()):
        for each in failures[:20]:
            place = f"seed {self.options.seed} round {number} fault {fault} {'; '.join(notes)}"
            print(f"✗ {place}\n    {each}", flush=True)
        if len(failures) > 20:
            print(f"✗ and {len(failures) - 20} more of this round", flush=True)
        if failures:
            file = os.path.join(self.options.folder, f"history-{self.generation}.jsonl")
            self.history.write(file)
            again = f" --only {fault}" if fault in faults.FAULTS else ""
            print(f"    The history is {file}, and messages of the programs are next to it. Again:\n"
                  f"    Tests/Cluster/run --seed {self.options.seed}{again}", flush=True)

    @contextlib.contextmanager
    def fresh(self):
        """A cluster of its own for rounds until one ends it."""
        self.generation += 1
        self.history, self.position, self.unanswered = clients.History(), 0, []
        folder = os.path.join(self.options.folder, f"cluster-{self.generation}")
        with Cluster(folder, small_disks=True, node_environment=self.environment) as self.cluster:
            yield
        if not self.failed and not self.options.keep:
            shutil.rmtree(folder, ignore_errors=True)

    def plan(self):
        """The faults in the order of the seed: all kinds before one comes again."""
        names, skipped = faults.possible(self.cluster)
        for reason in sorted(set(skipped.values())):
            print(f"Skipped, as {reason}: " + ", ".join(each for each in skipped if skipped[each] == reason))
        if self.options.only:
            names = [each for each in self.options.only.split(",") if each in names]
            if not names:
                raise ClusterError(f"there is no fault {self.options.only} here")
        elif self.options.short:
            names = [each for each in SHORT if each in names]
        chance, plan = random.Random(self.options.seed), []
        while len(plan) < self.options.rounds:
            plan += names if self.options.short or self.options.only else chance.sample(names, len(names))
        return plan[: self.options.rounds]

    def all(self):
        deadline = time.monotonic() + self.options.minutes * 60 if self.options.minutes else float("inf")
        number, plan = 0, None
        while plan is None or number < len(plan):
            try:
                with self.fresh():
                    plan = plan or self.plan()
                    last = number + ROUNDS_OF_A_CLUSTER
                    while number < min(len(plan), last) and time.monotonic() < deadline:
                        number += 1
                        fault, notes = plan[number - 1], []
                        failures, notes, gap, seconds = self.round(number, fault)
                        self.passed, self.failed = self.passed + (not failures), self.failed + bool(failures)
                        self.report(number, fault, failures, notes)
                        said = verify.counts(self.history.of(number))
                        print(f"round {number:3} {fault:34} {'; '.join(notes)[:40]:40} {seconds:5.1f} s"
                              f"  gap {gap:4.1f} s  " + ", ".join(f"{value} {name}" for name, value in said.items()),
                              flush=True)
                        if self.failed >= self.options.most_failures:
                            break
                    failures = self.finish()
                    self.passed, self.failed = self.passed + (not failures), self.failed + bool(failures)
                    self.report(number, "at the end", failures)
                if time.monotonic() > deadline:
                    break
            except (ClusterError, OSError, http.client.HTTPException, subprocess.SubprocessError) as error:
                # The cluster is of no use any more: the next round has another one.
                self.failed += 1
                fault = plan[number - 1] if plan and number else "at the start"
                self.report(number, fault, [f"{type(error).__name__}: {error}"])
                if plan is None or number == 0:
                    break
            if self.failed >= self.options.most_failures:
                break
        self.print_table()
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return self.failed

    def print_table(self):
        print(f"\nSeed {self.options.seed}; {self.options.clients} clients through three nodes.\n")
        print("| fault | rounds | acknowledged | unknown | of these settled by a retry | refused | not taken | reads "
              "| own writes read at another node | not in time | longest time without an acknowledgement, s "
              "| failures |\n|---|---|---|---|---|---|---|---|---|---|---|---|")
        total = collections.Counter()
        for fault, row in [*sorted(self.table.items()), ("all", total)]:
            print(f"| {fault} | " + " | ".join(f"{row[each]:,}" for each in (
                "rounds", "acked", "pending", "settled", "refused", "unavailable", "reads", "own", "late")) +
                f" | {row['gap']:.1f} | {row['failures']} |")
            gap = max(total["gap"], row["gap"])
            total.update({key: value for key, value in row.items() if key != "gap"})
            total["gap"] = gap
        print("\n" + "; ".join(f"{value:,} {name}" for name, value in sorted(self.totals.items())) + "\n")


SHORT = ("kill-writer", "kill-leader", "kill-all", "cut-leader-from-brokers", "pause-node", "cut-one-way",
         "lose-folder", "kill-node-and-its-broker", "stop-node")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--clients", type=int, default=9)
    parser.add_argument("--only", help="faults, with commas between them")
    parser.add_argument("--short", action="store_true", help="the rounds of CI, within five minutes")
    parser.add_argument("--minutes", type=float, help="begin no round after so long")
    parser.add_argument("--most-failures", type=int, default=10, help="give up after so many")
    parser.add_argument("--folder", help="where stores and messages are; kept")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    options.rounds = options.rounds or (len(SHORT) if options.short else 110)
    options.minutes = options.minutes or (2.5 if options.short else None)
    options.seed = random.SystemRandom().randrange(1 << 32) if options.seed is None else options.seed
    is_own = options.folder is None
    options.folder = os.path.abspath(options.folder or tempfile.mkdtemp(prefix="profilelog-cluster-"))
    print(f"seed {options.seed}, {options.rounds} rounds, in {options.folder}", flush=True)
    failed = Run(options).all()
    if is_own and not failed and not options.keep:
        shutil.rmtree(options.folder, ignore_errors=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped")  # all processes end with it
