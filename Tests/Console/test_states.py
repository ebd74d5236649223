"""Every place in every state of its panels, at three widths, in light and dark, with and without motion, and once in
forced colours: axe, geometry, focus, silence."""

import itertools
import os
import re
import tempfile
import time
import urllib.parse

from browser import COLOURS
from scene import PageTests, empty_scene, own, scene
from service import keys

WIDTHS = (320, 360, 1440)
SCHEMES = ("light", "dark")
# (name, address): the people, devices and messages are those of story.yaml.
PLACES = [
    ("overview", ""),
    ("users", "users"),
    ("users where", "users?where=" + urllib.parse.quote("custom.level > 1")),
    ("a person", "users/ana"),
    ("why a value", "users/ana?field=level"),
    ("a person in the past", "users/ana?at=9"),
    ("why a value in the past", "users/ana?at=9&field=level"),
    ("a person, both clocks", "users/ana?axis=both"),
    ("a person, A and B", "users/ana?at=13&vs=2"),
    ("devices", "devices"),
    ("a device", "devices/phone"),
    ("a device in the past", "devices/phone?at=8"),
    ("sends", "messages"),
    ("a message", "messages/welcome?user=bo"),
    ("a message that was not shown", "messages/winner?user=bo"),
    ("events", "events"),
    ("an event", "events/12"),
    ("rejected", "rejected"),
    ("rules", "rules"),
    ("traits", "traits"),
    ("states", "states"),
    ("api", "api"),
    ("a person who is not there", "users/nobody"),
    ("a device that is not there", "devices/none"),
    ("a message that is not there", "messages/none"),
    ("an event that is not there", "events/999999"),
]
ABSENT = {"a person who is not there", "a device that is not there", "a message that is not there",
          "an event that is not there"}
# What a person is asked to see of the frame itself: (name, address, JavaScript that brings it about).
FRAME = [
    ("the drawer of requests", "", "document.getElementById('requests').click()"),
    ("the list of keys", "users/ana", "document.dispatchEvent(new KeyboardEvent('keydown', {key: '?', code: 'Slash', shiftKey: true, bubbles: true}))"),
    ("the search box", "", "const f = document.getElementById('find'); f.focus(); f.value = 'ana'; f.dispatchEvent(new Event('input', {bubbles: true}))"),
    ("the menu", "users", "document.getElementById('menu').click()"),
    ("Act, on a person", "users/ana", "document.getElementById('act').click()"),
    ("Act, on a value", "users/ana?field=level", "document.getElementById('act').click()"),
    ("Act, on a device", "devices/phone", "document.getElementById('act').click()"),
    ("Act, on what was rejected", "rejected", "document.getElementById('act').click()"),
    ("UTC", "users/ana", "const c = document.getElementById('clock'); c.value = 'utc'; c.dispatchEvent(new Event('change', {bubbles: true}))"),
]
ONLY = os.environ.get("CONSOLE_ONLY", "")


def chosen(name):
    return not ONLY or re.search(ONLY, name)


