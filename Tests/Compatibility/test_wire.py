"""Requests and their answers as they are on the wire: statuses, members in their order, headers.

What Braze is known to say is here word for word. Where the words are this project's own, only the members are.
"""

import gzip
import http.client
import io
import json
import re
import socket
import tempfile
import unittest
import zipfile

from service import Service, keys

WORKSPACE = """
apps:
  - {id: app-1, name: Shop, platform: ios}
subscription_groups:
  - {id: news, name: Newsletter, channel: email}
  - {id: texts, name: Texts, channel: sms}
segments:
  - {id: everybody, name: Everybody, users: all}
campaigns:
  - {id: spring, name: Spring, messages: [{webhook: {url: "/{{api_trigger_properties.${what}}}"}}]}
canvases:
  - {id: welcome, name: Welcome, steps: [{name: s, messages: [{webhook: {url: "/hello"}}]}]}
blocklist:
  attributes: [iban]
  events: [debug]
"""


class Like:
    """Text that matches a pattern as a whole."""

    def __init__(self, pattern):
        self.pattern = pattern

    def __eq__(self, other):
        return isinstance(other, str) and re.fullmatch(self.pattern, other) is not None

    def __repr__(self):
        return f"Like({self.pattern!r})"


class Anything:
    def __eq__(self, other):
        return True

    def __repr__(self):
        return "ANY"


ANY = Anything()
BRAZE_ID = Like("[0-9a-f]{24}")
NOTHING_VALID = "Valid data must be provided in the 'attributes', 'events', or 'purchases' fields."
NO_IDENTIFIER = "'external_id', 'braze_id', 'user_alias', 'email' or 'phone' is required"
AT = "2026-02-01T10:00:00Z"
AT_MS = "2026-02-01T10:00:00.000Z"


NO_USER = "No user is known by any of these identifiers."


def ok(**members):
    """Members in the order of the wire, and `message` behind them."""
    return {**members, "message": "success"}


def refused(code, message=ANY, **more):
    """A refusal: `place` only where it is named."""
    return {"message": message, "remedy": ANY, "code": code, **more}


def fault(words, array, index):
    return {"type": words, "input_array": array, "index": index}


def dropped(*places, reason=ANY):
    return [{"reason": reason, "input_array": array, "index": index, **({"field": field[0]} if field else {})}
            for array, index, *field in places]


def event(user="a", name="order", time=AT, **more):
    return {"external_id": user, "name": name, "time": time, **more}


def purchase(user="a", product="book", currency="EUR", price=9.5, time=AT, **more):
    return {"external_id": user, "product_id": product, "currency": currency, "price": price, "time": time, **more}


def users(count):
    return [{"external_id": f"u{number}", "n": 1} for number in range(count)]


TRACK, SYNC, BULK = "/users/track", "/users/track/sync", "/users/track/bulk"
IDS, SEGMENT = "/users/export/ids", "/users/export/segment"
SET, SET2 = "/subscription/status/set", "/v2/subscription/status/set"
GET, STATUS = "/subscription/status/get", "/subscription/user/status"
NEW, UPDATE, IDENTIFY, MERGE = "/users/alias/new", "/users/alias/update", "/users/identify", "/users/merge"
RENAME, REMOVE, DELETE = "/users/external_ids/rename", "/users/external_ids/remove", "/users/delete"
SEND, CAMPAIGN, CANVAS = "/messages/send", "/campaigns/trigger/send", "/canvas/trigger/send"
SCHEDULE, SCHEDULED = "/schedule/", "/messages/scheduled_broadcasts"
TRANSACTIONAL, SEND_ID = "/transactional/v1/campaigns/spring/send", "/sends/id/create"

