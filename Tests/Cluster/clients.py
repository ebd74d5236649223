"""Clients that write and read through all nodes at once, and keep a history of what they did and were told."""

import dataclasses
import http.client
import json
import random
import socket
import threading
import time
import urllib.parse

from linearizability import FOREVER, Call

ACKED, REFUSED, PENDING, UNAVAILABLE = "acked", "refused", "pending", "unavailable"
# 503 with one of these: it may be stored. Any other 503 says that nothing was.
MAY_BE_STORED = {"outcome_pending", "outcome_unknown"}
# A read of a register, which clients agree on, and a client's read at another node of what it has just written.
READS = ("read", "own")
# A read of events asks for so many, the newest first.
EVENTS_OF_A_READ = 50


def tag_of(event):
    """The unique name that a client gave to an event; None for those that the log makes by itself."""
    if event.get("kind") == "customEventLogged":
        return (event.get("properties") or {}).get("n")
    if event.get("kind") == "customAttributesChanged":
        return (event.get("attributes") or {}).get("reg")
    return None


def position_of(cursor):
    """The position in a cursor."""
    return int(cursor.split("-")[0])


@dataclasses.dataclass
class Operation:
    """What a client sent, and what it was told. `tags` are the unique names of its events, as in `3-17.0`."""

    number: int
    round: int
    client: str
    kind: str  # event, track, batch, write, swap, read, own, erase
    node: str
    method: str
    path: str
    body: dict | None
    key: str | None
    user: str
    tags: tuple = ()
    expected: int | None = None
    begin: float = 0
    end: float = FOREVER
    outcome: str = ""
    status: int = 0
    position: int | None = None
    reached: int | None = None  # a position at or after that of its last event; of a read, the end of the log
    floor: int = 0  # the last position that was told to a client before it: its events come after
    cursors: tuple = ()  # what a write was told for `wait_for`: by the body, by the header
    follows: int | None = None  # the number of the write that an own read must have
    waits_for: str | None = None
    timeout: int = 0
    version: int | None = None
    value: object = None
    events: int = 1
    is_repeated: bool = False
    settled: str = ""  # the outcome of its retries
    detail: str = ""

    @property
    def verdict(self):
        return self.settled or self.outcome

    def __str__(self):
        end = "no end" if self.end == FOREVER else f"{self.end - self.begin:.3f} s"
        return (f"operation {self.number} of round {self.round}: {self.client} {self.kind} of {self.user} at "
                f"{self.node}"
                f"{' key ' + self.key if self.key else ''} tags {','.join(self.tags) or '-'} began {self.begin:.3f}, "
                f"{end}: {self.status} {self.outcome}{', then ' + self.settled if self.settled else ''}"
                f" position {self.position} version {self.version} {self.detail[:200]}")

    def call(self):
        """The operation as the checker takes it; None if it cannot have had an effect and says nothing."""
        verdict = self.verdict
        end = self.end if verdict in (ACKED, REFUSED) else FOREVER
        common = {"begin": self.begin, "end": end, "name": f"operation {self.number}, {self.client} at {self.node}"}
        if self.kind == "read":
            return Call("read", output=(self.version, self.value), **common) if verdict == ACKED else None
        if verdict == UNAVAILABLE or verdict == REFUSED:
            # A refusal for another version is decided on what the node has: that may be behind, as a read may be.
            return None
        if self.kind == "swap":
            output = ("stored", self.version) if verdict == ACKED else None
            return Call("swap", value=self.value, expected=self.expected, output=output, **common)
        return Call("write", value=self.value, output=self.version if verdict == ACKED else None, **common)


class History:
    """All operations of a run, and what clients know in common: the last position and cursor of each user that was told
    to one."""

    def __init__(self):
        self._lock = threading.Lock()
        self.operations, self.known, self.last = [], {}, 0

    def add(self, operation):
        with self._lock:
            self.operations.append(operation)
            self.last = max(self.last, operation.position or 0)
            if operation.position and operation.user:
                cursor = operation.cursors[0] if operation.cursors else str(operation.position)
                found = (operation.position, cursor)  # of one position, the cursor with a check is the greater text
                self.known[operation.user] = max(self.known.get(operation.user, found), found)
        # Only now it ends: what begins later waits for its position.
        operation.end = time.monotonic()

    def number(self):
        with self._lock:
            self._next = getattr(self, "_next", 0) + 1
            return self._next

    def of(self, round):
        with self._lock:
            return [each for each in self.operations if each.round == round]

    def write(self, file):
        with open(file, "w") as out:
            for each in self.operations:
                print(json.dumps(dataclasses.asdict(each), default=str), file=out)


