"""Two more clients from PyPI.

edx-braze-client uses aliases and identification; braze-client-sdk has most of `/users`.
"""

import io
import json
import tempfile
import unittest
import zipfile

import clients
from service import Service, keys

edx = clients.load("edx-braze-client", "braze.client")
sdk = clients.load("braze-client-sdk", "braze")

AT = "2026-02-01T10:00:00Z"
SENT = """
campaigns:
  - {id: spring, name: Spring, messages: [{webhook: {url: "/{{api_trigger_properties.${what}}}"}}]}
canvases:
  - id: welcome
    name: Welcome
    steps: [{name: s, messages: [{webhook: {url: "/{{canvas_entry_properties.${what}}}"}}]}]
"""


def edx_client(service, key):
    made = edx.BrazeClient(key, service.url, "app")
    made.session.mount("http://", clients.Patient())
    return made


class EdxTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.addClassCleanup(cls.service.stop)

    def setUp(self):
        self.service.reset()
        self.client = edx_client(self.service, "any")

    def test_more_than_a_request_takes(self):
        self.client.track_user(attributes=[{"external_id": f"u{number}", "n": number} for number in range(160)])
        self.assertEqual(self.service.profile("u159")["custom_attributes"], {"n": 159})
        self.client.track_user(
            attributes=[{"external_id": "a"}], events=[{"external_id": "a", "name": "e", "time": AT}],
            purchases=[{"external_id": "a", "product_id": "p", "currency": "USD", "price": 1.5, "time": AT}])
        profile = self.service.profile("a")
        self.assertEqual((profile["custom_events"][0]["count"], profile["total_revenue"]), (1, 1.5))

    def test_who_has_an_address(self):
        self.client.track_user(attributes=[{"external_id": 12, "email": "A@Example.com"},
                                           {"email": "only@example.com"}])
        self.assertEqual(self.client.get_braze_external_id("a@example.com"), "12")
        self.assertIsNone(self.client.get_braze_external_id("only@example.com"))
        self.assertIsNone(self.client.get_braze_external_id("none@example.com"))

    def test_aliases_and_identification(self):
        addresses = [f"{number}@example.com" for number in range(60)]
        self.client.create_braze_alias(addresses, "label", attributes=[])
        self.assertEqual(self.client.get_braze_external_id_batch(addresses, "label"), {})
        answer = self.client.identify_users([
            {"external_id": 7, "user_alias": {"alias_label": "label", "alias_name": "7@example.com"}}])
        self.assertEqual(answer, {"aliases_processed": 1, "message": "success"})
        self.assertEqual(self.client.get_braze_external_id_batch(addresses, "label"), {"7@example.com": "7"})
        # Again, now that one of them is known: the alias stays with its user.
        self.client.create_braze_alias(addresses, "label", attributes=[])
        self.assertEqual(self.client.get_braze_external_id_batch(addresses, "label"), {"7@example.com": "7"})
        self.assertEqual(self.service.profile("7")["user_aliases"],
                         [{"alias_name": "7@example.com", "alias_label": "label"}])
        recipients = self.client.create_recipients("label", {"8@example.com": 8})
        self.assertEqual(recipients["8@example.com"]["external_user_id"], 8)
        self.assertEqual(self.service.profile("8")["email"], "8@example.com")

    def test_sending(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(SENT)
            file.flush()
            service = Service("--workspace", file.name)
        self.addCleanup(service.stop)
        client = edx_client(service, "any")
        client.track_user(attributes=[{"external_id": "a", "email": "a@example.com", "first_name": "Ana"}])
        to = [{"external_user_id": "a"}]
        answers = [
            client.send_campaign_message("spring", emails=["a@example.com"], trigger_properties={"what": "sale"}),
            client.send_canvas_message("welcome", recipients=to, canvas_entry_properties={"what": "hello"}),
            client.send_email(
                ["a@example.com"], "Hi {{${first_name}}}", "B", "Shop <s@example.com>", reply_to="r@example.com",
                attachments=[{"filename": "f.pdf", "url": "https://example.test/f.pdf"}])]
        self.assertEqual([answer["message"] for answer in answers], ["success"] * 3)
        sends = service.get("/v1/sends?user=a").json["sends"]
        self.assertEqual([send["dispatch_id"] for send in sends], [answer["dispatch_id"] for answer in answers])
        self.assertEqual([send["kind"] for send in sends], ["messageSent"] * 3)
        self.assertEqual([send["content"].get("url") for send in sends], ["/sale", "/hello", None])
        self.assertEqual((sends[2]["content"]["subject"], sends[2]["content"]["to"]), ("Hi Ana", "a@example.com"))
        # The recipients that it makes have identifiers among their attributes.
        made = client.create_recipients("label", {"b@example.com": 8}, {"b@example.com": {"what": "own"}})
        answer = client.send_campaign_message("spring", recipients=list(made.values()))
        self.assertEqual(answer["message"], "success")
        self.assertNotIn("errors", answer)
        self.assertEqual(
            [send["content"]["url"] for send in service.get("/v1/sends?user=8").json["sends"]], ["/own"])
        self.assertEqual(service.profile("8")["email"], "b@example.com")
        with self.assertRaises(edx.BrazeBadRequestError) as caught:
            client.send_campaign_message("other", recipients=to)
        self.assertEqual(json.loads(str(caught.exception))["message"], "Invalid Campaign ID")

    def test_errors(self):
        with self.assertRaises(edx.BrazeBadRequestError) as caught:
            self.client.track_user(attributes=[{"n": 1}])
        self.assertEqual(json.loads(str(caught.exception))["errors"][0]["index"], 0)
        with self.assertRaises(edx.BrazeInternalServerError) as caught:
            self.client.unsubscribe_user_email("a@example.com")
        self.assertIn("ProfileLog does not simulate it", str(caught.exception))

    def test_keys_and_limits(self):
        with tempfile.TemporaryDirectory() as folder:
            key = keys(folder, "add", "--name", "app", "--permissions", "users.track").split("plk_")[1].split()[0]
            service = Service("--keys", folder + "/keys.json", "--rate-limit", "1/60")
            self.addCleanup(service.stop)
            good, wrong = (edx_client(service, one) for one in ("plk_" + key, "wrong"))
            with self.assertRaises(edx.BrazeUnauthorizedError):
                wrong.track_user(attributes=[{"external_id": "a"}])
            with self.assertRaises(edx.BrazeForbiddenError):
                good.get_braze_external_id("a@example.com")
            good.track_user(attributes=[{"external_id": "a"}])
            with self.assertRaises(edx.BrazeRateLimitError) as caught:
                good.track_user(attributes=[{"external_id": "a"}])
            self.assertGreater(caught.exception.reset_epoch_s, 1_700_000_000)


class SDKTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("segments:\n  - {id: everybody, name: Everybody, users: all}\n")
            file.flush()
            cls.service = Service("--workspace", file.name)
        cls.addClassCleanup(cls.service.stop)

    def setUp(self):
        self.service.reset()
        self.users = sdk.Braze(host=self.service.url, token="any").users

    def test_users(self):
        users = self.users
        self.assertEqual(
            users.track(content={"attributes": [{"external_id": "a", "level": 1},
                                                {"external_id": "b", "mood": "good"}]}),
            {"attributes_processed": 2, "message": "success"})
        alias = {"alias_name": "n", "alias_label": "l"}
        self.assertEqual(
            users.alias.new(content={"user_aliases": [{"external_id": "a", **alias},
                                                      {"alias_name": "solo", "alias_label": "l"}]}),
            {"aliases_processed": 2, "message": "success"})
        self.assertEqual(
            users.alias.update(content={"alias_updates": [{"alias_label": "l", "old_alias_name": "n",
                                                           "new_alias_name": "m"}]}),
            {"aliases_processed": 1, "message": "success"})
        self.assertEqual(
            users.identify(content={"aliases_to_identify": [
                {"external_id": "c", "user_alias": {"alias_name": "solo", "alias_label": "l"}}],
                "merge_behavior": "merge"}),
            {"aliases_processed": 1, "message": "success"})
        self.assertEqual(
            users.merge(content={"merge_updates": [
                {"identifier_to_merge": {"external_id": "b"}, "identifier_to_keep": {"user_alias": {
                    "alias_name": "m", "alias_label": "l"}}}]}),
            {"message": "success"})
        fields = ["external_id", "user_aliases", "custom_attributes"]
        self.assertEqual(
            users.export.ids(content={"external_ids": ["a", "c"], "fields_to_export": fields})["users"], [
                {"external_id": "a", "user_aliases": [{"alias_name": "m", "alias_label": "l"}],
                 "custom_attributes": {"level": 1, "mood": "good"}},
                {"external_id": "c", "user_aliases": [{"alias_name": "solo", "alias_label": "l"}]}])
        self.assertEqual(users.delete(content={"external_ids": ["a"]}), {"deleted": 1, "message": "success"})
        self.assertEqual(users.export.ids(content={"external_ids": ["a"]})["users"], [])

    def test_segment(self):
        self.users.track(content={"attributes": [{"external_id": "a"}]})
        answer = self.users.export.segment(content={"segment_id": "everybody", "fields_to_export": ["external_id"]})
        archive = zipfile.ZipFile(io.BytesIO(clients.requests.get(answer["url"], timeout=30).content))
        self.assertEqual([json.loads(archive.read(name)) for name in archive.namelist()], [{"external_id": "a"}])

    def test_errors(self):
        with self.assertRaises(clients.requests.HTTPError) as caught:
            self.users.track(content={"attributes": [{"n": 1}]})
        self.assertEqual(caught.exception.response.status_code, 400)
        with self.assertRaises(clients.requests.HTTPError) as caught:
            sdk.Braze(host=self.service.url, token="any").content_blocks.ls()
        self.assertEqual(caught.exception.response.status_code, 501)


if __name__ == "__main__":
    unittest.main()
