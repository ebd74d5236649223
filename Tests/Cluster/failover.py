"""Measures fail-overs: how long no write is acknowledged, and whether reads go on.

    failover.py [--count N] [--only node,broker,stop] [--folder FOLDER]

Three writers, each at a node of its own, send one event at a time and go to the next node when one does not answer; an
unknown outcome is sent again under its key. The time that is measured lies between two acknowledgements, of any writer.
Three readers stay at their node.
"""

import argparse
import http.client
import json
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time

import clients
import cluster as parts
from cluster import Cluster, ClusterError

WANTED = {  # seconds: median, worst
    "node": (2, 5), "broker": (9, 15), "stop": (0.5, 0.5),
}


class Writer(threading.Thread):
    def __init__(self, cluster, number, acks, stop):
        super().__init__(daemon=True)
        self.cluster, self.number, self.acks, self.stop = cluster, number, acks, stop

    def run(self):
        # A client of a service gives an answer some time and asks another node then; the outcome is known by the key.
        sender, turn, at = clients.Sender(self.cluster, timeout=3), 0, self.number
        while not self.stop.is_set():
            turn += 1
            body = {"user": f"w{self.number}-{turn % 50}", "name": "op", "properties": {"n": turn}}
            key = f"{random.getrandbits(96):024x}"
            while not self.stop.is_set():
                operation = clients.Operation(turn, 0, "writer", "event", "", "POST", "/v1/log/event", body, key, "")
                sender.send(operation, self.cluster.nodes[at % 3])
                if operation.outcome == clients.ACKED:
                    self.acks.append(operation.end)
                    break
                if operation.status in range(400, 500) and operation.status != 429:
                    self.acks.append(f"writer {self.number}: {operation}")
                    return
                if operation.status == 0 or operation.outcome == clients.UNAVAILABLE:
                    at += 1
                time.sleep(0.02)
            time.sleep(0.005)
        sender.close()


class Reader(threading.Thread):
    """Asks its node all the time. `answers` are times at which it answered; `failures` what else came from a node that
    runs."""

    def __init__(self, cluster, node, stop):
        super().__init__(daemon=True)
        self.cluster, self.node, self.stop, self.answers, self.failures = cluster, node, stop, [], []

    def run(self):
        while not self.stop.is_set():
            try:
                answer = self.node.ask("GET", "/v1/profile?user=w0-1", timeout=2)
                if answer.status in (200, 404):
                    self.answers.append(time.monotonic())
                else:
                    self.failures.append((time.monotonic(), repr(answer)))
            except (OSError, http.client.HTTPException) as error:
                self.failures.append((time.monotonic(), f"{type(error).__name__}: {error}"))
            time.sleep(0.02)


def longest(times, begin, end):
    inside = [begin, *[each for each in times if begin < each < end], end]
    return max(later - earlier for earlier, later in zip(inside, inside[1:]))


