"""The built `profiled` as a process, on a store and a port of its own."""

import atexit
import http.client
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

PROGRAM = os.path.abspath(os.environ.get("PROFILED", ".build/debug/profiled"))

_running = set()


@atexit.register
def _end_all():
    for service in list(_running):
        service.kill()


def _terminate(*_):
    # No SystemExit: a client that tries again would catch it.
    _end_all()
    os._exit(143)


# What ends the tests from outside ends the services as well.
signal.signal(signal.SIGTERM, _terminate)


class Answer:
    """An answer as it came. `json` has every object as a dictionary in the order of the wire."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:2000]!r}"


class Service:
    """Starts when it is made, and returns when it listens; `stop` ends it as an operator would."""

    def __init__(self, *arguments, environment=None, before_start=None, store=None, port=0):
        """`store` is a folder that is kept; without one the store is for tests, and goes with the process."""
        self.folder = tempfile.mkdtemp(prefix="profiled-compatibility-")
        port_file = os.path.join(self.folder, "port")
        self._messages = open(os.path.join(self.folder, "messages"), "w+b")
        self.process = subprocess.Popen(
            [PROGRAM, *(["--store", store] if store else ["--ephemeral"]), "--port", str(port), "--port-file", port_file,
             *arguments],
            cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._messages,
            env={**os.environ, "TMPDIR": self.folder, **(environment or {})}, preexec_fn=before_start,
            restore_signals=before_start is None)
        _running.add(self)
        deadline = time.monotonic() + 30
        while not (os.path.exists(port_file) and os.path.getsize(port_file)):
            if self.process.poll() is not None or time.monotonic() > deadline:
                messages = self.messages
                self.kill()
                raise RuntimeError(f"profiled does not start: {messages}")
            time.sleep(0.02)
        with open(port_file) as file:
            self.port = int(file.read())
        self.url = f"http://127.0.0.1:{self.port}"

    @property
    def messages(self):
        with open(self._messages.name, errors="replace") as file:
            return file.read()

    def stop(self):
        """Fails unless it ends with 0."""
        if self not in _running:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(timeout=30)
            assert code == 0, f"profiled ended with {code}: {self.messages}"
        finally:
            self.kill()

    def kill(self):
        """Ends this process if it runs, and removes all that it left."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._messages.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        _running.discard(self)

    def send(self, method, path, body=None, headers=None):
        """`body` is bytes, text, or a value that is written as JSON."""
        headers = dict(headers or {})
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
            if not isinstance(body, (bytes, str)):
                body = json.dumps(body)
            if isinstance(body, str):
                body = body.encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body=body, headers=headers)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def get(self, path, headers=None):
        return self.send("GET", path, headers=headers)

    def post(self, path, body, headers=None):
        return self.send("POST", path, body, headers)

    def reset(self):
        """An empty store, and a clock that stands at noon of 2026-02-02."""
        assert self.post("/v1/reset", {}).status == 200
        assert self.post("/v1/clock", {"set": "2026-02-02T12:00:00Z"}).status == 200

    def profile(self, external_id):
        """What an export says of a user, and None of one that is not there."""
        users = self.post("/users/export/ids", {"external_ids": [external_id]}).json["users"]
        return users[0] if users else None


def keys(folder, *arguments):
    """`profiled keys` on a file in `folder`: its standard output."""
    done = subprocess.run(
        [PROGRAM, "keys", *arguments, "--keys", os.path.join(folder, "keys.json")],
        check=True, capture_output=True, text=True, timeout=30)
    return done.stdout
