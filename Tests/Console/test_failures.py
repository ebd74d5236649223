"""What goes wrong while a page is open: it says so, keeps what it shows, and recovers without being loaded anew."""

import json
import os
import pathlib
import re
import tempfile
import time
import urllib.parse

from scene import PageTests, own, scene
from service import Service, keys

ONLY = os.environ.get("CONSOLE_ONLY", "")
PERSON = "users/ana"
# Messages that Chromium writes by itself when a request fails.
LOST = ["ERR_CONNECTION", "ERR_EMPTY", "ERR_SOCKET", "ERR_INCOMPLETE", "ERR_HTTP2", "ERR_NETWORK"]


class FailureTests(PageTests):
    def open(self, s, path):
        """Opens a place, and marks the document: a page that was loaded anew has lost the mark."""
        self.browser.open(s.at(path))
        self.browser.js("window.mark = true")

    def assertSamePage(self):
        self.assertTrue(self.browser.js("return !!window.mark"), "the page was loaded anew")

    def go(self, s, path):
        """To another moment of the same place, as the browser's Back does."""
        self.browser.js("history.pushState(null, '', arguments[0]); dispatchEvent(new PopStateEvent('popstate'))", s.at(path))

    def test_a_page_outlives_its_service_and_shows_what_happened_meanwhile(self):
        self.expected += LOST
        with tempfile.TemporaryDirectory() as folder:
            with own(store=f"{folder}/store", story=False) as s:
                s.post("/v1/log/attributes", {"user": "ana", "attributes": {"level": 6}})
                for path in (PERSON, ""):
                    with self.subTest(place=path or "overview"):
                        self.open(s, path)
                        before = self.browser.text("#root")
                        s.service.stop()
                        s.proxy.cut()
                        self.assertSays("No answer since", "showing that state", limit=5)
                        self.assertEqual(self.browser.text("#root h1"), before.split("\n")[0])
                        self.assertNone(self.browser.axe(), "lost")
                        s.service = Service(*s.arguments, store=f"{folder}/store")
                        s.proxy.to = s.service.port
                        s.post("/v1/log/attributes", {"user": "ana", "attributes": {"level": 8}})
                        gone = self.browser.until("!document.body.innerText.includes('No answer since')", limit=13)
                        self.assertTrue(gone, "the band about the lost connection stays")
                        self.assertSamePage()
                        if path == PERSON:
                            self.assertSays("8", limit=4, where="The value that came meanwhile.")

    def give_key(self, key):
        self.browser.js("const f = document.querySelector('form input[type=password]'); f.focus(); f.value = arguments[0];", key)
        self.browser.keys("Enter")

    def test_a_key_that_is_revoked_while_a_stream_is_open_is_asked_for_in_place(self):
        self.expected += ["status of 401", *LOST]
        with tempfile.TemporaryDirectory() as folder:
            first = keys(folder, "add", "--name", "first").strip()
            with own("--keys", f"{folder}/keys.json", story=False) as s:
                header = {"Authorization": f"Bearer {first}"}
                s.post("/v1/log/event", {"user": "ana", "name": "Viewed Home"}, header)
                for path in ("events", PERSON, "devices"):
                    if ONLY and not re.search(ONLY, path):
                        continue
                    with self.subTest(place=path):
                        name, other = f"page {path}", f"other {path}"
                        key = keys(folder, "add", "--name", name).strip()
                        self.open(s, path)
                        self.assertSays("needs a key")
                        self.give_key(key)
                        self.assertTrue(self.browser.until("!document.querySelector('form input[type=password]')", limit=5),
                                        "the field for a key stays although the key is right")
                        self.browser.settle()
                        keys(folder, "revoke", name)
                        asked = self.browser.until("!!document.querySelector('form input[type=password]')", limit=8)
                        self.assertTrue(asked, f"the page does not ask for a key:\n{self.browser.text()[:1500]}")
                        self.assertNone([*self.browser.axe(), *self.browser.geometry()], "asked for a key")
                        self.give_key(keys(folder, "add", "--name", other).strip())
                        self.assertTrue(self.browser.until("!document.querySelector('form input[type=password]')", limit=8),
                                        f"the field for a key stays:\n{self.browser.text()[:1500]}")
                        self.assertSamePage()
                        self.browser.js("sessionStorage.clear()")
                stored = self.browser.js("return [document.cookie, JSON.stringify(localStorage), location.href]")
                self.assertNotIn("plk_", json.dumps(stored))
                self.assertEqual([r for r in s.proxy.seen if "plk_" in r[1]], [], "a key is in an address")

    def test_a_store_that_was_emptied_is_said_and_its_moment_leaves_the_address(self):
        self.expected += ["status of 40[04]", *LOST]
        for path in ("", PERSON, PERSON + "?at=9", "events", "devices/phone"):
            if ONLY and not re.search(ONLY, path):
                continue
            with self.subTest(place=path), own() as s:
                self.open(s, path)
                s.post("/v1/reset", {})
                self.assertSays("The store was emptied", limit=6)
                self.assertSamePage()
                self.assertNotIn("at=", self.browser.js("return location.search"))
                self.browser.settle()
                self.assertNone([*self.browser.axe(), *self.browser.geometry()], f"{path} after a reset")

    def test_a_read_that_must_wait_waits_as_long_as_it_is_told_and_comes_by_itself(self):
        s = scene()
        for path, asked in ((PERSON, r"^/v1/profile"), ("", r"^/v1/stats"), ("devices/phone", r"^/v1/devices/phone($|\?)")):
            for status, code in ((429, "overloaded"), (503, "too_many_reads")):
                if ONLY and not re.search(ONLY, path):
                    continue
                with self.subTest(place=path, status=status):
                    self.expected += [f"status of {status}"]
                    body = {"error": "Too much is going on.", "remedy": "Ask later.", "code": code}
                    with s.proxy.fault(asked, status=status, retry_after=2, times=1, body=body) as fault:
                        self.open(s, path)
                        self.assertSays("Too much is going on", "Ask later", "again in", limit=3)
                        since = len(s.proxy.seen)
                        self.assertEqual(fault.hits, 1)
                        came = self.browser.until("!document.body.innerText.includes('Too much is going on')", limit=6)
                        self.assertTrue(came, "the panel does not ask again")
                        self.assertEqual(len(s.proxy.asked(asked, since=since)), 1, "asked again more than once")
                    self.assertSamePage()

    def test_a_person_who_was_erased_is_not_known_any_more_and_their_events_say_so(self):
        self.expected += ["status of 404"]
        with own() as s:
            braze = s.service.get("/v1/profile?user=ana").json["user"]["braze_id"]
            erased = s.post("/v1/erase", {"user": "ana", "reason": "asked for it", "actor": "test"})
            # The store forgot the name, so nobody can tell whose it was.
            for path in (PERSON, PERSON + "?at=9&field=level", f"users/braze:{braze}"):
                with self.subTest(place=path):
                    self.browser.open(s.at(path))
                    # By the braze_id its events without content are found, and no profile.
                    self.assertSays("No user is known" if "braze" in path else "Nobody is known as")
                    self.assertNotIn("Domplatte", self.browser.text("#root"))
                    self.assertNone([*self.browser.axe(), *self.browser.geometry()], f"{path}, erased")
            for path in ("events/8", f"events/{erased['position']}", "events"):
                with self.subTest(place=path):
                    self.browser.open(s.at(path))
                    self.assertSays("erased")
                    self.assertNotIn("Domplatte", self.browser.text("#root"))
                    self.assertNone([*self.browser.axe(), *self.browser.geometry()], f"{path}, erased")

    def test_an_open_page_of_a_person_who_is_erased_keeps_none_of_their_values(self):
        self.expected += ["status of 404"]
        with own() as s:
            self.open(s, PERSON)
            self.assertSays("Domplatte")
            s.post("/v1/erase", {"user": "ana", "reason": "asked for it", "actor": "test"})
            self.assertTrue(self.browser.until("!document.body.innerText.includes('Domplatte')", limit=6),
                            "a value of an erased person is still shown")
            self.assertSays("erased", limit=3)
            self.assertSamePage()

    def test_a_damaged_record_is_said_where_it_happened_and_the_rest_stays(self):
        self.expected += ["status of 500"]
        with tempfile.TemporaryDirectory() as folder:
            with own(store=f"{folder}/store", story=False) as s:
                for user in ("ana", "bo"):
                    s.post("/v1/log/event", {"user": user, "name": "Viewed Home", "properties": {"secret": f"of {user} x"}})
                s.service.stop()
                file = pathlib.Path(folder, "store", "data.mdb")
                data = bytearray(file.read_bytes())
                places = [m.start() for m in re.finditer(b"of ana x", data)]
                self.assertGreater(len(places), 0)
                for place in places:
                    data[place] ^= 1
                file.write_bytes(data)
                s.service = Service(*s.arguments, store=f"{folder}/store")
                s.proxy.to = s.service.port
                for path in (PERSON, "events", "events/2"):
                    with self.subTest(place=path):
                        self.browser.open(s.at(path))
                        self.assertSays("checksum")
                        self.assertNone([*self.browser.axe(), *self.browser.geometry()], f"{path}, damaged")
                self.browser.open(s.at("users/bo"))
                self.assertSays("Viewed Home")
                self.assertNotIn("checksum", self.browser.text())

    def moment(self):
        """What the page says of the moment: its band, the timeline's handle, the profile."""
        return self.browser.js(
            "return [document.querySelector('.band.past')?.innerText, document.querySelector('input[type=range]')?.getAttribute('aria-valuetext'),"
            "[...document.querySelectorAll('#root .panel')].find((p) => /profile/i.test(p.querySelector('h2')?.innerText ?? ''))?.innerText]")

    def test_an_answer_that_comes_after_a_newer_one_changes_nothing(self):
        s = scene()
        self.browser.open(s.at(PERSON + "?at=11"))
        self.browser.settle(quiet=300)
        right = self.moment()
        self.open(s, PERSON)
        self.expected += ["ERR_ABORTED", *LOST]
        # At 9 level is 6, at 11 it is 7.
        with s.proxy.fault(r"as_of=9(&|$)", hold=True) as fault:
            self.go(s, PERSON + "?at=9")
            time.sleep(0.2)
            self.go(s, PERSON + "?at=11")
            time.sleep(0.3)
            fault.hold.set()
            self.browser.settle(quiet=400)
        self.assertEqual(self.moment(), right)
        self.assertIn("at=11", self.browser.js("return location.search"))

    def test_a_slow_answer_leaves_what_was_there_and_says_that_it_loads(self):
        s = scene()
        self.open(s, PERSON)
        with s.proxy.fault(r"as_of=9(&|$)", delay=1.2):
            self.go(s, PERSON + "?at=9")
            self.assertTrue(self.browser.until("document.querySelectorAll('[aria-busy=true]').length", limit=1.1),
                            "nothing says that it loads")
            self.assertIn("level", self.browser.text("#root"))
            self.assertTrue(self.browser.settle(limit=6000))
        self.assertFalse(self.browser.js("return document.querySelectorAll('[aria-busy=true]').length"))

    def test_requests_of_a_step_are_aborted_by_the_next_one(self):
        s = scene()
        self.open(s, PERSON)
        self.expected += ["ERR_ABORTED", *LOST]
        since = len(s.proxy.seen)
        with s.proxy.fault(r"as_of=", delay=0.15):
            for position in (3, 6, 7, 8, 9, 10, 11, 12, 13) * 3:
                self.go(s, f"{PERSON}?at={position}")
                time.sleep(0.02)
            self.assertTrue(self.browser.settle(limit=8000))
        last = s.proxy.asked(r"^/v1/profile.*as_of=", since=since)
        # Profiles are kept by version: the last moment may have been answered before.
        self.assertTrue(any(re.search(r"as_of=13\b", request[1]) for request in last), last[-3:])
        self.assertSays("Bonn")

    # Writes

    def post_of_page(self, s, path, body, once):
        return self.browser.wait_js(
            "import(new URL('./wire.js', %s)).then((m) => m.post(arguments[0], arguments[1], {once: arguments[2]}))"
            ".then((r) => done({position: r.position}), (e) => done({code: e.code, status: e.status}))" % json.dumps(s.url),
            path, body, once)

    def test_a_write_without_a_key_is_sent_once_whatever_comes_back(self):
        self.expected += ["status of (429|503)", *LOST]
        with own(keep_alive=False) as s:
            self.open(s, "")
            for how in ({"drop": "answer"}, {"drop": "request"}, {"status": 503, "retry_after": 1}, {"status": 429, "retry_after": 1}):
                with self.subTest(fault=how), s.proxy.fault(r"^/v1/launch", method="POST", **how) as fault:
                    result = self.post_of_page(s, "/v1/launch", {"device": "phone"}, False)
                    self.assertIn("code", result)
                    time.sleep(1.3)
                    self.assertEqual(fault.hits, 1, "the write was sent again")

    def test_a_write_with_a_key_is_repeated_under_the_same_key_and_happens_once(self):
        self.expected += LOST
        with own(keep_alive=False) as s:
            self.open(s, "")
            before = s.service.get("/v1/stats").json["events"]
            with s.proxy.fault(r"^/v1/void", method="POST", drop="answer", times=1):
                result = self.post_of_page(s, "/v1/void", {"position": 3, "reason": "a test"}, True)
            self.assertIn("position", result, result)
            sent = s.proxy.asked(r"^/v1/void", method="POST")
            self.assertEqual(len(sent), 2)
            used = [{k.lower(): v for k, v in r[2].items()}.get("idempotency-key") for r in sent]
            self.assertTrue(used[0] and used[0] == used[1], used)
            self.assertEqual(s.service.get("/v1/stats").json["events"], before + 1)

    def test_a_button_of_a_device_is_one_write_even_if_its_answer_is_lost(self):
        self.expected += LOST
        with own(keep_alive=False) as s:
            self.open(s, "devices/phone")
            self.browser.js("document.getElementById('act').click()")
            self.browser.settle()
            before = s.service.get("/v1/stats").json["events"]
            with s.proxy.fault(r"^/v1/(devices/|launch)", method="POST", drop="answer"):
                self.assertTrue(self.browser.click("Launch"), f"there is no button Launch:\n{self.browser.text('#root')[:1500]}")
                time.sleep(3)
            sent = s.proxy.asked(r"^/v1/(devices/|launch)", method="POST")
            self.assertEqual([r[1] for r in sent if "idempotency-key" in {k.lower() for k in r[2]}], [])
            self.assertEqual(len(sent), 1, [r[1] for r in sent])
            self.assertGreater(s.service.get("/v1/stats").json["events"], before)
            self.assertSamePage()

    def test_nothing_writes_at_a_past_moment_or_in_look(self):
        s = scene()
        since = len(s.proxy.seen)
        for path in ("users/ana?at=9&field=level", "devices/phone?at=9", "events/12", "rejected", "users/ana", "devices/phone"):
            self.browser.open(s.at(path))
            if "at=" in path:
                self.assertTrue(self.browser.js("return document.getElementById('act').disabled"), path)
            offered = self.browser.js("return [...document.querySelectorAll('#root button:not(:disabled)')].filter((b) => b.checkVisibility())"
                                      ".map((b) => b.textContent.trim()).filter((t) => /^(void|unvoid|launch|save|log|repair|retry|discard|erase|log out|die)\\b/i.test(t))")
            self.assertEqual(offered, [], path)
        self.assertEqual(s.proxy.asked(".", method="POST", since=since), [])


