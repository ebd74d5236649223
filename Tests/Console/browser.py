"""One headless Chromium for all tests, and what the tests ask of a page: rest, axe, geometry, silence."""

import contextlib
import importlib.util
import json
import os
import pathlib
import re
import shutil
import time

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service as Driver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

WATCH = (pathlib.Path(__file__).parent / "page.js").read_text()
# Its package would want Playwright; the file is all that is needed.
AXE = (pathlib.Path(importlib.util.find_spec("axe_playwright_python").origin).parent / "axe.min.js").read_text()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# What a scheme can change of a page whose other rules were tried in the same window.
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}

# What axe cannot decide by itself, and why it is right. A finding counts as explained if the rule and the reason of
# axe (`messageKey`) are here.
EXPLAINED = {
    # The drawer and the top bar lie over the page: axe sees no single ground below their text. Theirs is `--surface`,
    # and test_look.py computes its contrast.
    ("color-contrast", "bgOverlap"), ("color-contrast", "elmPartiallyObscured"),
    ("color-contrast", "elmPartiallyObscuring"),
    # One letter or symbol: axe cannot tell whether it is text. It has the colours of text.
    ("color-contrast", "shortTextContent"), ("color-contrast", "nonBmp"),
}

_tasks = {"Enter": Keys.ENTER, "Tab": Keys.TAB, "Escape": Keys.ESCAPE, "Left": Keys.ARROW_LEFT, "Right": Keys.ARROW_RIGHT,
          "Up": Keys.ARROW_UP, "Down": Keys.ARROW_DOWN, "Home": Keys.HOME, "End": Keys.END, "Space": Keys.SPACE,
          "PageDown": Keys.PAGE_DOWN, "PageUp": Keys.PAGE_UP}


def options():
    made = Options()
    made.binary_location = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", "--lang=en-GB",
                     "--disable-gpu", "--disable-background-networking", "--disable-component-update",
                     "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--no-first-run"):
        made.add_argument(argument)
    made.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return made


