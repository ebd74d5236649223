#!/usr/bin/env bash
# Plays the main job on an embedded store, then over HTTP, and checks every step. `make demo` calls it after a release
# build.
#
#   scripts/demo.sh              the binaries of .build/release
#   BIN=.build/debug scripts/demo.sh
set -euo pipefail
cd "$(dirname "$0")/.."

BIN=${BIN:-.build/release}
STORE=demo-store/store
SERVED=demo-store/served
EVENTS=${EVENTS:-100000}
USERS=${USERS:-5000}
WORK=demo-store/work
SERVICE=

unset PROFILELOG_STORE PROFILELOG_URL
# Answers go through a pipe, which has no width of its own.
if [ -t 1 ]; then export COLUMNS=${COLUMNS:-$(tput cols 2>/dev/null || echo 120)}; fi

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    BOLD=$'\e[1m' DIM=$'\e[2m' GREEN=$'\e[32m' RED=$'\e[31m' RESET=$'\e[0m'
else
    BOLD='' DIM='' GREEN='' RED='' RESET=''
fi

fail() {
    printf '\n%sThe demo stopped: %s%s\n' "$RED" "$1" "$RESET" >&2
    shift
    for line in "$@"; do printf '%s\n' "$line" >&2; done
    exit 1
}

for program in profilecli profiled; do
    [ -x "$BIN/$program" ] \
        || fail "there is no $BIN/$program." "Build it first: swift build -c release, or make demo, which does both."
done

finish() {
    local status=$?
    if [ -n "$SERVICE" ] && kill -0 "$SERVICE" 2>/dev/null; then kill "$SERVICE" 2>/dev/null || true; fi
    if [ "$status" -ne 0 ]; then
        printf '%sA check did not hold (status %s); the store is left in %s.%s\n' "$RED" "$status" "$STORE" "$RESET" >&2
    fi
}
trap finish EXIT

# Says what comes next.
title() { printf '\n%s%s%s\n' "$BOLD" "$1" "$RESET"; }

# Prints a command as one would type it, runs it, and keeps its answer in $ANSWER.
run() {
    local shown=profilecli word
    for word in "$@"; do
        case $word in
            '' | *[[:space:]\'\"\$\&\;\|\<\>\(\)\{\}\*\?]*) shown+=" '$word'" ;;
            *) shown+=" $word" ;;
        esac
    done
    printf '%s$ %s%s\n' "$DIM" "$shown" "$RESET"
    "$BIN/profilecli" "$@" | tee "$WORK/answer"
    ANSWER=$(<"$WORK/answer")
}

# Runs a command without showing it.
quiet() { "$BIN/profilecli" "$@"; }

CHECKS=0
ok() {
    CHECKS=$((CHECKS + 1))
    printf '%s  ✓ %s%s\n' "$GREEN" "$1" "$RESET"
}

# expect WHAT TEXT: the last answer has TEXT in it.
expect() {
    grep -qF -- "$2" "$WORK/answer" || fail "$1: the answer has no “$2”."
    ok "$1"
}

# same WHAT ACTUAL EXPECTED
same() {
    [ "$2" = "$3" ] || fail "$1: found $2, expected $3."
    ok "$1"
}

# value KEY: the whole number under the last KEY in JSON on standard input (members stand in the order of their keys).
value() { grep -oE "\"$1\":[0-9]+" | tail -n 1 | cut -d: -f2; }

[ ! -e demo-store ] || [ -e demo-store/.made-by-demo ] || fail \
    "the folder demo-store exists and is not the demo's." "Move it away, then run the demo again."
rm -rf demo-store
mkdir -p "$WORK"
touch demo-store/.made-by-demo
export PROFILELOG_STORE=$STORE

title "1. A push extension saves on three devices; the app is not running"
run save event ana "Completed Match Game" -p Score=10 --process PushContent --device ana-phone
run save attribute ana favourite_dish="green curry" level=7 --process PushContent --device ana-phone
run save user-attribute ana email ana@example.org --process PushContent --device ana-phone
run save event ben "Completed Match Game" -p Score=4 --process PushContent --device ben-phone
run save user-attribute ben email ben@example.org --process PushContent --device ben-phone
run save event 花子 お茶を飲んだ -p 種類=煎茶 --process PushContent --device 花子の電話
run save attribute 花子 好きな料理=カレー --process PushContent --device 花子の電話

title "2. What waits for a launch"
run pending
expect "everything that was saved waits" "7 items wait"
same "seven items, one a line in JSON" "$(quiet pending --format json | wc -l)" 7

title "3. The profile does not know it yet"
run profile ana
same "no attribute is effective" "$(quiet profile ana --format json | grep -c 'green curry' || true)" 0
run profile ana --include-pending
expect "with what waits, it would" "green curry"

