"""Doubles what one event, one value or one user holds, and prints by what factor each read grows, as Markdown.

Processor time counts, not the clock on the wall: other programs on the machine change it little. A read of a store of
`n` and one of a store of `2n` are compared within one run, so the factor does not depend on the machine.
"""

import argparse
import http.client
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.parse

from bench_machine import machine

USER = "u"
LINEAR = 2.3  # 2 is linear, 4 is the square; what grows more is listed below the table
SLACK = 0.06  # seconds that are no growth: the moment after which a read begins again, and the audit
MORE_TURNS = 6
# Dimensions, or dimensions and reads, that grow by more, and why.
EXPLAINED = {
    "elements one by one": "each event compares with the whole array, and a value has at most 100 KB",
}
WORKSPACE = """
segments:
  - {id: busy, name: Busy, all: [{event: e, at_least: 2}]}
subscription_groups:
  - {id: news, name: News, channel: email}
traits:
  - {name: seen, function: count, event: e}
  - {name: kinds, function: unique, event: e, property: p}
  - {name: often, function: most_frequent, event: e, property: p}
  - {name: total, function: sum, event: e, property: p}
  - {name: spent, function: sum, purchases: all, property: revenue}
"""


# What grows. Each dimension is lines of an import for a size; `a` is the attribute that the reads ask for by name.

def attributes(values):
    return {"kind": "custom_attribute", "user": USER, "attributes": values}


def event(name="e", **properties):
    return {"kind": "custom_event", "user": USER, "name": name, "properties": properties}


def texts(n, first=0):
    return [f"text {number * 7919 % 1_000_003:07}" for number in range(first, first + n)]


def attributes_of_an_event(n):
    """Five events that each set n attributes, in an order that is not that of the store's names."""
    for turn in range(5):
        values = {f"attribute {number:06}": turn for number in range(n)}
        names = list(values)
        yield {"kind": "custom_attribute", "user": "other", "attributes": {name: 1 for name in names}}
        yield attributes({name: values[name] for name in reversed(names)} | {"a": turn})


def attributes_one_by_one(n):
    """n events with an attribute each; another user had them before, in the opposite order."""
    for begin in range(0, n, 200):
        names = [f"attribute {number:06}" for number in range(begin, min(n, begin + 200))]
        yield {"kind": "custom_attribute", "user": "other", "attributes": {name: 1 for name in names}}
    for number in reversed(range(n)):
        yield attributes({f"attribute {number:06}": 1, "a": number})


def members_of_an_object(n):
    """An object of n members that is set five times, and then merged into."""
    for turn in range(5):
        yield attributes({"a": {f"member {number:06}": turn + number % 3 for number in range(n)}})
    yield changed({"a": {"merge": {f"member {number:06}": 9 for number in range(0, 2 * n, 2)}}})


def changed(operations):
    """A line in the form of an export: there attributes have operations."""
    return {"kind": "customAttributesChanged", "user": USER, "attributes": operations}


