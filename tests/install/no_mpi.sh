#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Nothing that is loaded into a program, and no program of omprma, is linked with MPI, but for the one
# module that speaks it. A process that has all of it has no library of MPI.
set -euo pipefail

# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"

[ -z "${SANITIZE:-}" ] || { echo "skipped: an ordinary program does not load instrumented libraries" && exit 77; }

cmake --install "$BUILD_DIR" --prefix "$work" >"$work/log" || { cat "$work/log" && fail 'cmake --install failed'; }
module=$work/lib/omprma/libomprma-mpi.so
[ -f "$module" ] || fail "no $module"

# What the loader takes along with a file, all the way down. Libraries of MPI and what they bring.
mpi='/(libmpi|libmpich|libopen-(rte|pal)|libprrte|libpmix)[^/]*$'
libraries() { ldd "$1" | awk '$2 == "=>" { print $3 } $2 != "=>" { print $1 }'; }
libraries "$module" | grep -qE "$mpi" || fail 'the module needs no library of MPI: this test would see nothing'

seen=0
while read -r file; do
    [ "$file" != "$module" ] || continue
    readelf -d "$file" 2>/dev/null | grep -q NEEDED || continue
    seen=$((seen + 1))
    ! libraries "$file" | grep -E "$mpi" || complain "$file is linked with MPI"
done < <(find "$work/bin" "$work/libexec" "$work/lib" -type f)
[ "$seen" -ge 8 ] || complain "only $seen files with libraries were found"

# A program with the libraries, which has not begun anything.
cat >"$work/program.c" <<'EOF'
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **paths)
{
    char line[4096];
    FILE *maps;
    for (int i = 1; i < count; i++)
        if (!dlopen(paths[i], RTLD_NOW | RTLD_GLOBAL))
            return fprintf(stderr, "%s\n", dlerror()), 1;
    maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof(line), maps))
        fputs(line, stdout);
    return 0;
}
EOF
"$CC" "$work/program.c" -o "$work/program" -ldl
maps() { "$work/program" "$@" | awk 'NF > 5 { print $6 }' | sort -u; }
ours=("$work/lib/libomprma.so" "$work/lib/omprma/libomprma-runtime.so" "$work/lib/omprma/libomprma-plugin.so")
maps "${ours[@]}" >"$work/maps"
for library in "${ours[@]}"; do
    grep -qF "$(realpath "$library")" "$work/maps" || complain "$library was not loaded"
done
! grep -E "$mpi" "$work/maps" || complain 'a process with our libraries has one of MPI'
maps "$module" | grep -qE "$mpi" || complain 'a process with the module has none of MPI'

finish "$seen files, and a process, without MPI"
