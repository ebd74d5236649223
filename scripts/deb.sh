#!/usr/bin/env bash
# Makes the Debian package profilelog_VERSION_ARCHITECTURE.deb: docs/decisions/0018-package.md.
#
#   scripts/deb.sh                     builds the programs in .build/deb, and the package in the current folder
#   scripts/deb.sh --into FOLDER       puts it there
#   scripts/deb.sh --programs FOLDER   links what was built there with --static-swift-stdlib, or takes its `profilelog`
#   scripts/deb.sh --release 0.1.1     the package's version, for tests of an upgrade; else that of the programs
#
# The same programs give the same bytes: every time is that of SOURCE_DATE_EPOCH, by default of the last commit.
# PROFILELOG_COMMIT names the commit for --version where this is no repository.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
into=$PWD programs= release=
while [ $# -gt 0 ]; do
    case $1 in
        --into) into=$(realpath "$2") ;;
        --programs) programs=$(realpath "$2") ;;
        --release) release=$2 ;;
        *) sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
    esac
    shift 2
done
cd "$root"
umask 022
export LC_ALL=C.UTF-8 TZ=UTC

if [ -z "$programs" ]; then
    scripts/setup.sh deb
    PROFILELOG_COMMIT=$(scripts/commit.sh)
    export PROFILELOG_COMMIT
    # A folder of its own: other builds link the shared libraries of Swift.
    build=(swift build -c release --static-swift-stdlib --scratch-path .build/deb)
    for product in profiled profilecli; do "${build[@]}" --product "$product"; done
    programs=$("${build[@]}" --show-bin-path)
fi
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null) || {
        echo "This is no repository: set SOURCE_DATE_EPOCH to the time of the release, in seconds since 1970." >&2
        exit 1
    }
fi
export SOURCE_DATE_EPOCH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
# put MODE SOURCE TARGET
put() { install -D -m "$1" "$2" "$tree/$3"; }
# packed SOURCE TARGET: as documents and manual pages are packed.
packed() {
    mkdir -p "$tree/$(dirname "$2")"
    gzip -9n <"$1" >"$tree/$2"
    chmod 644 "$tree/$2"
}