# A table is played from its first row to its last on an empty store.
# A row is what it is about, the path, the body (None: a GET), the status and the answer; a sixth element is headers of
# the request.
TABLES = {
    "track": [
        ("all three arrays", TRACK,
         {"attributes": [{"external_id": "a", "first_name": "Ana", "level": 3}], "events": [event()],
          "purchases": [purchase()]},
         201, ok(attributes_processed=1, events_processed=1, purchases_processed=1)),
        ("only what has content is counted", TRACK,
         {"attributes": [], "events": [event(), event()], "purchases": []}, 201, ok(events_processed=2)),
        ("unknown top-level members, the bulk marker", TRACK,
         {"partner": "tests", "attributes": [{"external_id": "a", "level": 4}]}, 201, ok(attributes_processed=1),
         {"X-Braze-Bulk": "true"}),
        ("a key in the body of a service without keys", TRACK,
         {"api_key": "any", "attributes": [{"external_id": "a", "level": 5}]}, 201, ok(attributes_processed=1)),
        ("any content type", TRACK, '{"attributes": [{"external_id": "a", "level": 5}]}', 201,
         ok(attributes_processed=1),
         {"Content-Type": "text/plain"}),
        ("three empty arrays", TRACK, {"attributes": [], "events": [], "purchases": []},
         400, refused("nothing_valid", NOTHING_VALID)),
        ("no array", TRACK, {}, 400, refused("nothing_valid", NOTHING_VALID)),
        ("some refused", TRACK,
         {"attributes": [{"level": 1}, {"external_id": "a", "level": 6}, {"external_id": "a", "email": "none"}],
          "events": [event(properties={"time": 1}), event(), {"external_id": "a", "time": AT}],
          "purchases": [purchase(price="9.5"), purchase(quantity=0), purchase(quantity=101), purchase(quantity=100)]},
         201, ok(attributes_processed=1, events_processed=1, purchases_processed=1) | {"errors": [
             fault(NO_IDENTIFIER, "attributes", 0),
             fault("The value provided for the 'email' field is not a valid email.", "attributes", 2),
             fault("Invalid 'properties' field", "events", 0), fault("'name' is required", "events", 2),
             fault("'price' is not valid", "purchases", 0), fault("'quantity' is not valid", "purchases", 1),
             fault("'quantity' is not valid", "purchases", 2)]}),
        ("all refused", TRACK, {"attributes": [{"level": 1}], "events": [{"external_id": "a", "name": "order"}]},
         400, {"message": NOTHING_VALID,
               "errors": [fault(NO_IDENTIFIER, "attributes", 0), fault("'time' is required", "events", 0)]}),
        ("75 objects in each array", TRACK,
         {"attributes": users(75), "events": [event()] * 75, "purchases": [purchase()] * 75},
         201, ok(attributes_processed=75, events_processed=75, purchases_processed=75)),
        ("76 objects", TRACK, {"attributes": users(76)},
         400, refused("too_many_objects", Like("Max Input Length Exceeded.*"))),
        ("blocked, and of another type", TRACK, {"attributes": [{"external_id": "a", "iban": "x", "level": "high"}]},
         201, ok(attributes_processed=1) | {"dropped": dropped(("attributes", 0, "iban"), ("attributes", 0, "level"))}),
        ("a blocked event", TRACK, {"events": [event(name="debug")]},
         201, ok(events_processed=1) | {"dropped": dropped(("events", 0))}),
        ("an update of nobody", TRACK,
         {"attributes": [{"external_id": "none", "_update_existing_only": True, "level": 1}]},
         201, ok(attributes_processed=1) | {"dropped": dropped(("attributes", 0))}),
        ("an alias of nobody", TRACK,
         {"events": [{"user_alias": {"alias_name": "n", "alias_label": "l"}, "name": "e", "time": AT}]},
         201, ok(events_processed=1) | {"dropped": dropped(("events", 0))}),
        ("an alias makes a user if told so", TRACK,
         {"attributes": [{"user_alias": {"alias_name": "n", "alias_label": "l", "more": 1},
                          "_update_existing_only": False, "level": 1}]},
         201, ok(attributes_processed=1)),
        ("a key of idempotency", TRACK, {"events": [event("k")]}, 201, ok(events_processed=1),
         {"Idempotency-Key": "k1"}),
        ("the same again", TRACK, {"events": [event("k")]}, 201, ok(events_processed=1), {"Idempotency-Key": "k1"}),
        ("the same key, other content", TRACK, {"events": [event("k", "other")]}, 409, refused("key_reused"),
         {"Idempotency-Key": "k1"}),
        ("it counted once", IDS, {"external_ids": ["k"], "fields_to_export": ["custom_events"]}, 201,
         ok(users=[{"custom_events": [{"name": "order", "first": AT_MS, "last": AT_MS, "count": 1}]}])),
        ("a version makes no sense", TRACK, {"events": [event()]}, 400, refused("invalid", place="If-Match"),
         {"If-Match": "1"}),
    ],
    "json": [
        ("a comma too many", TRACK, '{"attributes": [],}', 400, refused("invalid_json", place=ANY)),
        ("a brace too many", TRACK, '{"attributes": []}}', 400, refused("invalid_json", place=ANY)),
        ("a key twice", TRACK, '{"events": [], "events": []}', 400, refused("invalid_json", place=ANY)),
        ("an array", TRACK, "[]", 400, refused("invalid_json", place="body")),
        ("nothing", TRACK, "", 400, refused("invalid_json", place="body")),
        ("a form", TRACK, "attributes[][external_id]=a", 415, refused("unsupported_type"),
         {"Content-Type": "application/x-www-form-urlencoded"}),
        ("not UTF-8", TRACK, b'{"attributes": [{"external_id": "\xff"}]}', 400, refused("invalid_json", place=ANY)),
        ("attributes that are no array", TRACK, {"attributes": "a"}, 400, refused("invalid", place=ANY)),
    ],
    "sync": [
        ("an attribute", SYNC, {"attributes": [{"external_id": "a", "level": 3, "mood": "good"}]},
         201, ok(users=[{"external_id": "a", "custom_attributes": {"level": 3, "mood": "good"}}])),
        ("only what the request has", SYNC, {"attributes": [{"external_id": "a", "level": {"inc": 4}}]},
         201, ok(users=[{"external_id": "a", "custom_attributes": {"level": 7}}])),
        ("a removed one", SYNC, {"attributes": [{"external_id": "a", "mood": None}]},
         201, ok(users=[{"external_id": "a", "custom_attributes": {"mood": None}}])),
        ("an event", SYNC, {"events": [event(time="2026-02-01T11:00:00+01:00")]},
         201, ok(users=[{"external_id": "a",
                         "custom_events": [{"name": "order", "first": AT_MS, "last": AT_MS, "count": 1}]}])),
        ("a purchase", SYNC, {"purchases": [purchase(quantity=3)]},
         201, ok(users=[{"external_id": "a",
                         "purchase_events": [{"product_id": "book", "first": AT_MS, "last": AT_MS, "count": 3}]}])),
        ("nobody", SYNC, {"attributes": [{"external_id": "none", "_update_existing_only": True, "level": 1}]},
         201, ok(users=[]) | {"dropped": dropped(("attributes", 0))}),
        ("two objects", SYNC, {"attributes": users(2)}, 400, refused("too_many_objects")),
        ("none", SYNC, {"attributes": []}, 400, ANY),
    ],
    "bulk": [
        ("1,000 objects", BULK, {"attributes": users(1000)}, 201, ok(attributes_processed=1000)),
        ("1,001 objects", BULK, {"attributes": users(1000), "events": [event()]},
         400, refused("too_many_objects", Like("Max Input Length Exceeded.*"))),
        ("101 of one user", BULK, {"events": [event()] * 101},
         400, refused("too_many_objects", Like("Max Input Length Exceeded.*"))),
        ("2 MB", BULK, {"attributes": [{"external_id": "a", "text": "x" * 2_100_000}]}, 413, refused("too_large")),
    ],
    "export": [
        ("a profile", TRACK,
         {"attributes": [{
             "external_id": "a", "first_name": "Ana", "last_name": "Lee", "email": "Ana@Example.com",
             "dob": "1990-05-17",
             "home_city": "Ulm", "country": "Germany", "phone": "+442071838750", "language": "de",
             "time_zone": "Europe/Berlin",
             "gender": "F", "current_location": {"longitude": 9.99, "latitude": 48.4}, "push_subscribe": "opted_in",
             "level": 3, "tags": ["x", "y", "x"], "pet": {"name": "Rex", "born": {"$time": "2020-01-02"}}}],
          "events": [event(), event(time="2026-01-31 23:00:00")],
          "purchases": [purchase(quantity=2), purchase(price=-1)]},
         201, ok(attributes_processed=1, events_processed=2, purchases_processed=2)),
        ("all of it, in the recorded order", IDS, {"external_ids": ["a"]}, 201, ok(users=[{
            "created_at": "2026-02-02T12:00:00.000Z", "external_id": "a", "user_aliases": [], "appboy_id": BRAZE_ID,
            "braze_id": BRAZE_ID, "first_name": "Ana", "last_name": "Lee", "random_bucket": ANY,
            "email": "ana@example.com",
            "dob": "1990-05-17", "home_city": "Ulm", "country": "DE", "phone": "+442071838750", "language": "de",
            "time_zone": "Europe/Berlin", "gender": "F", "last_coordinates": [9.99, 48.4],
            "custom_attributes": {"level": 3, "pet": ANY, "tags": ["x", "y"]},
            "custom_events": [{"name": "order", "first": "2026-01-31T23:00:00.000Z", "last": AT_MS, "count": 2}],
            "purchases": [{"name": "book", "first": AT_MS, "last": AT_MS, "count": 3}], "total_revenue": 18.0,
            "push_subscribe": "opted_in", "push_opted_in_at": "2026-02-02T12:00:00.000Z",
            "email_subscribe": "subscribed"}])),
        ("some fields, one of them unknown", IDS,
         {"external_ids": ["a"], "fields_to_export": ["none", "email", "external_id"]}, 201,
         ok(users=[{"external_id": "a", "email": "ana@example.com"}])),
        ("by address", IDS, {"email_address": "ANA@example.com", "fields_to_export": ["external_id"]},
         201, ok(users=[{"external_id": "a"}])),
        ("by phone", IDS, {"phone": "+442071838750", "fields_to_export": ["external_id"]}, 201,
         ok(users=[{"external_id": "a"}])),
        ("some are unknown", IDS, {"external_ids": ["a", "none"], "fields_to_export": ["external_id"]},
         201, ok(users=[{"external_id": "a"}]) | {"invalid_user_ids": ["none"]}),
        ("all are unknown", IDS, {"user_aliases": [{"alias_name": "n", "alias_label": "l"}]},
         201, ok(users=[]) | {"invalid_user_ids": ["n"], "note": NO_USER}),
        ("a user twice", IDS, {"external_ids": ["a", "a"], "fields_to_export": ["external_id"]},
         201, ok(users=[{"external_id": "a"}])),
        ("for nobody", IDS, {}, 400, refused("invalid")),
        ("address and phone", IDS, {"email_address": "a@example.com", "phone": "+442071838750"}, 400,
         refused("invalid", place=ANY)),
        ("51 IDs", IDS, {"external_ids": [f"u{number}" for number in range(51)]}, 400,
         refused("invalid", place="external_ids")),
    ],
    "e-mail states": [
        ("an address", TRACK, {"attributes": [{"external_id": "a", "email": "a@example.com"}]}, 201,
         ok(attributes_processed=1)),
        ("an opt-out", TRACK, {"attributes": [{"external_id": "a", "email_subscribe": "unsubscribed"}]}, 201,
         ok(attributes_processed=1)),
        ("the address again, and as the identifier", TRACK,
         {"attributes": [{"external_id": "a", "email": "A@example.com"}, {"email": "a@example.com", "level": 1}],
          "events": [{"email": "a@example.com", "name": "order", "time": AT}]}, 201,
          ok(attributes_processed=2, events_processed=1)),
        ("is no opt-in", IDS, {"external_ids": ["a"], "fields_to_export": ["email_subscribe"]},
         201, ok(users=[{"email_subscribe": "unsubscribed"}])),
        ("an opt-in", TRACK, {"attributes": [{"external_id": "a", "email_subscribe": "opted_in"}]}, 201,
         ok(attributes_processed=1)),
        ("is not undone either", SYNC, {"attributes": [{"email": "a@example.com", "level": 2}]},
         201, ok(users=[{"email": "a@example.com", "custom_attributes": {"level": 2}}])),
        ("and stays", IDS, {"external_ids": ["a"], "fields_to_export": ["email_subscribe"]},
         201, ok(users=[{"email_subscribe": "opted_in", "email_opted_in_at": "2026-02-02T12:00:00.000Z"}])),
        ("another address", TRACK, {"attributes": [{"external_id": "a", "email": "b@example.com"}]}, 201,
         ok(attributes_processed=1)),
        ("is subscribed", IDS, {"external_ids": ["a"], "fields_to_export": ["email_subscribe"]},
         201, ok(users=[{"email_subscribe": "subscribed"}])),
        ("unless the object says otherwise", TRACK,
         {"attributes": [{"external_id": "a", "email": "c@example.com", "email_subscribe": "unsubscribed"}]},
         201, ok(attributes_processed=1)),
        ("as here", IDS, {"external_ids": ["a"], "fields_to_export": ["email_subscribe"]},
         201, ok(users=[{"email_subscribe": "unsubscribed"}])),
    ],
    "times": [
        ("a zone's hour of one digit, names of zones", TRACK,
         {"events": [event(name="east", time="2013-07-16T19:20:30+1:00"),
                     event(name="west", time="2013-07-16 19:20:30 -5:00"),
                     event(name="words", time="Tue 07 16 19:20:30.PDT 2013"),
                     event(name="named", time="2013-07-16 19:20:30 CEST")]},
         201, ok(events_processed=4)),
        ("are these moments", IDS, {"external_ids": ["a"], "fields_to_export": ["custom_events"]}, 201,
         ok(users=[{"custom_events": [
            {"name": name, "first": f"2013-07-{time}:20:30.000Z", "last": f"2013-07-{time}:20:30.000Z", "count": 1}
            for name, time in [("east", "16T18"), ("named", "16T17"), ("west", "17T00"), ("words", "17T02")]]}])),
        ("an attribute is a time too", TRACK,
         {"attributes": [{"external_id": "a", "since": "2013-07-16T19:20:30+1:00"}]},
         201, ok(attributes_processed=1)),
        ("of this type", "/custom_attributes", None, 200, {"attributes": [
            {"array_length": None, "data_type": "Time", "description": None, "name": "since", "status": "Active",
             "tag_names": []}],
            "message": "success"}),
        ("a zone with several meanings", TRACK, {"events": [event(time="2013-07-16 19:20:30 IST")]},
         400, {"message": NOTHING_VALID, "errors": [fault("'time' is not valid", "events", 0)]}),
    ],
    "codes": [
        ("currencies that came later", TRACK,
         {"purchases": [purchase(currency=code) for code in ("XCG", "ZWG", "XAD")]},
         201, ok(purchases_processed=3)),
        ("languages", TRACK, {"attributes": [{"external_id": code, "language": code}
                                             for code in ("tl", "iw", "in", "ji")]},
         201, ok(attributes_processed=4)),
        ("withdrawn ones have another code now", IDS,
         {"external_ids": ["tl", "iw", "in", "ji"], "fields_to_export": ["language"]},
         201, ok(users=[{"language": code} for code in ("tl", "he", "id", "yi")])),
        ("zones of one word", TRACK, {"attributes": [
            {"external_id": "a", "time_zone": zone}
            for zone in ("PST8PDT", "EST", "CET", "Japan", "GB", "NZ", "GMT+0", "Zulu", "W-SU",
                         "America/Buenos_Aires")]},
         201, ok(attributes_processed=10)),
        ("what is no zone", TRACK,
         {"attributes": [{"external_id": "a", "time_zone": zone} for zone in ("Factory", "localtime", "IST")]},
         201, ok(attributes_processed=3) | {"dropped": dropped(*(("attributes", index, "time_zone")
             for index in range(3)))}),
    ],
    "lengths": [
        ("a character is a code point, whatever is seen of it", TRACK,
         {"attributes": [{"external_id": "a", "kept": "e\u0301" * 127, "lost": "a" + "\u0301" * 255,
                          "k" + "\u0301" * 255: 1,
                          "o": {"k" + "\u0301" * 255: 1}}]},
         201, ok(attributes_processed=1) | {"dropped": dropped(
             ("attributes", 0, "k" + "\u0301" * 79 + "…"), ("attributes", 0, "lost"), ("attributes", 0, "o"))}),
        ("in names too", TRACK,
         {"events": [event(name="e" + "\u0301" * 255)], "purchases": [purchase(product="\r\n" * 128)]},
         400, {"message": NOTHING_VALID, "errors": [
             fault("'name' is not valid", "events", 0), fault("'product_id' is not valid", "purchases", 0)]}),
    ],
    "what clients send for nothing": [
        ("no app, and an array for no properties", TRACK,
         {"events": [event(app_id="", properties=[])], "purchases": [purchase(app_id="", properties=[])]},
         201, ok(events_processed=1, purchases_processed=1)),
        ("no properties of a recommended event", TRACK,
         {"events": [event(name="ecommerce.product_viewed", properties=[])]},
         400, {"message": NOTHING_VALID, "errors": [
             fault("The property '#/' did not contain a required property of 'product_id'", "events", 0)]}),
        ("an array with something in it", TRACK, {"events": [event(properties=[1])]},
         400, {"message": NOTHING_VALID, "errors": [fault("Invalid 'properties' field", "events", 0)]}),
        ("no alias", TRACK,
         {"attributes": [{"email": "a@example.com", "user_alias": alias, "level": 1}
                         for alias in ({"alias_name": "", "alias_label": ""}, {}, [], {"alias_name": None})]},
         201, ok(attributes_processed=4)),
        ("nobody at all", TRACK, {"attributes": [{"user_alias": {"alias_name": "", "alias_label": ""}, "level": 1}]},
         400, {"message": NOTHING_VALID, "errors": [fault(NO_IDENTIFIER, "attributes", 0)]}),
        ("half of an alias", TRACK,
         {"attributes": [{"email": "a@example.com", "user_alias": {"alias_name": "n"}, "level": 1}]},
         400, {"message": NOTHING_VALID, "errors": [fault("'user_alias' is not valid", "attributes", 0)]}),
        ("no user of an alias", NEW, {"user_aliases": [{"external_id": "", "alias_name": "n", "alias_label": "l"}]},
         201, ok(aliases_processed=1)),
        ("who is known by it alone", IDS,
         {"user_aliases": [{"alias_name": "n", "alias_label": "l"}],
          "fields_to_export": ["external_id", "user_aliases"]},
         201, ok(users=[{"user_aliases": [{"alias_name": "n", "alias_label": "l"}]}])),
        ("a whole number with a point", TRACK, {"attributes": [{"external_id": "a", "level": {"inc": 2.0}}]},
         201, ok(attributes_processed=1)),
        ("is added as an integer", IDS, {"external_ids": ["a"], "fields_to_export": ["custom_attributes"]},
         201, ok(users=[{"custom_attributes": {"level": 2}}])),
        ("a flag that is none", TRACK,
         {"attributes": [{"push_token_import": flag, "push_tokens": [{"app_id": "app-1", "token": "t"}]}
                         for flag in ("true", 1)]},
         400, {"message": NOTHING_VALID,
               "errors": [fault("'push_token_import' is not valid", "attributes", index) for index in range(2)]}),
        ("two slashes", "//users/track", {"events": [event()]}, 201, ok(events_processed=1)),
        ("three, and a query", "///events/list?page=0", None, 200, {"events": ["order"], "message": "success"}),
    ],
    "subscriptions": [
        ("two users", TRACK, {"attributes": [{"external_id": "a", "email": "a@example.com"}, {"external_id": "b"}]},
         201, ok(attributes_processed=2)),
        ("one user", SET, {"subscription_group_id": "news", "subscription_state": "subscribed", "external_id": "a"},
         201, ok()),
        ("several", SET, {"subscription_group_id": "texts", "subscription_state": "unsubscribed",
                          "external_id": ["a", "b"]}, 201, ok()),
        ("by address", SET, {"subscription_group_id": "news", "subscription_state": "subscribed",
                             "email": "a@example.com"}, 201, ok()),
        ("unknown group", SET,
         {"subscription_group_id": "none", "subscription_state": "subscribed", "external_id": "a"},
         400, refused("invalid", "Invalid subscription group ID", place="subscription_group_id")),
        ("unknown group, among others", SET2, {"subscription_groups": [
            {"subscription_group_id": "news", "subscription_state": "subscribed", "external_ids": ["a"]},
            {"subscription_group_id": "none", "subscription_state": "subscribed", "external_ids": ["a"]}]},
         400, refused("invalid", "Invalid subscription group ID",
                      place="subscription_groups[1].subscription_group_id")),
        ("empty text is no address", SET,
         {"subscription_group_id": "news", "subscription_state": "subscribed", "external_id": "a", "email": "",
          "phone": ""}, 201, ok()),
        ("and names nobody", SET,
         {"subscription_group_id": "news", "subscription_state": "subscribed", "email": "", "external_id": [""]},
         400, refused("invalid", "`external_id` names no user, nor do `email` and `phone`.", place="external_id")),
        ("nobody", SET2, {"subscription_groups": [{"subscription_group_id": "news",
                                                   "subscription_state": "subscribed"}]},
         400, refused("invalid", "`subscription_groups[0].external_ids` names no user, nor do `emails` and `phones`.",
                      place="subscription_groups[0].external_ids")),
        ("an address beside a phone", SET,
         {"subscription_group_id": "news", "subscription_state": "subscribed", "email": "a@example.com",
          "phone": "+442071838750"},
         400, refused("invalid", "`email` cannot be combined with `phone`.", place="email")),
        ("unknown state", SET, {"subscription_group_id": "news", "subscription_state": "maybe", "external_id": "a"},
         400, refused("invalid", place="subscription_state")),
        ("unknown user", SET,
         {"subscription_group_id": "news", "subscription_state": "subscribed", "external_id": ["a", "none"]},
         201, ok() | {"dropped": [{"reason": ANY, "field": "external_id[1]"}]}),
        ("several groups", SET2,
         {"subscription_groups": [
             {"subscription_group_id": "news", "subscription_state": "unsubscribed", "external_ids": ["b"]},
             {"subscription_group_id": "texts", "subscription_state": "subscribed", "emails": ["a@example.com"]}]}, 201,
             ok()),
        ("the singular name", SET2, {"subscription_groups": [
            {"subscription_group_id": "news", "subscription_state": "unsubscribed", "external_id": "b"}]}, 201, ok()),
        ("addresses beside phones", SET2, {"subscription_groups": [
            {"subscription_group_id": "news", "subscription_state": "subscribed", "emails": ["a@example.com"],
             "phones": ["+442071838750"]}]}, 400, refused("invalid", place=ANY)),
        ("states", GET + "?subscription_group_id=news&external_id%5B%5D=a&external_id[]=b&external_id[]=none", None,
         200, {"status": {"a": "Subscribed", "b": "Unsubscribed", "none": "unknown"}, "message": "success"}),
        ("a state by address", GET + "?subscription_group_id=news&email=a%40example.com", None,
         200, {"status": {"a@example.com": "Subscribed"}, "message": "success"}),
        ("states in an unknown group", GET + "?subscription_group_id=none&external_id=a", None,
         400, refused("invalid", "Invalid subscription group ID", place="subscription_group_id")),
        ("groups of users", STATUS + "?external_id%5B%5D=a&external_id%5B%5D=b&external_id%5B%5D=none", None,
         200, {"users": [
             {"email": "a@example.com", "phone": None, "external_id": "a", "subscription_groups": [
                 {"id": "news", "name": "Newsletter", "channel": "email", "status": "Subscribed"},
                 {"id": "texts", "name": "Texts", "channel": "sms", "status": "Subscribed"}]},
             {"email": None, "phone": None, "external_id": "b", "subscription_groups": [
                 {"id": "news", "name": "Newsletter", "channel": "email", "status": "Unsubscribed"},
                 {"id": "texts", "name": "Texts", "channel": "sms", "status": "Unsubscribed"}]}],
             "total_count": 2, "message": "success"}),
        ("another profile with an address", TRACK, {"attributes": [{"external_id": "c", "email": "a@example.com"}]},
         201, ok(attributes_processed=1)),
        ("of the first alone", SET,
         {"subscription_group_id": "news", "subscription_state": "unsubscribed", "external_id": "a"}, 201, ok()),
        ("is set for both", GET + "?subscription_group_id=news&external_id[]=a&external_id[]=c", None,
         200, {"status": {"a": "Unsubscribed", "c": "Unsubscribed"}, "message": "success"}),
        ("groups of nobody", STATUS, None, 400, refused("invalid")),
        ("too long a page", STATUS + "?external_id=a&limit=101", None, 400, refused("invalid", place="limit")),
    ],
    "numbers": [
        ("something happens", TRACK,
         {"events": [event(), event(time="2026-02-01T11:30:00Z")], "purchases": [purchase(quantity=2)]},
         201, ok(events_processed=2, purchases_processed=1)),
        ("events by day", "/events/data_series?event=order&length=2&ending_at=2026-02-01", None, 200,
         {"message": "success", "data": [{"time": "2026-01-31", "count": 0}, {"time": "2026-02-01", "count": 2}]}),
        ("events by hour", "/events/data_series?event=order&length=2&unit=hour&ending_at=2026-02-01T11:00:00Z", None,
         200,
         {"message": "success",
          "data": [{"time": AT_MS, "count": 1}, {"time": "2026-02-01T11:00:00.000Z", "count": 1}]}),
        ("events of a segment", "/events/data_series?event=order&length=1&ending_at=2026-02-01&segment_id=everybody",
         None, 200,
         {"message": "success", "data": [{"time": "2026-02-01", "count": 2}]}),
        ("quantities", "/purchases/quantity_series?length=1&ending_at=2026-02-01", None, 200,
         {"message": "success", "data": [{"time": "2026-02-01", "purchase_quantity": 2}]}),
        ("revenue", "/purchases/revenue_series?length=1&ending_at=2026-02-01&product=book", None, 200,
         {"message": "success", "data": [{"time": "2026-02-01", "revenue": 19.0}]}),
        ("sessions", "/sessions/data_series?length=1", None, 200,
         {"message": "success", "data": [{"time": ANY, "sessions": 0}]}),
        ("users of a day", "/kpi/dau/data_series?length=1", None, 200,
         {"message": "success", "data": [{"time": ANY, "dau": 0}]}),
        ("users of a month", "/kpi/mau/data_series?length=1", None, 200,
         {"message": "success", "data": [{"time": ANY, "mau": 0}]}),
        ("new users", "/kpi/new_users/data_series?length=1", None, 200,
         {"message": "success", "data": [{"time": ANY, "new_users": 1}]}),
        ("uninstalls", "/kpi/uninstalls/data_series?length=1", None, 200,
         {"message": "success", "data": [{"time": ANY, "uninstalls": 0}]}),
        ("the size of a segment", "/segments/data_series?segment_id=everybody&length=1", None, 200,
         {"message": "success", "data": [{"time": ANY, "size": 1}]}),
        ("segments", "/segments/list", None, 200, {"segments": [
            {"id": "everybody", "name": "Everybody", "analytics_tracking_enabled": True, "tags": []}],
            "message": "success"}),
        ("a segment", "/segments/details?segment_id=everybody", None, 200,
         {"created_at": None, "updated_at": None, "name": "Everybody", "description": "", "text_description": "",
          "tags": [],
          "message": "success"}),
        ("no length", "/events/data_series?event=order", None, 400, refused("invalid", place="length")),
        ("too long", "/sessions/data_series?length=101", None, 400, refused("invalid", place="length")),
        ("no event", "/events/data_series?length=1", None, 400, refused("invalid", place="event")),
        ("a unit that is none", "/sessions/data_series?length=1&unit=week", None, 400,
         refused("invalid", place="unit")),
        ("a time that is none", "/sessions/data_series?length=1&ending_at=soon", None, 400,
         refused("invalid", place="ending_at")),
        ("no such segment", "/segments/details?segment_id=x", None, 400,
         refused("invalid", "Invalid segment ID", place="segment_id")),
    ],
    "lists": [
        ("nothing yet", "/events/list", None, 200, {"events": [], "message": "success", "note": ANY}),
        ("names of all kinds", TRACK,
         {"attributes": [{"external_id": "a", "on": True, "tags": ["x", "y", "z"], "pet": {"name": "Rex"},
                          "pets": [{"name": "Rex"}],
                          "since": AT, "word": "w", "number": 1.5}],
          "events": [event(name="b"), event(name="a"), event(name="a")],
          "purchases": [purchase(product="p"), purchase(product=12)]},
         201, ok(attributes_processed=1, events_processed=3, purchases_processed=2)),
        ("names of events", "/events/list", None, 200, {"events": ["a", "b"], "message": "success"}),
        ("a page behind the last", "/events/list?page=1", None, 200,
         {"events": [], "message": "success", "note": "There are no custom events on page 1."}),
        ("a page that is none", "/events/list?page=-1", None, 400, refused("invalid", place="page")),
        ("events", "/events", None, 200, {"events": [
            {"name": name, "description": None, "included_in_analytics_report": False, "status": "Active",
             "tag_names": []}
            for name in "ab"], "message": "success"}),
        ("a cursor that is none", "/events?cursor=none", None, 400, refused("invalid", place="cursor")),
        ("custom attributes", "/custom_attributes", None, 200, {"attributes": [
            {"array_length": length, "data_type": kind, "description": None, "name": name, "status": "Active",
             "tag_names": []}
            for name, kind, length in [
                ("number", "Number", None), ("on", "Boolean", None), ("pet", "Object", None),
                ("pets", "Object Array", ANY),
                ("since", "Time", None), ("tags", "Array", 3), ("word", "String", None)]], "message": "success"}),
        ("products", "/purchases/product_list", None, 200, {"products": ["12", "p"], "message": "success"}),
    ],
    "sends": [
        ("a user", TRACK, {"attributes": [{"external_id": "a"}]}, 201, ok(attributes_processed=1)),
        ("a message", SEND, {"external_user_ids": ["a"], "messages": {"webhook": {"url": "/"}}},
         201, {"dispatch_id": ANY, "message": "success"}),
        ("a message to nobody", SEND, {"messages": {"webhook": {"url": "/"}}}, 400,
         refused("invalid", "No Recipients")),
        ("no message", SEND, {"external_user_ids": ["a"]}, 400,
         refused("invalid", "No message to send", place="messages")),
        ("a campaign", CAMPAIGN, {"campaign_id": "spring", "send_id": "s-1", "recipients": [
            {"external_user_id": "a", "trigger_properties": {"what": "sale"}}]},
         201, {"dispatch_id": ANY, "message": "success", "send_id": "s-1"}),
        ("an unknown campaign", CAMPAIGN, {"campaign_id": "none", "recipients": [{"external_user_id": "a"}]},
         400, refused("invalid", "Invalid Campaign ID", place="campaign_id")),
        ("a canvas", CANVAS, {"canvas_id": "welcome", "recipients": [{"external_user_id": "a"}]},
         201, {"dispatch_id": ANY, "message": "success"}),
        ("a transactional message", TRANSACTIONAL, {
            "recipient": {"external_user_id": "a"}, "trigger_properties": {"what": "receipt"}},
         201, {"dispatch_id": ANY, "status": "sent", "metadata": ANY}),
        ("an ID for sends", SEND_ID, {"campaign_id": "spring", "send_id": "s-2"}, 201,
         {"message": "success", "send_id": "s-2"}),
    ],
    "schedules": [
        *[row for form, body in [
            ("/messages", {"messages": {"webhook": {"url": "/"}}}), ("/campaigns/trigger", {"campaign_id": "spring"}),
            ("/canvas/trigger", {"canvas_id": "welcome"})]
          for row in [
            ("a broadcast", form + SCHEDULE + "create",
             {**body, "broadcast": True, "segment_id": "everybody", "schedule": {"time": "2100-01-01T00:00:00Z"}},
             400, refused("invalid", "Bad Request", place="schedule.time")),
            ("one that is due at once", form + SCHEDULE + "create",
             {**body, "broadcast": True, "segment_id": "everybody", "schedule": {"time": "2026-01-01T00:00:00Z"}},
             201, {"dispatch_id": ANY, "schedule_id": ANY, "message": "success"}),
            ("another time for an unknown one", form + SCHEDULE + "update",
             {**body, "schedule_id": "none", "schedule": {"time": "2026-01-01T00:00:00Z"}},
             400, refused("invalid", "Invalid Schedule ID", place="schedule_id")),
            ("an unknown one", form + SCHEDULE + "delete", {**body, "schedule_id": "none"},
             400, refused("invalid", "Invalid Schedule ID", place="schedule_id")),
        ]],
        ("none is left", SCHEDULED + "?end_time=2100-01-01T00:00:00Z", None, 200,
         {"scheduled_broadcasts": [], "message": "success", "note": "No scheduled broadcasts match `end_time`."}),
        ("without an end", SCHEDULED, None, 400, refused("invalid", place="end_time")),
    ],
    "aliases": [
        ("two users", TRACK, {"attributes": [{"external_id": "a"}, {"external_id": "w"}]}, 201,
         ok(attributes_processed=2)),
        ("one of a user, one alone", NEW, {"user_aliases": [
            {"external_id": "a", "alias_name": "n1", "alias_label": "l"}, {"alias_name": "n2", "alias_label": "l"}]},
         201, ok(aliases_processed=2)),
        ("wrapped", NEW, {"user_aliases": [{"user_alias": {"external_id": "w", "alias_name": "n3",
                                                           "alias_label": "l"}}]},
         201, ok(aliases_processed=1)),
        ("of nobody", NEW, {"user_aliases": [{"external_id": "none", "alias_name": "n4", "alias_label": "l"}]},
         201, ok(aliases_processed=1) | {"dropped": dropped(("user_aliases", 0))}),
        ("none", NEW, {"user_aliases": []}, 400, refused("nothing_valid")),
        ("without a label", NEW, {"user_aliases": [{"alias_name": "n"}]},
         400, {"message": ANY, "errors": [fault("'alias_label' is required", "user_aliases", 0)]}),
        ("51", NEW, {"user_aliases": [{"alias_name": f"n{number}", "alias_label": "x"} for number in range(51)]},
         400, refused("too_many_objects", Like("Max Input Length Exceeded.*"), place="user_aliases")),
        ("renamed", UPDATE, {"alias_updates": [{"alias_label": "l", "old_alias_name": "n1", "new_alias_name": "n5"}]},
         201, ok(aliases_processed=1)),
        ("an unknown one", UPDATE,
         {"alias_updates": [{"alias_label": "l", "old_alias_name": "n1", "new_alias_name": "n6"}]},
         201, ok(aliases_processed=1) | {"dropped": dropped(("alias_updates", 0))}),
        ("aliases of users", IDS, {"external_ids": ["a", "w"], "fields_to_export": ["user_aliases"]}, 201, ok(users=[
            {"user_aliases": [{"alias_name": name, "alias_label": "l"}]} for name in ("n5", "n3")])),
        ("identified", IDENTIFY,
         {"aliases_to_identify": [{"external_id": "b", "user_alias": {"alias_name": "n2", "alias_label": "l"}}]},
         201, ok(aliases_processed=1)),
        ("is found by both", IDS, {"external_ids": ["b"], "fields_to_export": ["external_id", "user_aliases"]}, 201,
         ok(users=[{"external_id": "b", "user_aliases": [{"alias_name": "n2", "alias_label": "l"}]}])),
        ("an address without an order", IDENTIFY,
         {"emails_to_identify": [{"external_id": "c", "email": "c@example.com"}]},
         400, {"message": ANY, "errors": [fault("'prioritization' is required", "emails_to_identify", 0)]}),
        ("nobody to identify", IDENTIFY, {}, 400, refused("nothing_valid")),
    ],
    "merge": [
        ("two users", TRACK, {"attributes": [
            {"external_id": "a", "first_name": "Ana", "level": 1},
            {"external_id": "b", "last_name": "Lee", "level": 2, "mood": "good"}],
            "events": [event("a"), event("b")]}, 201, ok(attributes_processed=2, events_processed=2)),
        ("merged", MERGE, {"merge_updates": [{"identifier_to_merge": {"external_id": "b"},
                                              "identifier_to_keep": {"external_id": "a"}}]},
         202, ok()),
        ("what is left", IDS, {"external_ids": ["a", "b"], "fields_to_export": [
            "external_id", "first_name", "last_name", "custom_attributes", "custom_events"]}, 201,
         ok(users=[{"external_id": "a", "first_name": "Ana", "last_name": "Lee",
                    "custom_attributes": {"level": 1, "mood": "good"},
                    "custom_events": [{"name": "order", "first": AT_MS, "last": AT_MS,
                                       "count": 2}]}]) | {"invalid_user_ids": ANY}),
        ("no array", MERGE, {"merge_updates": "a"},
         400, refused("invalid", "'merge_updates' must be an array of objects", place="merge_updates")),
        ("51", MERGE, {"merge_updates": [{"identifier_to_merge": {"external_id": "b"},
                                          "identifier_to_keep": {"external_id": "a"}}] * 51},
         400, refused("invalid", "a single request may not contain more than 50 merge updates", place="merge_updates")),
        ("no identifier", MERGE,
         {"merge_updates": [{"identifier_to_merge": {"external_id": "b"}, "identifier_to_keep": {"name": "a"}}]},
         400, refused("invalid", (
             "identifiers must be objects with an 'external_id' property that is a string, 'user_alias' property that "
             "is an object, 'email' property that is a string, or 'phone' property that is a string"), place=ANY)),
        ("more members", MERGE, {"merge_updates": [
            {"identifier_to_merge": {"external_id": "b"}, "identifier_to_keep": {"external_id": "a"}, "more": 1}]},
         400, refused("invalid", "'merge_updates' must only have 'identifier_to_merge' and 'identifier_to_keep'",
                      place=ANY)),
    ],
    "merge of e-mail states": [
        ("four pairs", TRACK, {"attributes": [
            {"external_id": "same", "email": "s@example.com"}, {"external_id": "free"},
            {"external_id": "chosen", "email": "c@example.com"},
            {"external_id": "chosen", "email_subscribe": "subscribed"},
            {"external_id": "other", "email": "o@example.com"}] + [
                {"user_alias": {"alias_name": name, "alias_label": "l"}, "_update_existing_only": False,
                 "email": f"{name[0]}@example.com" if name != "other" else "more@example.com",
                 "email_subscribe": "unsubscribed"}
                for name in ("same", "free", "chosen", "other")]}, 201, ok(attributes_processed=9)),
        ("merged", MERGE, {"merge_updates": [
            {"identifier_to_merge": {"user_alias": {"alias_name": name, "alias_label": "l"}},
             "identifier_to_keep": {"external_id": name}}
            for name in ("same", "free", "chosen", "other")]}, 202, ok()),
        ("an opt-out comes with its address", IDS,
         {"external_ids": ["same", "free", "chosen", "other"], "fields_to_export": ["external_id", "email_subscribe"]},
         201,
         ok(users=[{"external_id": name, "email_subscribe": state} for name, state in [
             ("same", "unsubscribed"), ("free", "unsubscribed"), ("chosen", "subscribed"), ("other", "subscribed")]])),
    ],
    "external IDs": [
        ("a user", TRACK, {"attributes": [{"external_id": "a", "level": 1}, {"external_id": "b"}]}, 201,
         ok(attributes_processed=2)),
        ("renamed, unknown, in use", RENAME, {"external_id_renames": [
            {"current_external_id": "a", "new_external_id": "a2"},
            {"current_external_id": "none", "new_external_id": "c"},
            {"current_external_id": "a2", "new_external_id": "b"}]},
         201, {"rename_errors": [[ANY, 1], [ANY, 2]],
               "external_ids": [{"current_external_id": "a", "new_external_id": "a2"}],
               "message": "success"}),
        ("both lead to the user", IDS,
         {"external_ids": ["a"], "fields_to_export": ["external_id", "custom_attributes"]},
         201, ok(users=[{"external_id": "a2", "custom_attributes": {"level": 1}}])),
        ("no rename", RENAME, {"external_id_renames": []}, 400, refused("invalid", place="external_id_renames")),
        ("removed, and the one in use", REMOVE, {"external_ids": ["a", "a2"]},
         201, {"removed_ids": ["a"], "removal_errors": [[ANY, 1]], "message": "success"}),
        ("nothing to remove", REMOVE, {"external_ids": []}, 400, refused("invalid", place="external_ids")),
        ("it leads nowhere", IDS, {"external_ids": ["a"]}, 201, ok(users=[]) | {"invalid_user_ids": ["a"],
         "note": NO_USER}),
    ],
    "delete": [
        ("users", TRACK, {"attributes": [{"external_id": "a"}, {"external_id": "b"}, {"email": "c@example.com"}]},
         201, ok(attributes_processed=3)),
        ("by ID", DELETE, {"external_ids": ["a"]}, 201, ok(deleted=1)),
        ("unknown ones count too", DELETE, {"external_ids": ["b", "none", "a"]},
         201, ok(deleted=3) | {"dropped": dropped(("external_ids", 1), ("external_ids", 2))}),
        ("by address", DELETE, {"email_addresses": [{"email": "c@example.com", "prioritization": ["unidentified"]}]},
         201, ok(deleted=1)),
        ("nobody is left", IDS, {"external_ids": ["a", "b"]}, 201, ok(users=[]) | {"invalid_user_ids": ["a", "b"],
         "note": NO_USER}),
        ("nobody named", DELETE, {}, 400, refused("nothing_valid")),
        ("51", DELETE, {"external_ids": [f"u{number}" for number in range(51)]},
         400, refused("too_many_objects", Like("Max Input Length Exceeded.*"))),
    ],
    "segment": [
        ("without fields", SEGMENT, {"segment_id": "everybody"}, 400, refused("invalid", place="fields_to_export")),
        ("unknown", SEGMENT, {"segment_id": "none", "fields_to_export": ["email"]},
         400, refused("invalid", "Invalid segment ID", place="segment_id")),
        ("of nobody", SEGMENT, {"segment_id": "everybody", "fields_to_export": ["email"]},
         201, ok(object_prefix=Like("2026-02-02-.*"), url=Like("http://127.0.0.1:[0-9]+/exports/.*[.]zip"))),
        ("with a callback", SEGMENT, {"segment_id": "everybody", "fields_to_export": ["email"], "output_format": "gzip",
                                      "callback_endpoint": "http://127.0.0.1/done"},
         201, ok(object_prefix=ANY, url=Like("http://127.0.0.1:[0-9]+/exports/.*[.]gz"))
         | {"dropped": [{"reason": ANY, "field": "callback_endpoint"}]}),
        ("a file that is none", "/exports/none", None, 404, refused("unknown_export")),
    ],
    "elsewhere": [
        ("an unknown path", "/users/none", {}, 404, ANY),
        # braze-client-p311 0.0.5 ends the path of triggered sends in a slash.
        ("a slash at the end", "/users/track/",
         {"attributes": [{"external_id": "a"}]}, 201, ok(attributes_processed=1)),
        ("a slash at the end of a send", "/campaigns/trigger/send/",
         {"campaign_id": "spring", "trigger_properties": {"what": "x"}, "recipients": [{"external_user_id": "a"}]},
         201, {"dispatch_id": ANY, "message": "success"}),
        ("what is not simulated", "/campaigns/data_series?campaign_id=a&length=1", None, 501,
         {"message": "Braze has GET /campaigns/data_series; ProfileLog does not simulate it.", "remedy": ANY,
          "code": "not_simulated"}),
        ("another method of it", "/campaigns/data_series", {}, 405, ANY),
        ("a GET of what is posted", TRACK, None, 405, ANY),
        ("a POST of what is read", "/events/list", {}, 405, ANY),
        ("more than 4 MiB", TRACK, b" " * (4 * 1024 * 1024 + 1), 413, ANY),
    ],
}