def judge(operation, status, found, headers):
    """Puts what an answer says into the operation."""
    operation.status = status
    code = str(found.get("code", "")).replace("-", "_")
    if 200 <= status < 300:
        operation.outcome = ACKED
        operation.position, operation.is_repeated = found.get("position"), bool(found.get("repeated"))
        header = headers.get("X-ProfileLog-Position")
        if header:
            operation.reached = position_of(header)
        if operation.kind not in READS:
            operation.cursors = tuple(each for each in (found.get("cursor"), header) if each)
        if operation.kind in ("write", "swap", "event"):
            operation.version = found.get("version")
        elif operation.kind == "read":
            operation.version = found.get("version", 0)
            operation.value = found.get("custom_attributes", {}).get("reg")
        elif operation.kind == "own" and "events" in found:
            operation.reached = found.get("last", 0)
            operation.value = [(each["position"], tag_of(each)) for each in found["events"]]
        elif operation.kind == "own":
            operation.version = found.get("version", 0)
            operation.value = found.get("custom_attributes", {}).get("reg")
        return
    operation.detail = f"{code}: {found.get('error') or found.get('message') or ''}"
    if operation.kind == "read" and status == 404 and code == "unknown_user":
        operation.outcome, operation.version = ACKED, 0
    elif status == 503:
        operation.outcome = PENDING if code in MAY_BE_STORED else UNAVAILABLE
    elif status in (429, 507) or (operation.kind in READS and status == 504 and code == "not_reached"):
        operation.outcome = UNAVAILABLE
    elif 400 <= status < 500 or operation.kind in READS:
        operation.outcome = REFUSED
    else:
        operation.outcome = PENDING  # 500 and the like: nobody said that nothing was stored


class Sender:
    """Connections of one client to all nodes."""

    def __init__(self, cluster, timeout=20):
        self.cluster, self.timeout, self._connections = cluster, timeout, {}

    def send(self, operation, node):
        """Sends it, and sets its times and outcome."""
        headers = {"Authorization": f"Bearer {self.cluster.key}"}
        data = None
        if operation.body is not None:
            data = json.dumps(operation.body).encode()
            headers["Content-Type"] = "application/json"
        if operation.key:
            headers["Idempotency-Key"] = operation.key
        connection = self._connections.pop(node.name, None)
        if connection is None:
            connection = http.client.HTTPConnection(node.address, node.port, timeout=self.timeout)
        is_sent = connection.sock is not None
        operation.begin = operation.begin or time.monotonic()
        try:
            if connection.sock is None:
                connection.connect()
                connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            is_sent = True
            connection.request(operation.method, operation.path, data, headers)
            response = connection.getresponse()
            body = response.read()
            operation.end = time.monotonic()
            try:
                found = json.loads(body)
            except ValueError:
                found = {"error": body[:200].decode(errors="replace")}
            judge(operation, response.status, found if isinstance(found, dict) else {}, response.headers)
            if not response.will_close:
                self._connections[node.name] = connection
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            operation.end = time.monotonic()
            operation.outcome = PENDING if is_sent else UNAVAILABLE
            operation.detail = f"{type(error).__name__}: {error}"
        return operation

    def close(self):
        for each in self._connections.values():
            each.close()


