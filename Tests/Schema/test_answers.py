"""Every answer of the service has the form that /openapi.json declares for it."""

import copy
import os
import random
import unittest

import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance

from service import Service
from story import BODIES, DEVICES, NAMES, USERS, tell

ANSWERS = int(os.environ.get("ANSWERS", "10000"))
SEED = int(os.environ.get("SEED", "0"))

# They take the store or its clock away from the others, or are no JSON.
LEFT_ALONE = {"/v1/reset", "/v1/clock", "/metrics", "/exports/{file}", "/v1/erase", "/users/delete"}
# Inputs that make a request wait.
WAITS = {"wait_for", "timeout", "wait_s"}

MOMENTS = ["now", "3", "-1d", "version:2", "2026-02-02T12:00:00Z"]
KNOWN = {
    "user": USERS, "device": DEVICES, "name": NAMES, "as_of": MOMENTS, "a": ["1", "start"], "b": MOMENTS,
    "of": ["event:played", "revenue", "sessions", "dau"], "event": NAMES, "attribute": ["first_name", "country"],
    "limit": ["1", "10"], "kind": ["customEventLogged", "profiles", "events"], "channel": ["email"],
    "currency": ["EUR"], "reason": ["a test"], "what": ["events", "profiles"], "length": ["3"],
    "external_id": USERS, "where": ["custom.level > 1"], "segment_id": ["players"], "campaign_id": ["hello"],
}


class AnswerTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        workspace = os.path.join(os.path.dirname(os.path.abspath(__file__)), "workspace.yaml")
        cls.service = Service("--workspace", workspace, "--log-level", "critical")
        tell(cls.service)

    @classmethod
    def tearDownClass(cls):
        cls.service.stop()

    def test_forms(self):
        document = schemathesis.openapi.from_url(f"{self.service.url}/openapi.json")
        operations = [found.ok() for found in document.get_all_operations()]
        operations = [operation for operation in operations if operation.path not in LEFT_ALONE]
        done, answered = {}, 0
        for operation in operations:
            wanted = max(1, round((ANSWERS - answered) / (len(operations) - len(done))))
            done[operation.label] = self.send(operation, wanted)
            answered += wanted
        successes = sum(good for good, _ in done.values())
        never = sorted(label for label, (good, _) in done.items() if not good)
        print(f"\n{sum(count for _, count in done.values())} answers of {len(done)} operations have their form, "
              f"{successes} of them successes (seed {SEED}). Without a success: {', '.join(never) or 'none'}.")
        self.assertGreater(successes, ANSWERS // 10)

    def send(self, operation, wanted):
        """Sends `wanted` requests; how many succeeded, and how many there were."""
        chance = random.Random(f"{SEED} {operation.label}")
        counts = [0, 0]

        @seed(SEED)
        @settings(max_examples=wanted, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy())
        def check(case):
            make_plausible(case, chance)
            response = case.call(timeout=30)
            case.validate_response(response, checks=[response_schema_conformance, not_a_server_error])
            counts[0] += response.status_code < 400
            counts[1] += 1

        check()
        return counts


def make_plausible(case, chance):
    """Puts known values into most requests: random ones are refused."""
    body = BODIES.get(case.path)
    if body and chance.random() < 0.6:
        case.body = copy.deepcopy(body)
    for values in (case.path_parameters, case.query, case.body):
        if not isinstance(values, dict):
            continue
        for name in list(values):
            if name in WAITS:
                del values[name]
            elif name in KNOWN and chance.random() < 0.9:
                values[name] = chance.choice(KNOWN[name])
            elif values is case.query and chance.random() < 0.7 and name not in ("position", "value"):
                del values[name]
    if isinstance(case.body, dict) and case.path.startswith("/v1/"):
        for name in ("expect", "key", "time", "_merge_objects"):
            case.body.pop(name, None)
        if "attributes" in case.body and case.path not in BODIES:
            case.body["attributes"] = {"level": chance.randint(0, 9)}
    case.headers.pop("If-Match", None)