def same(expected, found):
    """Whether the values are equal, with all members in the same order; 1 is not 1.0, and neither is true."""
    if isinstance(expected, (Anything, Like)):
        return expected == found
    if isinstance(expected, dict):
        return isinstance(found, dict) and list(expected) == list(found) and all(same(expected[key], found[key])
            for key in found)
    if isinstance(expected, list):
        return isinstance(found, list) and len(expected) == len(found) and all(map(same, expected, found))
    return type(expected) is type(found) and expected == found


class WireTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(WORKSPACE)
            file.flush()
            cls.service = Service("--workspace", file.name)
        cls.addClassCleanup(cls.service.stop)

    def setUp(self):
        self.service.reset()

    def play(self, rows):
        for title, path, body, status, expected, *headers in rows:
            with self.subTest(title):
                answer = self.service.send("GET" if body is None else "POST", path, body, *headers)
                self.assertEqual(answer.status, status, answer)
                self.assertTrue(same(expected, answer.json), f"{answer}\nis not\n{json.dumps(expected, default=repr)}")
                self.assertEqual(answer.headers["Content-Type"], "application/json")
                self.assertEqual(int(answer.headers["Content-Length"]), len(answer.body))
                self.assertTrue(answer.headers["X-Request-Id"])
                self.assertNotIn("X-RateLimit-Limit", answer.headers)

    def test_request_id(self):
        answer = self.service.post(TRACK, {"events": [event()]}, {"X-Request-Id": "my-id"})
        self.assertEqual(answer.headers["X-Request-Id"], "my-id")

    def test_allow(self):
        self.assertEqual(self.service.get(TRACK).headers["Allow"], "POST")

    def test_a_body_in_chunks(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=30)
        self.addCleanup(connection.close)
        for _ in range(2):
            pieces = iter([b'{"attributes": [{"external', b'_id": "a", "level": {"inc": 1}}]}'])
            connection.request("POST", TRACK, pieces, encode_chunked=True)
            response = connection.getresponse()
            self.assertEqual((response.status, json.loads(response.read())), (201, ok(attributes_processed=1)))
        self.assertEqual(self.service.profile("a")["custom_attributes"], {"level": 2})

    def raw(self, request, silence):
        """All that comes back, if the service ends the connection before so many seconds of silence."""
        with socket.create_connection(("127.0.0.1", self.service.port), timeout=silence) as connection:
            connection.sendall(request)
            with connection.makefile("rb") as file:
                return file.read()

    def test_two_requests_at_once_on_one_connection(self):
        line = b"GET /events/list HTTP/1.1\r\nHost: a\r\n"
        found = self.raw(line + b"\r\n" + line + b"Connection: close\r\n\r\n", silence=20)
        self.assertEqual(found.count(b"HTTP/1.1 200 OK"), 2)

    def test_http_1_0_ends_its_connection(self):
        self.assertIn(b" 200 OK", self.raw(b"GET /events/list HTTP/1.0\r\n\r\n", silence=20))

    def test_a_wish_for_another_protocol_is_passed_over(self):
        """As Java's HttpClient sends it with every request over plain HTTP."""
        body = json.dumps({"events": [event()]}).encode()
        for wish in ("h2c", "websocket", "TLS/1.0"):
            head = (f"POST {TRACK} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: {wish}\r\n"
                    f"HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n").encode()
            with self.subTest(wish), socket.create_connection(("127.0.0.1", self.service.port),
                timeout=20) as connection:
                for _ in range(3):
                    connection.sendall(head + body)
                    response = http.client.HTTPResponse(connection)
                    response.begin()
                    self.assertEqual((response.status, json.loads(response.read())), (201, ok(events_processed=1)))
                    self.assertIsNone(response.headers["Connection"])

    def test_pages(self):
        names = [f"e{number:03}" for number in range(260)]
        for start in range(0, 260, 65):
            self.service.post(TRACK, {"events": [event(name=name) for name in names[start:start + 65]]})
        pages = [self.service.get(f"/events/list?page={page}").json["events"] for page in range(3)]
        self.assertEqual(pages, [names[:250], names[250:], []])

        found, path, links = [], "/events", []
        while path:
            answer = self.service.get(path)
            found.append([one["name"] for one in answer.json["events"]])
            link = dict((relation, target) for target, relation in
                        re.findall('<([^>]*)>; *rel="?([a-z]+)"?', answer.headers.get("Link", "")))
            links.append(sorted(link))
            path = re.sub("^https?://[^/]*", "", link["next"]) if "next" in link else None
            self.assertLess(len(found), 10)
        self.assertEqual(found, [names[start:start + 50] for start in range(0, 260, 50)])
        self.assertEqual(links, [["next"]] + [["next", "prev"]] * 4 + [["prev"]])

    def test_files_of_a_segment(self):
        self.service.post(TRACK, {"attributes": users(3)})
        lines = [{"external_id": f"u{number}"} for number in range(3)]
        for kind in ("zip", "gzip"):
            answer = self.service.post(
                SEGMENT, {"segment_id": "everybody", "fields_to_export": ["external_id"], "output_format": kind})
            file = self.service.get(answer.json["url"].removeprefix(self.service.url))
            self.assertEqual(file.status, 200)
            if kind == "zip":
                archive = zipfile.ZipFile(io.BytesIO(file.body))
                self.assertIsNone(archive.testzip())
                text = b"".join(archive.read(name) for name in archive.namelist())
            else:
                text = gzip.decompress(file.body)
            self.assertEqual([json.loads(line) for line in text.splitlines()], lines)

    def test_every_endpoint_has_a_row(self):
        """All paths in Braze's format that the service lists are in a table."""
        listed = {one["path"] for one in self.service.get("/").json["endpoints"]}
        tried = {path.split("?")[0] for rows in TABLES.values() for _, path, *_ in rows}
        ours = re.compile("/|/v1/.*|/health.*|/metrics|/openapi.json|/exports/.*")
        theirs = {re.sub("{[^}]*}", "[^/]*", path) for path in listed if not ours.fullmatch(path)}
        self.assertEqual({path for path in theirs if not any(re.fullmatch(path, one) for one in tried)}, set())


