"""What a person does while the page goes on: the focus stays, an answer that is late or failed changes nothing else."""

import json
import tempfile
import time

from scene import PageTests, own, scene
from service import keys

LOST = ["ERR_CONNECTION", "ERR_EMPTY", "ERR_SOCKET", "ERR_INCOMPLETE", "ERR_NETWORK", "ERR_ABORTED"]


class UseTests(PageTests):
    def focused(self):
        """The tag and the text of what has the focus."""
        return self.browser.js("const e = document.activeElement; return [e.localName, (e.getAttribute('aria-label') ?? e.textContent).trim().slice(0, 80)]")

    def focus(self, selector, text=None):
        self.assertTrue(self.browser.until(
            f"(() => {{ const e = [...document.querySelectorAll({json.dumps(selector)})].find((e) => {json.dumps(text)} === null || e.textContent.trim() === {json.dumps(text)});"
            " e?.focus(); return !!e && document.activeElement === e; })()", limit=5), (selector, text))

    def asked(self, fault):
        """Waits until a request has come to the fault."""
        end = time.monotonic() + 10
        while not fault.hits and time.monotonic() < end:
            time.sleep(0.02)
        self.assertTrue(fault.hits, "nothing was asked")

    def click(self, text):
        self.assertTrue(self.browser.click(text), f"there is no “{text}”:\n{self.browser.text()[:1500]}")

    # Focus

    def test_a_link_in_the_newest_events_keeps_the_focus_while_others_come(self):
        with own() as s:
            self.browser.open(s.at(""))
            self.focus(".feed a", "ana")
            s.post("/v1/log/event", {"user": "bo", "name": "Came just now"})
            self.assertSays("Came just now", limit=5)
            self.assertEqual(self.focused(), ["a", "ana"])

    def test_try_again_leaves_the_focus_in_its_panel(self):
        s = scene()
        self.expected += ["status of 500"]
        with s.proxy.fault(r"^/v1/devices\?", status=500, times=1):
            self.browser.open(s.at("devices"))
            self.focus("#root button", "Try again")
            self.browser.keys("Enter")
            self.assertSays("bo-phone", limit=5)
        self.assertEqual(self.focused(), ["h2", "All devices"])

    def test_a_row_with_the_focus_stays_while_the_list_scrolls(self):
        with own(story=False, workspace=False) as s:
            s.post("/v1/batch", {"items": [{"kind": "log/event", "user": "ana", "name": f"event {n}"} for n in range(90)]})
            b = self.browser
            b.open(s.at("events"))
            before = b.js("return document.querySelector('.grid .r:not(.head) a').textContent")
            self.focus(".grid .r a", before)
            for top in (2000, 900, 0):
                b.js("document.querySelector('.grid').scrollTop = arguments[0]", top)
                b.frames(3)
                self.assertEqual(self.focused(), ["a", before], top)
            order = b.js("return [...document.querySelectorAll('.grid .lines .r')].map((r) => Number(r.ariaRowIndex))")
            self.assertEqual(order, sorted(order))
            # Events that come above it move it down.
            b.js("document.querySelector('.grid').scrollTop = 2000")
            s.post("/v1/log/event", {"user": "ana", "name": "Came just now"})
            b.until("document.querySelector('.grid').ariaRowCount === '93'", limit=5)
            self.assertEqual(self.focused(), ["a", before])

    # Addresses

    def test_back_to_now_is_of_the_page_that_is_shown(self):
        s, b = scene(), self.browser
        b.open(s.at("users/ana?at=9"))
        self.click("phone")
        self.assertSays("a phone of the past")
        b.settle()
        self.click("Back to now")
        b.settle()
        self.assertEqual(b.js("return location.pathname + location.search"), "/console/devices/phone")

    def test_an_address_that_waits_is_not_written_over_the_one_of_back(self):
        s, b = scene(), self.browser
        b.open(s.at("users"))
        self.click("ana")
        b.until("document.querySelector('input.moment')?.max > 0", limit=5)
        self.focus("input.moment")
        # A step writes the address a little later; Back comes first.
        b.js("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {code: 'ArrowLeft', bubbles: true, cancelable: true})); history.back()")
        self.assertTrue(b.until("document.querySelector('#root h1')?.textContent === 'People'", limit=5))
        b.settle(quiet=200)
        self.assertEqual(b.js("return location.pathname + location.search"), "/console/users")

    # Late and failed answers

    def test_a_device_asks_anew_for_its_own_news_only(self):
        with own() as s:
            self.browser.open(s.at("devices/phone"))
            self.browser.settle(quiet=400)
            since = len(s.proxy.seen)
            s.post("/v1/log/event", {"user": "carla", "name": "Of another person"})
            self.browser.until("document.getElementById('store-position').textContent.includes('%s')" % s.service.get("/v1/status").json["last_position"], limit=5)
            self.browser.settle(quiet=700)
            self.assertEqual([r[1] for r in s.proxy.asked(r"^/v1/(devices/|pending)", since=since)], [])
            s.post("/v1/save/event", {"device": "phone", "name": "Saved meanwhile"})
            self.assertSays("Saved meanwhile", limit=6)

    def people(self, s):
        s.post("/v1/batch", {"items": [{"kind": "log/event", "user": f"{'ab'[n % 2]}{n:03}", "name": "Seen"} for n in range(240)]})

    def rows(self):
        return self.browser.js("return Number(document.querySelector('.grid').ariaRowCount) - 1")

    def to_the_end(self):
        self.browser.js("const g = document.querySelector('.grid'); g.scrollTop = g.scrollHeight")

    def test_a_page_of_a_list_that_did_not_come_is_said_and_can_be_asked_for_again(self):
        self.expected += ["status of 500"]
        with own(story=False, workspace=False) as s:
            self.people(s)
            with s.proxy.fault(r"^/v1/users.*after=", status=500, times=1):
                self.browser.open(s.at("users"))
                self.to_the_end()
                self.assertSays("The next rows did not come", limit=5)
            self.click("Try again")
            self.assertTrue(self.browser.until("document.querySelector('.grid').ariaRowCount === '201'", limit=5), self.rows())

    def test_a_page_of_the_list_before_does_not_come_into_the_next_one(self):
        self.expected += LOST
        with own(story=False, workspace=False) as s:
            self.people(s)
            self.browser.open(s.at("users"))
            with s.proxy.fault(r"^/v1/users.*after=", hold=True, times=1) as fault:
                self.to_the_end()
                self.asked(fault)
                self.browser.js("const f = document.querySelector('#root input[type=search]'); f.value = 'b00'; f.dispatchEvent(new Event('input', {bubbles: true}))")
                self.assertSays("People known by", limit=5)
                fault.hold.set()
                self.browser.settle(quiet=300)
            self.assertEqual(self.rows(), 5)

    def test_a_stream_that_failed_says_so_and_goes_on(self):
        self.expected += ["status of 500"]
        with own() as s:
            with s.proxy.fault(r"^/v1/events\?.*user=ana.*after=\d+$", status=500, times=1,
                               body={"error": "The stream broke.", "remedy": "Wait.", "code": "made"}) as fault:
                self.browser.open(s.at("events?user=ana"), held=True)
                self.asked(fault)
                self.assertSays("The stream broke", limit=5)
            self.assertTrue(self.browser.until("performance.now() > 0", limit=1))
            end = time.monotonic() + 8
            while not s.proxy.asked(r"user=ana.*after=\d+$")[1:] and time.monotonic() < end:
                time.sleep(0.05)
            s.post("/v1/log/event", {"user": "ana", "name": "After the break"})
            self.assertSays("After the break", limit=6)

    def test_enter_in_the_search_box_waits_for_what_the_service_finds(self):
        s, b = scene(), self.browser
        b.open(s.at(""))
        self.focus("#find")
        with s.proxy.fault(r"^/v1/names\?prefix=phone", delay=0.5) as fault:
            b.keys("phone", "Enter")
            self.asked(fault)
            self.assertTrue(b.until("location.pathname.includes('/devices/phone')", limit=5), b.js("return location.href"))

    def test_an_answer_after_escape_opens_no_list_of_the_search(self):
        s, b = scene(), self.browser
        self.expected += LOST
        b.open(s.at(""))
        self.focus("#find")
        with s.proxy.fault(r"^/v1/names\?prefix=ana", hold=True) as fault:
            b.keys("ana")
            self.asked(fault)
            b.keys("Escape")
            fault.hold.set()
            b.settle(quiet=300)
        self.assertEqual(b.js("return document.querySelectorAll('#search [role=option]').length"), 0)

    def found(self, text):
        """What the search box offers, as 'Kind name'."""
        b = self.browser
        b.js("const f = document.getElementById('find'); f.focus(); f.value = arguments[0]; "
             "f.dispatchEvent(new Event('input', {bubbles: true}))", text)
        b.until("document.querySelectorAll('#search [role=option]').length", limit=5)
        b.settle(quiet=300)
        return b.js("return [...document.querySelectorAll('#search [role=option]')].map((o) => o.innerText.trim().replace(/\\s+/g, ' '))")

    def test_the_search_offers_what_is_there_whatever_its_capitals_and_people_by_a_condition(self):
        self.browser.open(scene().at(""))
        self.assertEqual(self.found("ANA")[:1], ["Person ana"])
        self.assertIn("Device bo-phone", self.found("Bo-p"))
        self.assertIn("Message winner", self.found("winner"))
        self.assertEqual(self.found("level = 2"), ["People where custom.level = 2"])
        nothing = self.found("zzz")
        self.assertEqual(len(nothing), 1, nothing)
        self.assertIn("Nothing is named", nothing[0])

    def test_a_page_of_nobody_says_so_once_and_offers_who_is_nearly_that(self):
        self.expected += ["status of 404"]
        for path, says, near in (("users/ANA", "Nobody is known as ANA", "/users/ana"), ("devices/Phone", "No device is known as Phone", "/devices/phone")):
            with self.subTest(path=path):
                b = self.browser
                b.open(scene().at(path))
                self.assertSays(says, "Near it", limit=5)
                b.settle()
                self.assertNotIn("GET /v1", b.text("#root"))
                self.assertEqual(b.js("return document.querySelectorAll('#root .failure').length"), 0)
                self.assertTrue(b.js("return [...document.querySelectorAll('#root a')].some((a) => a.pathname.endsWith(arguments[0]))", near))

    # Messages

    def test_the_list_of_sends_says_for_everybody_what_became_of_each_on_the_device(self):
        b = self.browser
        with own() as s:
            s.post("/v1/devices/bo-phone/settings", {"permission": "denied"})
            for user in ("ana", "bo"):
                s.post("/v1/log/attributes", {"user": user, "attributes": {"level": 5}})
            s.post("/campaigns/trigger/send", {"campaign_id": "spring", "broadcast": True})
            for device in ("phone", "phone", "bo-phone"):
                s.post(f"/v1/devices/{device}/push", {"action": "deliver"})
            b.open(s.at("messages?message=spring"))
            self.assertSays("spring: 2 sent, 1 received, 1 not received: the user does not allow", "push not received on bo-phone", limit=5)
            self.click("Not received")
            b.settle()
            self.assertEqual(self.rows(), 1)
            b.open(s.at("messages/spring"))
            self.assertSays("2 sent, 1 received, 1 not received: the user does not allow", limit=5)

    def test_who_else_names_all_who_have_the_value(self):
        b = self.browser
        with own() as s:
            s.post("/v1/log/attributes", {"user": "carla", "attributes": {"level": 2}})
            b.open(s.at("users/ana?field=level"))
            self.click("Who else?")
            self.assertSays("2 of 4 people – custom.level = 2", limit=5)
            b.settle()
            names = b.js("return [...document.querySelectorAll('.spot .names a')].map((a) => a.textContent)")
            self.assertEqual(sorted(names), ["ana", "carla"])
            self.assertEqual(s.proxy.asked(r"^/v1/whatif/profiles\?.*sample=100"), [])

    def test_what_a_step_holds_comes_after_a_key_was_given(self):
        self.expected += ["status of 401"]
        with own() as s:
            with s.proxy.fault(r"^/v1/events\?after=\d+&limit=1$", status=401, times=1,
                               body={"error": "Invalid API key", "remedy": "Send another one.", "code": "invalid_key"}) as fault:
                self.browser.open(s.at("users/ana"))
                self.asked(fault)
                self.focus("#root form input[type=password]")
                self.browser.keys("another", "Enter")
                gone = self.browser.until("!document.querySelector('form input[type=password]')", limit=5)
                self.assertTrue(gone, "the field for a key stays")

    def test_a_key_that_no_header_can_hold_is_refused_in_words(self):
        self.expected += ["status of 401"]
        with tempfile.TemporaryDirectory() as folder:
            keys(folder, "add", "--name", "page")
            with own("--keys", f"{folder}/keys.json", story=False) as s:
                self.browser.open(s.at(""))
                self.focus("form input[type=password]")
                self.browser.keys("no key", "Enter")
                self.assertSays("A key has only letters, digits and signs of ASCII")

    def test_a_link_with_pins_keeps_them_until_a_key_is_given(self):
        self.expected += ["status of 401"]
        with tempfile.TemporaryDirectory() as folder:
            key = keys(folder, "add", "--name", "page").strip()
            with own("--keys", f"{folder}/keys.json", story=False) as s:
                s.post("/v1/log/event", {"user": "ana", "name": "A pinned event"}, {"Authorization": f"Bearer {key}"})
                self.browser.open(s.at("#pins=2"))
                self.focus("form input[type=password]")
                self.browser.js("document.activeElement.value = arguments[0]", key)
                self.browser.keys("Enter")
                self.assertSays("A pinned event", limit=6)
                self.browser.js("sessionStorage.clear()")

    # Writes

    def test_the_form_to_void_goes_with_look(self):
        with own() as s:
            self.browser.open(s.at("users/ana?field=level"))
            self.click("Act")
            self.browser.until("[...document.querySelectorAll('#root button')].some((b) => b.textContent === 'Void this event…')", limit=5)
            self.click("Void this event…")
            self.assertTrue(self.browser.until("document.querySelector('.spot form')", limit=5))
            self.click("Look")
            self.assertTrue(self.browser.until("!document.querySelector('.spot form')", limit=5), "the form stays")

    def test_a_save_whose_answer_is_lost_is_sent_again_under_its_key_and_stored_once(self):
        self.expected += LOST
        with own(keep_alive=False) as s:
            self.browser.open(s.at("devices/phone"))
            self.click("Act")
            self.assertTrue(self.browser.until("document.querySelector('form[aria-label=Save] [name=name]')", limit=5))
            self.browser.js("document.querySelector('form[aria-label=Save] [name=name]').value = 'Saved once'")
            with s.proxy.fault(r"^/v1/save/", method="POST", drop="answer", times=1):
                self.focus("form[aria-label=Save] [name=name]")
                self.browser.keys("Enter")
                self.assertSays("Done at", limit=8)
            sent = s.proxy.asked(r"^/v1/save/", method="POST")
            used = [{k.lower(): v for k, v in r[2].items()}.get("idempotency-key") for r in sent]
            self.assertEqual(len(sent), 2)
            self.assertTrue(used[0] and used[0] == used[1], used)
            events = s.service.get("/v1/events?limit=1000&name=Saved%20once").json["events"]
            self.assertEqual(len(events), 1)

    # Words

    def test_why_is_asked_of_an_event_a_purchase_and_a_user_attribute_by_its_own_address(self):
        for field, says in (("event:Viewed Home", "Why is Viewed Home 1 ×?"), ("level", "Why is level 2?")):
            with self.subTest(field=field):
                self.browser.open(scene().at("users/ana?field=" + field.replace(" ", "%20")))
                self.assertSays(says, limit=5)

    def test_a_device_that_no_path_can_name_says_so_and_offers_nothing(self):
        self.browser.open(scene().at("devices?id=.."))
        self.assertSays("No path can hold this name")
        self.assertEqual(self.browser.js("return document.querySelectorAll('#root form, #root button').length"), 0)

    def test_a_name_is_one_word_of_a_command_that_is_copied(self):
        s = scene()
        self.browser.open(s.at(""))
        words = self.browser.wait_js("import(%s).then((m) => done(arguments[0].map(m.quote)), (e) => done(String(e)))".replace(
            "arguments[0]", json.dumps(["phone", "a b", "it's", "$(x)"])) % json.dumps(s.url + "copy.js"))
        self.assertEqual(words, ["phone", "'a b'", "'it'\\''s'", "'$(x)'"])
