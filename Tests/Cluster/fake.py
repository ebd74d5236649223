"""A cluster as a model, with a seed and without processes: nodes that decide on what they have applied, and a stream.

Sound, it keeps to the protocol: one batch in flight, published on the condition that the stream ends where the node's
store does. Broken in one of two ways, it makes the histories that the checker must refuse.
"""

import random

from linearizability import FOREVER, Call

SOUND, NO_FENCE, TWO_IN_FLIGHT = "sound", "no fence", "two in flight"


class Model:
    """`history` runs `clients` that write to one user through three nodes, and gives their calls."""

    def __init__(self, seed, kind=SOUND, lost=0.05):
        self.random, self.kind, self.lost = random.Random(seed), kind, lost
        self.stream = []  # (version that was decided, value): messages of one or more events
        self.applied = {name: 0 for name in "abc"}
        self.flying = {name: [] for name in "abc"}  # versions after the batches in flight
        self.now = 0.0
        self.calls = []

    def state(self, node):
        """The user as the node has it."""
        count = self.applied[node]
        return self.stream[count - 1] if count else (0, None)

    def catch_up(self, node):
        self.applied[node] = len(self.stream)

    def client(self, number):
        """One client: yields wherever another one may go on."""
        for turn in range(6):
            node, begin, name = self.random.choice("abc"), self.now, f"client {number} turn {turn}"
            if self.random.random() < 0.35:
                yield
                self.catch_up(node)  # a read that waits for what was acknowledged
                output = self.state(node)
                yield
                self.calls.append(Call("read", begin, self.now, output=output, name=name))
                continue
            value = f"{number}.{turn}"
            yield from self.write(node, begin, value, name)

    def write(self, node, begin, value, name):
        events, flying = self.random.choice((1, 2, 3)), self.flying[node]
        while len(flying) >= (2 if self.kind == TWO_IN_FLIGHT else 1):
            yield
        while True:
            if not flying and self.random.random() < 0.5:
                self.catch_up(node)
            # Decided on what the node has; the second in flight counts on the first.
            expected = self.applied[node] + len(flying)
            version = flying[-1] if flying else self.state(node)[0]
            version += events + (1 if version == 0 else 0)
            flying.append(version)
            yield
            yield
            # The stream takes it if its end is there. It cannot tell whose messages came before.
            is_stored = self.kind == NO_FENCE or len(self.stream) == expected
            if is_stored:
                self.stream.append((version, value))
            is_lost = self.random.random() < self.lost
            yield
            flying.remove(version)
            if is_stored:
                self.catch_up(node)
                end, output = (FOREVER, None) if is_lost else (self.now, version)
                self.calls.append(Call("write", begin, end, value=value, output=output, name=name, events=events))
                return
            while flying:  # a refusal takes back what was decided after it
                yield
            self.catch_up(node)

    def history(self, clients=5):
        running = [self.client(number) for number in range(clients)]
        while running:
            self.now += 1
            each = self.random.choice(running)
            try:
                next(each)
            except StopIteration:
                running.remove(each)
        return self.calls
