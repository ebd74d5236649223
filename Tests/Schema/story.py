"""A small store, in which most of what can be asked has an answer."""

from datetime import datetime, timedelta, timezone

USERS = ["ana", "bo", "alias:crm:7", "email:ana@example.com"]
DEVICES = ["phone", "tablet"]
NAMES = ["played", "bought"]

_alias = {"alias_label": "crm", "alias_name": "7"}
_time = "2026-02-02T11:30:00Z"
_schedule = {"time": (datetime.now(timezone.utc) + timedelta(days=2)).strftime("%Y-%m-%dT%H:%M:%SZ")}
_messages = {"apple_push": {"alert": "Hello"}}
_event = {"external_id": "ana", "name": "played", "time": _time}

# Bodies that are done, by path: no generator finds them.
BODIES = {
    "/users/track": {"attributes": [{"external_id": "ana", "level": 3}, {}], "events": [_event, {"name": "played"}]},
    "/users/track/bulk": {"purchases": [
        {"external_id": "bo", "product_id": "hat", "currency": "EUR", "price": 1.5, "time": _time}]},
    "/users/track/sync": {"events": [_event]},
    "/users/alias/new": {"user_aliases": [{"external_id": "bo", "alias_label": "crm", "alias_name": "8"}]},
    "/users/alias/update": {"alias_updates": [
        {"alias_label": "crm", "old_alias_name": "8", "new_alias_name": "9"}]},
    "/users/identify": {"aliases_to_identify": [{"external_id": "cy", "user_alias": _alias}]},
    "/users/merge": {"merge_updates": [
        {"identifier_to_merge": {"external_id": "dan"}, "identifier_to_keep": {"external_id": "ana"}}]},
    "/subscription/status/set": {
        "subscription_group_id": "news", "subscription_state": "subscribed", "external_id": "ana"},
    "/v2/subscription/status/set": {"subscription_groups": [
        {"subscription_group_id": "news", "subscription_state": "subscribed", "external_ids": ["ana"]}]},
    "/users/export/segment": {"segment_id": "players", "fields_to_export": ["external_id"]},
    "/messages/send": {"external_user_ids": ["ana", "nobody"], "messages": _messages},
    "/campaigns/trigger/send": {"campaign_id": "hello", "recipients": [{"external_user_id": "ana"}]},
    "/canvas/trigger/send": {"canvas_id": "tour", "recipients": [{"external_user_id": "ana"}]},
    "/transactional/v1/campaigns/{campaign_id}/send": {"recipient": {"external_user_id": "ana"}},
    "/messages/schedule/create": {"external_user_ids": ["ana"], "messages": _messages, "schedule": _schedule},
    "/campaigns/trigger/schedule/create": {
        "campaign_id": "hello", "recipients": [{"external_user_id": "ana"}], "schedule": _schedule},
    "/canvas/trigger/schedule/create": {
        "canvas_id": "tour", "recipients": [{"external_user_id": "ana"}], "schedule": _schedule},
    "/v1/batch": {"items": [
        {"kind": "log/event", "user": "ana", "name": "played"}, {"kind": "log/event", "user": "ana"}]},
    "/v1/import": {"name": "lines", "lines": [{"kind": "custom_event", "user": "ana", "name": "played"}]},
    "/v1/log/event": {"user": "ana", "name": "played", "properties": {"score": 1.5}},
    "/v1/log/purchase": {"user": "ana", "product": "hat", "currency": "EUR", "price": 0.1},
    "/v1/log/user-attribute": {"user": "bo", "attribute": "country", "value": "FR"},
    "/v1/devices/{device}/messages": {"action": "next"},
    "/v1/devices/{device}/push": {"action": "receive", "payload": {"aps": {"alert": "Hello"}}},
    "/v1/void": {"position": 8, "reason": "a test"},
    "/v1/unvoid": {"position": 8, "reason": "a test"},
}


def tell(service):
    """Fills the store of `service`."""
    def post(path, body):
        answer = service.post(path, body)
        assert answer.status < 300, (path, answer)

    post("/users/track", {
        "attributes": [
            {"external_id": "ana", "first_name": "Ana", "email": "ana@example.com", "level": 6, "tags": ["a", "b"]},
            {"external_id": "bo", "country": "DE", "level": 1},
            {"user_alias": {"alias_label": "crm", "alias_name": "7"}, "level": 2}],
        "events": [
            {"external_id": "ana", "name": "played", "time": "2026-02-02T11:00:00Z", "properties": {"score": 10}}],
        "purchases": [
            {"external_id": "ana", "product_id": "hat", "currency": "EUR", "price": 9.9,
             "time": "2026-02-02T11:00:00Z"}]})
    post("/v1/save/event", {"user": "ana", "name": "played", "properties": {"score": 3}})
    post("/v1/save/attributes", {"user": "ana", "attributes": {"level": 7}})
    post("/v1/launch", {})
    post("/v1/save/user-attribute", {"user": "ana", "attribute": "first_name", "value": "Anna"})
    post("/v1/save/event", {"user": "bo", "device": "tablet", "name": "bought"})
    post("/v1/messages", {"messages": [{"id": "welcome", "trigger_conditions": [{"type": "open"}]}]})
    post("/v1/launch", {"device": "tablet"})
    post("/v1/rules", {"attribute_policies": {"plan": "last_occurred"}})
