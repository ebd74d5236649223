#!/bin/bash
# The steps of an operator, on a booted Debian: scripts/test-package.sh runs them there. /try has new.deb and old.deb.
# A line that begins with ✘ is a failure; the others tell what was seen.
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
store=/var/lib/profilelog
url=http://127.0.0.1:8080
steps=0

step() {
    steps=$((steps + 1))
    echo "$steps. $*"
}
# check SENTENCE COMMAND...: the command must succeed.
check() {
    local sentence=$1
    shift
    if output=$("$@" 2>&1); then echo "   $sentence"; else echo "✘  $sentence: ${output:0:900}"; fi
}
# fails COMMAND...: the command must fail.
fails() { ! "$@"; }
says() { grep -qF -- "$1" <<<"$2"; }
installs() { apt-get install -y -q --allow-downgrades "$@" </dev/null; }
# profiled_is STATE: waits up to 20 seconds.
profiled_is() {
    for _ in $(seq 100); do
        [ "$(systemctl is-active profiled)" = "$1" ] && return
        sleep 0.2
    done
    systemctl status --no-pager profiled
    return 1
}
process() { systemctl show -p MainPID --value profiled; }
journal() { journalctl -q --no-pager -u profiled; }
request() { curl -sS --max-time 10 -H "Authorization: Bearer $key" "$@"; }
events() { request "$url/v1/stats" | sed -E 's/.*"events": ?([0-9]+).*/\1/'; }
log_event() { request "$url/v1/log/event" -d "{\"user\": \"jane\", \"name\": \"$1\"}"; }
as_service() { runuser -u profilelog -- "$@"; }
owner() { stat -c '%U:%G %a' "$1"; }
same() { [ "$1" = "$2" ] || { echo "$1, not $2"; return 1; }; }
# start: as systemctl, after failed starts too.
start() { systemctl reset-failed profiled 2>/dev/null; systemctl start profiled; }

step "Install the older release"
check "apt installs it" installs /try/old.deb
check "the service is not enabled" same "$(systemctl is-enabled profiled)" disabled
check "the service is not running" same "$(systemctl is-active profiled)" inactive
check "the store's folder is the service's alone" same "$(owner $store)" "profilelog:profilelog 700"
check "there is no store yet" same "$(ls -A $store)" ""
echo "   $(profiled --version), $(profilecli --version)"

step "Start without a store"
check "the start fails" fails start
check "the reason is in the journal" says "There is no store in $store" "$(journal)"
check "nothing was made" same "$(ls -A $store)" ""
systemctl stop profiled

step "Make a key, which makes the store"
key=$(as_service profiled keys add --store $store --name app 2>/try/key.log)
check "a key is printed" test -n "$key"
check "keys.json is the service's alone" same "$(owner $store/keys.json)" "profilelog:profilelog 600"
check "the configuration is good" as_service profiled config check

step "Start"
begin=$(date +%s%N)
check "the service starts" start
echo "   $((($(date +%s%N) - begin) / 1000000)) ms"
check "it is ready" profiled_is active
check "the status names the store" says "serves the store $store" "$(systemctl status --no-pager profiled)"
check "it runs as its user" same "$(stat -c %U "/proc/$(process)")" profilelog
# A container may have a lower hard limit than the unit asks for.
files=$(($(ulimit -Hn) < 65536 ? $(ulimit -Hn) : 65536))
check "the limit of open files is in force" \
    same "$(awk '/^Max open files/ { print $5 }' "/proc/$(process)/limits")" $files
echo "   $(systemd-analyze security --no-pager profiled.service | tail -n 1)"
# As for files. A thread that may not change its priority says so in the system's log.
if [ "$(awk '/^Max nice priority/ { print $5 }' "/proc/$(process)/limits")" -ge 24 ]; then
    check "no thread asks for its priority in vain" fails says "Failed to set thread priority" "$(journal)"
fi
check "no request without the key" same "$(curl -s -o /dev/null -w '%{http_code}' "$url/v1/stats")" 401

step "Write"
for index in $(seq 50); do log_event "won $index" >/dev/null; done
check "a profile is read" says "won 50" "$(request "$url/v1/history?user=jane")"
count=$(events)
check "events are counted" test "$count" -ge 50

