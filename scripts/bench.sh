#!/usr/bin/env bash
# Runs the C program and ProfileLog in turn on the same input, and prints medians and ratios. The tables of both stores
# must be the same.
#
# BEFORE=FILE, another build of profilelog-bench, folds the same stores in turn with this one.
#
# scripts/bench.sh [ROUNDS]   Results go to standard output as Markdown; Benchmarks/RESULTS.md holds some.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh bench
rounds=${1:-5}
events=${EVENTS:-1000000}
users=${USERS:-50000}
work=$(mktemp -d "${TMPDIR:-/tmp}/profilelog-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT

make -s -C Benchmarks/C
swift build -c release >&2
python3 scripts/bench.py --rounds "$rounds" --events "$events" --users "$users" --work "$work"