# One program under two names: they have more in common than of their own.
program=$programs/profilelog
if [ ! -x "$program" ]; then
    program=$work/profilelog
    for source in main curl; do cc -O2 -Wall -c -o "$work/$source.o" "packaging/$source.c"; done
    # In place of -lcurl, which the compiled modules ask for.
    mkdir "$work/library"
    ar crD "$work/library/libcurl.a" "$work/curl.o"
    # Swift gives a part of each program's asynchronous `main` the same name, and the linker would keep one of the two.
    main=$programs/profiled.build/Profiled.swift.o
    nm "$main" | awk '/async_Main/ { print $NF, $NF "_profiled" }' >"$work/names"
    objcopy --redefine-syms="$work/names" "$main" "$work/Profiled.swift.o"
    # libyaml and zlib are Debian's, not the copies in Yams and swift-nio-extras: Debian mends them.
    for source in "$programs"/NIOHTTPCompression.build/*.swift.o; do
        nm -u "$source" | sed -n 's/.* U cnioextras_z_\(.*\)/cnioextras_z_\1 \1/p' >"$work/names"
        objcopy --redefine-syms="$work/names" "$source" "$work/${source##*/}"
    done
    sort -u "$programs"/{profiled,profilecli}.product/Objects.LinkFileList |
        grep -vE '/(CYaml|CNIOExtrasZlib|NIOHTTPCompression)\.build/|/profiled\.build/Profiled\.swift\.o' \
        >"$work/objects"
    read -ra libraries <<<"$(pkg-config --libs lmdb libcrypto libnats yaml-0.1) -lcurl -lz -lstdc++"
    # Packed, some 185,000 relocations cost a start less than a millisecond; glibc knows them since 2.36. No library asks
    # for symbols of the program, which would keep what they name.
    linking=(-use-ld=lld -Xlinker --no-export-dynamic -Xlinker --gc-sections -Xlinker -z
        -Xlinker pack-relative-relocs)
    # The linker warns of a `mktemp` in Foundation, which is not called.
    swiftc -L"$work/library" -static-stdlib -emit-executable "${linking[@]}" -o "$program" "@$work/objects" \
        "$work"/*.swift.o "$work/main.o" "${libraries[@]}" 2>"$work/link" || {
        cat "$work/link" >&2
        exit 1
    }
fi
put 755 "$program" usr/lib/profilelog/profilelog
# Names of local symbols and the tables of debuggers are half of a program.
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$tree/usr/lib/profilelog/profilelog"
mkdir -p "$tree/usr/bin" "$work/debian"
for program in profiled profilecli; do
    ln -s ../lib/profilelog/profilelog "$tree/usr/bin/$program"
    "$tree/usr/bin/$program" --help | grep -q "^USAGE: $program " || {
        echo "The linked program is not $program under that name." >&2
        exit 1
    }
    # From the stripped program: that is what is installed.
    section=$([ "$program" = profiled ] && echo 8 || echo 1)
    version=$("$tree/usr/bin/$program" --version | cut -d ' ' -f 1)
    "$tree/usr/bin/$program" --experimental-dump-help |
        scripts/manual.py --section "$section" --version "$version" >"$work/$program.$section"
    packed "$work/$program.$section" "usr/share/man/man$section/$program.$section.gz"
    for shell in bash:usr/share/bash-completion/completions/$program zsh:usr/share/zsh/vendor-completions/_$program \
        fish:usr/share/fish/vendor_completions.d/$program.fish; do
        "$tree/usr/bin/$program" --generate-completion-script "${shell%%:*}" | sed '1{/^#!/d}' >"$work/completion"
        put 644 "$work/completion" "${shell#*:}"
    done
done
release=${release:-$version}

put 644 packaging/profiled.service lib/systemd/system/profiled.service
put 644 packaging/profiled.yaml etc/profilelog/profiled.yaml
documents=usr/share/doc/profilelog
put 644 packaging/debian/copyright $documents/copyright
put 644 packaging/debian/README.Debian $documents/README.Debian
packed CHANGELOG.md $documents/CHANGELOG.md.gz
for document in docs/*.md docs/how-to/*.md; do put 644 "$document" "$documents/${document#docs/}"; done
for kind in prometheus grafana; do
    [ -d packaging/$kind ] || continue
    # Their tests stay in the repository.
    (cd packaging/$kind && find . -type f ! -name '*test*' -printf '%P\n') | sort | while read -r file; do
        put 644 "packaging/$kind/$file" "usr/share/profilelog/$kind/$file"
    done
done

maintainer=${PROFILELOG_MAINTAINER:-ProfileLog maintainers <maintainers@users.noreply.github.com>}
cat >"$work/changelog" <<END
profilelog ($release) stable; urgency=medium

  * What is new is in CHANGELOG.md.gz in this folder.

 -- $maintainer  $(date -R -d "@$SOURCE_DATE_EPOCH")
END
packed "$work/changelog" $documents/changelog.gz

# The shared libraries: those of C and C++, LMDB, libcrypto, libnats, libyaml and zlib. Those of Swift would be a mistake.
if readelf -d "$tree/usr/lib/profilelog/profilelog" | grep -E 'NEEDED.*(libswift|libFoundation|libdispatch)' >&2; then
    echo "The programs are not linked with --static-swift-stdlib." >&2
    exit 1
fi
printf 'Source: profilelog\n\nPackage: profilelog\nArchitecture: any\nDescription: x\n' >"$work/debian/control"
libraries=$(cd "$work" && dpkg-shlibdeps -O tree/usr/lib/profilelog/profilelog 2>"$work/shlibdeps") || {
    cat "$work/shlibdeps" >&2
    exit 1
}
mkdir "$tree/DEBIAN"
size=$(find "$tree" -type f ! -path '*/DEBIAN/*' -printf '%s\n' | awk '{ s += int(($1 + 1023) / 1024) } END { print s }')
architecture=$(dpkg --print-architecture)
sed -e "s|@VERSION@|$release|; s|@ARCHITECTURE@|$architecture|; s|@MAINTAINER@|$maintainer|; s|@SIZE@|$size|" \
    -e "s|@LIBRARIES@|${libraries#shlibs:Depends=}|" packaging/debian/control.in >"$tree/DEBIAN/control"
install -m 644 packaging/debian/conffiles "$tree/DEBIAN/conffiles"
install -m 755 packaging/debian/{postinst,prerm,postrm} "$tree/DEBIAN/"
(cd "$tree" && find . -type f ! -path './DEBIAN/*' -printf '%P\n' | sort | xargs -d '\n' md5sum) >"$work/md5sums"
install -m 644 "$work/md5sums" "$tree/DEBIAN/md5sums"

# Files are older than the archive says only if a clock is wrong.
find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
package=$into/profilelog_${release}_$architecture.deb
# With one thread: xz gives other bytes with another number of threads.
dpkg-deb --root-owner-group --threads-max=1 -Zxz -b "$tree" "$package" >/dev/null
echo "$package: $(du -k "$package" | cut -f 1) KiB, installed $size KiB, $(sha256sum "$package" | cut -d ' ' -f 1)"
