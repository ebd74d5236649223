"""Runs the two halves of the benchmark in turn and prints medians and ratios as Markdown."""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

from bench_machine import machine

C = "Benchmarks/C/.build/cbench"
SWIFT = ".build/release/profilelog-bench"
CLI = ".build/release/profilecli"
CHILD = ".build/release/profilelog-crashchild"
# Another build of profilelog-bench, whose folds are compared with those of this one.
BEFORE = os.environ.get("BEFORE")
START = "1800000000000000"
SCENARIO = """
workspace:
  messages:
    - {id: tip, re_eligibility: 0, trigger_conditions: [{type: custom_event, event_name: played song}]}
steps:
  - change-user: jane
  - settings: {content_extension: {categories: [game]}, messages: {minimum_interval: 0}}
""" + """
  - launch
  - leave
  - request:
      path: /messages/send
      body: {external_user_ids: [jane], messages: {apple_push: {alert: Play, category: game}}}
      status: 201
  - push: deliver
  - push: expand
  - save-event: {name: Completed Match Game, properties: {Score: 10}, process: PushContent}
  - expect-pending: {total: 1}
  - push: open
  - expect-pending: {total: 0}
  - log-event: {device: phone, name: played song, properties: {genre: pop}}
  - expect-messages: {screen: tip}
  - expect-profile: {user: jane}
""" * 4


def run(*command):
    """The JSON line that a run prints."""
    result = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
    return json.loads(result.stdout.strip().splitlines()[-1])


def median(results, key):
    return statistics.median(result[key] for result in results)


def row(what, c, swift, bar, ratio=None, note=""):
    ratio = swift / c if ratio is None and c else ratio
    shown = f"{ratio:.2f}" if ratio is not None else ""
    c = f"{c:,.0f}" if c else ""
    print(f"| {what} | {c} | {swift:,.0f} | {shown} | {bar} | {note} |", flush=True)


def latencies(results, prefix=""):
    names = [("p50_us", "p50"), ("p99_us", "p99"), ("max_us", "longest")]
    return ", ".join(f"{name} {median(results, prefix + key) / 1000:.2f}" for key, name in names) + " ms"