for name in TABLES:
    def play_table(self, rows=TABLES[name]):
        self.play(rows)

    setattr(WireTests, "test_table_" + name.replace(" ", "_"), play_table)


class RateLimitTests(unittest.TestCase):
    def test_headers(self):
        service = Service("--rate-limit", "2/60", "--rate-limit", "/users/export/ids=1/60")
        self.addCleanup(service.stop)
        found = []
        for _ in range(3):
            answer = service.post(TRACK, {"events": [event()]})
            found.append((answer.status, answer.headers["X-RateLimit-Limit"], answer.headers["X-RateLimit-Remaining"]))
            self.assertRegex(answer.headers["X-RateLimit-Reset"], "^[0-9]{10}$")
        self.assertEqual(found, [(201, "2", "1"), (201, "2", "0"), (429, "2", "0")])
        self.assertTrue(same(refused("rate_limited"), answer.json), answer)
        self.assertTrue(1 <= int(answer.headers["Retry-After"]) <= 60)
        # Each endpoint has its own, and refused objects count as well.
        self.assertEqual(service.post(IDS, {}).headers["X-RateLimit-Remaining"], "0")
        self.assertEqual(service.post(IDS, {"external_ids": ["a"]}).status, 429)
        self.assertEqual(service.get("/events/list").status, 200)


