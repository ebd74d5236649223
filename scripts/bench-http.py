"""Puts load on the two services of the HTTP benchmark in turn and prints medians and ratios as Markdown."""

import argparse
import contextlib
import http.client
import json
import os
import statistics
import subprocess
import sys
import threading
import time

from bench_machine import machine

BASELINE = ".build/release/profilelog-baseline"
PROFILED = ".build/release/profiled"
CLI = ".build/release/profilecli"
CONNECTIONS = 64
OBJECTS = 75  # in each of the two arrays of a request
USERS = 50_000
EXPORTS_PER_SECOND = 5
RECIPIENTS = 50  # of one request
DEVICES = 100_000  # one for each user who gets the campaign
READERS = 96  # connections that read: more than there are places for, waiting included
WORST_READS = [
    "/v1/blame?user=u", "/v1/blame?user=u&log=true", "/v1/blame?user=u&field=object&log=true",
    "/v1/history?user=u&limit=1000", "/v1/profile?user=u", "/v1/profile?user=u&order=occurred",
    "/v1/diff?user=u&a=version:1", "/v1/diff?a=1", "/v1/users?where=custom.a+%3E+7+or+events.e.count+%3E+7",
    "/v1/whatif/profiles?without=name:a", "/v1/series?of=event:e&length=100",
    "/v1/export?what=profiles&format=csv", "/v1/export?what=events&limit=10000",
]
CAMPAIGN = """
apps: [{id: ios, name: Shop, platform: ios}]
campaigns:
  - id: spring
    name: Spring
    messages: [{apple_push: {alert: "Hi {{${first_name}}}, {{api_trigger_properties.${what}}}"}}]
"""


class Bodies:
    """Bodies for /users/track from the generated workload, written to files, one a line."""

    def __init__(self, work):
        self.batches, self.singles = os.path.join(work, "batches"), os.path.join(work, "singles")
        generated = subprocess.run(
            [CLI, "generate", "--events", "250000", "--users", str(USERS)],
            check=True, capture_output=True, encoding="utf-8").stdout
        events, attributes = [], []
        for line in map(json.loads, generated.splitlines()):
            user = {"external_id": line["user"]}
            if line["kind"] == "custom_event":
                events.append(user | {"name": line["name"], "time": line["time"], "properties": line["properties"]})
            elif line["kind"] == "custom_attribute":
                attributes.append(user | line["attributes"])
            else:
                attributes.append(user | {line["attribute"]: line["value"]})
        self.users = sorted({event["external_id"] for event in events})
        self.write(self.singles, ({"events": [event]} for event in events[:20_000]))
        self.write(self.batches, (
            {"attributes": attributes[at:at + OBJECTS], "events": events[at:at + OBJECTS]}
            for at in range(0, len(attributes) - OBJECTS, OBJECTS)))

    @staticmethod
    def write(path, bodies):
        with open(path, "w", encoding="utf-8") as file:
            for body in bodies:
                print(json.dumps(body, ensure_ascii=False, separators=(",", ":")), file=file)


class Service:
    """A service that runs, on a port that was free."""

    def __init__(self, work, program, *arguments):
        self.port_file = os.path.join(work, "port")  # of one service at a time
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.port_file)
        self.process = subprocess.Popen(
            [program, "--port-file", self.port_file, *arguments], stdout=subprocess.DEVNULL)

    def __enter__(self):
        for _ in range(200):
            with contextlib.suppress(FileNotFoundError, ValueError):
                with open(self.port_file) as file:
                    self.port = int(file.read())
                return self
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        self.__exit__()
        sys.exit(f"{self.process.args[0]} did not start.")

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def load(self, bodies, seconds, path="/users/track"):
        """What wrk measures while it sends `bodies` from all its connections."""
        before = self.cpu_seconds()
        result = subprocess.run(
            ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout", "10s", "-s", "scripts/bench-http.lua",
             f"http://127.0.0.1:{self.port}{path}"],
            check=True, capture_output=True, text=True, env=os.environ | {"BODIES": bodies, "REQUEST_PATH": path})
        result = json.loads(result.stdout.strip().splitlines()[-1])
        result["requests_per_s"] = result["requests"] / result["seconds"]
        result["cpu_us"] = (self.cpu_seconds() - before) / result["requests"] * 1e6
        if result["failed"]:
            sys.exit(f"{result['failed']} requests failed.")
        return result

    def post(self, path, body, wanted=201):
        """Sends one request, and gives the seconds until its answer."""
        return self.ask("POST", path, json.dumps(body), wanted)

    def get(self, path):
        return self.ask("GET", path, None, 200)

    def ask(self, method, path, body, wanted):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        begin = time.perf_counter()
        connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
        response = connection.getresponse()
        answer = response.read()
        connection.close()
        if response.status != wanted:
            sys.exit(f"{path}: {answer[:200]}")
        return time.perf_counter() - begin

    def cpu_seconds(self):
        """Time that the service's threads have had of the cores: other work on them changes it less than a rate."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        """Megabytes that are the process's own, without the pages of the store, which the system may drop."""
        with open(f"/proc/{self.process.pid}/status") as file:
            line = next(line for line in file if line.startswith("RssAnon:"))
        return int(line.split()[1]) / 1024


