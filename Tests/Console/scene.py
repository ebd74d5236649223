"""What the tests share: one browser, and services with a story behind a proxy of their own."""

import atexit
import contextlib
import os
import pathlib
import subprocess
import unittest

from browser import Browser
from proxy import Proxy
from service import PROGRAM, Service

HERE = pathlib.Path(__file__).parent
FILES = os.environ.get("CONSOLE_FILES") and os.path.abspath(os.environ["CONSOLE_FILES"])
COMMAND = os.environ.get("PROFILECLI") or str(pathlib.Path(PROGRAM).with_name("profilecli"))
_made = {}


def browser():
    """The one browser; another one if it crashed."""
    if "browser" in _made and not _made["browser"].is_alive():
        _made.pop("browser").quit()
    if "browser" not in _made:
        _made["browser"] = Browser()
    return _made["browser"]


@atexit.register
def _quit():
    if "browser" in _made:
        _made["browser"].quit()


def play(service, file="story.yaml"):
    done = subprocess.run([COMMAND, "scenario", "run", str(HERE / file), "--url", service.url],
                          capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise RuntimeError(f"{file} does not play: {done.stdout}{done.stderr}")


class Scene:
    """A service, and the proxy by which the browser reaches it."""

    def __init__(self, *arguments, story=True, prefix="", workspace=True, keep_alive=True, **service):
        self.workspace = str(HERE / "workspace.yaml")
        more = ["--workspace", self.workspace] if workspace else []
        more += ["--console", FILES] if FILES else []
        self.service = Service(*arguments, *more, **service)
        self.arguments, self.story = [*arguments, *more], story
        if story:
            play(self.service)
        self.proxy = Proxy(self.service.port, prefix=prefix, keep_alive=keep_alive)
        self.url = self.proxy.console

    def crash(self):
        """What the service said last if it ended by itself; then another one is begun. Without a crash empty."""
        if self.service.process.poll() is None:
            return ""
        said = self.service.messages
        self.service.kill()
        self.service = Service(*self.arguments)
        if self.story:
            play(self.service)
        self.proxy.to = self.service.port
        lines = [line for line in said.splitlines() if "Fatal" in line or "crashed" in line or ".swift:" in line]
        return "profiled ended by itself: " + " | ".join(lines[:3])[:600]

    def at(self, path):
        return self.url + path

    def post(self, path, body, headers=None, status=(200, 201)):
        answer = self.service.post(path, body, headers)
        assert answer.status in status, (path, answer)
        return answer.json

    def close(self):
        self.proxy.close()
        self.service.kill()


def scene():
    """The story, told once for all tests that only read."""
    if "scene" not in _made:
        _made["scene"] = Scene()
    return _made["scene"]


def empty_scene():
    if "empty" not in _made:
        _made["empty"] = Scene(story=False, workspace=False)
    return _made["empty"]


@contextlib.contextmanager
def own(*arguments, **options):
    made = Scene(*arguments, **options)
    try:
        yield made
        if made.service.process.poll() is not None:
            raise AssertionError(made.crash())
    finally:
        if "browser" in _made:
            _made["browser"].open("about:blank", settled=False)  # a page that is left open would miss its service
        made.close()


class PageTests(unittest.TestCase):
    """A test that opens pages: it begins and ends with a silent browser."""

    maxDiff = None

    def setUp(self):
        self.browser = browser()
        # Patterns of console messages that the test brings about; CONSOLE_EXPECT=PATTERN while a page is half built.
        self.expected = [os.environ["CONSOLE_EXPECT"]] if os.environ.get("CONSOLE_EXPECT") else []
        self.browser.look()
        self.browser.open("about:blank", settled=False)
        self.browser.noise("http://127.0.0.1")

    def tearDown(self):
        for name in ("scene", "empty"):
            if crash := name in _made and _made[name].crash():
                self.fail(crash)
        self.assertQuiet("at the end")
        # Requests of the page go on; the next test shall not hear of them.
        self.browser.open("about:blank", settled=False)
        self.browser.noise("http://127.0.0.1", [".*"])

    def assertQuiet(self, where, expected=()):
        self.assertNone(self.browser.noise("http://127.0.0.1", [*self.expected, *expected]), where)

    def assertSays(self, *words, limit=10, where=""):
        if not self.browser.says(*words, limit=limit):
            self.fail(f"{where} The page does not say {words}. It says:\n{self.browser.text()[:3000]}")

    def assertNone(self, findings, where):
        if findings:
            self.fail(f"{where}:\n  " + "\n  ".join(dict.fromkeys(findings)))
