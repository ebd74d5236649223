"""Three brokers and three nodes as processes: start, stop, kill, pause, and the network between them.

Where `run` could make namespaces, each process has a network of its own, and all packets go through one that can drop
them (`Namespaces`). Else everything is on 127.0.0.1 (`Loopback`), and no network can be cut.
"""

import atexit
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import time

PROGRAM = os.path.abspath(os.environ.get("PROFILED", ".build/debug/profiled"))
COMMAND = os.path.abspath(os.environ.get("PROFILECLI") or pathlib.Path(PROGRAM).with_name("profilecli"))
BROKER = os.path.abspath(os.environ.get("NATS_SERVER", ".build/cluster/venv/bin/nats-server"))
# A program in Python that has profiled's answers, without a store: it tries the tests themselves.
IS_FAKE = PROGRAM.endswith(".py")
# `run` sets it in namespaces of its own.
HAS_NAMESPACES = os.environ.get("CLUSTER_NAMESPACES") == "1"

_running = set()
_networks = []


class ClusterError(Exception):
    """The cluster is not as it must be: a failure of the test."""


@atexit.register
def end_all():
    for process in list(_running):
        process.kill()


def _terminate(number, _):
    end_all()
    os._exit(128 + number)


signal.signal(signal.SIGTERM, _terminate)
signal.signal(signal.SIGHUP, _terminate)


