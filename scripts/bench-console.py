"""Measures the console in Chromium against its budgets, and prints medians and p95 as Markdown."""

import argparse
import gzip
import http.client
import itertools
import json
import os
import pathlib
import re
import statistics
import sys
import threading
import time

from bench_machine import machine
from browser import Browser
from service import Service

ROOT = pathlib.Path(__file__).resolve().parents[1]
FILES = os.environ.get("CONSOLE_FILES") and os.path.abspath(os.environ["CONSOLE_FILES"])
FOLDER = pathlib.Path(FILES or ROOT / "Sources/profiled/Console")
# Watches a page from its first script on: when panels show something, when a canvas is drawn, which requests are open,
# how long keys take to the next paint, and how long frames are.
WATCH = """
(() => {
  const w = window.bench = {shown: 0, drawn: 0, open: 0, most: 0, events: [], frames: [], profiles: 0, mostProfiles: 0};
  for (const name of ['fill', 'stroke', 'fillRect', 'fillText', 'drawImage', 'putImageData']) {
    const f = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...args) { w.drawn = performance.now(); return f.apply(this, args); };
  }
  const fetch = window.fetch;
  window.fetch = async (...args) => {
    const isProfile = /\\/v1\\/profile\\?/.test(String(args[0]));
    w.most = Math.max(w.most, ++w.open);
    if (isProfile) w.mostProfiles = Math.max(w.mostProfiles, ++w.profiles);
    try { return await fetch(...args); } finally { w.open--; if (isProfile) w.profiles--; w.answered = performance.now(); }
  };
  const observe = () => new MutationObserver(() => {
    w.changed = performance.now();
    const panels = document.querySelectorAll('#root .panel');
    if (!w.shown && panels.length && [...panels].some((p) => p.dataset.state === 'shown')) w.first ??= performance.now();
    if (!w.shown && panels.length && [...panels].every((p) => p.dataset.state === 'shown' || (p.dataset.state === 'empty' && !p.ariaBusy && p.querySelector('.body')?.childNodes.length))) w.shown = performance.now();
  }).observe(document, {subtree: true, childList: true, attributes: true, attributeFilter: ['data-state']});
  if (document.documentElement) observe(); else document.addEventListener('readystatechange', observe, {once: true});
  new PerformanceObserver((list) => { for (const e of list.getEntries()) if (/^key/.test(e.name) && e.interactionId) w.events.push(e.duration); })
    .observe({type: 'event', durationThreshold: 16});
  w.run = (frames, step) => new Promise((done) => {
    const times = [];
    let last = performance.now(), n = 0;
    const frame = (now) => {
      times.push(now - last); last = now;
      if (n >= frames) return done(times.slice(2));
      step(n++); requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
})();
"""
rows, failed = [], []


def p95(values):
    return sorted(values)[min(len(values) - 1, int(len(values) * 0.95))]


def row(what, values, budget, worst=None, unit="ms", least=False):
    """`budget` is of the median, `worst` of the p95. `least`: more is better."""
    values = list(values)
    if not values:
        rows.append(f"| {what} | – | – | {budget} {unit} | **not measured** |")
        failed.append(what)
        return
    median, tail = statistics.median(values), min(values) if least else p95(values)
    good = (median >= budget if least else median <= budget) and (worst is None or tail <= worst)
    shape = lambda v: f"{v:,.3f}" if least else f"{v:,.0f}" if unit == "" or v >= 100 else f"{v:,.1f}"
    limit = f"{'≥' if least else '≤'} {budget:,} {unit}".rstrip() + (f", p95 {worst}" if worst else "")
    rows.append(f"| {what} | {shape(median)} | {shape(tail) if len(values) > 1 else ''} | {limit} | {'yes' if good else '**no**'} |")
    if not good:
        failed.append(what)
    print(rows[-1], file=sys.stderr, flush=True)


