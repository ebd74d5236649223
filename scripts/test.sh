#!/usr/bin/env bash
# Builds and runs all tests. What failed is said again at the end, where it is found among thousands of lines.
set -euo pipefail
cd "$(dirname "$0")/.."

# All tests run at once, with some hundred services.
ulimit -n "$(ulimit -Hn)"
swift build --build-tests
output=$(mktemp)
trap 'rm -f "$output"' EXIT
if ! swift test --skip-build 2>&1 | tee "$output"; then
    printf '\nWhat failed:\n'
    grep -E '^(✘|↳)|(Fatal error|error): ' "$output" | grep -vE '^↳ (Testing Library Version|Target Platform):' || tail -n 20 "$output"
    exit 1
fi
Tests/Compatibility/run --if-possible