step "A command of root on the store, with the service stopped and its lock file removed"
systemctl stop profiled
rm $store/lock.mdb
check "the command works" profilecli --store $store stats
check "lock.mdb is the service's" same "$(owner $store/lock.mdb)" "profilelog:profilelog 600"
check "the service starts" start

step "A lock file of root, as an older program left it"
systemctl stop profiled
chown root:root $store/lock.mdb
check "the start fails" fails start
check "the journal names the file and its owner" \
    says "its lock.mdb belongs to root, and you are profilelog" "$(journal)"
systemctl stop profiled
chown profilelog:profilelog $store/lock.mdb
check "the service starts after chown" start
check "nothing is lost" same "$(events)" "$count"

step "Reload"
before=$(process)
check "systemctl reloads" systemctl reload profiled
sleep 1
check "the process is the same" same "$(process)" "$before"
check "it is ready" profiled_is active
check "the journal says what was done" says SIGHUP "$(journal)"

step "Reload a file with an error"
cp -p /etc/profilelog/profiled.yaml /try/profiled.yaml
echo "limits: {conections: 7}" >>/etc/profilelog/profiled.yaml
check "systemctl says that it failed" fails systemctl reload profiled
check "the journal names the key" says "limits.conections" "$(journal)"
check "the process is the same" same "$(process)" "$before"
check "it is ready" profiled_is active
cp -p /try/profiled.yaml /etc/profilelog/profiled.yaml
check "systemctl reloads the file without it" systemctl reload profiled

step "Kill it"
kill -9 "$before"
sleep 3
check "systemd starts it again" profiled_is active
check "the process is another" fails test "$(process)" = "$before"
check "nothing is lost" same "$(events)" "$count"

step "Upgrade"
sed -i '1i # Ours.' /etc/profilelog/profiled.yaml
before=$(process)
check "apt upgrades" installs /try/new.deb
check "a service that ran runs again" profiled_is active
check "the process is another" fails test "$(process)" = "$before"
check "the configuration is ours" says "# Ours." "$(cat /etc/profilelog/profiled.yaml)"
check "nothing is lost" same "$(events)" "$count"
check "it writes" says position "$(log_event upgraded)"
count=$((count + 1))
check "the store is sound" as_service profilecli --store $store check --replay

step "A store that a newer release wrote: row writer of table meta asks for format 99"
systemctl stop profiled
cp -a $store /try/copy
mdb_dump -s meta $store |
    awk '{ if (writer) print " 00000063"; else print; writer = ($0 == " 777269746572") }' >/try/meta
check "the row is there" says " 00000063" "$(cat /try/meta)"
mdb_load -s meta $store </try/meta 2>/dev/null
chown profilelog:profilelog $store/*.mdb
check "the service starts, and reads" start
check "events are counted" same "$(events)" "$count"
refused=$(log_event refused)
check "a write is refused by name" says "The store is of format 99" "$refused"
echo "   $refused" | tr '\n' ' '
echo
check "nothing was written" same "$(events)" "$count"
systemctl stop profiled
rm -r $store
mv /try/copy $store

step "Downgrade within one format"
check "apt installs the older release" installs /try/old.deb
check "a service that was stopped stays so" same "$(systemctl is-active profiled)" inactive
check "the service starts" start
check "nothing is lost" same "$(events)" "$count"
check "it writes" says position "$(log_event downgraded)"
count=$((count + 1))

step "Remove"
before=$(process)
check "apt removes it" apt-get remove -y -q profilelog
check "the service has ended" fails test -e "/proc/$before"
check "the store stays" test -s $store/data.mdb
check "the configuration stays" test -f /etc/profilelog/profiled.yaml

step "Install again"
check "apt installs it" installs /try/new.deb
check "the service starts" start
check "nothing is lost" same "$(events)" "$count"

step "Purge"
systemctl enable --quiet profiled
said=$(apt-get purge -y -q profilelog 2>&1)
check "it says where the store is" says "The store stays in $store" "$said"
check "the store stays" test -s $store/data.mdb
check "its user stays" getent passwd profilelog
check "the configuration is gone" fails test -e /etc/profilelog
check "no link of systemd is left" fails test -L /etc/systemd/system/multi-user.target.wants/profiled.service

step "Purge without a store"
rm -r $store
check "apt installs it" installs /try/new.deb
check "apt purges it" apt-get purge -y -q profilelog
check "the folder is gone" fails test -e $store
check "the user is gone" fails getent passwd profilelog

echo "Done: $steps steps."
