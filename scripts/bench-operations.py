"""Measures backups, restores and TLS, and prints medians with what is wanted, as Markdown.

A backup is compared with `dd` that writes as many bytes and syncs them; appends under a backup with appends without
one; requests over TLS with the same requests without it. What is compared runs in turn, so that what else the machine
does meets both.
"""

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time

from bench_machine import machine

USERS = 50_000
NEW_EVENTS = 10_000
OBJECTS = 75  # in each of the two arrays of a request
CONNECTIONS = 64


def run(*command, **options):
    """Runs a command that must succeed, and gives its output and the seconds that it took."""
    begin = time.perf_counter()
    result = subprocess.run(command, capture_output=True, text=True, **options)
    seconds = time.perf_counter() - begin
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: {result.stderr}")
    return result.stdout, seconds


def size(folder):
    return sum(os.path.getsize(os.path.join(path, name)) for path, _, names in os.walk(folder) for name in names)


class Service:
    """A `profiled` that runs, on a port that was free."""

    def __init__(self, programs, work, store, *arguments):
        self.port_file = os.path.join(work, "port")  # of one service at a time
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.port_file)
        self.scheme = "https" if "--tls-certificate" in arguments else "http"
        self.process = subprocess.Popen(
            [os.path.join(programs, "profiled"), "--port", "0", "--port-file", self.port_file, "--log-level", "error",
             "--store", store, *arguments], stdout=subprocess.DEVNULL)

    def __enter__(self):
        for _ in range(600):
            with contextlib.suppress(FileNotFoundError, ValueError):
                with open(self.port_file) as file:
                    self.port = int(file.read())
                return self
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        self.__exit__()
        sys.exit("profiled did not start.")

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def load(self, bodies, seconds, connections=CONNECTIONS):
        """What wrk measures while it sends `bodies`."""
        output, _ = run(
            "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", "-s", "scripts/bench-http.lua",
            f"{self.scheme}://127.0.0.1:{self.port}/users/track",
            env=os.environ | {"BODIES": bodies, "REQUEST_PATH": "/users/track"})
        result = json.loads(output.strip().splitlines()[-1])
        if result["failed"]:
            sys.exit(f"{result['failed']} requests failed.")
        return result | {"rate": result["requests"] / result["seconds"]}