class Benchmark:
    def __init__(self, options):
        self.rounds, self.work = options.rounds, options.work
        self.events, self.users = options.events, options.users
        self.input = os.path.join(self.work, "events.jsonl")
        with open(self.input, "wb") as file:
            subprocess.run(
                [CLI, "generate", "--events", str(self.events), "--users", str(self.users)], check=True, stdout=file)

    def store(self, name):
        path = os.path.join(self.work, name)
        shutil.rmtree(path, ignore_errors=True)
        return path

    def pairs(self, c, swift):
        """Both programs in turn, so that what else the machine does meets both."""
        cs, swifts = [], []
        for _ in range(self.rounds):
            cs.append(c())
            swifts.append(swift())
        return cs, swifts

    def append(self):
        c, swift = self.pairs(
            lambda: run(C, "append", "--store", self.store("c"), "--input", self.input, "--batch", 1000, "--keep"),
            lambda: run(SWIFT, "append", "--store", self.store("swift"), "--input", self.input,
                        "--recorded-at-start", START))
        row("durable append, batches of 1,000, events/s", median(c, "events_per_s"), median(swift, "events_per_s"),
            "≥ 0.7", note=latencies(swift))
        dumps = [subprocess.run([C, "dump", "--store", os.path.join(self.work, name)], check=True, capture_output=True,
                                text=True).stdout for name in ("c", "swift")]
        if dumps[0] != dumps[1]:
            sys.exit("The two programs wrote different tables.\n" + dumps[0] + dumps[1])
        lines = os.path.getsize(self.input)
        print(f"| bytes in use / JSON Lines | | | {c[-1]['used_bytes'] / lines:.2f} | ≤ 0.6 | "
              f"with free pages the file has {c[-1]['data_bytes'] / lines:.2f} |")

    def append_one(self):
        c, swift = self.pairs(
            lambda: run(C, "append-one", "--store", self.store("one"), "--input", self.input, "--count", 10000),
            lambda: run(SWIFT, "append", "--store", self.store("one"), "--input", self.input, "--count", 10000,
                        "--batch", 1))
        row("one caller, one event a commit, events/s", median(c, "events_per_s"), median(swift, "events_per_s"),
            "≥ 0.85", note=latencies(swift))

    def concurrent(self):
        sizes = os.path.join(self.work, "sizes")
        cs, swifts = [], []
        for _ in range(self.rounds):
            swifts.append(run(SWIFT, "concurrent", "--store", self.store("many"), "--input", self.input,
                              "--count", 300000, "--sizes", sizes))
            cs.append(run(C, "append-batches", "--store", self.store("many"), "--input", self.input,
                          "--count", 300000, "--sizes", sizes))
        row("256 callers, one event each, events/s", median(cs, "events_per_s"), median(swifts, "events_per_s"),
            "≥ 0.6", note=latencies(swifts))

    def update(self):
        """Tasks that decide by a user's state, in turn with tasks that append without conditions, in one process."""
        done = run(SWIFT, "update", "--store", self.store("update"), "--turns", self.rounds)
        row("64 tasks, decisions by a user's state, updates/s / appends/s", None, done["updates_per_s"], "≥ 0.8",
            ratio=done["ratio"],
            note=f"appends {done['appends_per_s']:,.0f}; {done['decisions_per_update']:.2f} decisions an update; "
            + latencies([done]))

    def watch(self):
        """The log as a sequence: what is there, and what comes."""
        past = run(SWIFT, "watch", "--store", os.path.join(self.work, "swift"), "--turns", self.rounds)
        row("a sequence of all events, events/s", None, past["events_per_s"], "≥ 500,000")
        live = run(SWIFT, "watch-live", "--store", self.store("live"))
        for what, key in (("this", "own"), ("another", "other")):
            print(f"| an event of {what} process in a live sequence, after its acknowledgement, p99 | | "
                  f"{live[key + '_p99_us'] / 1000:.2f} ms | | ≤ 5 ms | {latencies([live], key + '_')} |", flush=True)

    def fold(self):
        store = os.path.join(self.work, "swift")
        c, one = self.pairs(lambda: run(C, "fold", "--store", store), lambda: run(SWIFT, "fold", "--store", store))
        row("replay with fold, one thread, events/s", median(c, "events_per_s"), median(one, "events_per_s"), "≥ 0.65",
            note=f"{median(one, 'mb_per_100k_users'):.0f} MB for 100,000 users")
        ones, twos = self.pairs(
            lambda: run(SWIFT, "fold", "--store", store),
            lambda: run(SWIFT, "fold", "--store", store, "--threads", 2))
        speedup = median(twos, "events_per_s") / median(ones, "events_per_s")
        row("replay with fold, two threads / one", None, median(twos, "events_per_s"), "≥ 1.7", ratio=speedup)
        self.fold_before("replay with fold", store, "≥ 0.98")

    def fold_before(self, what, store, bar):
        """The same store folded by another build, in turn."""
        if not BEFORE:
            return
        before, now = self.pairs(lambda: run(BEFORE, "fold", "--store", store),
                                 lambda: run(SWIFT, "fold", "--store", store))
        rates = median(before, "events_per_s"), median(now, "events_per_s")
        row(f"{what}, this build / the one before, events/s", None, rates[1], bar, ratio=rates[1] / rates[0],
            note=f"before {rates[0]:,.0f}")

    def own_folds(self):
        """An embedder's folds in turn with the profile's, and what flushes cost a fold."""
        logged, saved = os.path.join(self.work, "logged"), os.path.join(self.work, "saved")
        for store, share in ((logged, 0), (saved, 20)):
            made = run(SWIFT, "append-devices", "--store", store, "--input", self.input, "--saved", share)
        own = run(SWIFT, "fold", "--store", logged, "--own", "--turns", self.rounds)
        for what, key in (("by user", "user"), ("over the store", "store"), ("by device", "device")):
            bar = "≥ 0.3" if key == "user" else ""
            row(f"replay of an embedder's fold {what} / the profile's, events/s", None, own[key + "_events_per_s"], bar,
                ratio=own[key + "_share"])
        without, with_flushes = self.pairs(lambda: run(SWIFT, "fold", "--store", logged),
                                           lambda: run(SWIFT, "fold", "--store", saved))
        rates = median(without, "events_per_s"), median(with_flushes, "events_per_s")
        row("replay with fold, 20 % saved and flushed / all logged, events/s", None, rates[1], "",
            ratio=rates[1] / rates[0], note=f"{made['flushed']:,} items in {made['events']:,} events")
        self.fold_before("replay with fold, 20 % saved and flushed", saved, "≥ 0.90")

    def what_if(self):
        """Every profile folded as it is and without an attribute, and compared."""
        store = os.path.join(self.work, "swift")
        runs = [run(SWIFT, "what-if", "--store", store, "--name", "membership") for _ in range(self.rounds)]
        print(f"| what-if over all events, two threads | | {median(runs, 'seconds'):.2f} s | | ≤ 1.5 s | "
              f"{runs[0]['changed']:,} of {runs[0]['users']:,} profiles differ |", flush=True)

    def reads(self):
        store = os.path.join(self.work, "swift")
        c, swift = self.pairs(
            lambda: run(C, "history", "--store", store, "--users", 50000),
            lambda: run(SWIFT, "history", "--store", store, "--users", 50000))
        row("one user's history decoded, events/s", median(c, "events_per_s"), median(swift, "events_per_s"), "≥ 0.5")
        snapshots = self.store("snapshots")
        run(SWIFT, "append", "--store", snapshots, "--input", self.input, "--snapshot-interval", 32)
        reads = [run(SWIFT, "read", "--store", snapshots) for _ in range(self.rounds)]
        print(f"| profile read with a snapshot, p50 | | {median(reads, 'p50_us'):.1f} µs | | ≤ 20 µs | "
              f"p99 {median(reads, 'p99_us'):.0f} µs (wanted: ≤ 60) |", flush=True)

    def big_user(self):
        path = os.path.join(self.work, "big.jsonl")
        with open(self.input) as source, open(path, "w") as target:
            for line, _ in zip(source, range(10000)):
                target.write(re.sub(r'"user":"[^"]*"', '"user":"big"', line))
        store = self.store("big")
        run(SWIFT, "append", "--store", store, "--input", path)
        result = subprocess.run([SWIFT, "history", "--store", store, "--user", "big"], check=True, capture_output=True,
                                text=True)
        times = [json.loads(line)["ms"] for line in result.stdout.splitlines()]
        print(f"| a user of 10,000 events | | {statistics.median(times[1:]):.1f} ms | | ≤ 12 ms | "
              f"first read {times[0]:.1f} ms |", flush=True)

    def histories(self):
        """Whole histories of users with 23 events each, in random order in the log; C reads the same tables."""
        store = self.store("histories")
        read = run(SWIFT, "histories", "--store", store)
        c = run(C, "history", "--store", store, "--users", 200000)["users_per_s"]
        lite = run(C, "sqlite", "--store", store, "--users", 200000)
        row("histories of 23 events as views, users/s", c, read["views_users_per_s"], "≥ 150,000",
            note=f"C decodes; the first time {read['first_users_per_s']:,.0f}")
        print(f"| the same records in SQLite, not decoded, users/s | | {lite['users_per_s']:,.0f} | | | "
              f"durable appends of 1,000: {lite['events_per_s']:,.0f} events/s |", flush=True)
        row("histories of 23 events decoded, users/s", c, read["decoded_users_per_s"], "≥ 45,000")

    def cold(self):
        """The first history that a program reads of a store that is not in memory."""
        data = os.path.join(self.work, "swift", "data.mdb")
        times = []
        for seed in range(1, 12):
            with open(data, "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            read = run(SWIFT, "history", "--store", os.path.join(self.work, "swift"), "--users", 1, "--seed", seed)
            times.append(read["seconds"] * 1000)
        print(f"| a history from a store that is not in memory, p50 | | {statistics.median(times):.2f} ms | | | "
              f"longest {max(times):.2f} ms of 11 |", flush=True)

    def where(self):
        """All of a million users against a condition: the whole command."""
        store = self.store("where")
        run(SWIFT, "histories", "--store", store, "--users", 1_000_000, "--events", 3, "--rounds", 1)
        rates = []
        for _ in range(self.rounds):
            begin = time.monotonic()
            subprocess.run([CLI, "users", "--store", store, "--where", 'custom."attribute 2" = "a value 5"', "--count"],
                           check=True, capture_output=True)
            rates.append(1_000_000 / (time.monotonic() - begin))
        print(f"| users --where, two threads, users/s | | {statistics.median(rates):,.0f} | | ≥ 500,000 | "
              "whole command |", flush=True)

    def as_of(self):
        self.store("as-of-bare")
        reads = run(SWIFT, "as-of", "--store", self.store("as-of"))
        for what, key, bar in (("one field", "blame", "≤ 200 µs"), ("40 fields", "blame_all", "≤ 2,000 µs")):
            print(f"| blame of {what}, 10,000 events, p50 | | {reads[key + '_p50_us']:.0f} µs | | {bar} | "
                  f"p99 {reads[key + '_p99_us']:.0f} µs |", flush=True)
        print(f"| as of any version, 10,000 events, 40 fields, p50 | | {reads['p50_us']:.1f} µs | | ≤ 50 µs | "
              f"p99 {reads['p99_us']:.0f} µs (≤ 200); snapshots {reads['snapshot_share']:.1%} |",
              flush=True)

    def imports(self):
        rates = []
        for _ in range(self.rounds):
            begin = time.monotonic()
            subprocess.run([CLI, "import", self.input, "--store", self.store("import")], check=True,
                           capture_output=True)
            rates.append(self.events / (time.monotonic() - begin))
        print(f"| import of JSON Lines, events/s | | {statistics.median(rates):,.0f} | | ≥ 300,000 | "
              "whole command, snapshots written |", flush=True)

    def messages(self):
        """What a device does with an event, and how long a scenario takes."""
        runs = [run(CHILD, "match", "-", 200_000) for _ in range(self.rounds)]
        p50, p99 = median(runs, "p50_us"), median(runs, "p99_us")
        print(f"| an event matched, 1,000 devices with 100 in-app messages each, p50 | | {p50:.1f} µs | | ≤ 50 µs | "
              f"p99 {p99:.1f} µs |", flush=True)
        path = os.path.join(self.work, "scenario.yaml")
        with open(path, "w") as file:
            file.write(SCENARIO)
        runs = [run(CLI, "scenario", "run", path, "--format", "json") for _ in range(self.rounds)]
        assert all(result["passed"] and result["played"] == 50 for result in runs)
        print(f"| a scenario of 50 steps, in process | | {median(runs, 'seconds') * 1000:.1f} ms | | ≤ 100 ms | |",
              flush=True)


def main():
    parser = argparse.ArgumentParser()
    for name, kind in (("rounds", int), ("events", int), ("users", int), ("work", str)):
        parser.add_argument("--" + name, type=kind, required=True)
    options = parser.parse_args()
    print(f"{options.events:,} events, {options.users:,} users, medians of {options.rounds}; {machine()}\n")
    print("| what | C | ProfileLog | ratio | wanted | note |\n|---|---|---|---|---|---|", flush=True)
    benchmark = Benchmark(options)
    for part in (benchmark.append, benchmark.append_one, benchmark.concurrent, benchmark.update, benchmark.fold,
                 benchmark.own_folds, benchmark.watch, benchmark.what_if, benchmark.reads, benchmark.cold,
                 benchmark.big_user, benchmark.histories, benchmark.where, benchmark.as_of, benchmark.imports,
                 benchmark.messages):
        part()


main()
