#!/usr/bin/env bash
# Runs `profiled` and a service that parses the same bodies and stores nothing, in turn and under the same load from
# `wrk`, and prints medians and ratios as Markdown.
#
# scripts/bench-http.sh [ROUNDS [SECONDS]]   ROUNDS (5) of each load for 10 s, then one load of SECONDS (300) for
#                                            memory and exports
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh bench
work=$(mktemp -d "${TMPDIR:-/tmp}/profilelog-bench-http.XXXXXX")
trap 'rm -rf "$work"' EXIT

swift build -c release >&2
python3 scripts/bench-http.py --rounds "${1:-5}" --seconds "${2:-300}" --work "$work"
