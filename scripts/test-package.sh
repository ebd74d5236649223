#!/usr/bin/env bash
# Tries the Debian package as an operator meets it: in a Debian 12 of its own, with a booted systemd. Needs root, and
# the network once (debootstrap); a run takes about a minute after the package was made.
#
#   scripts/test-package.sh          makes the package, and tries it
#   scripts/test-package.sh FILE     tries this one
#
# PROGRAMS=FOLDER takes the programs from there. OLD_PACKAGE=FILE is the release to upgrade from; without it, the same
# programs as release 0.0.9. The root of Debian is kept in .build/package/base.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "make test-package needs root: it makes a root of Debian and boots it." >&2; exit 1; }
scripts/setup.sh package
folder=.build/package
base=$folder/base root=$folder/root
mkdir -p "$folder/packages"
failed=
problem() {
    echo "✘ $*"
    failed=1
}

# 1. The packages.
rm -f "$folder"/packages/*.deb
programs=${PROGRAMS:-}
if [ -n "${1:-}" ]; then
    new=$1
else
    scripts/deb.sh --into "$folder/packages" ${programs:+--programs "$programs"}
    new=$(echo "$folder"/packages/profilelog_*.deb)
fi
if [ -z "$programs" ] && [ -n "${1:-}" ]; then
    rm -rf "$folder/programs"
    dpkg-deb -x "$new" "$folder/programs"
    programs=$folder/programs/usr/lib/profilelog
fi
programs=${programs:-.build/deb/release}
old=${OLD_PACKAGE:-$folder/packages/profilelog_0.0.9_$(dpkg --print-architecture).deb}
[ -f "$old" ] || scripts/deb.sh --into "$folder/packages" --release 0.0.9 --programs "$programs"

# 2. What can be said without a Debian of its own.
if [ -z "${1:-}" ]; then
    mkdir -p "$folder/again"
    scripts/deb.sh --into "$folder/again" --programs "$programs" >/dev/null
    cmp "$new" "$folder/again/$(basename "$new")" || problem "The same programs gave another package."
fi
kib() { echo $((($(stat -c %s "$1") + 1023) / 1024)); }
installed=$(dpkg-deb -f "$new" Installed-Size)
echo "The package has $(kib "$new") KiB, installed $installed KiB."
[ "$(kib "$new")" -le $((30 * 1024)) ] || problem "The package has more than 30 MiB."
[ "$installed" -le $((130 * 1024)) ] || problem "Installed it takes more than 130 MiB."
lintian --allow-root --fail-on error --tag-display-limit 0 "$new" || problem "lintian found an error."

# 3. A root of Debian, made once for a list of packages.
packages=systemd,systemd-sysv,dbus,adduser,tzdata,ca-certificates,curl,lmdb-utils
packages+=,libcurl4,libyaml-0-2,libssl3,liblmdb0,libnats3.4,zlib1g,libstdc++6
if [ "$(cat "$base/.complete" 2>/dev/null)" != "$packages" ]; then
    rm -rf "$base"
    timeout 900 debootstrap --variant=minbase \
        --include="$packages" \
        bookworm "$base" "${MIRROR:-http://deb.debian.org/debian}" >"$folder/debootstrap.log" 2>&1 ||
        { tail "$folder/debootstrap.log" >&2; exit 1; }
    echo "$packages" >"$base/.complete"
fi
rm -rf "$root"
cp -a --reflink=auto "$base" "$root"
trap 'rm -rf "$root"' EXIT

# 4. Without /proc a Swift program sees no arguments.
mkdir "$root/without"
dpkg-deb -x "$new" "$root/without"
for program in profiled profilecli; do
    said=$(timeout 20 chroot "$root" "/without/usr/bin/$program" --version 2>&1) && status=0 || status=$?
    case $status:$said in
        1:*"There is no /proc here"*) ;;
        *) problem "$program without /proc ended with $status: $said" ;;
    esac
done
[ ! -e "$root/profilelog" ] || problem "A program without /proc made a store."
rm -rf "$root/without"

# 5. All else on a booted system.
mkdir "$root/try"
cp "$new" "$root/try/new.deb"
cp "$old" "$root/try/old.deb"
cp Tests/Package/try.sh "$root/try/try.sh"
cat >"$root/etc/systemd/system/try.service" <<'END'
[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/bin/bash /try/try.sh
StandardOutput=file:/try/output
StandardError=file:/try/output
ExecStopPost=/bin/systemctl --no-block poweroff
TimeoutStartSec=240
END
ln -s /etc/systemd/system/try.service "$root/etc/systemd/system/multi-user.target.wants/try.service" 2>/dev/null || {
    mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
    ln -s /etc/systemd/system/try.service "$root/etc/systemd/system/multi-user.target.wants/try.service"
}
# A network of its own: port 8080 here may be in use.
timeout --kill-after=20 300 systemd-nspawn -q -D "$PWD/$root" --private-network --register=no --keep-unit -b \
    </dev/null \
    >"$folder/boot.log" 2>&1 || true
cat "$root/try/output" 2>/dev/null || { tail -n 30 "$folder/boot.log"; problem "The root did not boot."; }
grep -q '^Done: ' "$root/try/output" 2>/dev/null || problem "The steps did not come to their end."
! grep -q '^✘' "$root/try/output" 2>/dev/null || failed=1

[ -z "$failed" ] || { echo "The package failed." >&2; exit 1; }
echo "The package passed."