def until(seconds, what, condition, pause=0.05):
    """Waits until `condition()` is true, and gives what it gave; a failure says what never came."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise ClusterError(f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(pause)


# MARK: - Networks


class Loopback:
    """Everything on 127.0.0.1: there is nothing to cut."""

    can_cut = False

    def __init__(self, _names):
        self._given = set()

    def address(self, _name):
        return "127.0.0.1"

    def inside(self, _name):
        return []

    def port(self):
        """A port that is free, and that this gives once only: processes come back on theirs."""
        while True:
            with socket.socket() as found:
                found.bind(("127.0.0.1", 0))
                number = found.getsockname()[1]
            if number not in self._given:
                self._given.add(number)
                return number

    def cut(self, *_):
        raise ClusterError("no network can be cut here")

    def heal(self):
        pass


class Namespaces:
    """A network for each process, all joined by one that forwards. It drops packets from one address to another by
    policy rules, without a word to the sender: that is a partition, one way or both."""

    can_cut = True

    def __init__(self, names):
        with open("/proc/self/net/route") as file:
            if len(file.readlines()) > 1:  # the machine's own network, which is never touched
                raise ClusterError("this is not a network of its own: begin with Tests/Cluster/run")
        self._rules = []
        os.makedirs("/run/netns", exist_ok=True)
        self._do("mount", "-t", "tmpfs", "netns", "/run/netns")  # the machine's own folder stays as it is
        self._do("ip", "link", "set", "lo", "up")
        self._do("ip", "netns", "add", "hub")
        self._in("hub", "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward")
        self._addresses = {}
        self._next = 7000
        for number, name in enumerate(["here", *names], 1):
            self._addresses[name] = f"198.18.{number}.2"
            self._do("ip", "link", "add", f"hub-{name}", "netns", "hub", "type", "veth", "peer", "name", f"to-{name}")
            self._in("hub", "ip", "address", "add", f"198.18.{number}.1/24", "dev", f"hub-{name}")
            self._in("hub", "ip", "link", "set", f"hub-{name}", "up")
            run = self._do
            if name != "here":
                self._do("ip", "netns", "add", name)
                self._do("ip", "link", "set", f"to-{name}", "netns", name)
                run = lambda *command, name=name: self._in(name, *command)
                run("ip", "link", "set", "lo", "up")
            run("ip", "address", "add", f"198.18.{number}.2/24", "dev", f"to-{name}")
            run("ip", "link", "set", f"to-{name}", "up")
            run("ip", "route", "add", "default", "via", f"198.18.{number}.1")

    @staticmethod
    def _do(*command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
        if done.returncode:
            raise ClusterError(f"{' '.join(command)}: {done.stderr.strip()}")

    def _in(self, name, *command):
        self._do(*self.inside(name), *command)

    def address(self, name):
        return self._addresses[name]

    def inside(self, name):
        return ["nsenter", f"--net=/run/netns/{name}", "--"]

    def port(self):
        self._next += 1
        return self._next

    def cut(self, sender, receiver):
        """Drops all packets from `sender` to `receiver`, from now on."""
        rule = ["from", self.address(sender), "to", self.address(receiver)]
        if rule not in self._rules:
            self._in("hub", "ip", "rule", "add", *rule, "pref", "100", "blackhole")
            self._rules.append(rule)

    def heal(self):
        while self._rules:
            self._in("hub", "ip", "rule", "del", *self._rules[-1], "pref", "100", "blackhole")
            self._rules.pop()


def network(names):
    """The one network of this program: clusters that come after one another share it."""
    if not _networks:
        _networks.append((Namespaces if HAS_NAMESPACES else Loopback)(names))
    _networks[0].heal()
    return _networks[0]


# MARK: - HTTP


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        """The object of the answer; an empty one if it has none."""
        try:
            found = json.loads(self.body)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def __repr__(self):
        return f"{self.status} {self.body[:500]!r}"


def ask(address, port, method, path, body=None, headers=None, timeout=5, tls=None):
    """One request on a connection of its own, by HTTPS if there is an ssl.SSLContext `tls`. Throws OSError or
    http.client.HTTPException if no answer comes."""
    connection = (http.client.HTTPSConnection(address, port, timeout=timeout, context=tls) if tls
                  else http.client.HTTPConnection(address, port, timeout=timeout))
    try:
        data = None if body is None else json.dumps(body).encode()
        more = {} if body is None else {"Content-Type": "application/json"}
        connection.request(method, path, data, {**more, **(headers or {})})
        response = connection.getresponse()
        return Answer(response.status, response.headers, response.read())
    finally:
        connection.close()


# MARK: - Processes


class Process:
    """A program that is started, killed, paused and started again, with its messages in one file."""

    def __init__(self, name, network, folder):
        self.name, self.network, self.folder = name, network, folder
        self.address = network.address(name)
        os.makedirs(folder, exist_ok=True)
        self.messages_file = os.path.join(folder, "messages")
        self.process, self.is_paused, self.starts = None, False, 0

    def command(self):
        raise NotImplementedError

    def environment(self):
        return {}

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def start(self):
        if self.is_running:
            return
        self.starts += 1
        command = [*self.network.inside(self.name), *self.command()]
        with open(self.messages_file, "ab") as messages:
            messages.write(f"--- {time.strftime('%H:%M:%S')} start {self.starts}: {' '.join(command)}\n".encode())
            messages.flush()
            # A session of its own: Ctrl-C is for the test, which then ends it.
            self.process = subprocess.Popen(
                command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=messages, stderr=messages,
                start_new_session=True, env={**os.environ, "TMPDIR": self.folder, **self.environment()})
        self.is_paused = False
        _running.add(self)

    def kill(self):
        if self.process is not None:
            if self.process.poll() is None:
                self.process.kill()
            self.process.wait()
        self.is_paused = False
        _running.discard(self)

    def stop(self, seconds=60):
        """Ends it as an operator would, and gives its exit status."""
        if not self.is_running:
            return None
        self.resume()
        self.process.terminate()
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise ClusterError(f"{self.name} goes on {seconds} s after SIGTERM: {self.tail()}") from None
        finally:
            self.kill()

    def pause(self):
        if self.is_running:
            self.process.send_signal(signal.SIGSTOP)
            self.is_paused = True

    def resume(self):
        if self.is_paused and self.is_running:
            self.process.send_signal(signal.SIGCONT)
        self.is_paused = False

    def tail(self, count=12):
        """The last lines of its messages."""
        with contextlib.suppress(FileNotFoundError), open(self.messages_file, errors="replace") as file:
            return "\n    ".join(line.rstrip()[:400] for line in file.readlines()[-count:])
        return "no messages"


class Broker(Process):
    """A nats-server with JetStream that syncs each write."""

    def __init__(self, name, network, folder, data=None):
        super().__init__(name, network, folder)
        self.data = data or os.path.join(folder, "data")
        self.port, self.route, self.monitor = network.port(), network.port(), network.port()
        self.url = f"nats://{self.address}:{self.port}"
        self.monitor_url = f"http://{self.address}:{self.monitor}"

    def configure(self, brokers):
        routes = ", ".join(f'"nats://{each.address}:{each.route}"' for each in brokers)
        with open(os.path.join(self.folder, "nats.conf"), "w") as file:
            file.write(f"""server_name: {self.name}
