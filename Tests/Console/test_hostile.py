"""Texts that somebody else chose, in every field that a client can send: they are shown as text, they break no layout,
and as IDs they work as links."""

import json
import os
import re
import urllib.parse

from scene import PageTests, own

HOSTILE = {
    "script": "<script>window.hacked = 1</script>",
    "image": "<img src=x onerror=\"window.hacked = 1\">",
    "template": "{{constructor.constructor('window.hacked = 1')()}} ${window.hacked = 1}",
    "quotes": "'\"`´“ \\' \\\" &quot; &lt;",
    "right to left": "\u202egnihtemos\u202c \u2066x\u2069 عربى עברית",
    "emoji": "👩‍👩‍👧‍👦 🇩🇪 e\u0301\u0323 \u200d",
    "nul": "a\u0000b",
    "newline": "two\r\nlines\tand a tab\u2028sep",
    "path": "/ % + # ? & = ; : @ ,",
    "percent": "100%25 %2F %zz",
    "dots": "..",
    "dot": ".",
    "slashes": "a/../b//c/",
    "form": "alias:x:y",
    "prototype": "__proto__",
    "escape": "\u001b[31mred\u001b[0m\u0007\u007f\u009b1m",
    "long": "long " + "W" * 9_995,
    "long word": "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen" * 4,
    "number": "00012345678901234567890",
    "null": "null",
    "spaces": "  two  spaces  ",
    "surrogate": "\U0001F600" * 40,
    "javascript": "javascript:window.hacked = 1",
}
ONLY = os.environ.get("CONSOLE_ONLY", "")
# What turns the direction of writing, or is not to be seen, stands on the page as a symbol.
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class HostileTests(PageTests):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.context = own(workspace=False, story=False)
        cls.scene = cls.context.__enter__()
        cls.addClassCleanup(cls.context.__exit__, None, None, None)
        cls.stored = {kind: {} for kind in ("user", "device", "message")}
        cls.refused = []
        send = cls.send

        def user(text):
            return "id:" + text if text.startswith("alias:") else text
        for name, text in HOSTILE.items():
            if send("/v1/log/event", user=user(text), name="Seen"):
                cls.stored["user"][name] = text
            send("/v1/log/event", user="hostile", name=text, properties={text: text, "list": [text, {text: text}]})
            send("/v1/log/event", user="hostile", name="Property", properties={"text": text})
            send("/v1/log/attributes", user="hostile", attributes={text: "key", f"value {name}": text})
            send("/v1/log/attributes", user="hostile", attributes={f"value {name}": text})
            send("/v1/log/attributes", user="hostile", attributes={f"in {name}": {"key": [text], text: 1}})
            for field in ("first_name", "home_city"):
                send("/v1/log/user-attribute", user="hostile", attribute=field, value=text)
            send("/v1/log/purchase", user="hostile", product=text, currency="EUR", price=1)
            if send("/v1/save/event", user="hostile", device=text, process=text, name="Saved") or send(
                    "/v1/save/event", user="hostile", device=text, name="Saved"):
                cls.stored["device"][name] = text
            send("/v1/save/attributes", user="hostile", device="phone", process=text, attributes={"level": text})
            send("/v1/log/event", user=f"alias:label {name}:{text}", name="By alias")
            send("/v1/save/event", user="hostile", device="phone", name=text, imported=True)
            send("/v1/save/event", user="hostile", device="phone", item=text, name="With an item")
        messages = []
        for name, text in HOSTILE.items():
            message = {"id": text, "header": text, "message": text, "buttons": [text], "extras": {"key": text},
                       "trigger_conditions": [{"type": "open"}]}
            if send("/v1/messages", messages=[message]):
                messages.append(message)
                cls.stored["message"][name] = text
        send("/v1/messages", messages=messages)
        send("/v1/launch", user="hostile", device="phone")
        send("/v1/devices/phone/push", action="receive", payload={"aps": {"alert": HOSTILE["script"]}, "ab": {},
             **{text: text for text in list(HOSTILE.values())[:6]}})
        send("/v1/rules", attribute_policies={HOSTILE["script"]: "counter", HOSTILE["path"]: "counter"})
        for name in ("script", "right to left", "escape"):
            event = cls.scene.service.get("/v1/history?user=hostile&limit=1").json["events"][0]
            send("/v1/void", position=event["position"], reason=HOSTILE[name], actor=HOSTILE[name])
            send("/v1/unvoid", position=event["position"], reason=HOSTILE[name], actor=HOSTILE[name])

    @classmethod
    def send(cls, path, **body):
        answer = cls.scene.service.post(path, json.dumps(body))
        if answer.status >= 400:
            cls.refused.append((path, answer.status, str(body)[:80], answer.body[:160]))
        return answer.status < 400

    def assertHarmless(self, where):
        b = self.browser
        found = b.js("""
            const bad = [];
            if (window.hacked) bad.push('a script of a value ran');
            if (document.scripts.length !== 1) bad.push(`${document.scripts.length} scripts in the document`);
            if (document.querySelector('#root img, #root iframe, #root object, #root script, #root style')) bad.push('a value became an element');
            for (const a of document.querySelectorAll('a[href]')) if (!/^https?:/.test(a.href)) bad.push(`a link to ${a.href.slice(0, 60)}`);
            for (const e of document.querySelectorAll('[style]')) if (/url\\(|expression/.test(e.getAttribute('style'))) bad.push('a value became a style');
            return bad;""")
        raw = UNSAFE.search(b.text())
        if raw:
            found.append(f"a raw U+{ord(raw.group()):04X} is on the page: {b.text()[max(0, raw.start() - 40):raw.end() + 20]!r}")
        for attribute in b.js("return [...document.querySelectorAll('[aria-label],[title],[aria-valuetext]')].map((e) => "
                              "e.getAttribute('aria-label') ?? e.title ?? '')"):
            if UNSAFE.search(attribute or ""):
                found.append(f"a raw control character is in a label: {attribute[:60]!r}")
        for width, scheme in ((320, "light"), (1440, "dark")):
            b.look(width, scheme)
            found += [f"{width} px: {finding}" for finding in [*b.geometry(), *b.axe()]]
        count = b.elements()
        if count > 1500:
            found.append(f"{count} elements in the document")
        self.assertNone(found, where)
        self.assertQuiet(where)

    def test_the_store_took_enough_of_these_texts_to_be_a_test(self):
        self.assertGreaterEqual(len(self.stored["user"]), 16, self.refused)
        self.assertGreaterEqual(len(self.stored["device"]), 12, self.refused)
        self.assertGreaterEqual(len(self.stored["message"]), 12, self.refused)

    def test_each_place_shows_hostile_values_as_text_and_keeps_its_layout(self):
        for name, path in (("overview", ""), ("users", "users"), ("a person", "users/hostile"),
                           ("events", "events"), ("devices", "devices"), ("a device", "devices/phone"),
                           ("sends", "messages"), ("rejected", "rejected"), ("rules", "rules"), ("traits", "traits")):
            if ONLY and not re.search(ONLY, name):
                continue
            with self.subTest(place=name):
                self.browser.look(360)
                self.browser.open(self.scene.at(path))
                self.assertHarmless(name)

    def test_each_event_of_a_hostile_client_can_be_looked_at(self):
        events = self.scene.service.get("/v1/history?user=hostile&limit=400").json["events"]
        kinds = {}
        for event in events:
            kinds.setdefault(event["kind"], event["position"])
        long = [e["position"] for e in events if len(json.dumps(e)) > 9_000][:1]
        for position in [*kinds.values(), *long]:
            with self.subTest(position=position):
                self.browser.open(self.scene.at(f"events/{position}"))
                self.assertHarmless(f"event {position}")

    def users(self):
        """The people of these IDs, as answers of the API have them, in the same order."""
        known = {user["id"].removeprefix("id:"): user for user in self.scene.service.get("/v1/users?limit=1000").json["users"]}
        return {name: known[text] for name, text in self.stored["user"].items()}

    def links(self, place, texts):
        """The console's own addresses for these IDs."""
        return self.browser.wait_js(
            "import(arguments[0] + 'router.js').then((m) => done(arguments[2].map((t) => arguments[1] === 'users' "
            "? m.link('users', m.userKey(t)) : m.link(arguments[1], t))), (e) => done(String(e)));"
            .replace("arguments[0]", json.dumps(self.scene.url)).replace("arguments[1]", json.dumps(place))
            .replace("arguments[2]", json.dumps(texts)))

    def test_each_stored_id_works_as_a_link_of_a_person_a_device_and_a_message(self):
        for kind, place in (("user", "users"), ("device", "devices"), ("message", "messages")):
            if ONLY and not re.search(ONLY, kind):
                continue
            self.browser.look(360)
            self.browser.open(self.scene.at(place))
            # No path can hold these two, also not `/v1/devices/%2E%2E`: a browser takes them out.
            stored = {name: text for name, text in self.stored[kind].items() if kind != "device" or text not in (".", "..")}
            hrefs = self.links(place, list((self.users() if kind == "user" else stored).values()))
            self.assertIsInstance(hrefs, list, hrefs)
            for (name, text), href in zip(stored.items(), hrefs):
                with self.subTest(kind=kind, id=name):
                    self.browser.open(urllib.parse.urljoin(self.scene.url, href))
                    visible = re.sub(r"\s+", " ", self.browser.text("#root"))
                    # The first letters that no symbol stands for, as the heading has them.
                    plain = max(re.findall(r"[\w<>(){}$/%#&=;@'\"-]{1,40}", re.sub(UNSAFE, " ", text)) or [text], key=len)[:24]
                    self.assertIn(plain, visible, f"{kind} {name} at {href}")
                    self.assertNotRegex(visible, r"unknown_(user|device|path)|no such place|could not be loaded", href)
                    self.assertFalse(self.browser.js("return !!window.hacked"))
                    self.assertQuiet(f"{kind} {name}")

    def test_the_list_of_people_links_to_each_of_them(self):
        self.browser.open(self.scene.at("users"))
        hrefs = set(self.links("users", list(self.users().values())))
        self.assertGreaterEqual(len(hrefs), 16)
        # Rows that are not drawn are not in the document: the list is scrolled.
        seen = set()
        for _ in range(12):
            seen |= set(self.browser.js("return [...document.querySelectorAll('#root a[href]')].map((a) => a.getAttribute('href'))"))
            if hrefs <= {self.path(h) for h in seen}:
                break
            self.browser.js("for (const g of document.querySelectorAll('.grid')) g.scrollTop += 400; scrollBy(0, 400)")
            self.browser.frames(3)
            self.browser.settle(quiet=60, limit=1000)
        self.assertEqual(sorted(hrefs - {self.path(h) for h in seen}), [])

    def path(self, href):
        url = urllib.parse.urlsplit(urllib.parse.urljoin(self.scene.url, href))
        return url.path + (f"?{url.query}" if url.query else "")

    def test_the_search_box_takes_each_text_and_leads_to_the_person(self):
        b = self.browser
        for name in ("script", "quotes", "path", "right to left", "emoji", "percent", "dots"):
            if name not in self.stored["user"]:
                continue
            with self.subTest(id=name):
                b.open(self.scene.at(""))
                b.js("const f = document.getElementById('find'); f.focus(); f.value = arguments[0]; "
                     "f.dispatchEvent(new Event('input', {bubbles: true}))", HOSTILE[name])
                self.assertTrue(b.until("document.querySelectorAll('#search [role=option]').length", limit=3))
                b.settle()
                b.js("[...document.querySelectorAll('#search [role=option]')].find((o) => /^Person(?! where)/.test(o.innerText.trim())).click()")
                b.until("location.pathname.includes('/users/') || location.search.includes('id=')", limit=3)
                b.settle()
                self.assertNotIn("unknown_user", b.text("#root"))
                self.assertQuiet(name)

    def test_a_hostile_address_is_an_address(self):
        self.expected += ["status of 40[04]"]
        for path in ("users/%3Cscript%3Ewindow.hacked=1%3C%2Fscript%3E", "users/ana?at=1e9&field=%3Cimg%20src%3Dx%3E",
                     "users?where=%3Cscript%3E", "users/ana?at=99999999999999999999&vs=-1&axis=%00",
                     "devices/%2e%2e%2f%2e%2e", "events/1?store=%3Cimg%20src%3Dx%20onerror%3Dhacked%3D1%3E",
                     "events?kind=%22%3E%3Cb%3E&after=-5", "messages/%E0%A4%A?user=%FF", "users/%00",
                     "users/hostile?field=__proto__", "#%3Cscript%3E", "users/hostile#pins=%3Cimg%3E,12,x"):
            with self.subTest(path=path):
                self.browser.open(self.scene.at(path))
                self.assertHarmless(path)
