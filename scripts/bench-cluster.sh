#!/usr/bin/env bash
# Measures three nodes and three brokers against a single node, and fail-overs, and prints what is wanted next to what
# was found, as Markdown.
#
# scripts/bench-cluster.sh [ROUNDS [FAIL-OVERS]]   medians of ROUNDS (3); FAIL-OVERS (20) of each kind
#     --events COUNT after both: a join and a `cluster verify` at COUNT (500,000) and twice as many events; 0: none
#
# PROGRAMS=FOLDER takes the programs from there and builds nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh bench
scripts/setup.sh cluster
work=$(mktemp -d "${TMPDIR:-/tmp}/profilelog-bench-cluster.XXXXXX")
trap 'rm -rf "$work"' EXIT

if [ -z "${PROGRAMS:-}" ]; then swift build -c release >&2; fi
export PROFILED=${PROFILED:-${PROGRAMS:-.build/release}/profiled}
Tests/Cluster/run --program scripts/bench-cluster.py --rounds "${1:-3}" --count "${2:-20}" --work "$work" "${@:3}"