class Bench:
    def __init__(self, options):
        self.options = options
        self.service = Service("--max-connections-per-address", "512", *(["--console", FILES] if FILES else []))
        self.url = f"{self.service.url}/console/"
        self.browser = Browser()
        self.browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=WATCH)

    def close(self):
        self.browser.quit()
        self.service.kill()

    def fill(self, user, count, users=1):
        """`count` events, each also a change of one of 20 attributes at times, of `user` or of `users` of them."""
        step = min(300, 30_000_000 // count)  # seconds; all within a year
        for first in range(0, count, 20_000):
            lines = []
            for n in range(first, min(count, first + 20_000)):
                at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_750_000_000 + n * step))
                name = user if users == 1 else f"{user}{n % users:07}"
                lines.append({"kind": "custom_attribute", "user": name, "time": at, "attributes": {f"field {n % 20}": n}}
                             if n % 4 == 0 else
                             {"kind": "custom_event", "user": name, "time": at, "name": f"event {n % 30}", "properties": {"n": n}})
            answer = self.service.post("/v1/import", {"name": f"{user} {first}", "lines": lines})
            if answer.status != 200:
                raise RuntimeError(answer)

    def open(self, path):
        self.browser.open("about:blank", settled=False)
        self.browser.driver.get(self.url + path)

    # The parts

    def weight(self):
        files = [f for f in FOLDER.iterdir() if f.is_file()]
        page = (FOLDER / "index.html").read_text()
        first = {"index.html", *re.findall(r'(?:href|src)="\./([\w.-]+\.(?:js|css))"', page)}
        row("all files", [sum(f.stat().st_size for f in files) / 1024], 180, unit="KB")
        row("all files, gzip", [sum(len(gzip.compress(f.read_bytes())) for f in files) / 1024], 60, unit="KB")
        row("before the first content", [sum((FOLDER / n).stat().st_size for n in first) / 1024], 60, unit="KB")

    def paint(self):
        paints, shown = [], []
        for _ in range(self.options.rounds):
            self.open("")
            self.browser.until("bench.shown > 0", limit=5)
            paints.append(self.browser.js("return performance.getEntriesByType('paint').find((e) => e.name === 'first-contentful-paint')?.startTime"))
            shown.append(self.browser.js("return bench.shown || bench.first"))
        row("first paint", [p for p in paints if p], 150)
        row("Overview, all panels shown", [s for s in shown if s], 300)

    def marks(self):
        for count, budget in ((10_000, 350), (100_000, 1000)):
            user = f"user{count}"
            self.fill(user, count)
            times, elements = [], 0
            for _ in range(max(3, self.options.rounds // 3)):
                self.open(f"users/{user}")
                self.browser.until("bench.drawn > 0 && bench.open === 0 && performance.now() - bench.answered > 400", limit=15)
                drawn = self.browser.js("return bench.drawn")
                times += [drawn] if drawn else []
                elements = max(elements, self.browser.elements())
            row(f"{count:,} events of a user, to the last mark drawn", times, budget)
            row(f"elements in the document with {count:,} events", [elements], 1500, unit="")

    def at_slider(self, user="user10000"):
        self.open(f"users/{user}")
        if not self.browser.until("bench.drawn > 0 && bench.open === 0 && performance.now() - bench.answered > 400", limit=15):
            return False
        return self.browser.js("const r = document.querySelector('input[type=range]'); r?.focus(); return !!r")

    def step(self):
        if not self.at_slider():
            return row("a step of the handle, key to paint", [], 32)
        b = self.browser
        b.js("bench.events = []; bench.mostProfiles = 0")
        presses = 60
        for _ in range(presses):
            b.keys("Left")
            time.sleep(0.04)
        time.sleep(0.5)
        # Event Timing tells of 16 ms and more, in steps of 8: the others took less.
        seen = b.js("return bench.events")
        row("a step of the handle, key to paint", [*seen, *[16] * max(0, presses - len(seen))], 32, worst=50)
        row("profiles asked for at once, in steps", [b.js("return bench.mostProfiles")], 1, unit="")
        b.js("bench.mostProfiles = 0")
        frames = b.wait_js("const r = document.querySelector('input[type=range]'), from = Number(r.value);"
                           "bench.run(200, (n) => { r.value = from - n * 7; r.dispatchEvent(new Event('input', {bubbles: true})); }).then(done)")
        wanted = b.js("return document.querySelector('input[type=range]').getAttribute('aria-valuetext')")
        row("a drag of 200 moves, a frame", frames, 17, worst=50)
        row("profiles asked for at once, in a drag", [b.js("return bench.mostProfiles")], 1, unit="")
        b.until("bench.open === 0 && performance.now() - bench.changed > 400", limit=8)
        at = re.search(r"at=(\d+)", b.js("return location.search") or "")
        print(f"after the drag: {wanted!r}, at={at and at.group(1)}", file=sys.stderr)

    def zoom(self):
        if not self.at_slider():
            return row("zoom, a frame", [], 17)
        b = self.browser
        frames = b.wait_js("""
            const r = document.querySelector('input[type=range]');
            const key = (code) => r.dispatchEvent(new KeyboardEvent('keydown', {code, key: code, bubbles: true, cancelable: true}));
            bench.run(120, (n) => { if (n % 4 === 0) key(n % 48 < 24 ? 'Equal' : 'Minus'); }).then(done)""")
        row("zoom over 10,000 marks, a frame", frames, 17, worst=50)
        rows[-1] = rows[-1].replace(" |", f" (longest {max(frames):.0f}) |", 1)
        frames = b.wait_js("const g = [...document.querySelectorAll('.grid')].find((g) => g.scrollHeight > g.clientHeight + 100);"
                           "if (!g) return done([]); bench.run(120, (n) => { g.scrollTop += 190; }).then(done)")
        row("scroll of the list of 10,000 rows, a frame", frames, 17, worst=50)
        if frames:
            rows[-1] = rows[-1].replace(" |", f" (longest {max(frames):.0f}) |", 1)
        row("elements in the document after it", [b.elements()], 1500, unit="")

    def search(self):
        users = 1_000_000 if self.options.long else 20_000
        self.fill("person", users, users=users)
        b, times = self.browser, []
        self.open("")
        b.until("bench.shown > 0", limit=5)
        b.js("document.getElementById('find').focus()")
        for key in "person0012345"[:13]:
            # From the key to the list that the service's answer made.
            b.js("""bench.key = 0; bench.listed = 0;
                document.getElementById('find').addEventListener('keydown', () => { bench.key = performance.now(); }, {once: true, capture: true});
                bench.look?.disconnect();
                bench.look = new MutationObserver(() => { if (bench.key) requestAnimationFrame(() => { bench.listed = performance.now(); }); });
                bench.look.observe(document.getElementById('search'), {subtree: true, childList: true});""")
            b.keys(key)
            time.sleep(0.25)
            took = b.js("return bench.listed - bench.key")
            times += [took] if took > 0 else []
        row(f"a key in the search at {users:,} users, to its list", times, 50)

    def closed_loop(self, seconds):
        """Appends one after the other from two clients: how many in the time."""
        done = []

        def client(number):
            connection, count, end = http.client.HTTPConnection("127.0.0.1", self.service.port), 0, time.monotonic() + seconds
            while time.monotonic() < end:
                connection.request("POST", "/v1/log/event", json.dumps({"user": f"load{count % 100}", "name": "load"}),
                                   {"Content-Type": "application/json"})
                connection.getresponse().read()
                count += 1
            done.append(count)
        clients = [threading.Thread(target=client, args=(n,)) for n in range(2)]
        for one in clients:
            one.start()
        for one in clients:
            one.join()
        return sum(done) / seconds

    def appends(self):
        seconds, ratios = 60 if self.options.long else 6, []
        self.closed_loop(2)
        for turn in range(5):
            pair = {}
            for is_open in ((True, False) if turn % 2 else (False, True)):
                self.open("") if is_open else self.browser.open("about:blank", settled=False)
                time.sleep(1)
                pair[is_open] = self.closed_loop(seconds)
            ratios.append(pair[True] / pair[False])
        row(f"appends with Overview open, to those without (5 pairs of {seconds} s)", ratios, 0.98, unit="", least=True)

    def memory(self):
        seconds = 3600 if self.options.long else 60
        stop = threading.Event()

        def load():
            connection = http.client.HTTPConnection("127.0.0.1", self.service.port)
            for n in itertools.count():
                if stop.is_set():
                    return
                began = time.monotonic()
                items = [{"kind": "log/event", "user": f"user{(n * 50 + i) % 1000}", "name": f"event {i}"} for i in range(50)]
                connection.request("POST", "/v1/batch", json.dumps({"items": items}), {"Content-Type": "application/json"})
                connection.getresponse().read()
                time.sleep(max(0, 0.1 - (time.monotonic() - began)))
        self.open("")
        worker = threading.Thread(target=load)
        worker.start()

        def used():
            self.browser.cdp("HeapProfiler.collectGarbage")
            return self.browser.cdp("Runtime.getHeapUsage")["usedSize"] / 2**20
        time.sleep(min(60, seconds / 3))
        before = used()
        time.sleep(seconds - min(60, seconds / 3))
        after = used()
        stop.set()
        worker.join()
        row(f"growth of Overview in {seconds:,} s at 500 events/s, after the first {min(60, seconds // 3)}", [after - before], 10, unit="MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", help="parts: weight, paint, marks, step, zoom, search, appends, memory")
    parser.add_argument("--long", action="store_true", help="a million users, an hour of Overview, appends of 60 s")
    options = parser.parse_args()
    bench = Bench(options)
    parts = ["weight", "paint", "marks", "step", "zoom", "appends", "memory", "search"]
    wanted = [part for part in parts if not options.only or part in re.split("[, ]", options.only)]
    if {"step", "zoom"} & set(wanted) and "marks" not in wanted:
        bench.fill("user10000", 10_000)
    try:
        for part in wanted:
            getattr(bench, part)()
    finally:
        bench.close()
    version = bench.browser.driver.capabilities.get("browserVersion", "") if bench.browser.driver.capabilities else ""
    print(f"The console in Chromium {version}, headless, on loopback; {machine()}\n")
    print("| what | median | p95, or the least | budget | kept |\n|---|---|---|---|---|")
    print("\n".join(rows))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
