#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The commands that README.md, tutorials and how-to pages show in blocks "sh" work, as a user would type them
# one after the other; blocks "console" need other hosts or packages, and tests/tools has most of those.
set -euo pipefail

[ -z "${SANITIZE:-}" ] || { echo 'skipped: for plain builds' && exit 77; }
# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"

# block KIND FILE: what is in its blocks of this kind
block() {
    awk -v kind="$1" '/^```/ { inside = !inside && $0 == "```" kind; next } inside' "$2"
}

# ---- commands ------------------------------------------------------------------------------------

for version in 14 19 22 23; do # the pages say clang-14; a release without it has others
    clang=$SOURCE_DIR/build/toolchains/llvm-$version/bin/clang
    [ ! -x "$clang" ] || break
done
[ -x "$clang" ] || { echo 'skipped: no toolchain of LLVM 14, 19, 22 or 23 (scripts/toolchains)' && exit 77; }
mkdir "$work/bin"
printf '#!/bin/sh\nPATH=%s exec "%s" "$@"\n' "$PATH" "$clang" >"$work/bin/clang-14"
chmod +x "$work/bin/clang-14"
# Where it was unpacked beside a libomp of the system, LLVM's libomptarget would take that one as well.
[ "$version" = 14 ] || export LD_LIBRARY_PATH=$SOURCE_DIR/build/toolchains/llvm-$version/lib
pages=0
cd "$SOURCE_DIR"
for page in README.md docs/tutorial/*.md docs/how-to/*.md; do
    [ -n "$(block sh "$page")" ] || continue
    pages=$((pages + 1))
    place=$work/${page//\//.}
    mkdir "$place"
    ln -s "$SOURCE_DIR/examples" "$place/examples"
    ln -s "$BUILD_DIR" "$place/build"
    # shellcheck disable=SC2016 # a pattern
    source=$(grep -oE '`[a-z]+\.c`' "$page" | head -1 | tr -d '`') || true
    [ -z "$source" ] || block c "$page" >"$place/$source"
    block sh "$page" >"$place/commands"
    (cd "$place" && PATH=$work/bin:$BUILD_DIR/bin:$PATH sh -ex commands) \
        >"$place/out" 2>&1 || { tail -20 "$place/out" && complain "$page: see above"; }
done
[ "$pages" -ge 8 ] || complain "only $pages pages with commands found"
while read -r line; do
    grep -qxF -- "$line" "$work/docs.tutorial.first-program.md/out" || complain "first-program.md: does not print: $line"
done < <(block text docs/tutorial/first-program.md)
[ -s "$work/docs.how-to.profile.md/perf.json" ] || complain 'profile.md: no perf.json'

# What find-what-is-slow.md says: with an argument, the rows go to the device and back once.
moved() { # TRACE: transfers of rows in it
    grep -oE '"name":"(submit|retrieve)[^}]*' "$work/docs.tutorial.find-what-is-slow.md/$1" | wc -l
}
[ "$(moved before.json)" -gt 500 ] || complain "find-what-is-slow.md: only $(moved before.json) transfers before"
[ "$(moved after.json)" -lt 50 ] || complain "find-what-is-slow.md: still $(moved after.json) transfers after"

# The page on C compiles, and prints what it says.
c=$work/c
mkdir "$c"
block c docs/how-to/c-interface.md |
    awk -v c="$c/" '/^\/\* [a-z]+\.c:/ { file = c substr($2, 1, length($2) - 1) } { print >file }'
(cd "$c" && "$CC" -shared -fPIC -O2 kernel.c -o kernel.so &&
    "$CC" main.c -I"$SOURCE_DIR/include" -L"$BUILD_DIR/lib" -lomprma -Wl,-rpath,"$BUILD_DIR/lib" -o main &&
    "$BUILD_DIR/bin/omprma-run" -n 2 ./main) >"$c/out" 2>&1 || { cat "$c/out" && complain 'c-interface.md: see above'; }
grep -qxF -f "$c/out" docs/how-to/c-interface.md || complain "c-interface.md: prints $(cat "$c/out")"

finish "commands of $pages pages were run"