class Browser:
    def __init__(self):
        self.driver = webdriver.Chrome(options=options(), service=Driver(
            os.environ.get("CHROMEDRIVER") or shutil.which("chromedriver") or "/usr/bin/chromedriver"))
        self.driver.set_script_timeout(60)
        self._last, self._requests, self._watched = (None,) * 6, [], set()
        self.watch()

    def quit(self):
        with contextlib.suppress(Exception):  # of a browser that crashed nothing is left to end
            self.driver.quit()

    def is_alive(self):
        try:
            return self.driver.execute_script("return true")
        except WebDriverException:
            return False

    def watch(self):
        """For a window that is new."""
        if self.driver.current_window_handle not in self._watched:
            self.cdp("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
            # A window that other tabs covered may stay without focus: no focus event comes, no ring is drawn.
            self.cdp("Emulation.setFocusEmulationEnabled", enabled=True)
            self._watched.add(self.driver.current_window_handle)

    def cdp(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def look(self, width=1440, scheme="light", motion="no-preference", forced=False, height=900, mobile=False):
        wanted = (width, scheme, motion, forced, height, mobile)
        if wanted == self._last:
            return
        self._last = wanted
        self.cdp("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": motion},
            {"name": "forced-colors", "value": "active" if forced else "none"}])
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        if self.js("return !!window.consoleTest"):
            self.frames(2)

    def js(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def wait_js(self, code, *arguments):
        """`code` calls `done`."""
        return self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1];" + code, *arguments)

    def frames(self, count):
        self.wait_js("let n = arguments[0]; const f = () => n-- ? requestAnimationFrame(f) : done(); f();", count)

    def open(self, url, settled=True, **settling):
        self.driver.get(url)
        return self.settle(**settling) if settled else None

    def settle(self, quiet=100, limit=15_000, held=False):
        return self.wait_js("consoleTest.settle(done, ...arguments)", quiet, limit, held)

    def until(self, condition, limit=10):
        """Waits until the JavaScript expression is true. Returns it, or the last value when the time is up."""
        end = time.monotonic() + limit
        while True:
            result = self.js(f"return {condition}")
            if result or time.monotonic() > end:
                return result
            time.sleep(0.03)

    def text(self, selector="body"):
        return self.js("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def says(self, *words, limit=10):
        """Whether the page's text comes to have all of these, in any case and in whatever spaces."""
        return self.until(
            "(() => { const t = document.body.innerText.replace(/\\s+/g, ' ').toLowerCase(); return "
            + json.dumps([w.lower() for w in words]) + ".every((w) => t.includes(w)); })()", limit)

    def click(self, text):
        return self.js("return consoleTest.click(arguments[0])", text)

    def keys(self, *names):
        """Presses keys: a name of a key, `Shift+Right`, or text, which is typed."""
        chain = ActionChains(self.driver, duration=0)
        for key in names:
            *held, last = key.split("+") if len(key) > 1 and "+" in key else [key]
            modifiers = [{"Shift": Keys.SHIFT, "Control": Keys.CONTROL, "Alt": Keys.ALT}[m] for m in held]
            for m in modifiers:
                chain.key_down(m)
            chain.send_keys(_tasks.get(last, last))
            for m in modifiers:
                chain.key_up(m)
        chain.perform()

    # What must hold of every page

    def axe(self, rules=RULES):
        """axe's violations, and what it could not decide and nobody explained: a list of sentences."""
        found = self._axe(rules)
        # A part that is drawn anew while axe looks (a countdown, the drawer) is gone when axe comes to it.
        return found and self._axe(rules)

    def _axe(self, rules):
        if not self.js("return !!window.axe"):
            self.js(AXE)
        result = self.wait_js(
            "axe.run(document, {runOnly: arguments[0], resultTypes: ['violations', 'incomplete']})"
            ".then((r) => done({violations: r.violations, incomplete: r.incomplete}), (e) => done({error: String(e)}))", rules)
        if "error" in result:
            return [f"axe does not run: {result['error']}"]
        found = []
        for kind, rule in ((kind, rule) for kind in ("violations", "incomplete") for rule in result[kind]):
            for node in rule["nodes"]:
                checks = [check for part in ("any", "all", "none") for check in node[part]]
                data = [(check.get("data") or {}) for check in checks]
                keys = {d.get("messageKey") for d in data if isinstance(d, dict)}
                if kind == "incomplete" and any((rule["id"], key) in EXPLAINED for key in keys):
                    continue
                why = next((check["message"] for check in checks if check.get("message")), rule["help"])
                found.append(f"axe {rule['id']}{' cannot decide' if kind == 'incomplete' else ''}: "
                             f"{' '.join(map(str, node['target']))[:120]} {node['html'][:110]} – {why[:160]}")
        return found

    def geometry(self):
        return self.js("return [...consoleTest.geometry(), ...consoleTest.ids()]")

    def focus(self):
        return self.js("return consoleTest.focus()")

    def motion(self):
        return self.js("return consoleTest.motion()")

    def elements(self):
        return self.js("return consoleTest.elements()")

    def noise(self, origin, expected=()):
        """Messages of the console, breaches of the policy, errors, and requests elsewhere, since it was asked last.

        `expected` has what a test brings about itself, as patterns of messages: `status of 503`.
        """
        found = []
        for entry in self.driver.get_log("browser"):
            message = entry["message"]
            if not any(re.search(pattern, message) for pattern in expected):
                found.append(f"console {entry['level']}: {message[:300]}")
        if self.js("return !!window.consoleTest"):
            watch = self.js("const w = consoleTest.watch, r = [...w.violations.map((v) => 'policy: ' + v), "
                            "...w.errors.map((e) => 'error: ' + e)]; w.violations = []; w.errors = []; return r")
            found += [line for line in watch if not any(re.search(pattern, line) for pattern in expected)]
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                self._requests.append(url)
                if not url.startswith((origin, "data:", "about:", "chrome")):
                    found.append(f"a request elsewhere: {url[:200]}")
        return found
