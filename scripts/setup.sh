#!/usr/bin/env bash
# Installs what the build needs and the machine lacks: liblmdb-dev and pkg-config, by apt. Says clearly what else is missing.
set -euo pipefail

if ! command -v swift >/dev/null; then
    echo "There is no Swift toolchain here. Install Swift 6.2 or later (https://www.swift.org/install/linux/) and run this again." >&2
    exit 1
fi
version=$(swift --version 2>/dev/null | grep -oE 'Swift version [0-9]+\.[0-9]+' | grep -oE '[0-9]+\.[0-9]+' | head -n 1)
if [ "$(printf '%s\n6.2\n' "$version" | sort -V | head -n 1)" != "6.2" ]; then
    echo "This is Swift $version; ProfileLog needs 6.2 or later. Install it and run this again." >&2
    exit 1
fi

missing=()
[ -e /usr/include/lmdb.h ] || [ -e /usr/local/include/lmdb.h ] || missing+=(liblmdb-dev)
command -v pkg-config >/dev/null || missing+=(pkg-config)
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
    echo "Missing: ${missing[*]} (these are Debian's names). Install them and run this again." >&2
    exit 1
fi
run=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "Missing: ${missing[*]}. Run as root: apt-get install ${missing[*]}" >&2
        exit 1
    fi
    run=(sudo)
fi
echo "Installing ${missing[*]} ..."
"${run[@]}" apt-get install -y --no-install-recommends "${missing[@]}" >/dev/null 2>&1 || {
    "${run[@]}" apt-get update >/dev/null
    "${run[@]}" apt-get install -y --no-install-recommends "${missing[@]}" >/dev/null
}
