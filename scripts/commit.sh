#!/usr/bin/env bash
# Prints the commit that the programs are built from, for PROFILELOG_COMMIT: twelve digits, and `-changed` if files
# differ from it; what PROFILELOG_COMMIT says already; or nothing outside the repository.
set -euo pipefail
if [ -n "${PROFILELOG_COMMIT:-}" ]; then
    echo "$PROFILELOG_COMMIT"
    exit
fi
cd "$(dirname "$0")/.."
# A copy of the files inside another repository is not of that one's commit.
[ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$PWD" ] || exit 0
changed=$(git status --porcelain --untracked-files=no)
echo "$(git rev-parse --short=12 HEAD)${changed:+-changed}"