class KeyTests(unittest.TestCase):
    def test_keys(self):
        with tempfile.TemporaryDirectory() as folder:
            key = re.search("plk_[0-9a-f_]+",
                            keys(folder, "add", "--name", "app", "--permissions", "users.track,events.list")).group()
            service = Service("--keys", folder + "/keys.json", "--log-level", "trace")
            self.addCleanup(service.stop)
            wrong = key[:-1] + ("0" if key[-1] != "0" else "1")
            body = {"events": [event()]}
            invalid = refused("invalid_key", "Invalid API key")
            for title, path, request, headers, status, expected in [
                ("the right one", TRACK, body, {"Authorization": "Bearer " + key}, 201, ok(events_processed=1)),
                ("in the body", TRACK, {"api_key": key, **body}, {}, 201, ok(events_processed=1)),
                ("in the URL", TRACK + "?api_key=" + key, body, {}, 201, ok(events_processed=1)),
                ("in the URL of a GET", "/events/list?page=0&api_key=" + key, None, {}, 200,
                 {"events": ["order"], "message": "success"}),
                ("a wrong one in the URL", TRACK + "?api_key=" + wrong, {"api_key": key, **body}, {}, 401, invalid),
                ("the header counts and no URL", TRACK + "?api_key=" + key, body, {"Authorization": "Bearer " + wrong},
                 401, invalid),
                ("without the permission, in the URL", IDS + "?api_key=" + key, {"external_ids": ["a"]}, {}, 403,
                 refused("not_allowed")),
                ("the native API takes none from a URL", "/v1/stats?api_key=" + key, None, {}, 401,
                 {"error": ANY, "remedy": ANY, "code": "invalid_key"}),
                ("a GET", "/events/list", None, {"Authorization": "Bearer " + key}, 200,
                 {"events": ["order"], "message": "success"}),
                ("none", TRACK, body, {}, 401, invalid),
                ("none for a GET", "/events/list", None, {}, 401, invalid),
                ("a wrong one", TRACK, body, {"Authorization": "Bearer " + wrong}, 401, invalid),
                ("a wrong one in the body", TRACK, {"api_key": wrong, **body}, {}, 401, invalid),
                ("the header counts", TRACK, {"api_key": key, **body}, {"Authorization": "Bearer " + wrong}, 401,
                 invalid),
                ("no bearer", TRACK, body, {"Authorization": "Basic " + key}, 401, invalid),
                ("without the permission", IDS, {"external_ids": ["a"]}, {"Authorization": "Bearer " + key}, 403,
                 refused("not_allowed")),
            ]:
                with self.subTest(title):
                    answer = service.send("GET" if request is None else "POST", path, request, headers)
                    self.assertEqual(answer.status, status, answer)
                    self.assertTrue(same(expected, answer.json), answer)
                    self.assertNotIn(b"plk_", answer.body)
            self.assertNotIn("plk_", service.messages)


if __name__ == "__main__":
    unittest.main()
