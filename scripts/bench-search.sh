#!/usr/bin/env bash
# Fills a store with 1 million users (or as many as named) and prints how long `GET /v1/users?prefix=` and
# `GET /v1/names?prefix=` take there: medians, 95th percentiles and the longest, in milliseconds, as Markdown.
#
# scripts/bench-search.sh [USERS [REQUESTS]]
set -euo pipefail
cd "$(dirname "$0")/.."

users=${1:-1000000}
work=$(mktemp -d "${TMPDIR:-/tmp}/profilelog-bench-search.XXXXXX")
service=
trap '[ -z "$service" ] || { kill "$service"; wait "$service"; } 2>/dev/null || true; rm -rf "$work"' EXIT

swift build -c release --product profilecli >&2
swift build -c release >&2
.build/release/profilecli generate --events $((3 * users)) --users "$users" >"$work/events.jsonl"
.build/release/profilelog-bench append --store "$work/store" --input "$work/events.jsonl" >&2
rm "$work/events.jsonl"
.build/release/profiled --store "$work/store" --port 0 --port-file "$work/port" >&2 &
service=$!
while [ ! -s "$work/port" ]; do sleep 0.1; done

python3 - "$(cat "$work/port")" "${2:-500}" <<'PYTHON'
import http.client
import json
import random
import statistics
import sys
import time
from urllib.parse import quote

connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
requests = int(sys.argv[2])


def get(path):
    begin = time.perf_counter()
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    took = (time.perf_counter() - begin) * 1000
    assert answer.status == 200, (path, body)
    return json.loads(body), took


def known(last):
    """Some identifiers, external IDs and addresses."""
    found, _ = get(f"/v1/users?limit=1000&after={random.randrange(max(1, last - 1000))}")
    ids = [user["id"] for user in found["users"]]
    addresses, _ = get("/v1/users?prefix=email:&limit=1000")
    return ids + [user["matched"].removeprefix("email:") for user in addresses["users"]]


random.seed(1)
total = get("/v1/users?limit=1")[0]["total"]
texts = known(total)
print(f"{total} users\n\n| search | median | p95 | longest |\n|---|---|---|---|")
rows = [
    ("a whole identifier", lambda text: f"/v1/users?prefix={quote(text)}&limit=20"),
    ("its first half", lambda text: f"/v1/users?prefix={quote(text[:len(text) // 2])}&limit=20"),
    ("its first letter", lambda text: f"/v1/users?prefix={quote(text[:1])}&limit=20"),
    ("its first letter, reversed", lambda text: f"/v1/users?prefix={quote(text[:1])}&limit=20&reverse=true"),
    ("nothing that is there", lambda text: f"/v1/users?prefix={quote(text)}~&limit=20"),
    ("a name's first letter", lambda text: f"/v1/names?prefix={quote(text[:1])}&limit=20"),
]
for name, path in rows:
    times = sorted(get(path(random.choice(texts)))[1] for _ in range(requests))
    p95 = times[int(len(times) * 0.95)]
    print(f"| {name} | {statistics.median(times):.2f} | {p95:.2f} | {times[-1]:.2f} |")
PYTHON
