#!/usr/bin/env bash
# Appends 0.1, 1 and 10 million events (with 100, also 100 million: hours and 30 GB) with users growing in proportion,
# and prints what an event costs at each size.
#
# scripts/bench-large.sh [100]
set -euo pipefail
cd "$(dirname "$0")/.."

sizes=(100000 1000000 10000000)
[ "${1:-}" = 100 ] && sizes+=(100000000)
work=$(mktemp -d "${TMPDIR:-/tmp}/profilelog-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT

make -s -C Benchmarks/C
swift build -c release --product profilecli >&2
swift build -c release >&2
bench=.build/release/profilelog-bench

for events in "${sizes[@]}"; do
    .build/release/profilecli generate --events "$events" --users $((events / 20)) >"$work/events.jsonl"
    echo "events $events, users $((events / 20))"
    echo "C          $(Benchmarks/C/.build/cbench append --store "$work/c" --input "$work/events.jsonl" --batch 1000)"
    echo "ProfileLog $("$bench" append --store "$work/store" --input "$work/events.jsonl")"
    echo "replay     $("$bench" fold --store "$work/store")"
    rm -rf "$work/store" "$work/c"
done
