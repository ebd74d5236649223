"""The five tasks of a person who opens the console for the first time, by keyboard alone, on `profiled demo`: with a
limit of keys. What is typed (a name) counts as no key."""

import os
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

from browser import Browser
from proxy import Proxy
from scene import FILES, PageTests, own
from service import PROGRAM

# What each task presses. A text in lower case of more than one letter is typed; all else are keys.
WHY_LEVEL = ["/", "ana", "Enter", "l", "Enter"]
THE_PHONE_NOW, BEFORE_THE_LAUNCH = ["/", "phone", "Enter"], ["["]
AS_IT_HAPPENED = ["h"]
WHY_NOT_BO = ["/", "bo", "Enter"]
WHY_NOT_SPRING = ["/", "spring", "Enter"]
WHO_ELSE = ["w"]


class Demo:
    """`profiled demo`, or the story of the tests where the program has no demo yet."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        port_file = os.path.join(self.folder.name, "port")
        self.process = subprocess.Popen(
            [PROGRAM, "demo", "--port", "0", "--port-file", port_file, *(["--console", FILES] if FILES else [])], cwd=self.folder.name,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "TMPDIR": self.folder.name})
        end = time.monotonic() + 30
        while not (os.path.exists(port_file) and os.path.getsize(port_file)):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"`profiled demo` does not start: {self.process.stdout.read()}")
            time.sleep(0.02)
        with open(port_file) as file:
            self.proxy = Proxy(int(file.read()))
        self.url = self.proxy.console

    def close(self):
        self.proxy.close()
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=30)
        self.process.stdout.close()
        self.folder.cleanup()


def has_demo():
    return "no command" not in subprocess.run([PROGRAM, "demo", "--help"], capture_output=True, text=True).stderr


class TaskTests(PageTests):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if has_demo():
            cls.demo = Demo()
            cls.addClassCleanup(cls.demo.close)
        elif os.environ.get("CI"):
            raise RuntimeError(f"{PROGRAM} has no command demo")
        else:
            context = own()
            cls.demo = context.__enter__()
            cls.addClassCleanup(context.__exit__, None, None, None)

    def setUp(self):
        super().setUp()
        self.browser.open(self.demo.url)
        self.browser.until("document.querySelector('#root h1')", limit=5)

    def press(self, *keys):
        """Presses them one by one, as a person who waits for the page does."""
        for key in keys:
            self.browser.keys(key)
            if key == "Enter":
                self.browser.until("document.activeElement.id !== 'find'", limit=5)
            self.browser.settle(quiet=150, limit=4000)

    def assertFew(self, keys, limit):
        pressed = [k for k in keys if len(k) == 1 or not k.islower()]
        self.assertLessEqual(len(pressed), limit, f"{pressed}: the task takes too many keys")

    def region(self):
        """The text of the part that has the focus, or of the whole page."""
        return self.browser.js("return (document.activeElement.closest('[role=region], section.panel') ?? document.body).innerText.replace(/\\s+/g, ' ')")

    def assertRegion(self, *words, limit=4):
        end = time.monotonic() + limit
        while (missing := [w for w in words if w.lower() not in self.region().lower()]) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(missing, [], f"The part with the focus says:\n{self.region()[:1500]}")

    def why_level(self):
        self.press(*WHY_LEVEL)
        self.assertRegion("level", "2")

    def test_why_is_anas_level_2(self):
        self.assertFew(WHY_LEVEL, 4)
        self.why_level()
        self.assertRegion("tablet", "325 days late", "before", "7", "launch 1", "3 hours later")
        self.assertIn("field=level", self.browser.js("return location.search"))

    def test_what_did_the_phone_hold_before_launch_1_and_what_does_it_hold_now(self):
        self.assertFew([*THE_PHONE_NOW, *BEFORE_THE_LAUNCH], 3)
        self.press(*THE_PHONE_NOW)
        self.assertIn("/devices/phone", self.browser.js("return location.pathname"))
        self.assertSays("Waits for a launch: 2", "streak", limit=4)
        self.press(*BEFORE_THE_LAUNCH)
        self.assertSays("Waits for a launch: 2", "level", "Completed Match Game", limit=4)
        self.assertIn("at=", self.browser.js("return location.search"))
        self.assertNotIn("streak", self.browser.text("#root .stages"))

    def test_which_value_did_a_late_event_overwrite_and_what_would_it_be(self):
        self.assertFew(AS_IT_HAPPENED, 3)
        self.why_level()
        self.assertRegion("before, it was", "7", "as it happened: 7", "without this event: 7")
        self.press(*AS_IT_HAPPENED)
        self.assertSays("As it arrived", "level 2 7", limit=4)

    def test_why_did_bo_get_no_message(self):
        self.assertFew(WHY_NOT_BO, 5)
        self.press(*WHY_NOT_BO)
        self.assertSays("push not received", "does not allow the app to show pushes", limit=4)
        self.assertFew(WHY_NOT_SPRING, 5)
        self.browser.open(self.demo.url)
        self.press(*WHY_NOT_SPRING)
        self.assertIn("/messages/spring", self.browser.js("return location.pathname"))
        self.assertSays("bo not received by apple push on bos-phone: the user does not allow the app to show pushes", limit=4)

    def test_who_else_has_it_from_this_cause(self):
        self.assertFew(WHO_ELSE, 2)
        self.why_level()
        self.press(*WHO_ELSE)
        self.assertRegion("Who else", "nobody else", "custom.level = 2", "ana")
        self.browser.click("What if it had not happened?")
        self.assertRegion("1 profile would differ", "Nothing is written")

    def test_a_copied_link_opens_the_same_panel_at_the_same_moment_in_a_fresh_profile(self):
        b = self.browser
        self.why_level()
        # To the step of the late event: a moment of the past.
        b.js("[...document.querySelectorAll('#root button')].find((e) => /^tablet, step/.test(e.textContent)).click()")
        b.settle(quiet=300)
        link, heading = b.js("return [location.href, document.querySelector('#root h1').innerText]")
        self.assertSays("Why is level")
        b.settle(quiet=300)
        region, band = self.why(b), b.text(".band.past")
        self.assertIn("level", region)
        self.assertTrue(band, link)
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(link).query)
        self.assertIn("store", query)
        fresh = Browser()
        try:
            fresh.open(link)
            self.assertTrue(fresh.says("Why is level"))
            fresh.settle(quiet=300)
            self.assertEqual(fresh.text("#root h1"), heading)
            self.assertEqual(self.why(fresh), region)
            self.assertEqual(fresh.text(".band.past"), band)
        finally:
            fresh.quit()

    @staticmethod
    def why(browser):
        return browser.js("return [...document.querySelectorAll('#root .panel')].find((p) => /why/i.test(p.querySelector('h2, h3')?.innerText ?? ''))?.innerText ?? ''")