def elements_of_an_array(n):
    """An array that gets n texts, loses and gets all of them again, and half of them."""
    yield attributes({"a": texts(n)})
    yield changed({"a": {"add": texts(n, n // 2)}})
    yield changed({"a": {"remove": texts(n)}})
    yield changed({"a": {"add": texts(n)}})
    yield changed({"a": {"remove": texts(n // 2)}})
    yield event("e", p=texts(n))


def objects_of_an_array(n):
    """An array of n objects that are added, updated and removed by their ids."""
    def objects(first, count, value):
        return [{"id": number, "name": f"pet {number}", "value": value} for number in range(first, first + count)]
    yield attributes({"a": objects(0, n, 0)})
    yield changed({"a": {"add_objects": objects(n, n, 1)}})
    yield changed({"a": {"update": [
        {"key": "id", "value": number, "object": {"name": "b", "value": number}} for number in range(0, 2 * n, 2)]}})
    yield changed({"a": {"remove_objects": [{"key": "id", "value": number} for number in range(0, 2 * n, 3)]}})


def events_of_a_user(n):
    for number in range(n):
        yield event(p=number % 50, text=f"some text {number}")
        if number % 10 == 0:
            yield attributes({"a": number})


def names_of_events(n):
    for number in reversed(range(n)):
        yield {"kind": "custom_event", "user": "other", "name": f"event {number:06}"}
    for number in range(n):
        yield event(f"event {number:06}", p=number)


def products(n):
    for number in reversed(range(n)):
        yield {"kind": "purchase", "user": "other", "product_id": f"product {number:06}",
               "currency": "EUR", "price": 1.5}
    for number in range(n):
        yield {"kind": "purchase", "user": USER, "product_id": f"product {number:06}", "currency": "EUR", "price": 2.5}


def writes_of_an_attribute(n):
    for number in range(n):
        yield attributes({"a": f"value {number}"})


def elements_one_by_one(n):
    """n events that each add an element: what one attribute holds grows with the user's events."""
    for number in range(n):
        yield changed({"a": {"add": [f"text {number}"]}})


def different_values(n):
    """Values of a property that traits count and remember."""
    for number in range(n):
        yield event(p=f"value {number}")


def nested(n):
    """An object of n / 16 chains, each 16 objects deep."""
    for turn in range(3):
        value = {}
        for chain in range(max(1, n // 16)):
            inner = turn
            for level in range(16):
                inner = {f"level {level}": inner}
            value[f"chain {chain:05}"] = inner
        yield attributes({"a": value})


def users(n):
    for number in range(n):
        yield {"kind": "custom_event", "user": f"user {number:06}", "name": "e"}
    yield event()
    yield attributes({"a": 1})


class Dimension:
    def __init__(self, make, size, short, after=None):
        self.make, self.size, self.short, self.after = make, size, short, after
        self.name = make.__name__.replace("_", " ")


def merge_users(service, n):
    """Merges n / 4 users with an event and an attribute each into the user."""
    for begin in range(0, n // 4, 50):
        names = [f"guest {number}" for number in range(begin, min(n // 4, begin + 50))]
        service.post("/users/track", {
            "attributes": [{"external_id": name, name: 1} for name in names],
            "events": [{"external_id": name, "name": "e", "time": "2026-01-01T00:00:00Z"} for name in names]}, 201)
        service.post("/users/merge", {"merge_updates": [
            {"identifier_to_merge": {"external_id": name}, "identifier_to_keep": {"external_id": USER}}
            for name in names]}, 202)


def merged_users(n):
    yield event()
    yield attributes({"a": 1})


def save_items(service, n):
    for begin in range(0, n, 100):
        service.post("/v1/batch", {"items": [
            {"kind": "save/event", "user": USER, "device": "phone", "name": "e", "properties": {"p": number}}
            if number % 2 else
            {"kind": "save/attributes", "user": USER, "device": "phone", "attributes": {"a": number}}
            for number in range(begin, min(n, begin + 100))]}, 200)


def items_that_wait(n):
    yield event()
    yield attributes({"a": 1})


def launch_items(service, n):
    save_items(service, n)
    service.post("/v1/devices/phone/launch", {}, 200)


def items_that_were_flushed(n):
    yield event()
    yield attributes({"a": 1})


DIMENSIONS = [
    Dimension(attributes_of_an_event, 8_000, 250),
    Dimension(attributes_one_by_one, 8_000, 250),
    Dimension(members_of_an_object, 8_000, 250),
    Dimension(elements_of_an_array, 20_000, 600),
    Dimension(elements_one_by_one, 2_000, 150),
    Dimension(objects_of_an_array, 4_000, 150),
    Dimension(nested, 8_000, 320),
    Dimension(events_of_a_user, 20_000, 300),
    Dimension(names_of_events, 8_000, 250),
    Dimension(products, 8_000, 250),
    Dimension(writes_of_an_attribute, 20_000, 400),
    Dimension(different_values, 20_000, 300),
    Dimension(users, 20_000, 300),
    Dimension(merged_users, 4_000, 200, merge_users),
    Dimension(items_that_wait, 4_000, 200, save_items),
    Dimension(items_that_were_flushed, 4_000, 200, launch_items),
]


# What is asked. A GET of the service, a POST, or a command on the store.

def get(path, **query):
    return ("GET", path + ("?" + urllib.parse.urlencode(query) if query else ""), None)


def post(path, body):
    return ("POST", path, body)


def command(*words):
    return ("CLI", words, None)


CONDITION = "custom.a >= 0 or events.e.count > 3"
EXPORTED = {"external_ids": [USER]}
READS = [
    get("/v1/profile", user=USER),
    get("/v1/profile", user=USER, order="occurred"),
    get("/v1/profile", user=USER, as_of="version:2"),
    get("/v1/profile", user=USER, include_pending="true"),
    get("/v1/traits", user=USER),
    get("/v1/blame", user=USER),
    get("/v1/blame", user=USER, log="true"),
    get("/v1/blame", user=USER, field="a"),
    get("/v1/blame", user=USER, field="a", log="true"),
    get("/v1/blame", user=USER, field="event:e", log="true"),
    get("/v1/history", user=USER, limit=1000),
    get("/v1/history", user=USER, field="a", limit=1000),
    get("/v1/history", user=USER, launch="1"),
    get("/v1/diff", user=USER, a="version:1"),
    get("/v1/diff", user=USER, a="version:1", order="occurred"),
    get("/v1/diff", a="1"),
    get("/v1/events", limit=1000),
    get("/v1/users", where=CONDITION),
    get("/v1/users", limit=1000),
    get("/v1/users", prefix="u", limit=20),
    get("/v1/users/explain", user=USER, where=CONDITION),
    get("/v1/names", prefix="e", limit=20),
    get("/v1/series", of="event:e", length=30),
    get("/v1/export", what="events"),
    get("/v1/export", what="profiles"),
    get("/v1/export", what="events", format="jsonl"),
    get("/v1/export", what="events", format="csv"),
    get("/v1/export", what="profiles", format="jsonl"),
    get("/v1/export", what="profiles", format="csv"),
    get("/v1/pending"),
    get("/v1/rejected"),
    get("/v1/devices"),
    get("/v1/devices/phone"),
    get("/v1/devices/phone/pushes"),
    get("/v1/devices/phone/messages"),
    get("/v1/erase", user=USER),
    get("/v1/messages"),
    get("/v1/messages/explain", user=USER, position=3),
    get("/v1/whatif"),
    get("/v1/whatif/profiles", without="name:e"),
    get("/v1/whatif/profiles", without="name:a", where=CONDITION),
    get("/v1/sends"),
    get("/v1/rules"),
    get("/v1/replay"),
    get("/v1/stats"),
    get("/v1/status"),
    get("/v1/key"),
    post("/users/export/ids", EXPORTED),
    post("/users/export/segment", {"segment_id": "busy", "fields_to_export": ["external_id", "custom_attributes"]}),
    get("/events/list"),
    get("/events"),
    get("/custom_attributes"),
    get("/purchases/product_list"),
    get("/sessions/data_series", length=30),
    get("/events/data_series", event="e", length=30),
    get("/purchases/revenue_series", length=30),
    get("/purchases/quantity_series", length=30),
    get("/kpi/new_users/data_series", length=30),
    get("/kpi/dau/data_series", length=30),
    get("/kpi/mau/data_series", length=30),
    get("/kpi/uninstalls/data_series", length=30),
    get("/segments/list"),
    get("/segments/details", segment_id="busy"),
    get("/segments/data_series", segment_id="busy", length=30),
    get("/subscription/status/get", subscription_group_id="news", external_id=USER),
    get("/subscription/user/status", external_id=USER),
    get("/messages/scheduled_broadcasts", end_time="2030-01-01T00:00:00"),
    post("/v1/log/attributes", {"user": USER, "attributes": {"b": 1}}),
    post("/v1/log/event", {"user": USER, "name": "e"}),
    post("/users/track", {"attributes": [{"external_id": USER, "a": {"add": ["x"]}}]}),
    command("profile", USER),
    command("profile", USER, "--include-pending"),
    command("blame", USER),
    command("blame", USER, "--log"),
    command("blame", USER, "no such field"),
    command("history", USER),
    command("history", USER, "--graph"),
    command("history", USER, "--format", "json"),
    command("diff", USER, "version:1"),
    command("diff", "--all", "1"),
    command("users"),
    command("users", "--where", CONDITION),
    command("traits", USER),
    command("pending"),
    command("rejected"),
    command("device"),
    command("device", "show", "phone"),
    command("messages", "explain", USER, "--position", "3"),
    command("rules", "show"),
    command("sends"),
    command("stats"),
    command("whatif", "--without", "name:e"),
    command("whatif"),
    command("export", "--profiles", "--format", "csv"),
    command("export", "--events", "--format", "sqlite", "--into", "{work}/export.sqlite", "--force"),
    command("export"),
    command("check"),
    command("replay"),
    command("replay", "--verify"),
]


def forgotten(service):
    """The paths of GET that `READS` lacks."""
    paths = json.loads(service.ask("GET", "/openapi.json")[2])["paths"]
    asked = {what.split("?")[0].replace("/phone", "/{device}") for kind, what, _ in READS if kind == "GET"}
    own = {"/", "/openapi.json", "/metrics", "/health", "/health/live", "/health/ready", "/exports/{file}",
           "/v1/cluster", "/v1/cluster/copy", "/v1/cluster/digest"}  # bench-cluster.py measures nodes
    return sorted(path for path, methods in paths.items() if "get" in methods and path not in asked | own)


def shown(read):
    kind, what, _ = read
    if kind == "CLI":
        return "`" + " ".join(word for word in what if "{work}" not in word) + "`"
    return f"`{kind} {urllib.parse.unquote_plus(what).replace('|', ' ')}`"


class Service:
    """A `profiled` on a store, which measures the processor time of its answers."""

    def __init__(self, programs, store, workspace, work):
        port_file = os.path.join(store, "port")
        self.process = subprocess.Popen(
            [os.path.join(programs, "profiled"), "--store", store, "--port", "0", "--port-file", port_file,
             "--workspace", workspace, "--log-level", "critical"],
            stdout=subprocess.DEVNULL)
        for _ in range(600):
            try:
                with open(port_file) as file:
                    self.port = int(file.read())
                    break
            except (FileNotFoundError, ValueError):
                time.sleep(0.05)
        else:
            sys.exit("profiled did not start.")
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.process.terminate()
        self.process.wait()

    def cpu(self):
        """Seconds of processor time of the process, threads that have ended included (clock_getcpuclockid)."""
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def ask(self, method, path, body=None):
        headers = {"Content-Type": "application/json"} if body is not None else {}
        begin = self.cpu()
        self.connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        response = self.connection.getresponse()
        answer = response.read()
        return self.cpu() - begin, response.status, answer

    def post(self, path, body, wanted):
        _, status, answer = self.ask("POST", path, body)
        if status != wanted:
            sys.exit(f"{path}: {status} {answer[:300]}")


class Store:
    """A store with one dimension at one size, and how long each read of it takes."""

    def __init__(self, options, dimension, size):
        self.options, self.dimension = options, dimension
        self.folder = os.path.join(options.work, f"{dimension.make.__name__}-{size}")
        self.workspace = os.path.join(options.work, "workspace.yaml")
        with open(self.workspace, "w") as file:
            file.write(WORKSPACE)
        lines = os.path.join(options.work, "lines")
        with open(lines, "w") as file:
            for line in dimension.make(size):
                print(json.dumps(line), file=file)
        self.import_time = self.run("import", lines)
        if dimension.after:
            with self.service() as service:
                begin = service.cpu()
                dimension.after(service, size)
                self.import_time += service.cpu() - begin

    def remove(self):
        shutil.rmtree(self.folder)

    def service(self):
        return Service(self.options.programs, self.folder, self.workspace, self.options.work)

    def run(self, *words):
        """Processor seconds of a command."""
        process = subprocess.Popen(
            [os.path.join(self.options.programs, "profilecli"), "--store", self.folder,
             *(word.format(work=self.options.work) if "{work}" in word else word for word in words)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env=os.environ | {"PROFILELOG_WORKSPACE": self.workspace})
        error = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        # Some dimensions lack what a read names.
        if process.returncode not in (0, 1) and b"never seen" not in error:
            sys.exit(f"{words}: {process.returncode} {error[:300]}")
        return usage.ru_utime + usage.ru_stime

    def least(self, read, service, turns):
        """The least processor seconds of a read."""
        if read[0] == "CLI":
            return min(self.run(*read[1]) for _ in range(turns))
        times = []
        for _ in range(turns):
            took, status, answer = service.ask(*read)
            times.append(took)
            if status >= 500:
                sys.exit(f"{self.dimension.name}: {shown(read)}: {status} {answer[:200]}")
        return min(times)


def growth(read, small, large, turns):
    """Seconds for a size and for its double. What seems to grow fast is measured again: a service has other work too,
    as its audit."""
    before, after = small[0].least(read, small[1], turns), large[0].least(read, large[1], turns)
    for _ in range(MORE_TURNS):
        if after <= LINEAR * before + SLACK:
            break
        before, after = min(before, small[0].least(read, small[1], 1)), min(after, large[0].least(read, large[1], 1))
    return before, after


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--programs", default=".build/release")
    parser.add_argument("--short", action="store_true", help="small sizes, requests alone: for a debug build")
    parser.add_argument("--only", help="dimensions whose names begin so; several with commas")
    parser.add_argument("--reads", help="reads whose names contain this")
    parser.add_argument("--size", type=float, default=1, help="a factor of all sizes")
    parser.add_argument("--turns", type=int, default=2)
    options = parser.parse_args()

    least = 0.02 if options.short else 0.01
    reads = [read for read in READS if not options.short or read[0] != "CLI"]
    if options.reads:
        reads = [read for read in reads if options.reads in shown(read)]
    dimensions = [one for one in DIMENSIONS if not options.only or one.name.startswith(tuple(options.only.split(",")))]
    writes = "all writes, by `import` or requests"
    rows = {name: [] for name in [shown(read) for read in reads] + [writes]}
    faster, failed = [], False
    for dimension in dimensions:
        size = int((dimension.short if options.short else dimension.size) * options.size)
        small, large = (Store(options, dimension, n) for n in (size, 2 * size))
        with small.service() as small_service, large.service() as large_service:
            if lacks := forgotten(large_service):
                sys.exit(f"READS lacks {', '.join(lacks)}.")
            seconds = {
                shown(read): growth(read, (small, small_service), (large, large_service), options.turns)
                for read in reads}
        seconds[writes] = small.import_time, large.import_time
        for name, row in rows.items():
            before, after = seconds[name]
            if after < least:
                row.append("")
                continue
            factor = after / max(before, 1e-6)
            row.append(f"{factor:.1f} ({after * 1000:,.0f})")
            if after > LINEAR * before + SLACK:
                reason = EXPLAINED.get((dimension.name, name), EXPLAINED.get(dimension.name))
                failed = failed or not reason
                faster.append(f"* {dimension.name}, {size:,} and {2 * size:,}: {name}, {before * 1000:,.0f} and "
                              f"{after * 1000:,.0f} ms{': ' + reason if reason else ''}")
        small.remove()
        large.remove()
        print(dimension.name, file=sys.stderr, flush=True)
    print(f"Growth when a dimension doubles, and milliseconds of the double, processor time; empty below "
          f"{least * 1000:.0f} ms; {machine()}\n")
    print("| read | " + " | ".join(f"{one.name}" for one in dimensions) + " |")
    print("|---|" + "---|" * len(dimensions))
    for name, row in rows.items():
        if any(row):
            print(f"| {name} | " + " | ".join(row) + " |")
    unseen = [name for name, row in rows.items() if not any(row)]
    if unseen:
        print(f"\nBelow {least * 1000:.0f} ms in each: {', '.join(unseen)}")
    if faster:
        print(f"\nMore than {LINEAR} times and {SLACK * 1000:.0f} ms:\n\n" + "\n".join(faster))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
