#!/usr/bin/env python3
"""Answers as profiled does, as far as these tests ask, with one log in a file that all nodes share.

It tries the tests themselves: FAKE_FAULT names one way in which it goes wrong (`lose`, `double`, `stale`, `part`,
`fence`; reads that wait: `foreign`, `early`, `never`). It has no store and speaks to no broker.
"""

import argparse
import fcntl
import http.server
import json
import os
import random
import signal
import sys
import threading
import time
import urllib.parse

FAULT = os.environ.get("FAKE_FAULT", "")


class Log:
    """The shared log: each append under a lock of the file, as the stream has one order."""

    def __init__(self, path):
        self.path, self.events, self.offset, self.lock = path, [], 0, threading.Lock()
        self.versions, self.values, self.numbers, self.answers = {}, {}, {}, {}
        open(path, "a").close()

    def catch_up(self, file):
        file.seek(self.offset)
        for line in file.read().splitlines(keepends=True):
            if line.endswith(b"\n"):  # else a process was killed within it
                self.apply(json.loads(line))
                self.offset += len(line)

    def apply(self, batch):
        for event in batch["events"]:
            event = {**event, "position": len(self.events) + 1}
            user = event["user"]
            if event["kind"] == "userErased":
                number = event["user_number"]
                self.events = [{**each, "erased": True, "properties": None, "attributes": None}
                               if each["user_number"] == number else each for each in self.events]
                del self.versions[user], self.numbers[user]
                self.values.pop(user, None)
            else:
                self.numbers.setdefault(user, event["user_number"])
                self.versions[user] = event["version"]
                if "attributes" in event:
                    self.values[user] = event["attributes"]["reg"]
            self.events.append(event)
        if batch.get("key"):
            self.answers[batch["key"]] = batch

    def append(self, key, items, expect=None, erase=None):
        """What the batch became: (status, answer)."""
        with self.lock, open(self.path, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not (FAULT == "fence" and random.random() < 0.3):
                self.catch_up(file)
            if key and key in self.answers:
                return 200, {**self.answers[key]["answer"], "repeated": True}
            if expect is not None and self.versions.get(items[0]["user"], 0) != expect:
                return 412, {"error": "another version", "code": "version_conflict",
                             "actual": self.versions.get(items[0]["user"], 0)}
            if erase is not None and erase not in self.numbers:
                return 404, {"error": "No user is known.", "code": "unknown_user"}
            events, versions, numbers = [], dict(self.versions), dict(self.numbers)
            now = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
            following = max((each["user_number"] for each in self.events), default=0) + 1

            def put(user, kind, more):
                versions[user] = versions.get(user, 0) + 1
                events.append({"user": user, "user_number": numbers[user], "version": versions[user], "kind": kind,
                               "recorded_at": now, **more})

            for item in items:
                user = item["user"]
                if user not in numbers:
                    numbers[user], following = following, following + 1
                    put(user, "userCreated", {})
                put(user, item["kind"], item["more"])
            if erase is not None:
                put(erase, "userErased", {})
            if FAULT == "double" and random.random() < 0.02:
                events += [{**events[-1], "version": events[-1]["version"] + 1}]
            last = len(self.events) + len(events)
            answer = {"position": last, "cursor": f"{last}-00000000", "version": events[-1]["version"],
                      "repeated": False}
            if FAULT == "lose" and random.random() < 0.02:
                return 200, answer
            if FAULT == "part" and len(events) > 3 and random.random() < 0.1:
                events = events[:-1]
            if FAULT != "fence":
                file.truncate(self.offset)
            file.seek(0, os.SEEK_END)
            file.write(json.dumps({"key": key, "events": events, "answer": answer}).encode() + b"\n")
            file.flush()
            self.catch_up(file)
            return 200, answer

    def look(self, wait_for):
        """Reads what others have written. Gives the refusal of a read that waits; None if it may be answered."""
        position, _, check = (wait_for or "0").partition("-")
        with self.lock, open(self.path, "rb") as file:
            is_odd = wait_for and random.random() < 0.5
            if FAULT == "never" and is_odd:
                return 504, {"code": "not_reached", "error": "The log has not reached it."}
            if FAULT == "foreign" and is_odd and check and int(position) > len(self.events):
                return 409, {"code": "other_history", "error": "The log does not hold the event."}
            if not (FAULT == "stale" and random.random() < 0.9) and not (FAULT == "early" and is_odd):
                self.catch_up(file)
        return None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, found, headers=()):
        body = json.dumps(found).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-ProfileLog-Node", options.node)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        place = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(place.query))
        if refusal := log.look(query.get("wait_for")):
            return self.answer(*refusal)
        last = len(log.events)
        if place.path == "/v1/profile":
            user = query["user"]
            if user not in log.versions:
                return self.answer(404, {"code": "unknown_user", "error": "No user is known."})
            return self.answer(200, {"version": log.versions[user], "position": last,
                                     "custom_attributes": {"reg": log.values.get(user)}})
        if place.path == "/v1/events":
            after, limit = int(query.get("after", 0)), int(query.get("limit", 1000))
            found = log.events[after:]
            if user := query.get("user"):
                found = [each for each in found if each["user"] == user]
            if query.get("reverse") == "true":
                found.reverse()
            return self.answer(200, {"events": found[:limit], "last": last})
        if place.path == "/v1/cluster":
            return self.answer(200, {"node": {"name": options.node, "sequence": last}, "preferred": "n1"})
        self.answer(200, {"status": "ok", "last_position": last})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key, expect, erase, items = self.headers.get("Idempotency-Key"), None, None, []

        def event(user, name, properties):
            items.append({"user": user, "kind": "customEventLogged", "more": {"name": name, "properties": properties}})

        if self.path == "/v1/log/event":
            event(body["user"], body["name"], body.get("properties"))
        elif self.path == "/v1/log/attributes":
            items.append({"user": body["user"], "kind": "customAttributesChanged",
                          "more": {"attributes": body["attributes"]}})
            expect = body.get("expect")
        elif self.path in ("/users/track", "/users/track/bulk"):
            for each in body["events"]:
                event(each["external_id"], each["name"], each.get("properties"))
        elif self.path == "/v1/batch":
            for each in body["items"]:
                event(each["user"], each["name"], each.get("properties"))
        elif self.path == "/v1/erase":
            erase = body["user"]
        status, answer = log.append(key, items, expect, erase)
        if self.path.startswith("/users/track"):
            cursor, answer = answer.get("cursor"), {"message": "success"}
            return self.answer(status, answer, [("X-ProfileLog-Position", cursor)])
        self.answer(status, answer)


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128


if sys.argv[1:2] == ["keys"]:
    print("plk_fake")
    sys.exit()
parser = argparse.ArgumentParser()
parser.add_argument("serve")
for name in ("store", "host", "port", "node"):
    parser.add_argument(f"--{name}")
options, _ = parser.parse_known_args()
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
log = Log(os.path.join(os.environ.get("FAKE_FOLDER") or os.path.dirname(os.path.dirname(options.store)), "fake-log"))
Server((options.host, int(options.port)), Handler).serve_forever()
