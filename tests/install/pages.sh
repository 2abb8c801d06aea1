#!/bin/bash
# The commands that documents show in blocks "sh" work, as a user would type them one after the
# other; blocks "console" need other hosts, and tests/tools has those. The site is made without a
# warning, its links lead somewhere, and nothing in it comes from a network.
set -euo pipefail

[ -z "${SANITIZE:-}" ] || { echo 'skipped: for plain builds' && exit 77; }
# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"

# block KIND FILE: what is in its blocks of this kind
block() {
    awk -v kind="$1" '/^```/ { inside = !inside && $0 == "```" kind; next } inside' "$2"
}

# ---- commands ------------------------------------------------------------------------------------

clang=$SOURCE_DIR/build/toolchains/llvm-14/bin/clang
[ -x "$clang" ] || { echo 'skipped: no build/toolchains/llvm-14 (scripts/toolchains)' && exit 77; }
mkdir "$work/bin"
printf '#!/bin/sh\nPATH=%s exec "%s" "$@"\n' "$PATH" "$clang" >"$work/bin/clang-14"
chmod +x "$work/bin/clang-14"
pages=0
for page in "$SOURCE_DIR"/docs/*.md; do
    name=${page##*/}
    [ -n "$(block sh "$page")" ] || continue
    pages=$((pages + 1))
    mkdir "$work/$name"
    # shellcheck disable=SC2016 # a pattern
    source=$(grep -oE '`[a-z]+\.c`' "$page" | head -1 | tr -d '`') || true
    [ -z "$source" ] || block c "$page" >"$work/$name/$source"
    block sh "$page" >"$work/$name/commands"
    (cd "$work/$name" && PATH=$work/bin:$BUILD_DIR/bin:$PATH sh -ex commands) \
        >"$work/$name/out" 2>&1 || { tail -20 "$work/$name/out" && complain "$name: see above"; }
    [ "$name" != first.md ] || while read -r line; do
        grep -qxF -- "$line" "$work/$name/out" || complain "$name: does not print: $line"
    done < <(block text "$page")
done
[ "$pages" -ge 4 ] || complain "only $pages pages with commands found"
[ -s "$work/tuning.md/perf.json" ] || complain 'tuning.md: no perf.json'

# ---- the site ------------------------------------------------------------------------------------

if grep -q '^OMPRMA_SPHINX:FILEPATH=/' "$BUILD_DIR/CMakeCache.txt"; then
    cmake --build "$BUILD_DIR" --target site >"$work/log" 2>&1 ||
        { tail -20 "$work/log" && complain 'the site cannot be made'; }
    site=$BUILD_DIR/site
    for page in "$SOURCE_DIR"/docs/*.md; do
        name=$(basename "$page" .md)
        [ -s "$site/docs/$name.html" ] || complain "site: no $name.html"
    done
    count=0
    while IFS=: read -r page target; do
        count=$((count + 1))
        file=${target%%#*}
        [ -z "$file" ] || [ -e "$(dirname "$page")/$file" ] || complain "$page: no $target"
    done < <(find "$site" -name '*.html' -print0 | xargs -0 grep -oE '(href|src)="[^"]*"' |
        sed -E 's/:(href|src)="(.*)"$/:\2/' | grep -vE ':(https?|mailto):')
    [ "$count" -gt 100 ] || complain "only $count links in the site"
    ! grep -rnE '<(link|script|img|iframe)[^>]*(href|src)="(https?:)?//' --include='*.html' "$site" ||
        complain 'site: something comes from a network'
    ! grep -rnE '(@import|url\()[ "'\'']*(https?:)?//' --include='*.css' "$site" ||
        complain 'site: a style comes from a network'
else
    echo 'no sphinx-build: the site is not made'
fi

finish "commands of $pages pages were run"