listen: "{self.address}:{self.port}"
http: "{self.address}:{self.monitor}"
max_payload: 8MB
jetstream {{ store_dir: "{self.data}", sync_interval: always, max_memory_store: 64MB, max_file_store: 4GB }}
cluster {{ name: test, listen: "{self.address}:{self.route}", routes: [{routes}] }}
""")

    def command(self):
        return [BROKER, "-c", os.path.join(self.folder, "nats.conf")]

    def lose_folder(self):
        shutil.rmtree(self.data, ignore_errors=True)

    def look(self, path):
        """What its monitoring port says; an empty object if it says nothing."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            answer = ask(self.address, self.monitor, "GET", path, timeout=2)
            if answer.status == 200:
                return answer.json
        return {}

    def stream(self):
        """What it says of the stream that it holds; an empty object if it holds none."""
        found = self.look("/jsz?streams=true&config=true")
        for account in found.get("account_details") or []:
            for each in account.get("stream_detail") or []:
                return each
        return {}


class Node(Process):
    """A profiled that is a node of the cluster."""

    def __init__(self, cluster, name, folder, store=None):
        super().__init__(name, cluster.network, folder)
        self.cluster, self.store = cluster, store or os.path.join(folder, "store")
        self.port = self.network.port()
        self.url = f"{'https' if cluster.certificates else 'http'}://{self.address}:{self.port}"
        self.join = None  # a node from which it takes its copy if its folder is empty
        self.clock = 0  # seconds by which its clock is off

    def command(self):
        # By its name, a node begins somewhere in the list (NATSSettings.firstServer): here at its own broker.
        brokers = self.cluster.brokers
        number = self.cluster.nodes.index(self) - sum(f"profilelog-{self.name}".encode()) % len(brokers)
        brokers = brokers[number:] + brokers[:number]
        command = [PROGRAM, "serve", "--store", self.store, "--host", self.address, "--port", str(self.port),
                   "--keys", self.cluster.keys, "--config", self.cluster.config, "--log-level", "notice",
                   "--replicate", ",".join(each.url for each in brokers), "--node", self.name, "--node-url", self.url,
                   "--cluster", "test", "--replicas", str(len(brokers)),
                   "--broker-monitor", ",".join(each.monitor_url for each in brokers)]
        if self.cluster.certificates:
            command += self.cluster.certificates.options(self.name)
        if self.join and not os.path.exists(os.path.join(self.store, "data.mdb")):
            command += ["--join", self.join.url, "--join-key-file", self.cluster.key_file]
        return command

    def environment(self):
        if not self.clock:
            return self.cluster.node_environment
        return {**self.cluster.node_environment, "LD_PRELOAD": self.cluster.faketime, "FAKETIME": f"{self.clock:+d}s",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1", "FAKETIME_NO_CACHE": "0"}

    def ask(self, method, path, body=None, headers=None, timeout=5):
        return ask(self.address, self.port, method, path, body,
                   {"Authorization": f"Bearer {self.cluster.key}", **(headers or {})}, timeout,
                   self.cluster.certificates and self.cluster.certificates.context)

    def answers(self):
        with contextlib.suppress(OSError, http.client.HTTPException):
            return self.ask("GET", "/health/live", timeout=2).status == 200
        return False

    def wait_until_ready(self, seconds=60):
        def ready():
            if not self.is_running:
                raise ClusterError(f"node {self.name} ended with {self.process.poll()}:\n    {self.tail()}")
            return self.answers()

        until(seconds, lambda: f"node {self.name} answers:\n    {self.tail()}", ready)

    def status(self):
        """The cluster as it sees it; an empty object if it does not say."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            answer = self.ask("GET", "/v1/cluster", timeout=5)
            if answer.status == 200:
                return answer.json
        return {}

    def last_position(self):
        with contextlib.suppress(OSError, http.client.HTTPException):
            return self.ask("GET", "/v1/status", timeout=5).json.get("last_position")
        return None


def named(found, *names):
    """The first of these members that is there, at the top or in the member `node`."""
    for place in (found, found.get("node")):
        for name in names:
            if isinstance(place, dict) and place.get(name) is not None:
                return place[name]
    return None


# MARK: - Certificates


class Certificates:
    """Pairs of nodes that take only clients with a certificate, by one of two authorities, "old" and "new"."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        os.makedirs(self.folder, exist_ok=True)
        for authority in ("old", "new"):
            self._openssl("req", "-x509", "-days", "30", *self._key(authority), "-subj", f"/CN={authority}",
                          "-out", self.path(f"{authority}.pem"))
        self.accept("old", "new")
        shutil.copy(self.path("clients.pem"), self.path("servers.pem"))
        self.context = None

    def path(self, name):
        return os.path.join(self.folder, name)

    def accept(self, *authorities):
        """The authorities of clients, for all nodes."""
        with open(self.path("clients.new"), "w") as file:
            for each in authorities:
                with open(self.path(f"{each}.pem")) as part:
                    file.write(part.read())
        os.replace(self.path("clients.new"), self.path("clients.pem"))

    def give(self, node, authority):
        """A new pair for a node, at the names that it has."""
        self._openssl("req", *self._key("request"), "-subj", f"/CN={node.name}", "-out", self.path("request.pem"),
                      "-addext", f"subjectAltName=IP:{node.address}",
                      "-addext", "extendedKeyUsage=serverAuth,clientAuth")
        self._openssl("x509", "-req", "-in", self.path("request.pem"), "-CA", self.path(f"{authority}.pem"),
                      "-CAkey", self.path(f"{authority}-key.pem"), "-CAcreateserial", "-days", "30",
                      "-copy_extensions", "copy", "-out", self.path("signed.pem"))
        os.replace(self.path("signed.pem"), self.path(f"{node.name}.pem"))
        os.replace(self.path("request-key.pem"), self.path(f"{node.name}-key.pem"))

    def take(self, name):
        """The test itself shows the pair of a node."""
        self.context = ssl.create_default_context(cafile=self.path("servers.pem"))
        self.context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # older openssl makes no key identifiers
        self.context.load_cert_chain(self.path(f"{name}.pem"), self.path(f"{name}-key.pem"))

    def options(self, name):
        return ["--tls-certificate", self.path(f"{name}.pem"), "--tls-key", self.path(f"{name}-key.pem"),
                "--tls-client-ca", self.path("clients.pem"), "--node-ca", self.path("servers.pem")]

    def _key(self, name):
        return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", self.path(f"{name}-key.pem")]

    @staticmethod
    def _openssl(*arguments):
        done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, timeout=30)
        if done.returncode:
            raise ClusterError(f"openssl {' '.join(arguments)}: {done.stderr.strip()}")