class Client(threading.Thread):
    """Sends operations until `stop` is set, with chance of its own."""

    def __init__(self, cluster, history, round, number, seed, stop, pause=0.01):
        super().__init__(name=f"client {number}", daemon=True)
        self.cluster, self.history, self.round, self.stop, self.pause = cluster, history, round, stop, pause
        self.number, self.random = number, random.Random(f"{seed} client {number}")
        self.sender, self.versions = Sender(cluster), {}
        # Two of three stay at one node each: whoever waits for a node that stands still leaves the others at work.
        self.home = cluster.nodes[number % 3] if isinstance(number, int) and number < 6 else None
        # One at each node never looks elsewhere.
        self.looks_elsewhere = not (isinstance(number, int) and number < 3)

    def run(self):
        try:
            while not self.stop.is_set():
                self.turn()
                time.sleep(self.random.random() * self.pause)
        finally:
            self.sender.close()

    # Users of a round: few, so that clients meet at them.
    def user(self, kind):
        return f"{kind}-{self.round}-{self.random.randrange({'u': 12, 'r': 3, 'e': 4}[kind])}"

    def make(self, kind, path, body, user, method="POST", tags=1, key=None, **more):
        number = self.history.number()
        names = tuple(f"{self.round}-{number}.{each}" for each in range(tags))
        if key is None and self.random.random() < 0.6 and kind not in (*READS, "erase"):
            key = f"{self.random.getrandbits(96):024x}"
        return Operation(number, self.round, self.name, kind, "", method, path, body, key or None, user, names,
                         floor=self.history.last, **more)

    def send(self, operation, node=None):
        node = node or self.home or self.random.choice(self.cluster.nodes)
        operation.node = node.name
        self.history.add(self.sender.send(operation, node))
        if operation.outcome == UNAVAILABLE:
            time.sleep(0.05)
        return operation

    def event(self, user):
        operation = self.make("event", "/v1/log/event", None, user)
        operation.body = {"user": user, "name": "op", "properties": {"n": operation.tags[0]}}
        return operation

    def write(self, user, expected=None):
        operation = self.make("swap" if expected else "write", "/v1/log/attributes", None, user, expected=expected)
        operation.value = operation.tags[0]
        operation.body = {"user": user, "attributes": {"reg": operation.value}}
        if expected:
            operation.body["expect"] = expected
        return operation

    def track(self, count):
        users = [self.user("u") for _ in range(count)]
        operation = self.make("track", "/users/track", None, "", tags=count)
        operation.body = {"events": [
            {"external_id": user, "name": "op", "time": "2026-01-31T12:00:00Z", "properties": {"n": tag}}
            for user, tag in zip(users, operation.tags)]}
        return operation

    def batch(self, count):
        operation = self.make("batch", "/v1/batch", None, "", tags=count)
        operation.body = {"atomic": True, "items": [
            {"kind": "log/event", "user": self.user("u"), "name": "op", "properties": {"n": tag}}
            for tag in operation.tags]}
        return operation

    def read(self, user, is_current):
        query, begin = {"user": user}, time.monotonic()
        if is_current and (known := self.history.known.get(user)):
            query |= {"wait_for": known[1], "timeout": 5}
        return self.make("read", "/v1/profile?" + urllib.parse.urlencode(query), None, user, method="GET", tags=0,
                         begin=begin)

    def read_own(self, write, node, timeout):
        """Reads at another node what was acknowledged, with the cursor of the body or of the header."""
        user = write.user or next(each[-1].get("user") or each[-1].get("external_id")
                                  for each in write.body.values() if isinstance(each, list))
        cursor = self.random.choice(write.cursors)
        query, path = {"user": user}, "/v1/profile"
        if write.version is None or self.random.random() < 0.5:
            query, path = query | {"reverse": "true", "limit": EVENTS_OF_A_READ}, "/v1/events"
        query |= {"wait_for": cursor, "timeout": timeout}
        return self.send(self.make("own", f"{path}?{urllib.parse.urlencode(query)}", None, user, method="GET", tags=0,
                                   follows=write.number, waits_for=cursor, timeout=timeout), node)

    def look_elsewhere(self, write):
        """At once, while the other node most likely does not have it yet."""
        if not self.looks_elsewhere or write.outcome != ACKED or not write.cursors or self.random.random() > 0.3:
            return
        others = [each for each in self.cluster.nodes if each.name != write.node]
        self.read_own(write, self.random.choice(others), self.random.choice((0, 2, 10)))

    def turn(self):
        chance = self.random.random()
        if chance < 0.22:
            self.look_elsewhere(self.send(self.event(self.user("u"))))
        elif chance < 0.36:
            self.look_elsewhere(self.send(self.track(self.random.randint(1, 4))))
        elif chance < 0.42:
            self.look_elsewhere(self.send(self.batch(self.random.randint(2, 20))))
        elif chance < (0.42 if self.home else 0.47):
            self.twins()
        elif chance < 0.62:
            self.look_elsewhere(self.send(self.write(self.user("r"))))
        elif chance < 0.72:
            user = self.user("r")
            expected = self.versions.get(user)
            operation = self.send(self.write(user, expected))
            self.learn(operation)
            self.look_elsewhere(operation)
        elif chance < 0.97:
            operation = self.send(self.read(self.user("r"), is_current=True))
            self.learn(operation)
        elif chance < 0.985:
            self.send(self.event(self.user("e")))
        elif chance < 0.99:
            user = self.user("e")
            operation = self.make("erase", "/v1/erase", {"user": user, "reason": "test"}, user, tags=0)
            self.send(operation)

    def learn(self, operation):
        """A client goes on from the version that it was told."""
        if operation.outcome == ACKED and operation.version:
            self.versions[operation.user] = operation.version

    def twins(self):
        """The same bytes to two nodes at once: with one key they are one append, without a key two."""
        first = self.event(self.user("u"))
        nodes = self.random.sample(self.cluster.nodes, 2)
        second = dataclasses.replace(first, number=self.history.number(), node=nodes[1].name)

        def other():
            sender = Sender(self.cluster)
            self.history.add(sender.send(second, nodes[1]))
            sender.close()

        thread = threading.Thread(target=other, daemon=True)
        thread.start()
        self.send(first, nodes[0])
        thread.join()


def settle(cluster, operations, seconds=90, chance=random):
    """Sends what has an unknown outcome and a key again, until it is known: the retry of a client. Gives how many. All
    of them together get so many seconds, and each is sent once at least."""
    sender, count = Sender(cluster), 0
    deadline = time.monotonic() + seconds
    for operation in operations:
        if operation.verdict != PENDING or not operation.key:
            continue
        count += 1
        while True:
            again = dataclasses.replace(operation, begin=0, end=FOREVER, outcome="", position=None, version=None)
            sender.send(again, chance.choice(cluster.nodes))
            if again.outcome in (ACKED, REFUSED) or time.monotonic() > deadline:
                break
            time.sleep(0.1)
        operation.settled = again.outcome
        operation.end, operation.position, operation.version = again.end, again.position, again.version
        operation.reached = again.reached
        operation.is_repeated = again.is_repeated
        operation.detail = f"{operation.detail} | retry: {again.status} {again.detail}"
    sender.close()
    return count
