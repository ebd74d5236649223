#!/usr/bin/env bash
# Breaks the sources in named ways, one at a time, in a scratch copy. Each time a named test must turn red.
#
#   scripts/mutations.sh             all of them
#   scripts/mutations.sh reuse-version lose-tail
#
# Tests/mutations.md says what each one is. MUTATIONS_SCRATCH names a folder to keep and use again; without it, one is
# made and removed. The copy holds the library and its tests only, so that it builds fast.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
wanted=" ${*:-all} "
if [[ -n ${MUTATIONS_SCRATCH:-} ]]; then
    scratch=$MUTATIONS_SCRATCH
    mkdir -p "$scratch"
else
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
fi

fail() {
    echo "mutations: $*" >&2
    exit 1
}

is_wanted() { [[ $wanted == " all " || $wanted == *" $1 "* ]]; }

# One file or folder of the repository, as it is now. Unchanged files keep their times, so that little is built again.
take() {
    mkdir -p "$scratch/$(dirname "$1")"
    rm -rf "${scratch:?}/$1"
    cp -a "$root/$1" "$scratch/$1"
}

prepare() {
    for part in Package.swift Package.resolved Sources Tests; do
        if [[ -e $root/$part ]]; then take "$part"; fi
    done
    if [[ ! -d $scratch/.build && -d $root/.build/checkouts ]]; then
        mkdir -p "$scratch/.build"
        cp -a "$root"/.build/{repositories,checkouts,workspace-state.json} "$scratch/.build/"
    fi
    rm -rf "$scratch/original"
    cp -a "$scratch/Sources/ProfileLog" "$scratch/original"
    (cd "$scratch" && swift package dump-package >"$scratch/manifest.json")
    python3 - "$scratch" CLITests CrashTests ProfileLogTests ServiceTests profilecli profilelog-crashchild profiled <<'KEEP'
# Keeps the targets that these tests need in Package.swift.
import json, re, sys

folder, *keep = sys.argv[1:]
needs = {
    target["name"]: [
        name for dependency in target["dependencies"] for name, *_ in dependency.values() if isinstance(name, str)
    ]
    for target in json.load(open(f"{folder}/manifest.json"))["targets"]
}
for name in keep:
    keep += [other for other in needs.get(name, []) if other not in keep]
text = open(f"{folder}/Package.swift").read()
text = re.sub(r"\n    products: \[.*?\n    \],", "", text, flags=re.S)
block = r'\n        \.(?:\w*[tT]arget|systemLibrary)\(\s*name: "([^"]+)".*?(?=\n        \.|\n    \])'
text = re.sub(block, lambda match: match[0] if match[1] in keep else "", text, flags=re.S)
open(f"{folder}/Package.swift", "w").write(text)
KEEP
}

# Undoes a mutation. (Not from the repository: its files may have changed since.)
restore() {
    { diff -rq "$scratch/original" "$scratch/Sources/ProfileLog" || true; } | while read -r _ original _ path _; do
        cp "$original" "$path"
    done
}

build() {
    (cd "$scratch" && swift build --build-tests >"$scratch/build.log" 2>&1) || {
        grep -E "error:" "$scratch/build.log" | head -5 >&2 || true
        fail "$1 does not build; see the lines above"
    }
}

# Whether the tests that match $1 pass; a run without any such test is no answer.
passes() {
    local result=0
    # Without `swift test` in between: the signal of `timeout` would end that one alone.
    (cd "$scratch" && timeout 300 .build/debug/profilelogPackageTests.xctest --testing-library swift-testing \
        --filter "$1" >"$scratch/test.log" 2>&1) || result=$?
    if grep -qE "Test run with 0 tests" "$scratch/test.log"; then fail "no test is named $1"; fi
    # A mutation may also show itself by a crash or by not coming to an end.
    return "$result"
}