# MARK: - The cluster


class Cluster:
    """The brokers b1, b2, b3 and the nodes n1, n2, n3. `with Cluster(folder) as cluster` starts them and ends them."""

    def __init__(self, folder, small_disks=False, node_environment=None, certificates=None):
        self.folder = os.path.abspath(folder)
        os.makedirs(self.folder, exist_ok=True)
        names = ["b1", "b2", "b3", "n1", "n2", "n3"]
        self.network = network(names)
        self.node_environment = node_environment or {}
        self.certificates = certificates
        self.faketime = faketime()
        # The third broker and the third node are on small disks of their own, where one may be mounted.
        self.small = {}
        if small_disks and HAS_NAMESPACES:
            for name, size in (("b3", "512m"), ("n3", "512m")):
                self.small[name] = os.path.join(self.folder, f"disk-{name}")
                os.makedirs(self.small[name], exist_ok=True)
                Namespaces._do("mount", "-t", "tmpfs", "-o", f"size={size}", "disk", self.small[name])
        on = lambda name, what: os.path.join(self.small[name], what) if name in self.small else None
        self.brokers = [Broker(name, self.network, self.path(name), on(name, "data")) for name in names[:3]]
        self.keys, self.key_file, self.config = self.path("keys.json"), self.path("key"), self.path("profiled.yaml")
        self.nodes = [Node(self, name, self.path(name), on(name, "store")) for name in names[3:]]
        for broker in self.brokers:
            broker.configure(self.brokers)
        self.nodes[2].join = self.nodes[0]

    def path(self, name):
        return os.path.join(self.folder, name)

    def named(self, name):
        return next(each for each in [*self.brokers, *self.nodes] if each.name == name)

    def make_key(self):
        done = subprocess.run([PROGRAM, "keys", "add", "--keys", self.keys, "--name", "test"],
                              capture_output=True, text=True, timeout=30)
        if done.returncode:
            raise ClusterError(f"profiled keys add: {done.stderr.strip()}")
        self.key = done.stdout.split()[0]
        with open(self.key_file, "w") as file:
            os.chmod(self.key_file, 0o600)
            print(self.key, file=file)
        open(self.config, "w").close()

    def __enter__(self):
        try:
            self.make_key()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for each in [*self.nodes, *self.brokers]:
            each.kill()
        for folder in self.small.values():
            subprocess.run(["umount", "-l", folder], capture_output=True, timeout=20)

    def start_brokers(self):
        for broker in self.brokers:
            broker.start()
        until(60, lambda: "brokers are healthy:\n    " + "\n    ".join(each.tail(4) for each in self.brokers),
              lambda: all(each.look("/healthz").get("status") == "ok" for each in self.brokers))

    def start(self):
        """The first node begins the cluster, the second reads the stream from its first message on, and the third joins
        with a copy."""
        self.start_brokers()
        for node in self.nodes:
            node.start()
            node.wait_until_ready()

    def leader(self):
        """The broker that leads the stream; None if they do not agree on a running one."""
        said = [each.stream().get("cluster", {}).get("leader") for each in self.brokers if each.is_running
                and not each.is_paused]
        said = [each for each in said if each]
        return self.named(said[0]) if said and said.count(said[0]) * 2 > len(said) else None

    def writer(self):
        """The node that wrote last, as most nodes say."""
        said = [named(each.status(), "preferred", "preferred_writer", "writer") for each in self.nodes]
        said = [each.get("name") if isinstance(each, dict) else each for each in said if each]
        return self.named(max(said, key=said.count)) if said else self.nodes[0]

    def bring_back(self):
        """Ends every fault: networks, pauses, disks, clocks, and processes that ended."""
        self.network.heal()
        self.empty_disks()
        for each in [*self.brokers, *self.nodes]:
            each.resume()
        for broker in self.brokers:
            broker.start()
        for node in self.nodes:
            if node.clock:
                node.kill()
                node.clock = 0
            node.start()

    def fill_disk(self, name):
        """Leaves no byte on the small disk of a broker or node."""
        block = bytes(1 << 20)
        with contextlib.suppress(OSError), open(os.path.join(self.small[name], "filler"), "wb", buffering=0) as file:
            while True:
                if file.write(block) < len(block):
                    block = block[: max(1, len(block) // 2)]

    def empty_disks(self):
        for folder in self.small.values():
            with contextlib.suppress(FileNotFoundError):
                os.remove(os.path.join(folder, "filler"))

    def wait_for_brokers(self, seconds=90):
        """Waits until all brokers have the stream whole: each says the same of it."""
        if IS_FAKE:
            return

        def state():
            found = [each.stream() for each in self.brokers]
            return [(each.get("cluster", {}).get("leader"), each.get("state", {}).get("last_seq"),
                     each.get("state", {}).get("messages"), each.get("state", {}).get("bytes")) for each in found]

        def equal():
            found = state()
            return found[0][0] and found[0][1] is not None and all(each == found[0] for each in found)

        until(seconds, lambda: f"all brokers have the stream; they say {state()}", equal, 0.2)

    def wait_for_followers(self, seconds=90):
        """As `wait_for_brokers`, while writes go on: each broker is as far as the furthest was before."""
        if IS_FAKE:
            return
        ends = lambda: [each.stream().get("state", {}).get("last_seq", -1) for each in self.brokers]
        last = max(ends())
        until(seconds, lambda: f"all brokers are at {last}; they are at {ends()}",
              lambda: self.leader() and min(ends()) >= last, 0.2)

    def wait_until_equal(self, seconds=90):
        """Waits until all nodes answer, have the same last position for a second, and nothing is undecided. Gives the
        position."""
        seen = [None, time.monotonic()]

        def state():
            return [(each.last_position(), named(each.status(), "sequence"),
                     bool(named(each.status(), "has_undecided", "undecided"))) for each in self.nodes]

        def equal():
            for each in self.nodes:
                if not each.is_running:
                    raise ClusterError(f"node {each.name} ended with {each.process.poll()}:\n    {each.tail()}")
            found = state()
            if found[0] != seen[0] or found[0][0] is None or any(each != found[0] for each in found) or found[0][2]:
                seen[:] = [found[0], time.monotonic()]
            return time.monotonic() - seen[1] >= 1

        until(seconds, lambda: "all nodes have the same batches; (position, sequence, undecided) are "
              + f"{state()}\n" + "\n".join(
                  f"  {each.name}: {json.dumps(each.status())[:1500]}\n    {each.tail(5)}"
                  for each in self.nodes), equal, 0.2)
        return self.nodes[0].last_position()


def faketime():
    """The library that shifts a program's clock (Debian: faketime); None if it is not there."""
    given = os.environ.get("CLUSTER_FAKETIME")
    places = [given] if given else [f"/usr/lib/{machine}/faketime/libfaketimeMT.so.1"
                                    for machine in ("x86_64-linux-gnu", "aarch64-linux-gnu")]
    return next((each for each in places if os.path.exists(each)), None)
