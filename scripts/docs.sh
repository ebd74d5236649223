#!/usr/bin/env bash
# Builds the documentation of the library into .build/docs, and fails at every warning: a link that leads nowhere, an
# article without a title.
#
# The toolchain's docc reads one symbol graph of module ProfileLog with all that it re-exports. (swift-docc-plugin makes
# a graph for each target, and ProfileLog's own would be empty.)
set -euo pipefail
cd "$(dirname "$0")/.."

swift build --target ProfileLog
modules=$(swift build --show-bin-path)
graph=.build/docs-graph
catalogue=Sources/ProfileLog/ProfileLog/ProfileLog.docc
rm -rf "$graph" .build/docs
mkdir -p "$graph"
rooms=$(sed -n 's/^@_exported public import //p' Sources/ProfileLog/*/Exports.swift | sort -u | paste -sd ,)
swift symbolgraph-extract -module-name ProfileLog -minimum-access-level public -output-dir "$graph" \
    -target "$(swift -print-target-info | sed -n 's/.*"triple": "\(.*\)",/\1/p' | head -n 1)" \
    -experimental-allowed-reexported-modules="$rooms" \
    -I "$modules/Modules" -I Sources/CLMDB -I Sources/ProfileLog/Store/CPrefetch -I Sources/ProfileLog/Store/CFiles \
    -I Sources/ProfileLog/Records/CLibcrypto \
    -Xcc -fmodule-map-file="$modules/CCRC32C.build/module.modulemap"
docc convert "$catalogue" --additional-symbol-graph-dir "$graph" --fallback-display-name ProfileLog \
    --fallback-bundle-identifier profilelog --output-path .build/docs --warnings-as-errors
echo "Documentation: .build/docs/index.html; \`docc preview\` or any web server shows it."