class Measurement:
    def __init__(self, cluster):
        self.cluster, self.acks, self.stop, self.problems = cluster, [], threading.Event(), []
        self.writers = [Writer(cluster, number, self.acks, self.stop) for number in range(3)]
        self.readers = [Reader(cluster, node, self.stop) for node in cluster.nodes]
        self.read_gaps, self.samples = [], {}

    def __enter__(self):
        for each in [*self.writers, *self.readers]:
            each.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for each in [*self.writers, *self.readers]:
            each.join(10)

    def quiet(self, seconds=1.5, limit=90):
        """Waits until writes have gone on for a while."""
        begin = time.monotonic()
        while True:
            now = time.monotonic()
            wrong = [each for each in self.acks if isinstance(each, str)]
            if wrong:
                raise ClusterError(wrong[0])
            recent = [each for each in self.acks[-2000:] if each > now - seconds]
            if len(recent) > 5 and longest(recent, now - seconds, now) < 0.5:
                return
            if now - begin > limit:
                raise ClusterError(f"writes do not go on within {limit} s:\n"
                                   + "\n".join(f"  {each.name}: {each.tail(6)}" for each in self.cluster.nodes))
            time.sleep(0.1)

    def one(self, kind, how, target, act, hold, repair):
        """The time without a write, from right before the fault until writes go on after it."""
        self.quiet()
        begin = time.monotonic()
        act()
        time.sleep(hold)
        self.quiet()
        end = time.monotonic()
        gap = longest([each for each in self.acks if isinstance(each, float)], begin - 0.2, end)
        repair()
        others = [each for each in self.readers if each.node is not target]
        self.read_gaps.append(max(longest(each.answers, begin, end) for each in others))
        for each in others:
            self.problems += [f"{how}: a read at {each.node.name}: {text}" for moment, text in each.failures
                              if begin < moment < end]
        self.samples.setdefault(kind, []).append((gap, how))
        print(f"  {kind:7} {how:34} {gap:6.2f} s without a write, {self.read_gaps[-1]:.2f} s without a read",
              file=sys.stderr, flush=True)
        for node in self.cluster.nodes:
            node.wait_until_ready()
        self.cluster.wait_for_followers()

    def node(self, _):
        node = self.cluster.writer()
        self.one("node", f"kill -9 of {node.name}, which writes", node, node.kill, 1, node.start)

    def stopped(self, _):
        node = self.cluster.writer()
        self.one("stop", f"SIGTERM of {node.name}, which writes", node, node.stop, 0.5, node.start)

    def broker(self, number):
        broker = parts.until(30, "a broker leads the stream", self.cluster.leader)
        how = ("kill", "pause", "cut")[number % 3 if self.cluster.network.can_cut else number % 2]

        def cut():
            for other in self.cluster.brokers:
                if other is not broker:
                    self.cluster.network.cut(broker.name, other.name)
                    self.cluster.network.cut(other.name, broker.name)

        act, repair = {"kill": (broker.kill, broker.start), "pause": (broker.pause, broker.resume),
                       "cut": (cut, self.cluster.network.heal)}[how]
        self.one("broker", f"{how} of {broker.name}, which leads", None, act, 1, repair)


def measure(cluster, count, kinds):
    """Rows (what, value, wanted, whether it is reached, note)."""
    rows = []
    with Measurement(cluster) as run:
        for kind in kinds:
            for number in range(count):
                {"node": run.node, "broker": run.broker, "stop": run.stopped}[kind](number)
    names = {"node": "the node that writes is killed", "broker": "the broker that leads is killed, paused or cut off",
             "stop": "the node that writes is stopped as planned"}
    for kind in kinds:
        times = [gap for gap, _ in run.samples[kind]]
        median, worst = statistics.median(times), max(times)
        wanted = WANTED[kind]
        rows.append((f"{names[kind]}: seconds without a write, median and worst of {len(times)}",
                     f"{median:.2f} and {worst:.2f}", f"≤ {wanted[0]} and ≤ {wanted[1]}",
                     median <= wanted[0] and worst <= wanted[1], ""))
    rows.append(("reads meanwhile: longest time without one at a node that runs, s", f"{max(run.read_gaps):.2f}",
                 "none is refused", not run.problems, f"{len(run.problems)} refused" + "".join(
                     f"; {each}" for each in run.problems[:3])))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--only", default="node,broker,stop")
    parser.add_argument("--folder")
    parser.add_argument("--json", action="store_true", help="rows as JSON, for scripts/bench-cluster.py")
    options = parser.parse_args()
    folder = options.folder or tempfile.mkdtemp(prefix="profilelog-failover-")
    with Cluster(folder) as cluster:
        rows = measure(cluster, options.count, options.only.split(","))
    if options.json:
        print(json.dumps(rows))
    else:
        print("| what | found | wanted | note |\n|---|---|---|---|")
        for what, found, wanted, _, note in rows:
            print(f"| {what} | {found} | {wanted} | {note} |")
    if not options.folder:
        shutil.rmtree(folder, ignore_errors=True)
    missed = [row[0] for row in rows if not row[3]]
    if missed and not options.json:
        print("\nNot reached: " + "; ".join(missed))
    sys.exit(1 if missed and not options.json else 0)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped")  # all processes end with it