class Benchmark:
    def __init__(self, options):
        self.options, self.work, self.rounds = options, options.work, range(options.rounds)
        self.cli = os.path.join(options.programs, "profilecli")
        self.store, self.backup, self.bodies = (self.path(name) for name in ("store", "backup", "bodies"))
        self.missed = []

    def path(self, name):
        return os.path.join(self.work, name)

    def profilecli(self, *arguments, **options):
        return run(self.cli, *arguments, **options)

    def row(self, what, value, wanted, isReached, note=""):
        print(f"| {what} | {value} | {wanted} | {note} |", flush=True)
        if not isReached:
            self.missed.append(what)

    def fill(self):
        """The store, and the bodies of requests."""
        lines = self.path("lines")
        self.profilecli("generate", "--events", str(self.options.events), "--users", str(USERS), "-o", lines)
        self.profilecli("--store", self.store, "import", lines, "--name", "first")
        events, attributes = [], []
        with open(lines) as file:
            for line in map(json.loads, (line for line, _ in zip(file, range(250_000)))):
                user = {"external_id": line["user"]}
                if line["kind"] == "custom_event":
                    events.append(user | {key: line[key] for key in ("name", "time", "properties")})
                elif line["kind"] == "custom_attribute":
                    attributes.append(user | line["attributes"])
        os.remove(lines)
        with open(self.bodies, "w", encoding="utf-8") as file:
            for at in range(0, len(attributes) - OBJECTS, OBJECTS):
                body = {"attributes": attributes[at:at + OBJECTS], "events": events[at:at + OBJECTS]}
                print(json.dumps(body, ensure_ascii=False, separators=(",", ":")), file=file)

    def whole(self):
        """A first run against `dd` of as many bytes, both with their syncs."""
        ratios, rates = [], []
        for _ in self.rounds:
            shutil.rmtree(self.backup, ignore_errors=True)
            subprocess.run(["sync", "-f", self.work], check=True)
            _, ours = self.profilecli("--store", self.store, "backup", self.backup)
            count, raw = size(self.backup), self.path("raw")
            subprocess.run(["sync", "-f", self.work], check=True)
            _, base = run(
                "dd", "if=/dev/zero", f"of={raw}", "bs=1M", f"count={count}", "iflag=count_bytes", "conv=fsync")
            os.remove(raw)
            ratios.append(base / ours)
            rates.append(count / ours / 1e6)
        ratio = statistics.median(ratios)
        self.row(f"backup of {self.options.events:,} events with its syncs, MB/s", f"{statistics.median(rates):,.0f}",
                 "ratio ≥ 0.7", ratio >= 0.7,
                 f"ratio {ratio:.2f} to `dd conv=fsync` of {count / 1e6:,.0f} MB; of each run "
                 + ", ".join(f"{each:.2f}" for each in ratios))

    def incremental(self):
        """A run after 10,000 new events."""
        times = []
        for turn in self.rounds:
            lines, _ = self.profilecli(
                "generate", "--events", str(NEW_EVENTS), "--users", str(USERS), "--seed", str(turn + 2))
            self.profilecli("--store", self.store, "import", "-", "--name", f"next {turn}", input=lines)
            times.append(self.profilecli("--store", self.store, "backup", self.backup)[1] * 1000)
        time_taken = statistics.median(times)
        self.row(f"backup of {NEW_EVENTS:,} new events, ms", f"{time_taken:,.0f}", "≤ 200", time_taken <= 200,
                 f"longest {max(times):,.0f}")

    def restore(self):
        """Of all events: until the log, names and meta are stored, and until a new program has read a profile."""
        logs, reads = [], []
        user = json.loads(self.profilecli("--store", self.store, "users", "--limit", "1", "--format", "json")[0]
                          .splitlines()[0])["id"]
        for _ in self.rounds:
            target = self.path("restored")
            output, seconds = self.profilecli("restore", self.backup, "--store", target, "--format", "json")
            answer = json.loads(output)
            _, read = self.profilecli("--store", target, "profile", user)
            logs.append(answer["position"] / answer["log_seconds"])
            reads.append(answer["position"] / (seconds + read))
            shutil.rmtree(target)
        log, read = statistics.median(logs), statistics.median(reads)
        self.row("restore of log, names and meta, events/s", f"{log:,.0f}", "≥ 1,000,000", log >= 1e6)
        self.row("restore to the first answered read, events/s", f"{read:,.0f}", "≥ 300,000", read >= 3e5)

    def meanwhile(self):
        """Requests without a backup and under first runs of one, one after the other."""
        seconds, folder = self.options.round_seconds, self.path("meanwhile")
        for connections in (1, CONNECTIONS):
            alone, under, runs = [], [], 0
            with Service(self.options.programs, self.work, self.store) as service:
                service.load(self.bodies, 1, connections)
                for _ in self.rounds:
                    alone.append(service.load(self.bodies, seconds, connections))
                    ended = threading.Event()

                    def back_up():
                        nonlocal runs
                        while not ended.is_set():
                            shutil.rmtree(folder, ignore_errors=True)
                            self.profilecli("--store", self.store, "backup", folder)
                            runs += 1

                    thread = threading.Thread(target=back_up, daemon=True)
                    thread.start()
                    under.append(service.load(self.bodies, seconds, connections))
                    ended.set()
                    thread.join()
            shutil.rmtree(folder, ignore_errors=True)
            rate, slow = (statistics.median(each[key] for each in under) / statistics.median(each[key] for each in alone)
                          for key in ("rate", "p99_ms"))
            times = " and ".join(f"{statistics.median(each['p99_ms'] for each in some):.1f}" for some in (alone, under))
            self.row(f"{OBJECTS} + {OBJECTS} objects a request, {connections} connections, under backups / alone",
                     f"{rate:.2f}", "≥ 0.9, p99 < 2 times", rate >= 0.9 and slow < 2,
                     f"p99 {slow:.1f} times: {times} ms; {runs} first runs of the backup, one after the other")

    def tls(self):
        """The same requests over TLS and without it."""
        os.mkdir(self.path("tls"))
        run(os.path.join(self.options.programs, "profiled"), "tls", "self-signed", "--name", "localhost", "--name",
            "127.0.0.1", "--out", self.path("tls"))
        pair = ["--tls-certificate", self.path("tls/tls-certificate.pem"), "--tls-key", self.path("tls/tls-key.pem")]
        results = {"plain": [], "tls": []}
        for turn in self.rounds:
            for name, arguments in (("plain", []), ("tls", pair)):
                with Service(
                    self.options.programs, self.work, self.path(f"store-{name}-{turn}"), *arguments
                ) as service:
                    service.load(self.bodies, 1)
                    results[name].append(service.load(self.bodies, self.options.round_seconds))
        plain, tls = (statistics.median(each["rate"] for each in results[name]) for name in ("plain", "tls"))
        times = ", ".join(
            f"{name} {statistics.median(each['p99_ms'] for each in some):.1f}" for name, some in results.items())
        self.row(f"/users/track with {OBJECTS} + {OBJECTS} objects over TLS, objects/s", f"{tls * 2 * OBJECTS:,.0f}",
                 "ratio ≥ 0.8", tls / plain >= 0.8, f"ratio {tls / plain:.2f}; p99 in ms: {times}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--round-seconds", type=int, default=10)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--work", required=True)
    options = parser.parse_args()
    print(f"{options.events:,} events, {USERS:,} users, medians of {options.rounds}; {machine()}\n")
    print("| what | ProfileLog | wanted | note |\n|---|---|---|---|", flush=True)
    benchmark = Benchmark(options)
    benchmark.fill()
    benchmark.whole()
    benchmark.incremental()
    benchmark.restore()
    benchmark.meanwhile()
    benchmark.tls()
    if benchmark.missed:
        print("\nNot reached: " + "; ".join(benchmark.missed))


main()
