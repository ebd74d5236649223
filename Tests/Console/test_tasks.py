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
WHY_LEVEL = ["/", "ana", "Enter", "Down", "level", "Enter"]
BEFORE_THE_LAUNCH = ["[", "[", "]"]
OVERWRITTEN = [",", "<"]
NO_MESSAGE = ["/", "bo", "Enter", "Tab", "Enter"]
WHO_ELSE = ["w"]


class Demo:
    """`profiled demo`, or the story of the tests where the program has no demo yet."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        port_file = os.path.join(self.folder.name, "port")
        self.process = subprocess.Popen(
            [PROGRAM, "demo", "--port", "0", "--port-file", port_file], cwd=self.folder.name,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "TMPDIR": self.folder.name})
        end = time.monotonic() + 30
        while not (os.path.exists(port_file) and os.path.getsize(port_file)):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"`profiled demo` does not start: {self.process.stdout.read()}")
            time.sleep(0.02)
        self.proxy = Proxy(int(open(port_file).read()), files=FILES)
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

    def press(self, keys, limit):
        """Presses them one by one, as a person who waits for the page does. Fails if there are more than `limit`."""
        pressed = [k for k in keys if len(k) == 1 or not k.islower()]
        self.assertLessEqual(len(pressed), limit, f"{pressed}: the task takes too many keys")
        for key in keys:
            self.browser.keys(key)
            self.browser.settle(quiet=80, limit=3000)

    def region(self):
        """The text of the region that has the focus, or of the whole page."""
        return self.browser.js("return (document.activeElement.closest('[role=region], section.panel') ?? document.body).innerText.replace(/\\s+/g, ' ')")

    def why_level(self):
        self.press(WHY_LEVEL, 4)

    def test_why_is_anas_level_2(self):
        self.why_level()
        self.assertSays("tablet", "325 days late", limit=4)
        for word in ("level", "2", "tablet", "late", "7", "launch"):
            self.assertIn(word, self.region())
        self.assertIn("field=level", self.browser.js("return location.search"))

    def test_what_did_the_phone_hold_before_launch_1_and_what_does_it_hold_now(self):
        self.why_level()
        self.press(BEFORE_THE_LAUNCH[:1], 3)
        self.assertSays("Completed Match Game", "waits", limit=4)
        self.press(BEFORE_THE_LAUNCH[1:], 2)
        self.assertSays("waits", limit=4)

    def test_which_value_did_a_late_event_overwrite_and_what_would_it_be(self):
        self.why_level()
        self.press(OVERWRITTEN, 3)
        self.assertSays("Before", "7", "As it happened: 7", "Without this event", limit=4)

    def test_why_did_bo_get_no_message(self):
        self.press(NO_MESSAGE, 5)
        self.assertSays("spring", "not received", "does not allow", limit=4)

    def test_who_else_has_it_from_this_cause(self):
        self.why_level()
        self.press(WHO_ELSE, 2)
        self.assertSays("Who else", "would", limit=4)

    def test_a_copied_link_opens_the_same_panel_at_the_same_moment_in_a_fresh_profile(self):
        b = self.browser
        b.open(self.demo.url + "users/ana?at=12&field=level&axis=both")
        b.settle(quiet=300)
        link, heading = b.js("return [location.href, document.querySelector('#root h1').innerText]")
        region, band = self.why(b), b.text(".band.past")
        self.assertIn("level", region)
        self.assertTrue(band)
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(link).query)
        self.assertIn("store", query)
        fresh = Browser()
        try:
            fresh.open(link)
            fresh.settle(quiet=300)
            self.assertEqual(fresh.text("#root h1"), heading)
            self.assertEqual(self.why(fresh), region)
            self.assertEqual(fresh.text(".band.past"), band)
        finally:
            fresh.quit()

    @staticmethod
    def why(browser):
        return browser.js("return [...document.querySelectorAll('#root .panel')].find((p) => /why/i.test(p.querySelector('h2, h3')?.innerText ?? ''))?.innerText ?? ''")
