#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Each command that README.md shows, in blocks and in tables, works as it stands there, in the folder of a clone after a
# build. `unrun` has those that a test cannot run, each with the reason; none of them may be there in vain.
set -euo pipefail

[ -z "${SANITIZE:-}" ] || { echo 'skipped: for plain builds' && exit 77; }
# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"
unrun='
scripts/demo: installs packages
scripts/test: installs packages
build/bin/omprma-run --hosts: needs other hosts; tests/tools/ssh.sh
salloc: needs Slurm; tests/tools/slurm.sh
perf/: measures for minutes, by hand'

for version in 14 19 22 23; do # README says clang-14; a release without it has others
    clang=$SOURCE_DIR/build/toolchains/llvm-$version/bin/clang
    [ ! -x "$clang" ] || break
done
[ -x "$clang" ] || { echo 'skipped: no toolchain of LLVM 14, 19, 22 or 23 (scripts/toolchains)' && exit 77; }
mkdir "$work/bin"
printf '#!/bin/sh\nPATH=%s exec "%s" "$@"\n' "$PATH" "$clang" >"$work/bin/clang-14"
# The same options, with less to measure.
printf '#!/bin/sh\nexec "%s/bin/omprma-perf" "$@" --sizes 8,64K --reps 2\n' "$BUILD_DIR" >"$work/bin/omprma-perf"
chmod +x "$work"/bin/*
[ "$version" = 14 ] || export LD_LIBRARY_PATH=$SOURCE_DIR/build/toolchains/llvm-$version/lib

# One a line, without comments: of blocks what begins like a command, of tables what stands in quotes.
# shellcheck disable=SC2016 # awk's
commands=$(awk '
    /^```/ { block = !block; next }
    block && /^(build\/bin|scripts|salloc|clang|omprma-)/ { sub(/ +#.*/, ""); print }
    !block && /^\|/ {
        while (match($0, /`[^`]*`/)) {
            word = substr($0, RSTART + 1, RLENGTH - 2)
            $0 = substr($0, RSTART + RLENGTH)
            if (word ~ /^(omprma-[a-z]+( |$)|perf\/)/) print word
        }
    }' "$SOURCE_DIR/README.md")
[ "$(wc -l <<<"$commands")" -ge 15 ] || complain "only these commands found: $commands"

excused() { # COMMAND: it stands in the list
    while IFS=: read -r begin _; do
        [ -z "$begin" ] || [[ $1 != "$begin"* ]] || return 0
    done <<<"$unrun"
    return 1
}
while IFS=: read -r begin _; do
    [ -z "$begin" ] || grep -q "^$begin" <<<"$commands" || complain "README.md has no command $begin"
done <<<"$unrun"

mkdir "$work/clone"
ln -s "$SOURCE_DIR"/{examples,perf} "$work/clone"
ln -s "$BUILD_DIR" "$work/clone/build"
cd "$work/clone"
# A machine may have fewer slots than `mpirun -n 4` asks for.
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
count=0
while read -r command; do
    if excused "$command"; then
        command=${command%% *}
        [[ $command != perf/* ]] || [ -e "$SOURCE_DIR/$command" ] || [ -e "$SOURCE_DIR/$command.c" ] ||
            [ -e "$BUILD_DIR/$command" ] || complain "no $command"
        continue
    fi
    [ -e app ] || [ ! -e saxpy ] || ln -s saxpy app # "./app" is the reader's own
    PATH=$work/bin:$BUILD_DIR/bin:$PATH timeout 120 sh -c "$command" </dev/null >"$work/out" 2>&1 ||
        { status=$? && tail -5 "$work/out" && complain "$command: status $status, see above"; }
    count=$((count + 1))
done <<<"$commands"
finish "$count commands of README.md were run"
