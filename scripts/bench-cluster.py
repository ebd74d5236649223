"""Measures a cluster of three nodes and three brokers against a single node of the same run, and prints what is wanted
next to what was found, as Markdown.

All of them share the machine. Single node and cluster are loaded in turn, so that what else the machine does meets
both.
Fail-overs are measured by Tests/Cluster/failover.py in a cluster of their own.
"""

import argparse
import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time

sys.path[:0] = ["Tests/Cluster", "scripts"]

import cluster as parts  # noqa: E402
import failover  # noqa: E402
from bench_machine import machine  # noqa: E402
from cluster import Cluster, Node  # noqa: E402

OBJECTS = 75  # in each of the two arrays of a request
BATCH = 1_000
USERS = 50_000
WRK = "scripts/bench-http.lua"


class Single(Node):
    """A node without a cluster, at the address of another one."""

    def __init__(self, cluster, like):
        super().__init__(cluster, like.name, cluster.path("single"))

    def command(self):
        return [parts.PROGRAM, "serve", "--store", self.store, "--host", self.address, "--port", str(self.port),
                "--keys", self.cluster.keys, "--config", self.cluster.config, "--log-level", "error"]


def write_bodies(folder):
    """Files with a request a line: attributes and events, many events, one event."""

    def event(number):
        return {"external_id": f"u{number * 7919 % USERS}", "name": ("opened", "bought", "played")[number % 3],
                "time": "2026-01-31T12:00:00Z", "properties": {"n": number, "genre": "pop", "price": number % 90 / 10}}

    def attributes(number):
        return {"external_id": f"u{number * 104729 % USERS}", "level": number % 50, "city": f"city {number % 400}"}

    kinds = {
        "mixed": (1000, lambda at: {"attributes": [attributes(at * OBJECTS + each) for each in range(OBJECTS)],
                                    "events": [event(at * OBJECTS + each) for each in range(OBJECTS)]}),
        "batch": (100, lambda at: {"events": [event(at * BATCH + each) for each in range(BATCH)]}),
        "one": (5000, lambda at: {"events": [event(at)]}),
    }
    files = {}
    for name, (count, body) in kinds.items():
        files[name] = os.path.join(folder, f"bodies-{name}")
        with open(files[name], "w") as file:
            for at in range(count):
                print(json.dumps(body(at), separators=(",", ":")), file=file)
    return files


