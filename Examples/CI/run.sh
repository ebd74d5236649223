#!/usr/bin/env bash
# Starts a service with an empty store, plays all scenarios on it, and writes a report.
#
#   ./run.sh [junit.xml]
#
# Needs `profiled` and `profilecli` in PATH. Exits as `profilecli scenario run` does: 0 if all passed, 1 if one failed.
set -euo pipefail
report=$(realpath -m "${1:-junit.xml}")
cd "$(dirname "$0")"

folder=$(mktemp -d)
profiled --ephemeral --port 0 --port-file "$folder/port" >"$folder/log" 2>&1 &
service=$!
trap 'kill "$service" 2>/dev/null || true; wait "$service" 2>/dev/null || true; rm -rf "$folder"' EXIT
until [ -s "$folder/port" ]; do
    kill -0 "$service" 2>/dev/null || { cat "$folder/log" >&2; exit 1; }
    sleep 0.1
done
url=http://127.0.0.1:$(cat "$folder/port")

# The tests of your own client go here: BRAZE_ENDPOINT="$url" npm test, for example.
profilecli scenario run scenarios/*.yaml --url "$url" --report "$report"
