#!/usr/bin/env bash
# Installs by apt what a purpose needs and the machine lacks. Where that is impossible, one sentence says what to
# install.
#
#   scripts/setup.sh          to build (the default)
#   scripts/setup.sh test     to build and to run all tests
#   scripts/setup.sh bench    to build and to measure the service
#   scripts/setup.sh console  to open the console in Chromium: tests and measurements
#   scripts/setup.sh cluster  to break a cluster of brokers and nodes, and to measure it
#   scripts/setup.sh deb      to make the Debian package
#   scripts/setup.sh package  to make it and to try it in a root of its own
set -euo pipefail

fail() {
    echo "$*" >&2
    exit 1
}

version=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+\.[0-9]+).*/\1/p' | head -n 1)
[ "$(printf '%s\n6.2\n' "${version:-0}" | sort -V | head -n 1)" = 6.2 ] ||
    fail "ProfileLog needs Swift 6.2 or later (found: ${version:-none}); install it and run this again:" \
        "https://www.swift.org/install/linux/"

missing=()
# need PACKAGE CHECK...: the Debian package is missing if the check fails.
need() { "${@:2}" >/dev/null 2>&1 || missing+=("$1"); }
program() { command -v "$1"; }
header() { [ -n "$(find /usr/include /usr/local/include -maxdepth 3 -name "$1" -print -quit)" ]; }

need libc6-dev header stdio.h
need liblmdb-dev header lmdb.h
need libssl-dev header evp.h
need libcurl4-openssl-dev header curl.h
need libnats-dev header nats.h
need zlib1g-dev header zlib.h
need pkg-config program pkg-config
case ${1:-build} in
    build) ;;
    test)
        need gcc program cc                                      # makes system calls fail: Tests/faults/fault.c
        need protobuf-compiler program protoc                    # reads records by record.proto
        need lmdb-utils program mdb_load                         # makes the data file of another program
        need util-linux program unshare                          # mounts a small disk
        need util-linux program setpriv                          # runs a command without root's rights
        need mount program mount
        need bsdutils program script                             # runs a command on a terminal
        need curl program curl                                   # asks over TLS, and for packed answers
        need openssl program openssl                             # makes certificates
        need python3-venv python3 -c 'import ensurepip, venv'    # runs the Python clients of Braze's REST API
        ;;
    bench)
        need gcc program cc       # the same work in C, to compare with
        need libsqlite3-dev header sqlite3.h    # a table of SQLite, to compare with
        need wrk program wrk
        ;;
    console)
        need chromium program chromium
        need chromium-driver program chromedriver
        need python3-venv python3 -c 'import ensurepip, venv'
        ;;
    cluster)
        need curl program curl
        need faketime program faketime                           # a node whose clock is wrong
        need iproute2 program ip                                 # a network for each broker and node, that can be cut
        need lmdb-utils program mdb_dump                         # compares stores byte for byte
        need python3-venv python3 -c 'import ensurepip, venv'    # has nats-server, in a package of PyPI
        need util-linux program unshare                          # mounts a small disk
        need mount program mount
        ;;
    deb | package)
        need dpkg-dev program dpkg-shlibdeps
        need binutils program strip
        need libyaml-dev header yaml.h
        need python3 program python3    # writes manual pages
        if [ "$1" = package ]; then
            need lintian program lintian
            need debootstrap program debootstrap
            need systemd-container program systemd-nspawn
        fi
        ;;
    *) fail "scripts/setup.sh knows the purposes build, test, bench, console, cluster, deb and package, not “$1”." ;;
esac
[ ${#missing[@]} -gt 0 ] || exit 0
mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)

advice="Debian packages are missing: run \`apt-get install ${missing[*]}\` as root, then this again."
command -v apt-get >/dev/null || fail "$advice"
run=(env DEBIAN_FRONTEND=noninteractive)
if [ "$(id -u)" -ne 0 ]; then
    # A password can be typed on a terminal only.
    sudo -n true 2>/dev/null || { [ -t 0 ] && command -v sudo >/dev/null; } || fail "$advice"
    run=(sudo "${run[@]}")
fi
echo "Installing ${missing[*]} ..."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() { "${run[@]}" apt-get install -y --no-install-recommends "${missing[@]}"; }
# The lists of packages may be missing or old.
{ install || { "${run[@]}" apt-get update && install; }; } >"$log" 2>&1 ||
    fail "$advice apt-get failed: $(grep -E '^E:' "$log" | head -n 1)"
