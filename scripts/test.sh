#!/usr/bin/env bash
# Builds and runs all tests, and repeats at the end what failed: the lines are lost among thousands.
#
#   scripts/test.sh          all tests; random tests in their short form
#   scripts/test.sh --long   the random tests alone, in their full form, and 10,000 answers against /openapi.json
set -euo pipefail
cd "$(dirname "$0")/.."

filter=()
if [ "${1:-}" = --long ]; then
    export PROFILELOG_TESTS=long
    # A suite has the name of its file. These have two forms.
    suites=$(grep -rl 'Thoroughness\.' Tests --include='*Tests.swift' | xargs -n 1 basename -s .swift | paste -sd '|')
    filter=(--filter "\.($suites)/")
fi

swift build --build-tests
output=$(mktemp)
trap 'rm -f "$output" "$output.clients" "$output.programs"' EXIT
# A service has a descriptor for each connection.
ulimit -n "$(ulimit -Hn)"
# Stores are in memory if /dev/shm has 2 GiB free (Tests/Support/TestFolders.swift); `make test TMPDIR=/tmp` puts them
# on disk. Without a bound Swift Testing begins all tests at once: hundreds of services and stores share two cores, and
# each test takes as long as all.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=$((3 * $(nproc)))
# The clients wait for most of their time, so they run next to the tests in Swift.
clients=
if [ ${#filter[@]} -eq 0 ]; then
    Tests/Compatibility/run --if-possible >"$output.clients" 2>&1 &
    clients=$!
fi
failed=
# Two processes, each with a thread for a processor: the tests of one start programs and wait for them. `swift test`
# would wait for the other one.
tests() { "$(swift build --show-bin-path)/profilelogPackageTests.xctest" --testing-library swift-testing "$@"; }
if [ ${#filter[@]} -eq 0 ]; then
    tests --filter '^(CLITests|CrashTests)\.' >"$output.programs" 2>&1 &
    programs=$!
    tests --skip '^(CLITests|CrashTests)\.' 2>&1 | tee "$output" || failed=1
    wait "$programs" || failed=1
    tee -a "$output" <"$output.programs"
else
    swift test --skip-build "${filter[@]}" 2>&1 | tee "$output" || failed=1
fi
if [ -n "$failed" ]; then
    printf '\nWhat failed:\n'
    grep -E '^(✘|↳)|(Fatal error|error): ' "$output" | grep -vE '^↳ (Testing Library Version|Target Platform):' \
        || tail -n 20 "$output"
fi
if [ "${1:-}" = --long ]; then
    Tests/Schema/run || failed=1
fi
if [ -n "$clients" ]; then
    wait "$clients" || failed=1
    cat "$output.clients"
fi
[ -z "$failed" ]
