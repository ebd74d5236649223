"""A proxy between the browser and `profiled`: one address that stays, faults on demand, and a list of what was asked.

With `prefix` everything is below that path, as behind a reverse proxy.
Without `keep_alive` each request has a connection of its own: on one that was used before, Chromium itself sends a POST
again when the connection ends without an answer.
"""

import contextlib
import http.client
import json
import re
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# What is a file of the console, and what is a request of the page that no panel waits for.
OWN = re.compile(r"^/console(/|$)")
QUIET = re.compile(r"^(/|/v1/status|/v1/key|/v1/events\?limit=1)$")


class Fault:
    """What happens to the requests that match, `times` of them or all."""

    def __init__(self, path, method="GET", times=None, status=None, body=None, retry_after=None, delay=0, drop=None,
                 hold=False, quiet=False):
        self.path, self.method, self.left = re.compile(path), method, times
        self.status, self.body, self.retry_after = status, body, retry_after
        self.delay, self.drop, self.quiet, self.hits = delay, drop, quiet, 0
        # With `hold` nothing is answered before it is set, or the fault ends.
        self.hold = threading.Event() if hold else None

    def takes(self, method, path):
        if self.left == 0 or self.method not in (method, "*") or not self.path.search(path):
            return False
        if not self.quiet and QUIET.match(path):
            return False
        self.hits += 1
        if self.left is not None:
            self.left -= 1
        return True


class Proxy:
    def __init__(self, to, prefix="", keep_alive=True):
        self.keep_alive = keep_alive
        self.to, self.prefix = to, prefix
        self.faults, self.seen, self.lock = [], [], threading.Lock()
        self.headers = {}  # that each answer gets as well
        self._open = set()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_):
                pass

            def answer(self):
                proxy._answer(self)

            do_GET = do_POST = do_HEAD = do_OPTIONS = answer

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *_):
                pass  # a browser that goes away is no news

        self.server = Server(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_port}"
        self.console = f"{self.origin}{prefix}/console/"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.cut()
        self.server.shutdown()
        self.server.server_close()

    @contextlib.contextmanager
    def fault(self, path, **what):
        fault = Fault(path, **what)
        with self.lock:
            self.faults.insert(0, fault)
        try:
            yield fault
        finally:
            with self.lock:
                self.faults.remove(fault)
            if fault.hold:
                fault.hold.set()

    def cut(self):
        """Ends all connections to the service that are open: streams above all."""
        with self.lock:
            connections, self._open = self._open, set()
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def asked(self, path, method="GET", since=0):
        """The requests so far whose path matches, as (method, path, headers, body)."""
        with self.lock:
            return [r for r in self.seen[since:] if r[0] == method and re.search(path, r[1])]

    def _answer(self, handler):
        if not self.keep_alive:
            handler.close_connection = True
        length = int(handler.headers.get("Content-Length") or 0)
        body = handler.rfile.read(length) if length else None
        path = handler.path
        if self.prefix:
            if not path.startswith(self.prefix + "/"):
                return self._send(handler, 404, b"not under the prefix", {})
            path = path[len(self.prefix):]
        with self.lock:
            if not OWN.match(path):
                self.seen.append((handler.command, path, dict(handler.headers), body))
            fault = next((f for f in self.faults if f.takes(handler.command, path)), None)
        if fault:
            if fault.hold:
                fault.hold.wait(30)
            if fault.delay:
                time.sleep(fault.delay)
            if fault.drop == "request":
                handler.close_connection = True
                return handler.connection.shutdown(socket.SHUT_RDWR)
            if fault.status:
                answer = {"error": "Made to fail.", "remedy": "Wait for the end of the test.", "code": "made"}
                headers = {"Content-Type": "application/json"}
                if fault.retry_after is not None:
                    headers["Retry-After"] = str(fault.retry_after)
                return self._send(handler, fault.status, json.dumps(fault.body or answer).encode(), headers)
        self._forward(handler, path, body, fault)

    def _send(self, handler, status, body, headers):
        handler.send_response(status)
        for name, value in {**self.headers, **headers, "Content-Length": str(len(body))}.items():
            handler.send_header(name, value)
        if not self.keep_alive:
            handler.send_header("Connection", "close")
        handler.end_headers()
        if handler.command != "HEAD":
            with contextlib.suppress(OSError):
                handler.wfile.write(body)

    def _forward(self, handler, path, body, fault):
        connection = http.client.HTTPConnection("127.0.0.1", self.to, timeout=60)
        try:
            connection.putrequest(handler.command, path, skip_host=True, skip_accept_encoding=True)
            for name, value in handler.headers.items():
                if name.lower() not in ("connection", "keep-alive", "content-length"):
                    connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            with self.lock:
                self._open.add(connection.sock)
            opened = connection.sock
            answer = connection.getresponse()
        except OSError:
            # As a service that is down: no answer at all.
            handler.close_connection = True
            with contextlib.suppress(OSError):
                handler.connection.shutdown(socket.SHUT_RDWR)
            return
        try:
            if fault and fault.drop == "answer":
                answer.read()
                handler.close_connection = True
                handler.connection.shutdown(socket.SHUT_RDWR)
                return
            handler.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "connection", "date", "server"):
                    handler.send_header(name, value)
            for name, value in self.headers.items():
                handler.send_header(name, value)
            if not self.keep_alive or (answer.getheader("Content-Length") is None and answer.status not in (204, 304)):
                handler.send_header("Connection", "close")
                handler.close_connection = True
            handler.end_headers()
            while handler.command != "HEAD" and (chunk := answer.read1(65536)):
                handler.wfile.write(chunk)
                handler.wfile.flush()
        except (OSError, http.client.HTTPException):
            handler.close_connection = True
        finally:
            with self.lock:
                self._open.discard(opened)
            connection.close()