title "4. Each device launches the app"
run launch ana-phone
expect "three items flushed" "3 flushed, 0 rejected, 0 left"
run launch ben-phone
expect "two items flushed" "2 flushed, 0 rejected, 0 left"
run launch 花子の電話
expect "two items flushed" "2 flushed, 0 rejected, 0 left"
same "nothing waits any more" "$(quiet pending --format json | wc -l)" 0

title "5. Profiles after the launch"
run profile ana
expect "the dish is effective" "green curry"
expect "the e-mail address too" "ana@example.org"
run profile 花子
expect "names may be Japanese" "好きな料理"

title "6. One user's history"
run history ana
same "eight events: created, device, three saves, launch, session, flush" "$(quiet history ana --format json | wc -l)" 8

title "7. $EVENTS generated events, imported"
run generate --events "$EVENTS" --users "$USERS" --seed 1 -o "$WORK/events.jsonl"
before=$(quiet stats --format json | value events)
run import "$WORK/events.jsonl"
quiet import "$WORK/events.jsonl" --format json >"$WORK/again"
same "run again, it stores nothing twice" \
    "$(value imported <"$WORK/again") new, $(value skipped <"$WORK/again") skipped" "0 new, $EVENTS skipped"
run stats
after=$(quiet stats --format json | value events)
users=$(quiet stats --format json | value users)
same "every event is there, and one for each new user" "$((after - before))" "$((EVENTS + users - 3))"

title "8. The whole log, replayed into fresh profiles and compared with the live ones"
run replay --verify
expect "live equals replay" "Equal"
quiet replay --format json >"$WORK/digest-live"

title "9. The same into a fresh store"
run replay --into demo-store/copy
quiet replay --store demo-store/copy --format json >"$WORK/digest-copy"
same "the copy has the same digest" "$(grep -o '"digest":"[0-9a-f]*"' "$WORK/digest-copy")" \
    "$(grep -o '"digest":"[0-9a-f]*"' "$WORK/digest-live")"
run check
expect "the store is sound" "Sound"
quiet check --store demo-store/copy --format json >"$WORK/check-copy"
same "so is the copy, with as many events" "$(tail -n 1 "$WORK/check-copy" | value events)" "$after"

title "10. The same over HTTP"
printf '%s$ profiled --store %s --port 0 --port-file %s &%s\n' "$DIM" "$SERVED" "$WORK/port" "$RESET"
"$BIN/profiled" --store "$SERVED" --port 0 --port-file "$WORK/port" >"$WORK/service.log" 2>&1 &
SERVICE=$!
for _ in $(seq 1 200); do
    [ ! -s "$WORK/port" ] || break
    kill -0 "$SERVICE" 2>/dev/null || fail "profiled did not start." "$(cat "$WORK/service.log")"
    sleep 0.05
done
[ -s "$WORK/port" ] || fail "profiled did not tell its port within 10 s." "$(cat "$WORK/service.log")"
URL=http://127.0.0.1:$(tr -d '[:space:]' <"$WORK/port")
unset PROFILELOG_STORE
export PROFILELOG_URL=$URL
printf 'The service answers at %s.\n' "$URL"
run save event ana "Completed Match Game" -p Score=10 --process PushContent --device ana-phone
run save attribute ana favourite_dish="green curry" --process PushContent --device ana-phone
expect "two items wait" "2 items wait"
run launch ana-phone
expect "two items flushed" "2 flushed, 0 rejected, 0 left"
run log purchase ana sku-1 --price 9.5 --currency EUR
run profile ana
expect "the dish is effective" "green curry"
run history ana
unset PROFILELOG_URL
for question in "profile ana" "profile ana --as-of 3" "history ana" "users" "pending" "export"; do
    # shellcheck disable=SC2086 # the words of the question are meant to be split
    quiet $question --url "$URL" $([ "$question" = export ] || echo --format json) >"$WORK/by-url"
    # shellcheck disable=SC2086
    quiet $question --store "$SERVED" $([ "$question" = export ] || echo --format json) >"$WORK/by-store"
    cmp -s "$WORK/by-url" "$WORK/by-store" || fail "“$question” answers differently with --url and with --store."
    ok "“$question” answers the same with --url and with --store"
done
kill -TERM "$SERVICE"
status=0
wait "$SERVICE" || status=$?
SERVICE=
same "SIGTERM ends the service in good order" "$status" 0
run check --store "$SERVED"
expect "its store is sound" "Sound"

rm -rf "$WORK" demo-store/copy
printf '\n%s%sAll %s checks held.%s The store is in %s (%s). Try next:\n' \
    "$BOLD" "$GREEN" "$CHECKS" "$RESET" "$STORE" "$(du -sh "$STORE" | cut -f1)"
printf '  %s/profilecli profile ana --store %s\n' "$BIN" "$STORE"
printf '  %s/profilecli history u-000042 --store %s\n' "$BIN" "$STORE"
printf '  %s/profilecli replay --verify --threads 2 --store %s\n' "$BIN" "$STORE"
