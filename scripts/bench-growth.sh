#!/usr/bin/env bash
# Doubles what an event, a value, a user and the store hold, and prints by what factor each read grows, as Markdown.
# Fails if one grows faster than what there is, and no reason is known.
#
# scripts/bench-growth.sh [OPTION…]   those of scripts/bench-growth.py, as in --only users
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d "${TMPDIR:-/tmp}/profilelog-bench-growth.XXXXXX")
trap 'rm -rf "$work"' EXIT

python3 scripts/bench-growth.py --work "$work" "$@"
