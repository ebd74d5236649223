#!/usr/bin/env bash
# Measures backups, restores and TLS, and prints what is wanted next to what was found, as Markdown.
#
# scripts/bench-operations.sh [EVENTS [ROUNDS]]   a store of EVENTS (1,000,000) events, medians of ROUNDS (3). The bars
#                                                 are meant for 10,000,000, which takes some 8 GB of disk.
#
# PROGRAMS=FOLDER takes the programs from there and builds nothing, as to try the script with those of a debug build.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh bench
work=$(mktemp -d "${TMPDIR:-/tmp}/profilelog-bench-operations.XXXXXX")
trap 'rm -rf "$work"' EXIT

if [ -z "${PROGRAMS:-}" ]; then swift build -c release >&2; fi
python3 scripts/bench-operations.py --events "${1:-1000000}" --rounds "${2:-3}" --work "$work" \
    --programs "${PROGRAMS:-.build/release}" "${@:3}"