class RequestTests(PageTests):
    """What the pages ask of the service."""

    def test_each_request_that_can_have_a_limit_names_one(self):
        s = scene()
        described = s.service.get("/openapi.json").json["paths"]
        limited = {path for path, methods in described.items() if any(
            p.get("name") == "limit" for p in methods.get("get", {}).get("parameters", []))}
        since = len(s.proxy.seen)
        for path in ("", "users", PERSON, PERSON + "?field=level", PERSON + "?at=9", "devices", "devices/phone",
                     "messages", "messages/welcome?user=bo", "events", "events/12", "rejected", "rules", "traits", "states"):
            self.browser.open(s.at(path))
        without = set()
        for method, path, _, _ in s.proxy.seen[since:]:
            url = urllib.parse.urlsplit(path)
            template = re.sub(r"^/v1/devices/[^/]+", "/v1/devices/{device}", url.path)
            query = urllib.parse.parse_qs(url.query)
            # The limit of /v1/diff is one of users.
            of_one = template == "/v1/diff" and "user" in query
            if method == "GET" and template in limited and "limit" not in query and not of_one:
                without.add(path)
        self.assertEqual(sorted(without), [])

    def test_a_hidden_tab_asks_for_nothing_and_has_no_stream(self):
        s = scene()
        b = self.browser
        for path in ("events", ""):
            with self.subTest(place=path):
                b.open(s.at(path))
                # As a tab that another one covers: the event, and what the document says of itself.
                b.js("Object.defineProperty(document, 'hidden', {configurable: true, get: () => true});"
                     "Object.defineProperty(document, 'visibilityState', {configurable: true, get: () => 'hidden'});"
                     "document.dispatchEvent(new Event('visibilitychange'))")
                time.sleep(0.3)
                since = len(s.proxy.seen)
                time.sleep(2.2)
                self.assertEqual([r[1] for r in s.proxy.seen[since:]], [])
                self.assertEqual(b.js("return document.querySelectorAll('[aria-busy=true]').length"), 0)