names=(
    skip-crc lose-tail ignore-checkpoint reorder-flush reuse-version process-twice ignore-interval send-twice
    send-unsubscribed keep-erased-part resend-parts no-rate share-budget keep-erased-state swap-incomplete
    count-void blind-audit later-wins stale-addresses two-doors ignore-twin mix-pages mid-commit
    read-locked show-badge forget-merged many-views later-users commit-each-step lose-flushed stale-plan
    path-by-hand refuse-waiting answer-gone forget-outcome late-at-once name-others
    lose-searched stale-catalogue take-orphans keep-backed-up write-past-cluster keep-place place-of-part
)
# shellcheck disable=SC2016  # $0 and $1 are Swift's
declare -A edit=(
    # Every record is taken for undamaged.
    [skip-crc]='s/return stored == crc32c(.*$/return stored == stored/'
    # A user's history misses the first event after the index's checkpoint.
    [lose-tail]='s/of: user, from: last, downTo: checkpoint) {/of: user, from: last, downTo: checkpoint + 1) {/'
    # A state is folded from the snapshot, and from the first event all the same.
    [ignore-checkpoint]='/func foldedState</,/^    }/s/from: (earlier?\.version ?? 0) + 1,/from: 1,/'
    # A launch makes items effective in the order in which they were saved, not list by list.
    [reorder-flush]='s/(\$0\.kind?.*, \$0\.position) < (\$1\.kind?.*, \$1\.position)/$0.position < $1.position/'
    # A user's tenth event gets the version of the ninth.
    [reuse-version]='s/let version = try \(view\.version(of: user, .*)\) + 1/let version = try \1 == 9 ? 9 : \1 + 1/'
    # What the SDK captured stays captured when it is processed.
    [process-twice]='s/case \.processed: captured\.removeAll { .* }/case .processed: break/'
    # In-app messages are triggered within the minimum interval.
    [ignore-interval]='s/if let index = chosen, isWithinInterval {/if let index = chosen, isWithinInterval, now < 0 {/'
    # A scheduled send does not record that it was sent.
    [send-twice]='s/try builder.addOfSystem(schedule.end(Schedule.sent))$/_ = Schedule.sent/'
    # A user who has unsubscribed gets what was sent to subscribers.
    [send-unsubscribed]='s/case .subscribed: state != Self.unsubscribed/case .subscribed: true/'
    # The part of a scheduled request that is a user's is stored for the system, which no erasure reaches.
    [keep-erased-part]='s/try builder.add(.message(step), EventContext(.*), to: id)$/try builder.addOfSystem(step)/'
    # A broadcast begins with the first user again after the process died.
    [resend-parts]='s/schedule.sentTo = UserNumber(rawValue: UInt64(user))/_ = user/'
    # No limit for sends to many.
    [no-rate]='s/if asked.isTargeted { try await checkRate(asked) }//'
    # Each text of a request may cost as much as all of them.
    [share-budget]='s/\(for: sends, recipient.properties, .* budget:\) budget/\1 RenderBudget()/'
    # A shadow takes states that were folded before an erasure.
    [keep-erased-state]='s/try states.isNobodyErased(since: slices.map(.*).min() ?? .max, transaction)/!slices.isEmpty/'
    # A shadow is swapped before all users are folded.
    [swap-incomplete]='s/guard shadow.isComplete else {/guard shadow.generation > 0 else {/'
    # A void event counts.
    [count-void]='s/^ \{16\}if let void = voided.void(of: position) {/if let void = voided.void(of: position), void == 0 {/'
    # The proof finds all states equal.
    [blind-audit]='s/P\.encode(fresh)\.withUnsafeBytes { \$0\.hasSameBytes(as: bytes) }/& || true/'
    # By the policy "last occurred", an update of an earlier time wins.
    [later-wins]='s/case .lastOccurred: if let last = .*$/case .lastOccurred: break/'
    # Records are looked for where they were before an erasure.
    [stale-addresses]='s/known.rewrites == rewrites \&\& known.reopenings == reopenings/known.reopenings == reopenings/'
    # A data file that another program has open with another lock file is opened.
    [two-doors]='s/case 1: throw .openElsewhere(path: path)/case 1: continue/'
    # A store goes on after another one with as many commits was copied over it.
    [ignore-twin]='s/return now == known ? nil : environment.refuseOverwritten()/return nil/'
    # Meta pages of any two commits are taken for those of two in a row.
    [mix-pages]='s/first \&- second == 1 || second \&- first == 1 ||.*/first >= 0/'
    # Who opens a store in the middle of a commit takes its number from the data file alone.
    [mid-commit]='s/seen = Atomic(max(synced - 1, 0))/seen = Atomic(synced)/'
    # A start before the first unlock flushes what waits.
    [read-locked]='s/let lists = kind == \.locked ? \[\] : /let lists = /'
    # A push with only a badge is shown, and can be opened.
    [show-badge]='s/push\.hasBanner \&\& settings\.permission/!push.isSilent \&\& settings.permission/'
    # A life is without the events of users who were merged.
    [forget-merged]='/func forEachInLife(/,/^    }/s/if direction == \.backward {/positions = try view.positions(of: user.rawValue, from: 1, to: version); &/'
    # Each read of an answer opens a view of its own.
    [many-views]='s/try store\.withView { view in try body(LogReader(store, states, view)) }/try body(reader)/'
    # A what-if of profiles names users as they are when it ends.
    [later-users]='s/try log\.past\.user(sample\.user, asOf: position)/try log.users.find(sample.user)/'
    # Each step of a launch is a commit of its own.
    [commit-each-step]='s/static let stepsPerCommit = 128/static let stepsPerCommit = 1/'
    # A refused step takes those before it along.
    [lose-flushed]='s/} catch is AppendError where nextPosition > firstPosition {/} catch is AppendError where nextPosition < firstPosition {/'
    # A launch hands over what was taken away since it looked.
    [stale-plan]='s/if left > 0 { known = found() } else/if left > 0 { return chunk } else/'
    # An endpoint compares its path.
    [path-by-hand]='s/let isAtomic = try fields\.flag("atomic")/let isAtomic = try fields.flag("atomic") \&\& request.path == "\/v1\/batch"/'
    # No long read may wait for a place.
    [refuse-waiting]='s/takePlace(mayWait: { \$0 < mostWaiting })/takePlace(mayWait: { $0 < 0 })/'
    # A read whose client has gone is answered.
    [answer-gone]='s/if let error = long\.stopped { throw/if let error = long.stopped, error != .abandoned { throw/'
    # A history without values knows only outcomes that its own page has.
    [forget-outcome]='s/while next <= history\.count, !open\.isEmpty {/while next <= history.count, next == 0 {/'
    # An event is late from the limit on, and not beyond it.
    [late-at-once]='s/event\.occurredAt\.rawValue > seconds \* 1_000_000/event.occurredAt.rawValue >= seconds * 1_000_000/'
    # An explanation names the parts of a condition that do not decide.
    [name-others]='s/isNot || holdsInside == holds/isNot || holdsInside != holds/'
    # A search by prefix misses the identifiers of the last events.
    [lose-searched]='s/tail = first\.places\.reversed()/tail = []/'
    # The kept catalogue goes on over an event that voids another one.
    [stale-catalogue]='s/return isWhole \&\& isUsable ? now\.state : nil/return isWhole || isUsable ? now.state : nil/'
    # A backup without its manifest is taken for one of any log.
    [take-orphans]='s/if segment\.store == store, segment\.history == history, segment\.last <= last {/if segment.store == store || last >= .start {/'
    # A run counts no segment as outdated by an erasure.
    [keep-backed-up]='s/number <= segments\.count \&\& asOf\[Int(number - 1)\] < erasure/& \&\& number == 0/'
    # A program writes into the store of a node.
    [write-past-cluster]='s/if options\.transport\.isReplicated { return nil }/if options.indexLag > 0 { return nil }/'
    # A restored store has the place of the backup in the cluster.
    [keep-place]='s/CommitBatch(meta: aloneMeta(rows)\.filter/CommitBatch(meta: rows.filter/'
    # A backup that was stopped has the place of the whole store.
    [place-of-part]='s/try commit(moment\.alone, names/try commit(moment, names/'
)
declare -A tests=(
    [skip-crc]='CheckTests'
    [lose-tail]='CrashTests.ThreadReadTests'
    [ignore-checkpoint]='CrashTests.DeterminismTests/groups'
    [reorder-flush]='CrashTests.DeterminismTests/groups'
    [reuse-version]='CrashTests.BatchTests/twoStores'
    [process-twice]='ProfileLogTests.PushModelTests'
    [ignore-interval]='ProfileLogTests.InAppRandomTests'
    [send-twice]='ServiceTests.BrazeScheduleTests/forms'
    [send-unsubscribed]='ServiceTests.BrazeSendTests/hindrances'
    [keep-erased-part]='ServiceTests.BrazeScheduleTests/erasure'
    [resend-parts]='ServiceTests.BrazeScheduleTests/halfDone'
    [no-rate]='ServiceTests.BrazeSendTests/rate'
    [share-budget]='ServiceTests.BrazeSendTests/budget'
    [keep-erased-state]='ProfileLogTests.ShadowTests/erased'
    [swap-incomplete]='ProfileLogTests.ShadowTests/refused'
    [count-void]='ProfileLogTests.VoidTests'
    [blind-audit]='ProfileLogTests.AuditorTests'
    [later-wins]='ProfileLogTests.RulesTests'
    [stale-addresses]='ProfileLogTests.AddressCacheTests'
    [two-doors]='CrashTests.DoorTests'
    [ignore-twin]='CrashTests.OverwrittenFileTests'
    [mix-pages]='CLITests.TornCopyTests/mixed'
    [mid-commit]='CrashTests.OverwrittenFileTests/midCommit'
    [read-locked]='ProfileLogTests.PushMachineTests/locked'
    [show-badge]='ProfileLogTests.PushMachineTests/noBanner'
    [forget-merged]='ServiceTests.WhyTests/merged'
    [many-views]='ServiceTests.OneMomentTests'
    [later-users]='ServiceTests.OneMomentTests'
    [commit-each-step]='ProfileLogTests.LaunchTests/twoCommits'
    [lose-flushed]='ProfileLogTests.LaunchTests/damagedUser'
    [stale-plan]='ProfileLogTests.KeptDeviceTests'
    [path-by-hand]='ProfileLogTests.LayeringTests/paths'
    [refuse-waiting]='ServiceTests.LongReadTests/places'
    [answer-gone]='ServiceTests.LongReadTests/gone'
    [forget-outcome]='ServiceTests.HistoryTimesTests/outcomes'
    [late-at-once]='ServiceTests.SeriesTests/arrivals'
    [name-others]='ProfileLogTests.WrittenConditionTests'
    [lose-searched]='ProfileLogTests.IdentifierReaderTests'
    [stale-catalogue]='ServiceTests.NameEndpointTests/kept'
    [take-orphans]='ProfileLogTests.BackupRefusalTests/orphans'
    [keep-backed-up]='ProfileLogTests.BackupErasureTests'
    [write-past-cluster]='ProfileLogTests.ClusterPlaceTests'
    [keep-place]='ProfileLogTests.JoinTests/restored'
    [place-of-part]='ProfileLogTests.JoinTests/noPlace'
)