class Exports(threading.Thread):
    """Exports one profile after the other at a steady rate, as another client, until told to stop."""

    def __init__(self, port, users):
        super().__init__(daemon=True)
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.users, self.ended, self.milliseconds = users, threading.Event(), []
        self.failure = None

    def run(self):
        try:
            self.export()
        except (OSError, http.client.HTTPException) as error:
            self.failure = error

    def export(self):
        for turn in range(1_000_000):
            if self.ended.wait(1 / EXPORTS_PER_SECOND):
                return
            body = json.dumps({"external_ids": [self.users[turn * 7919 % len(self.users)]]})
            begin = time.perf_counter()
            self.connection.request("POST", "/users/export/ids", body, {"Content-Type": "application/json"})
            response = self.connection.getresponse()
            answer = response.read()
            self.milliseconds.append((time.perf_counter() - begin) * 1000)
            if response.status != 201:
                self.failure = answer[:200]
                return

    def stop(self):
        self.ended.set()
        self.join()
        if self.failure:
            sys.exit(f"An export failed: {self.failure}")
        times = sorted(self.milliseconds)
        return times[len(times) // 2], times[-(-len(times) * 99 // 100) - 1], len(times)


class Benchmark:
    def __init__(self, options):
        self.options, self.stores, self.loads = options, 0, []
        self.bodies = Bodies(options.work)

    def profiled(self, *arguments):
        self.stores += 1
        return Service(
            self.options.work, PROFILED, "--port", "0", "--log-level", "error", "--store",
            os.path.join(self.options.work, f"store{self.stores}"), *arguments)

    def baseline(self):
        return Service(self.options.work, BASELINE)

    def pairs(self, bodies):
        """Both services in turn, so that what else the machine does meets both."""
        bases, ours = [], []
        for _ in range(self.options.rounds):
            for start, results in ((self.baseline, bases), (self.profiled, ours)):
                with start() as service:
                    service.load(bodies, 1)
                    results.append(service.load(bodies, self.options.round_seconds))
        return bases, ours

    def row(self, what, bodies, factor, rate_wanted, ratio_wanted, p99_wanted):
        bases, ours = self.pairs(bodies)
        base, own = (median(results, "requests_per_s") * factor for results in (bases, ours))
        print(f"| {what} | {base:,.0f} | {own:,.0f} | {own / base:.2f} | {rate_wanted or ratio_wanted} | "
              f"{p99(ours)}{p99_wanted} |", flush=True)
        self.loads += [(what, ours), (f"{what}, nothing stored", bases)]

    def sends(self):
        """A campaign to some users from all connections, then to everyone."""
        workspace, bodies = (os.path.join(self.options.work, name) for name in ("workspace.yaml", "sends"))
        with open(workspace, "w") as file:
            file.write(CAMPAIGN)
        campaign = {"campaign_id": "spring", "trigger_properties": {"what": "sale"}}
        users = [f"u{number * 7919 % DEVICES}" for number in range(RECIPIENTS * 500)]
        Bodies.write(bodies, (
            campaign | {"recipients": [{"external_user_id": user} for user in users[at:at + RECIPIENTS]]}
            for at in range(0, len(users), RECIPIENTS)))
        loads, broadcasts = [], []
        for _ in range(self.options.rounds):
            with self.profiled("--workspace", workspace) as service:
                for at in range(0, DEVICES, 1_000):
                    service.post("/users/track/bulk", {"attributes": [
                        {"external_id": f"u{number}", "first_name": f"N{number}", "push_tokens": [
                            {"app_id": "ios", "token": f"t{number}", "device_id": f"d{number}"}]}
                        for number in range(at, at + 1_000)]})
                broadcasts.append(service.post("/campaigns/trigger/send", campaign | {"broadcast": True}))
                loads.append(service.load(bodies, self.options.round_seconds, "/campaigns/trigger/send"))
        rate = median(loads, "requests_per_s")
        print(f"| a campaign to {RECIPIENTS} users with a device, requests/s | | {rate:,.0f} | | ≥ 400 | "
              f"{p99(loads)} |")
        self.loads.append(("a campaign", loads))
        print(f"| a broadcast to {DEVICES:,} users with a device | | {statistics.median(broadcasts):.2f} s | | ≤ 2 s | "
              f"longest {max(broadcasts):.2f} s |", flush=True)

    def reads(self):
        """How long health and small writes take while clients ask for all that takes long."""
        self.stores += 1
        store, lines, paths = (os.path.join(self.options.work, name) for name in (
            f"store{self.stores}", "lines", "paths"))
        with open(lines, "w") as file:
            for turn in range(20):
                attributes = {f"attribute {number}": turn for number in range(5_000)}
                print(json.dumps({"kind": "custom_attribute", "user": "u", "attributes": attributes}), file=file)
            for turn in range(5):
                members = {f"member {number}": turn for number in range(4_000)}
                print(json.dumps({"kind": "custom_attribute", "user": "u", "attributes": {"object": members}}),
                      file=file)
            generated = subprocess.run(
                [CLI, "generate", "--events", "250000", "--users", str(USERS)], check=True, capture_output=True)
            file.write(generated.stdout.decode())
        subprocess.run([CLI, "--store", store, "import", lines], check=True, stdout=subprocess.DEVNULL)
        with open(paths, "w") as file:
            file.writelines(path + "\n" for path in WORST_READS)
        seconds = self.options.round_seconds
        with Service(
            self.options.work, PROFILED, "--port", "0", "--log-level", "critical", "--store", store,
        ) as service:
            readers = subprocess.Popen(
                ["wrk", "-t1", f"-c{READERS}", f"-d{seconds}s", "--timeout", "60s", "-s", "scripts/bench-reads.lua",
                 f"http://127.0.0.1:{service.port}"],
                stdout=subprocess.PIPE, text=True, env=os.environ | {"PATHS": paths})
            time.sleep(1)
            times = {"/health/live": [], "/v1/log/event": []}
            while readers.poll() is None:
                times["/health/live"].append(service.get("/health/live"))
                times["/v1/log/event"].append(
                    service.post("/v1/log/event", {"user": "other", "name": "e"}, wanted=200))
                time.sleep(0.01)
            count = json.loads(readers.stdout.read().strip().splitlines()[-1])["requests"]
        for path, taken in times.items():
            milliseconds = sorted(1000 * each for each in taken)
            print(f"| {path} under {READERS} clients with the worst reads, longest | | {milliseconds[-1]:.1f} ms | | "
                  f"≤ 100 ms | p50 {milliseconds[len(taken) // 2]:.1f}, p99 {milliseconds[len(taken) * 99 // 100]:.1f} "
                  f"ms of {len(taken)}; {count} reads answered |", flush=True)

    def long(self):
        seconds, megabytes = self.options.seconds, []
        with self.profiled() as service:
            service.load(self.bodies.batches, 2)
            exports = Exports(service.port, self.bodies.users)
            ended = threading.Event()

            def watch():
                while not ended.wait(seconds / 10):
                    megabytes.append(service.memory())

            watcher = threading.Thread(target=watch, daemon=True)
            watcher.start()
            exports.start()
            result = service.load(self.bodies.batches, seconds)
            ended.set()
            watcher.join()
            middle, slow, count = exports.stop()
            rest = service.memory()
        rate = result["requests_per_s"] * 2 * OBJECTS
        print(f"| the first load for {seconds} s, objects/s | | {rate:,.0f} | | ≥ 150,000 | {p99([result])} |")
        self.loads.append((f"the first load for {seconds} s", [result]))
        print(f"| export of one profile under this load | | {middle:.1f} ms | | p99 ≤ 10 ms | "
              f"p99 {slow:.1f} ms of {count} |")
        curve = ", ".join(f"{each:.0f}" for each in megabytes)
        print(f"| its memory, MB | | {max(megabytes):.0f} | | level | "
              f"after each tenth {curve}; at the end {rest:.0f} |")


def median(results, key):
    return statistics.median(result[key] for result in results)


def p99(results):
    return f"p99 {median(results, 'p99_ms'):.1f} ms"


def latencies(loads):
    """A table of how long requests took and what they cost."""
    print("\nLatencies in ms, and CPU in µs a request:\n\n| load | p50 | p99 | longest | CPU |\n|---|---|---|---|---|")
    for what, results in loads:
        times = " | ".join(f"{median(results, key):.1f}" for key in ("p50_ms", "p99_ms", "max_ms"))
        print(f"| {what} | {times} | {median(results, 'cpu_us'):,.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--round-seconds", type=int, default=10)
    parser.add_argument("--seconds", type=int, required=True, help="of the last load; 0 leaves it out")
    parser.add_argument("--work", required=True)
    options = parser.parse_args()
    print(f"{CONNECTIONS} connections, {USERS:,} users, medians of {options.rounds}; "
          f"{machine()}, with wrk on them too\n")
    print("| what | nothing stored | ProfileLog | ratio | wanted | note |\n|---|---|---|---|---|---|", flush=True)
    benchmark = Benchmark(options)
    benchmark.row(f"{OBJECTS} events + {OBJECTS} attributes a request, objects/s", benchmark.bodies.batches,
                  2 * OBJECTS, "≥ 150,000", None, " (≤ 250)")
    benchmark.row("one event a request, requests/s", benchmark.bodies.singles, 1, None, "ratio ≥ 0.6", "")
    benchmark.sends()
    benchmark.reads()
    if options.seconds:
        benchmark.long()
    latencies(benchmark.loads)


main()