class Benchmark:
    def __init__(self, options, cluster):
        self.options, self.cluster, self.missed = options, cluster, []
        self.single = Single(cluster, cluster.nodes[0])
        self.files = write_bodies(cluster.folder)

    def row(self, what, found, wanted, is_reached, note=""):
        print(f"| {what} | {found} | {wanted} | {note} |", flush=True)
        if not is_reached:
            self.missed.append(what)

    def load(self, node, kind, connections, seconds=None):
        """What wrk measures at a node."""
        path = "/users/track/bulk" if kind == "batch" else "/users/track"
        done = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{seconds or self.options.seconds}s", "--timeout", "30s", "-s", WRK,
             node.url + path], capture_output=True, text=True,
            env={**os.environ, "BODIES": self.files[kind], "REQUEST_PATH": path, "KEY": self.cluster.key})
        if done.returncode:
            sys.exit(f"wrk: {done.stderr}")
        result = json.loads(done.stdout.strip().splitlines()[-1])
        if result["failed"] or not result["requests"]:
            sys.exit(f"{result['failed']} of {result['requests']} requests of {kind} at {node.name} failed:\n"
                     f"{node.tail()}")
        return result["requests"] / result["seconds"] * {"mixed": 2 * OBJECTS, "batch": BATCH, "one": 1}[kind]

    def prefer(self, node):
        """The node that wrote last is the one that writes: this one from now on."""
        if self.cluster.writer() is node or parts.IS_FAKE:
            return
        for each in self.cluster.nodes:
            if each is not node:
                each.stop()
        body = {"user": "first", "name": "opened"}
        parts.until(60, f"a write at {node.name}", lambda: node.ask("POST", "/v1/log/event", body).status == 200)
        for each in self.cluster.nodes:
            each.start()
            each.wait_until_ready()

    def rates(self):
        writer, other = self.cluster.nodes[:2]
        self.prefer(writer)
        for kind, connections, what in (
            ("mixed", 64, f"{OBJECTS} + {OBJECTS} objects a request, 64 callers, objects/s"),
            ("batch", 8, f"batches of {BATCH:,} events, 8 callers, events/s"),
            ("one", 256, "256 callers with one event each, events/s"),
        ):
            alone, together, forwarded = [], [], []
            for node in (self.single, writer, other):
                self.load(node, kind, connections, 2)
            for _ in range(self.options.rounds):
                alone.append(self.load(self.single, kind, connections))
                together.append(self.load(writer, kind, connections))
                forwarded.append(self.load(other, kind, connections))
            one, three, through = (statistics.median(each) for each in (alone, together, forwarded))
            wanted, is_reached = {
                "mixed": ("ratio ≥ 0.25", three / one >= 0.25),
                "batch": ("≥ 60,000", three >= 60_000),
                "one": ("≥ 15,000", three >= 15_000),
            }[kind]
            self.row(what, f"{three:,.0f}", wanted, is_reached,
                     f"single node {one:,.0f}, ratio {three / one:.2f}; through a node that forwards {through:,.0f}")

    def lag(self, what, load):
        """From the acknowledgement of a write until another node has it."""
        writer, others, times = self.cluster.nodes[0], self.cluster.nodes[1:], []
        thread = None
        if load:
            thread = threading.Thread(target=self.load, args=(writer, "mixed", 8, self.options.samples / 40 + 5))
            thread.start()
            time.sleep(1)
        connections = [http.client.HTTPConnection(each.address, each.port, timeout=60) for each in others]
        headers = {"Authorization": f"Bearer {self.cluster.key}"}
        for turn in range(self.options.samples):
            answer = writer.ask("POST", "/v1/log/event", {"user": "lag", "name": "opened"}, timeout=30)
            if answer.status != 200:
                sys.exit(f"a write at {writer.name}: {answer}")
            told, number = time.perf_counter(), turn % len(others)
            path = f"/v1/profile?user=lag&timeout=30&wait_for={answer.json['cursor']}"
            connections[number].request("GET", path, headers=headers)
            read = connections[number].getresponse()
            read.read()
            times.append((time.perf_counter() - told) * 1000)
            if read.status != 200:
                sys.exit(f"a read at {others[number].name} is {read.status}:\n{others[number].tail()}")
            time.sleep(0.01)
        if thread:
            thread.join()
        times.sort()
        p99 = times[int(len(times) * 0.99)]
        self.row(f"another node has an acknowledged write, {what}, p99 in ms", f"{p99:.0f}", "≤ 100", p99 <= 100,
                 f"median {statistics.median(times):.0f}, longest {times[-1]:.0f}, with the read itself")

    # MARK: - Growth

    def growth(self, cluster, events):
        """A join and a `cluster verify` at `events` events and at twice as many."""
        found = []
        for count in (events, 2 * events):
            self.fill(cluster, count)
            times = [(self.join(cluster), self.verify(cluster)) for _ in range(self.options.rounds)]
            found.append([statistics.median(each) for each in zip(*times)])
        for what, one, two in zip(("a new node joins", "`cluster verify`"), *found):
            self.row(f"{what} at {2 * events:,} events, s", f"{two:.1f}", "ratio ≤ 2.3", two / one <= 2.3,
                     f"at {events:,} {one:.1f}, ratio {two / one:.2f}")

    def fill(self, cluster, count):
        """Writes until all nodes have this many events."""
        node = cluster.nodes[0]
        with open(self.files["batch"], "rb") as file:
            bodies = file.read().splitlines()
        headers = {"Authorization": f"Bearer {cluster.key}", "Content-Type": "application/json"}
        connection, turn = http.client.HTTPConnection(node.address, node.port, timeout=60), 0
        while (node.last_position() or 0) < count:
            for _ in range(10):
                connection.request("POST", "/users/track/bulk", bodies[turn % len(bodies)], headers)
                answer = connection.getresponse()
                text, turn = answer.read(), turn + 1
                if answer.status != 201:
                    sys.exit(f"a batch at {node.name}: {answer.status} {text[:300]}")
        connection.close()
        cluster.wait_until_equal(600)

    def join(self, cluster):
        """From the start of a node with an empty folder until it has caught up."""
        node = cluster.nodes[2]
        node.stop()
        shutil.rmtree(node.store)
        begin = time.perf_counter()
        node.start()

        def is_ready():
            if not node.is_running:
                sys.exit(f"{node.name} ended:\n{node.tail()}")
            try:
                return node.ask("GET", "/health/ready").status == 200
            except (OSError, http.client.HTTPException):
                return False

        parts.until(1200, f"{node.name} has joined", is_ready)
        return time.perf_counter() - begin

    def verify(self, cluster):
        begin = time.perf_counter()
        done = subprocess.run(
            [parts.COMMAND, "cluster", "verify", "--url", cluster.nodes[0].url], capture_output=True, text=True,
            env={**os.environ, "PROFILELOG_KEY": cluster.key})
        if done.returncode:
            sys.exit(f"cluster verify: {done.stderr}")
        return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--count", type=int, default=20, help="fail-overs of each kind; 0 measures none")
    parser.add_argument("--events", type=int, default=500_000,
                        help="a join and a verify are measured at so many events and at twice as many; 0 measures none")
    parser.add_argument("--work", required=True)
    options = parser.parse_args()
    print(f"Three brokers, three nodes, the single node and the load on one machine, medians of {options.rounds}; "
          f"{machine()}\n\n| what | ProfileLog | wanted | note |\n|---|---|---|---|", flush=True)
    with Cluster(os.path.join(options.work, "speed")) as cluster:
        benchmark = Benchmark(options, cluster)
        try:
            benchmark.single.start()
            benchmark.single.wait_until_ready()
            benchmark.rates()
            benchmark.lag("else idle", load=False)
            benchmark.lag("under 8 callers with 75 + 75 objects", load=True)
        finally:
            benchmark.single.kill()
    if options.count:
        with Cluster(os.path.join(options.work, "failover")) as cluster:
            for row in failover.measure(cluster, options.count, ["node", "broker", "stop"]):
                benchmark.row(*row)
    if options.events and not parts.IS_FAKE:
        with Cluster(os.path.join(options.work, "growth")) as cluster:
            benchmark.growth(cluster, options.events)
    if benchmark.missed:
        print("\nNot reached: " + "; ".join(benchmark.missed))


if __name__ == "__main__":
    main()