prepare
build "the unchanged copy"
for name in "${names[@]}"; do
    if is_wanted "$name"; then printf '%s\n' "${tests[$name]}"; fi
done | sort -u >"$scratch/filters"
for filter in $(cat "$scratch/filters"); do
    passes "$filter" || fail "$filter is red without any mutation; see $scratch/test.log"
    echo "green as it is     $filter"
done

unnoticed=0
for name in "${names[@]}"; do
    is_wanted "$name" || continue
    find "$scratch/Sources/ProfileLog" -name '*.swift' | while read -r path; do
        sed "${edit[$name]}" "$path" >"$scratch/edited"
        cmp -s "$path" "$scratch/edited" || cp "$scratch/edited" "$path"
    done
    lines=$(diff -r "$scratch/original" "$scratch/Sources/ProfileLog" | grep -c '^>' || true)
    if ((lines != 1)); then fail "$name: its pattern is in $lines lines, not in one; bring the script up to date"; fi
    build "$name"
    if passes "${tests[$name]}"; then
        echo "UNNOTICED          $name: ${tests[$name]} stays green"
        unnoticed=$((unnoticed + 1))
    else
        echo "red with           $name: ${tests[$name]}"
    fi
    restore
done
if ((unnoticed > 0)); then fail "no test noticed $unnoticed mutations"; fi
