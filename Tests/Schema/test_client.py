"""A client that a generator makes of /openapi.json works."""

import importlib
import json
import os
import subprocess
import sys
import tempfile
import unittest

from service import Service


class ClientTests(unittest.TestCase):
    def setUp(self):
        self.service = Service()
        self.folder = tempfile.TemporaryDirectory()
        document = os.path.join(self.folder.name, "openapi.json")
        with open(document, "wb") as file:
            file.write(self.service.get("/openapi.json").body)
        configuration = os.path.join(self.folder.name, "configuration.json")
        with open(configuration, "w") as file:
            json.dump({"package_name_override": "made_client", "post_hooks": []}, file)
        done = subprocess.run(
            ["openapi-python-client", "generate", "--path", document, "--config", configuration, "--meta", "none",
             "--output-path", os.path.join(self.folder.name, "made_client")],
            capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        # The generator knows no archives.
        warnings = [line for line in done.stdout.splitlines() if line.startswith("WARNING")]
        self.assertEqual([line for line in warnings if "/exports/" not in line], [])
        sys.path.insert(0, self.folder.name)

    def tearDown(self):
        sys.path.remove(self.folder.name)
        self.service.stop()
        self.folder.cleanup()

    def test_round_trip(self):
        package = importlib.import_module("made_client")
        models = importlib.import_module("made_client.models")

        def call(name, **arguments):
            module = importlib.import_module(f"made_client.api.default.{name}")
            with package.Client(base_url=self.service.url, raise_on_unexpected_status=True) as client:
                return module.sync(client=client, **arguments)

        event = models.PostV1LogEventBody.from_dict({"user": "ana", "name": "played", "properties": {"score": 10}})
        logged = call("post_v1_log_event", body=event)
        self.assertIsInstance(logged, models.Logged)
        self.assertEqual(logged.position, 2)
        profile = call("get_v1_profile", user="ana")
        self.assertEqual(profile.custom_events[0].name, "played")
        self.assertEqual(profile.custom_events[0].count, 1)
        history = call("get_v1_history", user="ana")
        self.assertEqual([found.kind for found in history.events], ["userCreated", "customEventLogged"])
        self.assertEqual(history.events[1].properties.to_dict(), {"score": 10})
        problem = call("get_v1_profile", user="nobody")
        self.assertIsInstance(problem, models.Problem)
        self.assertEqual(problem.code, "unknown_user")
