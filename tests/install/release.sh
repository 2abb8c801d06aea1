#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# scripts/release makes sources that can be configured, packages and right sums; not of a changed tree, nor into a
# folder that has something.
set -euo pipefail

[ -z "${SANITIZE:-}" ] || { echo 'skipped: for plain builds' && exit 77; }
git -C "$SOURCE_DIR" rev-parse HEAD >/dev/null 2>&1 || { echo 'skipped: no clone by git' && exit 77; }
# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"
git clone -q "$SOURCE_DIR" "$work/clone"
cp "$SOURCE_DIR/scripts/release" "$work/clone/scripts/release" # as it is now
git -C "$work/clone" add -A
git -C "$work/clone" -c user.name=test -c user.email=test@example.org commit -qam test >/dev/null || true
release=$work/clone/scripts/release out=$work/out

"$release" "$out" "$BUILD_DIR" >"$work/said" 2>&1 || { cat "$work/said" && fail 'no release'; }
grep -q '^note: the last commit has no tag v[0-9.]*$' "$work/said" || complain "no note: $(cat "$work/said")"
(cd "$out" && sha256sum --quiet -c SHA256SUMS) || complain 'sums are wrong'
[ "$(wc -l <"$out/SHA256SUMS")" = "$(($(find "$out" -type f | wc -l) - 1))" ] || complain "not all have sums: $(ls "$out")"
[ "$(find "$out" -name '*.deb' | wc -l)" -ge 4 ] || complain "packages: $(ls "$out")"
if command -v rpmbuild >/dev/null; then
    [ "$(find "$out" -name '*.rpm' | wc -l)" = 4 ] || complain "RPMs: $(ls "$out")"
else
    grep -q '^no rpmbuild here' "$work/said" || complain 'nothing says that there are no RPMs'
fi
tar -xzf "$out"/omprma-*.tar.gz -C "$work"
name=$(basename "$out"/omprma-*.tar.gz .tar.gz)
[ "$(cd "$work/$name" && find . -type f -o -type l | wc -l)" = "$(git -C "$work/clone" ls-files | wc -l)" ] || complain 'not all sources'

refused() { # WHAT PATTERN
    ! "$release" "$out" "$BUILD_DIR" >"$work/said" 2>&1 || complain "$1: not refused"
    grep -q "$2" "$work/said" || complain "$1: $(cat "$work/said")"
}
refused 'a folder in use' 'is not empty: remove it'
touch "$work/clone/new"
refused 'a changed tree' 'files are changed or new: commit them'
finish "a release: $(find "$out" -type f | wc -l) files"
