#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# scripts/demo shows that its build moves, on a terminal and in a file, and says why a build failed; the commands with which it
# ends are README's, which readme.sh runs. The demo itself installs packages and builds, so it is not run here.
set -euo pipefail

# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"
mkdir "$work/bin"
cat >"$work/bin/cmake" <<'SH'
#!/bin/sh
case $* in
*--build*) ;;
*) echo '-- configured' && exit ;;
esac
for step in 1 2 3 4 5 6 7 8; do
    echo "[$step/8] Building C object $step.o"
done
[ -z "$BREAK" ] || echo 'step.c:1: error: it is broken'
[ -z "$BREAK" ]
SH
chmod +x "$work/bin/cmake"
cat >"$work/build" <<'SH'
set -euo pipefail
. "$SOURCE_DIR/scripts/lib.sh"
build_or_die "$work/log" release runtime
echo built
SH
export work PATH=$work/bin:$PATH BREAK=

bash "$work/build" >"$work/out" 2>&1 || fail "the build fails: $(cat "$work/out")"
[ "$(tr '\n' ';' <"$work/out")" = '  step 2 of 8;  step 4 of 8;  step 6 of 8;  step 8 of 8;built;' ] ||
    complain "in a file: $(cat "$work/out")"
[ "$(wc -l <"$work/log")" = 9 ] || complain "the log: $(cat "$work/log")"
if command -v script >/dev/null; then
    script -qec "bash $work/build" /dev/null >"$work/out" 2>&1 </dev/null || complain "on a terminal: $(cat "$work/out")"
    [ "$(tr -d '\r\n' <"$work/out" | grep -o 'step [0-9]* of 8' | wc -l)" = 8 ] || complain "on a terminal: $(cat "$work/out")"
    [ "$(wc -l <"$work/out")" = 2 ] || complain "more than a line on a terminal: $(cat "$work/out")"
fi

export BREAK=yes
! bash "$work/build" >"$work/out" 2>&1 || complain 'a build that fails counts as built'
grep -qF 'step.c:1: error: it is broken' "$work/out" || complain "why it failed: $(cat "$work/out")"
grep -qF "the build failed; see $work/log" "$work/out" || complain "where to look: $(cat "$work/out")"

next=$(sed -n '/^Next:/,/^NEXT/p' "$SOURCE_DIR/scripts/demo" | sed -nE 's/^ +(build[^#]*[^# ]) +#.*/\1/p')
[ "$(wc -l <<<"$next")" = 2 ] || complain "the next two commands: $next"
while read -r command; do
    grep -qF "${command#build/bin/}" "$SOURCE_DIR/README.md" || complain "README.md has no $command"
done <<<"$next"
finish 'the demo moves, and ends with what is next'
