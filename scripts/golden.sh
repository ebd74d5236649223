#!/usr/bin/env bash
# Writes the golden stores of a release into Tests/Fixtures/releases/VERSION, once, with its own programs: every later
# version must read them (docs/versions.md). Each has what it must say: events.jsonl and profiles.jsonl.
#
#   scripts/golden.sh FOLDER     FOLDER has profilecli and profiled of the release
set -euo pipefail
cd "$(dirname "$0")/.."
programs=$(realpath "${1:?the folder of the programs}")
version=$("$programs/profilecli" --version | cut -d ' ' -f 1)
target=Tests/Fixtures/releases/$version
[ ! -e "$target" ] || { echo "$target exists: a golden store is never written again." >&2; exit 1; }
work=$(mktemp -d)
service=
trap '[ -z "$service" ] || kill "$service" 2>/dev/null; rm -rf "$work"' EXIT

# Together they store every kind of event; the test says so.
scenarios=(docs/scenarios/{push-delayed-initialization,iam-by-hand,log-out,push-campaign,iam-priority}.yaml
    docs/scenarios/{push-information-capture,crash,log-in,push-force-quit,push-server-event,reinstall}.yaml
    Tests/Fixtures/releases/rest.yaml)
for scenario in "${scenarios[@]}"; do
    store=$work/$(basename "$scenario" .yaml)
    "$programs/profilecli" scenario run --store "$store" "$scenario"
done

# A scenario cannot name the ID of a schedule, which is new each time.
cat >"$work/workspace.yaml" <<'END'
campaigns: [{id: spring, name: Spring, messages: [{apple_push: {alert: Hello}}]}]
END
"$programs/profiled" --store "$work/rest" --port 0 --port-file "$work/port" --workspace "$work/workspace.yaml" \
    >"$work/profiled.log" 2>&1 &
service=$!
for _ in $(seq 200); do [ ! -s "$work/port" ] || break; sleep 0.1; done
url=http://127.0.0.1:$(cat "$work/port")/campaigns/trigger/schedule
body='{"campaign_id": "spring", "recipients": [{"external_user_id": "anna"}], "schedule": {"time": "'
body+=$(date -u -d '+30 days' +%FT%TZ)'"}}'
id=$(curl -sS "$url/create" -H 'Content-Type: application/json' -d "$body" |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["schedule_id"])')
curl -sS "$url/delete" -H 'Content-Type: application/json' \
    -d "{\"campaign_id\": \"spring\", \"schedule_id\": \"$id\"}" >/dev/null
kill -TERM "$service"
wait "$service"
service=

for store in "$work"/*/; do
    name=$(basename "$store")
    mkdir -p "$target/$name"
    "$programs/profilecli" --store "$store" check
    "$programs/profilecli" --store "$store" export >"$target/$name/events.jsonl"
    "$programs/profilecli" --store "$store" export --profiles --format jsonl >"$target/$name/profiles.jsonl"
    install -m 644 "$store/data.mdb" "$target/$name/data.mdb"
done
du -sh "$target"
