#!/usr/bin/env bash
# Measures the console in Chromium, on loopback, against its budgets, and prints medians and p95 as Markdown. Fails if
# one is exceeded.
#
# scripts/bench-console.sh [OPTION…]   those of scripts/bench-console.py: --only PART, --rounds N; --long for a million
#                                      users, an hour of Overview and appends of 60 s
set -euo pipefail
cd "$(dirname "$0")/.."

export PROFILED=${PROFILED:-.build/release/profiled}
exec Tests/Console/run --program scripts/bench-console.py "$@"
