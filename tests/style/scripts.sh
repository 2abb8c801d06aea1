#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Our scripts can be executed, and shellcheck finds nothing in them.
set -euo pipefail
cd "$SOURCE_DIR"
mapfile -t scripts < <(grep -rlE --include='*' '^#!/bin/(ba)?sh' scripts tests tools perf findings .ci)
for script in "${scripts[@]}"; do
    [ -x "$script" ] || { echo "$script: not executable" && exit 1; }
done
exec shellcheck -x -P scripts -P SCRIPTDIR "${scripts[@]}" scripts/lib.sh tests/random/settings.sh tests/ucx_refused.sh