class StateTests(PageTests):
    def look_at(self, state, url, expected=(), prepare=None, settling=None, turns=range(6)):
        """Opens `url` once in a narrow window, and measures it in all others; then forced colours, and the focus.

        In the dark axe looks at colours alone: all else is as it was in the light, in the same window.

        `turns` are those of the six windows that axe and the focus are tried in; without all six there is no test in
        forced colours.
        """
        b, found = self.browser, {}

        def add(where, findings):
            for finding in findings:
                found.setdefault(finding, []).append(where)

        b.look(360, "dark", "reduce")
        if not b.open(url, **(settling or {})):
            busy = b.js("return consoleTest.name(document.querySelector('[aria-busy=true]') ?? document.body)")
            add("opened", [f"it does not come to rest: {busy}"])
        if prepare:
            b.js(prepare)
            b.settle(**(settling or {}))
        if "could not be loaded" in b.text("#root"):
            add("opened", ["its module is missing or broken"])
        for turn, (width, scheme) in enumerate(itertools.product(WIDTHS, SCHEMES)):
            # Both kinds of motion at each width, and in each scheme.
            motion = ("reduce", "no-preference")[(turn + turn // 2) % 2]
            b.look(width, scheme, motion)
            where = f"{width} {scheme}{' less motion' if motion == 'reduce' else ''}"
            add(where, b.geometry())
            add(where, (b.axe() if scheme == "light" or len(turns) < 6 else b.axe(COLOURS)) if turn in turns else [])
            add(where, b.motion() if motion == "reduce" else [])
            add(where, b.focus() if turn in turns and scheme == "light" else [])
        if len(turns) == 6:
            b.look(360, "light", "no-preference", forced=True)
            add("forced colours", [*b.geometry(), *b.axe(), *b.focus()])
        count = b.elements()
        if count > 1500:
            add("360", [f"{count} elements in the document, and at most 1,500 are allowed"])
        if not b.js("return document.title"):
            add("360", ["the page has no title"])
        add("console", b.noise("http://127.0.0.1", [*self.expected, *expected]))
        if crash := self.scene.crash():
            add("service", [crash])
        return [f"{state} [{', '.join(where)}]: {finding}" for finding, where in found.items()]

    def check(self, states, **options):
        for name, path, *prepare in states:
            if chosen(name):
                with self.subTest(state=name):
                    began = time.monotonic()
                    found = self.look_at(name, self.scene.at(path), prepare=prepare[0] if prepare else None, **options)
                    if os.environ.get("CONSOLE_TIMES"):
                        print(f"{time.monotonic() - began:5.1f} s  {self.id().split('.')[-1]}: {name}", flush=True)
                    self.assertNone(found, name)

    def test_each_place_with_something_to_show_is_accessible_fits_and_is_silent(self):
        self.scene = scene()
        self.check([place for place in PLACES if place[0] not in ABSENT])

    def test_the_overview_of_a_node_shows_the_cluster_and_other_services_are_not_asked_for_one(self):
        self.scene, b = scene(), self.browser
        proxy = self.scene.proxy
        began = len(proxy.seen)
        b.open(self.scene.at(""))
        self.assertEqual(proxy.asked("^/v1/cluster", since=began), [])
        node = {"instance": "1", "url": "http://a:8080", "sequence": 40, "position": 1200, "is_writer": True,
                "writable": True, "broker": "n1:4222", "version": "1.0.0", "age_s": 0.1}
        nodes = [{"name": "a", **node}, {"name": "b", **node, "is_writer": False, "age_s": 12.2},
                 {"name": "c", **node, "is_writer": False, "broker": None, "refusal": "The clock is 40 s ahead."},
                 {"name": "d", **node, "is_writer": False}]
        body = {"cluster": "shop", "node": nodes[0], "nodes": nodes, "writer": "a", "lag_s": 0.004,
                "warnings": [{"error": "The monitor http://n2:8222 does not answer.", "remedy": "Correct it."}]}
        proxy.headers = {"X-ProfileLog-Node": "a"}
        try:
            with proxy.fault("^/v1/cluster$", status=200, body=body):
                self.assertNone(self.look_at("overview of a node", self.scene.at("")), "overview of a node")
                rows = b.js("return [...document.querySelectorAll('[aria-label=Nodes] tbody tr')].map((r) => "
                            "[...r.cells].map((c) => c.textContent).join(' | '))")
        finally:
            proxy.headers = {}
        self.assertEqual(rows, ["a | 1,200 | n1:4222 | writes", "b | 1,200 | n1:4222 | no word for 12 seconds",
                                "c | 1,200 | none | The clock is 40 s ahead.", "d | 1,200 | n1:4222 | ready"])
        self.assertIn("Lag of a: 4 ms", b.text("#root"))
        self.assertIn("The monitor http://n2:8222 does not answer. Correct it.", b.text("#root"))

    def test_an_address_of_what_is_not_there_says_so_accessibly(self):
        self.scene = scene()
        self.expected += ["status of 404", "status of 400"]
        self.check([place for place in PLACES if place[0] in ABSENT])

    def test_each_place_of_an_empty_store_says_what_would_be_there(self):
        self.scene = empty_scene()
        self.expected += ["status of 404"]
        for name, path in PLACES:
            if "?" in path or "/" in path or name in ABSENT or not chosen(name):
                continue
            with self.subTest(state=f"{name}, empty"):
                self.assertNone(self.look_at(f"{name}, empty", self.scene.at(path)), name)
                # A panel says it is empty by a sentence of its own, never by a list without rows.
                bare = self.browser.js("return [...document.querySelectorAll('.panel')].filter((p) => p.checkVisibility() && "
                                       "p.innerText.trim().split(/\\s+/).length < 6 && !p.querySelector('form, input, button')).map((p) => consoleTest.name(p))")
                self.assertEqual(bare, [], f"{name}: a panel that says nothing")

    def test_the_parts_of_the_frame_are_accessible_when_they_are_open(self):
        self.scene = scene()
        self.check(FRAME)

    PANELS = [place for place in PLACES if place[0] in (
        "overview", "users", "a person", "why a value", "devices", "a device", "sends", "a message", "events",
        "an event", "rejected", "rules", "traits", "states", "api")]

    def with_fault(self, word, then, settling=None, **fault):
        self.scene = scene()
        for index, (name, path) in enumerate(self.PANELS):
            if chosen(name):
                with self.subTest(state=f"{name}, {word}"), self.scene.proxy.fault(r"^/(v1/|openapi)", **fault) as made:
                    # All panels fail by the same lines of panel.js: two windows for each place, all for all of them.
                    found = self.look_at(f"{name}, {word}", self.scene.at(path), settling=settling,
                                         turns=(index % 6, (index + 3) % 6))
                    self.assertGreater(made.hits, 0, f"{name} asked for nothing")
                    then(name)
                    self.assertNone(found, f"{name}, {word}")

    def test_a_panel_that_failed_shows_the_services_sentence_and_its_remedy(self):
        self.expected += ["status of 500"]
        body = {"error": "The record at position 12 fails its checksum.", "remedy": "Run `profilecli check`.",
                "code": "damaged"}
        self.with_fault("failed", lambda name: self.assertSays(
            "fails its checksum", "Run profilecli check", "damaged", "Try again", where=name, limit=2),
            status=500, body=body)

    def test_a_panel_that_was_refused_names_the_permission_that_is_missing(self):
        self.expected += ["status of 403"]
        body = {"error": "This key may not do this.", "code": "not_allowed",
                "remedy": "Use a key with the permission v1.read."}
        self.with_fault("refused", lambda name: self.assertSays("may not do this", "v1.read", where=name, limit=2),
                        status=403, body=body)

    def test_a_panel_that_waits_for_its_answer_says_so_and_is_marked_as_busy(self):
        self.expected += ["ERR_ABORTED", "ERR_CONNECTION", "ERR_EMPTY"]
        def then(name):
            busy = self.browser.js("return document.querySelectorAll('[aria-busy=true]').length")
            text = self.browser.text("#root")
            self.browser.open("about:blank", settled=False)
            self.assertGreater(busy, 0, f"{name}: nothing is marked as busy:\n{text[:500]}")
            self.assertIn("Loading…", text)
        self.with_fault("loading", then, settling={"held": True, "quiet": 250}, hold=True)

    def test_a_page_that_lost_its_service_keeps_what_it_shows_and_says_since_when(self):
        self.scene = scene()
        self.expected += ["ERR_CONNECTION", "ERR_EMPTY"]
        for name, path in (("overview", ""), ("a person", "users/ana"), ("a device", "devices/phone")):
            if not chosen(name):
                continue
            with self.subTest(state=f"{name}, lost"):
                self.browser.look(360)
                self.browser.open(self.scene.at(path))
                before = self.browser.text("#root h1")
                with self.scene.proxy.fault(".", method="*", drop="request", quiet=True):
                    self.assertSays("No answer since", limit=4)
                    self.assertEqual(self.browser.text("#root h1"), before)
                    for width, scheme in itertools.product(WIDTHS, SCHEMES):
                        self.browser.look(width, scheme)
                        self.assertNone([*self.browser.geometry(), *self.browser.axe()], f"{name}, lost, {width}, {scheme}")

    def test_a_finger_finds_rows_and_targets_that_are_high_enough(self):
        self.scene = scene()
        b = self.browser
        b.cdp("Emulation.setTouchEmulationEnabled", enabled=True)
        try:
            for name, path in PLACES:
                if name in ("overview", "users", "why a value", "a device", "a message", "events", "rejected") and chosen(name):
                    with self.subTest(state=f"{name}, by finger"):
                        b.look(360, mobile=True)
                        b.open(self.scene.at(path))
                        self.assertTrue(b.js("return matchMedia('(pointer: coarse)').matches"))
                        self.assertNone([*b.geometry(), *b.axe()], f"{name}, by finger")
                        low = b.js("return [...document.querySelectorAll('.grid .r, button:not(.text), select')]"
                                   ".filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 43.5).map(consoleTest.name)")
                        self.assertNone(low[:5], f"{name}, by finger: lower than 44 px")
        finally:
            b.cdp("Emulation.setTouchEmulationEnabled", enabled=False)

    def test_a_service_with_keys_asks_for_one_in_place(self):
        with tempfile.TemporaryDirectory() as folder:
            keys(folder, "add", "--name", "page")
            with own("--keys", f"{folder}/keys.json", story=False) as self.scene:
                self.expected += ["status of 401"]
                self.check([("a key is needed", ""), ("a key is needed, for a person", "users/ana")])

