"""braze-client, as PyPI has it, against the service."""

import math
import os
import re
import signal
import tempfile
import threading
import time
import unittest

import clients
from clients import Patient
from service import Service, keys

braze = clients.load("braze-client", "braze.client")

AT = "2026-02-01T10:00:00Z"
AT_MS = "2026-02-01T10:00:00.000Z"
NOTHING_VALID = "Valid data must be provided in the 'attributes', 'events', or 'purchases' fields."


def client(service, key="any", adapter=None, **options):
    """A client whose requests are in `sent`."""
    made = braze.BrazeClient(api_key=key, api_url=service.url, **options)
    adapter = adapter or Patient()
    made.session.mount("http://", adapter)
    made.sent = adapter.sent
    return made


def success(status=201, **members):
    """What the client makes of an answer without errors."""
    return {"errors": [], "message": "success", "status_code": status, "success": True, **members}


class ClientTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.addClassCleanup(cls.service.stop)

    def setUp(self):
        self.service.reset()
        self.client = client(self.service)

    def attributes(self, user="a"):
        return self.service.profile(user)["custom_attributes"]

    # Track

    def test_all_three(self):
        answer = self.client.user_track(
            attributes=[{"external_id": "a", "first_name": "Ana", "email": "ana@example.com", "status": "Active"}],
            events=[{"external_id": "a", "name": "order", "time": AT,
                     "properties": {"items": [{"sku": 1}], "gift": True}}],
            purchases=[{"external_id": "a", "product_id": "book", "currency": "EUR", "price": 9.5, "quantity": 2,
                        "time": AT}])
        self.assertEqual(answer, success(attributes_processed=1, events_processed=1, purchases_processed=1))
        profile = self.service.profile("a")
        self.assertEqual((profile["first_name"], profile["email"]), ("Ana", "ana@example.com"))
        self.assertEqual(profile["custom_attributes"], {"status": "Active"})
        self.assertEqual(profile["custom_events"], [{"name": "order", "first": AT_MS, "last": AT_MS, "count": 1}])
        self.assertEqual(profile["purchases"], [{"name": "book", "first": AT_MS, "last": AT_MS, "count": 2}])
        self.assertEqual(profile["total_revenue"], 19.0)
        request, = self.client.sent
        self.assertEqual(request.headers["Authorization"], "Bearer any")
        self.assertEqual(request.headers["User-Agent"], "braze-client python")

    def test_one_array_at_a_time(self):
        # The client sends the other two empty.
        self.assertEqual(self.client.user_track(attributes=[{"external_id": "a"}]), success(attributes_processed=1))
        self.assertEqual(
            self.client.user_track(events=[{"external_id": "a", "name": "e", "time": AT}]), success(events_processed=1))
        self.assertEqual(
            self.client.user_track(
                purchases=[{"external_id": "a", "product_id": 12, "currency": "USD", "price": 1, "time": AT}]),
            success(purchases_processed=1))

    def test_values_come_back_as_they_were(self):
        values = {
            "text": "Zoë 𝄞 \"\\\n", "whole": 2**53 + 1, "negative": -7, "fraction": 0.1, "float": 1.0, "large": 1e300,
            "yes": True,
            "no": False, "list": ["b", "a"], "object": {"a": 1, "b": {"c": [1, 2.5, "x"]}},
            "objects": [{"id": 1}, {"id": 2}]}
        self.client.user_track(attributes=[{"external_id": "a", **values}])
        found = self.client.user_export(external_ids=["a"])["users"][0]["custom_attributes"]
        self.assertEqual(found, values)
        self.assertEqual({name: type(value) for name, value in found.items()},
                         {name: type(value) for name, value in values.items()})

    def test_nested(self):
        def track(**attributes):
            self.assertTrue(self.client.user_track(attributes=[{"external_id": "a", **attributes}])["success"])

        track(pet={"name": "Rex", "food": {"dry": 1, "wet": 2}})
        track(pet={"food": {"wet": 3}, "age": 4}, _merge_objects=True)
        self.assertEqual(self.attributes(), {"pet": {"name": "Rex", "food": {"dry": 1, "wet": 3}, "age": 4}})
        track(pet={"age": 5})
        self.assertEqual(self.attributes(), {"pet": {"age": 5}})
        track(pets=[{"id": 1, "name": "Rex"}])
        track(pets={"$add": [{"id": 2, "name": "Tom"}, {"id": 3, "name": "Joe"}]})
        track(pets={"$update": [{"$identifier_key": "id", "$identifier_value": 2, "$new_object": {"age": 9}}]},
              _merge_objects=True)
        track(pets={"$remove": [{"$identifier_key": "id", "$identifier_value": 1}]})
        self.assertEqual(self.attributes()["pets"], [{"id": 2, "name": "Tom", "age": 9}, {"id": 3, "name": "Joe"}])
        track(pet=None, pets=None)
        self.assertNotIn("custom_attributes", self.service.profile("a"))

    def test_operations(self):
        for attributes in [
            {"tags": ["a", "b", "a"], "level": 3, "word": "x", "first_name": "Ana"},
            {"tags": {"add": ["c", "a"], "remove": ["b"]}, "level": {"inc": 4}, "word": None, "first_name": None},
            {"new": {"inc": -2}, "list": {"add": [1]}},
        ]:
            self.assertTrue(self.client.user_track(attributes=[{"external_id": "a", **attributes}])["success"])
        self.assertEqual(self.attributes(), {"tags": ["c", "a"], "level": 7, "new": -2, "list": [1]})
        self.assertNotIn("first_name", self.service.profile("a"))

    def test_what_is_dropped_is_no_error(self):
        answer = self.client.user_track(attributes=[{"external_id": "a", "level": 1},
                                                    {"external_id": "a", "level": "high"}])
        place, = answer.pop("dropped")
        self.assertEqual((place["input_array"], place["index"], place["field"]), ("attributes", 1, "level"))
        self.assertEqual(answer, success(attributes_processed=2))

    def test_some_are_refused(self):
        answer = self.client.user_track(
            attributes=[{"external_id": "a", "level": 1}, {"level": 2}],
            purchases=[{"external_id": "a", "product_id": "p", "currency": "EUR", "price": 1, "quantity": 0,
                        "time": AT}])
        self.assertEqual(answer, {
            "attributes_processed": 1, "message": "success", "status_code": 201, "success": False, "errors": [
                {"type": "'external_id', 'braze_id', 'user_alias', 'email' or 'phone' is required",
                 "input_array": "attributes",
                 "index": 1},
                {"type": "'quantity' is not valid", "input_array": "purchases", "index": 0}]})
        self.assertEqual(self.attributes(), {"level": 1})

    def test_all_are_refused(self):
        with self.assertRaises(braze.BrazeClientError) as caught:
            self.client.user_track(events=[{"external_id": "a", "name": "e"}])
        self.assertEqual(caught.exception.args, (
            NOTHING_VALID, [{"type": "'time' is required", "input_array": "events", "index": 0}]))
        self.assertIsNone(self.service.profile("a"))
        self.assertEqual(len(self.client.sent), 1)

    def test_too_many(self):
        with self.assertRaises(braze.BrazeClientError) as caught:
            self.client.user_track(attributes=[{"external_id": "a"}] * 76)
        self.assertRegex(caught.exception.args[0], "^Max Input Length Exceeded")
        self.assertIsNone(self.service.profile("a"))

    def test_an_object_in_place_of_an_array(self):
        # The client's documentation allows "dict or list"; Braze's only arrays.
        self.client.user_track(attributes={"external_id": "a", "level": 1})
        self.assertEqual(self.attributes(), {"level": 1})

    def test_many_requests_on_one_connection(self):
        for _ in range(100):
            self.client.user_track(attributes=[{"external_id": "a", "level": {"inc": 1}}])
        self.assertEqual(self.attributes(), {"level": 100})

    def test_clients_at_once(self):
        failures = []

        def work():
            mine = client(self.service)
            try:
                for _ in range(25):
                    mine.user_track(
                        attributes=[{"external_id": "a", "level": {"inc": 1}}],
                        events=[{"external_id": "a", "name": "e", "time": AT}])
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(self.attributes(), {"level": 200})
        self.assertEqual(self.service.profile("a")["custom_events"][0]["count"], 200)

    # Export

    def test_export(self):
        self.client.user_track(attributes=[
            {"external_id": "a", "email": "a@example.com", "level": 1}, {"external_id": 12, "email": "b@example.com"}])
        answer = self.client.user_export(external_ids=["a"])
        profile, = answer.pop("users")
        self.assertEqual(answer, success())
        self.assertEqual(list(profile), [
            "created_at", "external_id", "user_aliases", "appboy_id", "braze_id", "random_bucket", "email",
            "custom_attributes",
            "total_revenue", "push_subscribe", "email_subscribe"])
        self.assertEqual(
            self.client.user_export(external_ids=["12", "a"], fields_to_export=["external_id", "email"]),
            success(users=[{"external_id": "12", "email": "b@example.com"},
                           {"external_id": "a", "email": "a@example.com"}]))
        self.assertEqual(
            self.client.user_export(email="b@example.com", fields_to_export=["external_id"]),
            success(users=[{"external_id": "12"}]))

    def test_export_of_nobody(self):
        answer = self.client.user_export(external_ids=["none"])
        self.assertIn("No user is known", answer.pop("note"))
        self.assertEqual(answer, success(users=[], invalid_user_ids=["none"]))
        self.assertEqual(self.client.user_export(email="none@example.com")["users"], [])

    def test_export_of_too_many(self):
        with self.assertRaises(braze.BrazeClientError):
            self.client.user_export(external_ids=[f"u{number}" for number in range(51)])

    # Delete

    def test_delete(self):
        self.client.user_track(attributes=[{"external_id": name} for name in "abc"])
        self.assertEqual(self.client.user_delete(["a", "b"]), success(deleted=2))
        self.assertEqual(
            self.client.user_export(external_ids=["a", "b", "c"], fields_to_export=["external_id"]),
            success(users=[{"external_id": "c"}], invalid_user_ids=["a", "b"]))
        # Unknown ones count, as at Braze, and the client is told no error.
        answer = self.client.user_delete(["a", "none"])
        answer.pop("dropped")
        self.assertEqual(answer, success(deleted=2))
        # Who comes under the same ID is somebody new.
        self.client.user_track(attributes=[{"external_id": "a", "level": 1}])
        self.assertEqual(self.attributes(), {"level": 1})

    def test_delete_of_too_many(self):
        with self.assertRaises(braze.BrazeClientError):
            self.client.user_delete([f"u{number}" for number in range(51)])

    # Sending

    def test_a_scheduled_campaign(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("campaigns: [{id: spring, name: Spring, messages: [{webhook: {url: /}}]}]")
            file.flush()
            service = Service("--workspace", file.name)
        self.addCleanup(service.stop)
        made = client(service)
        made.user_track(attributes=[{"external_id": "a"}])
        service.post("/v1/clock", {"set": "2030-01-01T00:00:00Z"})
        answer = made.campaign_trigger_schedule_create(
            "spring", {"time": "2030-01-01T01:00:00Z"}, recipients=[{"external_user_id": "a"}])
        self.assertEqual((answer["status_code"], answer["success"], answer["message"]), (201, True, "success"))
        self.assertEqual(service.get("/v1/sends").json["sends"], [])
        service.post("/v1/clock", {"advance": 3600})
        self.assertEqual([one["kind"] for one in service.get("/v1/sends?user=a").json["sends"]], ["messageSent"])
        with self.assertRaises(braze.BrazeClientError):
            made.campaign_trigger_schedule_create("spring", {"time": "soon"}, broadcast=True)


class KeyTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.key = cls.add("app", "users.track,users.export.ids")
        cls.service = Service("--keys", cls.folder + "/keys.json")
        cls.addClassCleanup(cls.service.stop)

    @classmethod
    def add(cls, name, permissions):
        return re.search("plk_[0-9a-f_]+",
                         keys(cls.folder, "add", "--name", name, "--permissions", permissions)).group()

    def track(self, key, **options):
        made = client(self.service, key, **options)
        return made, made.user_track(attributes=[{"external_id": "a", "level": 1}])

    def test_in_the_header(self):
        made, answer = self.track(self.key)
        self.assertEqual(answer, success(attributes_processed=1))
        self.assertNotIn(b"api_key", made.sent[0].body)

    def test_in_the_body(self):
        made, answer = self.track(self.key, use_auth_header=False)
        self.assertEqual(answer, success(attributes_processed=1))
        self.assertNotIn("Authorization", made.sent[0].headers)
        self.assertIn(self.key.encode(), made.sent[0].body)
        self.assertEqual(
            made.user_export(external_ids=["a"], fields_to_export=["custom_attributes"])["users"],
            [{"custom_attributes": {"level": 1}}])

    def test_wrong(self):
        for key in ["", "wrong", self.key[:-1], self.key[:-1] + ("0" if self.key[-1] != "0" else "1")]:
            for header in (True, False):
                with self.subTest(key=key, header=header), self.assertRaises(braze.BrazeClientError) as caught:
                    self.track(key, use_auth_header=header)
                # Braze repeats the key behind these words; this service does not.
                self.assertEqual(caught.exception.args, ("Invalid API key", []))

    def test_without_the_permission(self):
        made = client(self.service, self.key)
        with self.assertRaises(braze.BrazeClientError) as caught:
            made.user_delete(["a"])
        self.assertNotIsInstance(caught.exception, braze.BrazeInternalServerError)
        self.assertEqual(len(made.sent), 1)

    def test_revoked(self):
        key = self.add("short", "users.track")
        self.track(key)
        keys(self.folder, "revoke", "short")
        with self.assertRaises(braze.BrazeClientError):
            self.track(key)


class RateLimitTests(unittest.TestCase):
    """The client waits until `X-RateLimit-Reset`, three times at most, if that is within 1.25 s; else it raises."""

    def service(self, limit):
        service = Service("--rate-limit", limit)
        self.addCleanup(service.stop)
        return service

    @staticmethod
    def wait_for_phase(phase):
        """Until a fraction of the system clock's second."""
        time.sleep((phase - time.time()) % 1)

    def test_waits_and_succeeds(self):
        made = client(self.service("1/1"))
        for _ in range(5):
            # A window that begins late in a second ends 1.2 s before the next but one.
            self.wait_for_phase(0.8)
            made.user_track(events=[{"external_id": "a", "name": "first", "time": AT}])
            made.sent.clear()
            began = time.monotonic()
            self.assertEqual(made.user_track(events=[{"external_id": "a", "name": "second", "time": AT}]),
                             success(events_processed=1))
            if len(made.sent) > 1:
                break
            time.sleep(1.1)
        else:
            self.fail("this machine is too slow to exceed one request a second")
        self.assertGreater(time.monotonic() - began, 0.2)
        self.assertEqual(len({request.body for request in made.sent}), 1)
        # Nothing of the refused attempts was stored.
        made.session.close()
        profile = made.user_export(external_ids=["a"], fields_to_export=["custom_events"])["users"][0]
        counts = {one["name"]: one["count"] for one in profile["custom_events"]}
        self.assertEqual(counts["first"], counts["second"])

    def test_raises_what_is_too_far_ahead(self):
        made = client(self.service("1/60"))
        made.user_track(events=[{"external_id": "a", "name": "e", "time": AT}])
        made.sent.clear()
        now = time.time()
        with self.assertRaises(braze.BrazeRateLimitError) as caught:
            made.user_track(events=[{"external_id": "a", "name": "e", "time": AT}])
        self.assertTrue(now < caught.exception.reset_epoch_s < now + 62)
        self.assertEqual(len(made.sent), 1)
        # Others have no limit.
        self.assertEqual(len(made.user_export(external_ids=["a"])["users"]), 1)

    def test_the_window_is_over_at_its_reset(self):
        service = self.service("1/1")
        body = {"events": [{"external_id": "a", "name": "e", "time": AT}]}
        self.wait_for_phase(0.5)
        first = service.post("/users/track", body)
        time.sleep(max(0, int(first.headers["X-RateLimit-Reset"]) - time.time()))
        self.assertEqual(service.post("/users/track", body).status, 201)

    def test_a_window_has_one_reset(self):
        service = self.service("9/1")
        self.wait_for_phase(0.7)
        resets = set()
        for _ in range(2):
            resets.add(service.post("/users/track", {}).headers["X-RateLimit-Reset"])
            time.sleep(0.4)
        self.assertEqual(len(resets), 1)


class OutageTests(unittest.TestCase):
    TRACKED = [{"external_id": "a", "level": 1}]

    def test_a_full_disk(self):
        def limit_files():
            import resource
            resource.setrlimit(resource.RLIMIT_FSIZE, (2_500_000, 2_500_000))

        # Without `restore_signals` the process ignores SIGXFSZ as Python does, so that the write fails.
        service = Service(before_start=limit_files)
        self.addCleanup(service.stop)
        made = client(service)
        made.user_track(attributes=self.TRACKED)
        with self.assertRaises(braze.BrazeInternalServerError):
            for number in range(100):
                made.sent.clear()
                made.user_track(attributes=[
                    {"external_id": f"u{number}-{one}", **{f"text{name}": "x" * 250 for name in range(10)}}
                    for one in range(75)])
        self.assertEqual(len(made.sent), 3)
        answer = service.post("/users/track", {"attributes": self.TRACKED})
        self.assertEqual((answer.status // 100, list(answer.json)), (5, ["message", "remedy", "code"]))
        # What was acknowledged before is there.
        self.assertEqual(
            made.user_export(external_ids=["a"], fields_to_export=["custom_attributes"])["users"],
            [{"custom_attributes": {"level": 1}}])

    def test_a_service_that_has_stopped(self):
        service = Service()
        self.addCleanup(service.stop)
        made = client(service)
        made.user_track(attributes=self.TRACKED)
        service.stop()
        with self.assertRaises(clients.requests.exceptions.ConnectionError):
            made.user_track(attributes=self.TRACKED)

    def test_a_connection_that_was_ended_meanwhile(self):
        service = Service("--idle-timeout", "1")
        self.addCleanup(service.stop)
        made = client(service)
        for _ in range(2):
            self.assertEqual(made.user_track(attributes=self.TRACKED), success(attributes_processed=1))
            time.sleep(2)
        self.assertEqual(made.user_track(attributes=self.TRACKED), success(attributes_processed=1))

    def test_a_service_that_hangs(self):
        service = Service()
        self.addCleanup(service.stop)
        made = client(service, adapter=Patient(timeout=None))
        made.user_track(attributes=self.TRACKED)
        made.sent.clear()
        # The client gives an attempt 2 s, and begins the next one 1.25 s later at most.
        os.kill(service.process.pid, signal.SIGSTOP)
        timer = threading.Timer(2.6, os.kill, (service.process.pid, signal.SIGCONT))
        timer.start()
        self.addCleanup(timer.join)
        self.assertEqual(made.user_track(attributes=self.TRACKED), success(attributes_processed=1))
        self.assertEqual(len(made.sent), 2)


if __name__ == "__main__":
    unittest.main()
