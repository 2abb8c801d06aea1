#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Where the kernel does not let processes copy each other's memory, as containers may: a program runs
# and moves large data right. With Open MPI 4 one line says why it goes two-sided, and UCX has one-sided transfers.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
cat >"$folder/filtered.c" <<'C'
#include "tests/unit/filter_fixture.h"
#include <unistd.h>
int main(int count, char **words)
{
    if (count < 2 || filter_single_copy())
        return 77;
    execv(words[1], words + 1);
    return 2;
}
C
export OMPRMA_MEMORY=320M # the program takes all there is
"$CC" -I "$SOURCE_DIR" "$folder/filtered.c" -o "$folder/filtered" || exit 1
"$folder/filtered" /bin/true || exit 77

# run OPTIONS...: large data to the workers, between them and back; its status.
run() {
    timeout 60 "$folder/filtered" "$RUN" -n 2 "$@" "$BUILD_DIR/tests/integration/data" \
        >"$folder/out" 2>"$folder/err"
}
# right OPTIONS...: the same, and all is right.
right() {
    run "$@"
    check "status with $*" "$?" 0
    check "lines of Open MPI with $*" "$(grep -v '^omprma' "$folder/err")" ''
}
right --data auto
mv "$folder/err" "$folder/auto"
right --data two-sided
if [[ $(mpirun --version) != *"(Open MPI) 4."* ]]; then # others do what else they can
    right --data rma
    finish
    exit 0
fi
check 'one line says why' "$(grep -c 'data path: two-sided: processes may not copy' "$folder/auto")" 1
right --data rma --osc ucx
run --data rma
check 'status where only one-sided will do' $(($? > 0)) 1
check 'that line' "$(grep -c 'rma: processes may not copy .* --osc ucx' "$folder/err")" 1
finish
