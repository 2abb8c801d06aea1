#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The HSA library has every function that a runtime links or looks up, with the symbol version that HIP asks
# for, and exports nothing else than its list. The lists by consumer (consumers/) are what is there: of the
# plugins and libraries that are installed the functions are read again.
set -euo pipefail
# shellcheck source=tests/hsa-interface/common.sh
. "$SOURCE_DIR/tests/hsa-interface/common.sh"
# shellcheck source=scripts/lib.sh
. "$SOURCE_DIR/scripts/lib.sh"
status=0
complain() {
    echo "$*"
    status=1
}

library=$BUILD_DIR/lib/omprma/hsa/libhsa-runtime64.so.1
nm -D --defined-only "$library" | sed -nE 's/.* T (.*)@@ROCR_1$/\1/p' | sort >"$work/exports"
[ -s "$work/exports" ] || complain "$library exports nothing as ROCR_1"
other=$(nm -D --defined-only "$library" | grep -vE ' T hsa_[a-z0-9_]+@@ROCR_1$| A ROCR_1$' || true)
[ -z "$other" ] || complain "$library exports, too: $other"

# Nothing that programs would look up is only declared.
cat >"$work/list.c" <<'END'
#define HSA_FUNCTION(result, name, parameters, words) name
#include "hsa/hsa.def"
END
"${CC:-cc}" -E -P -I "$SOURCE_DIR/src" "$work/list.c" | grep -oE 'hsa_[a-z0-9_]+' | sort >"$work/listed"
diff "$work/listed" "$work/exports" || complain 'the functions of hsa.def and the exports differ'
for list in "$here"/consumers/*.txt; do
    lacks=$(comm -23 <(sort "$list") "$work/exports")
    [ -z "$lacks" ] || complain "$(basename "$list" .txt) calls, and the library lacks: $lacks"
done

# The lists, and what is installed. Strings of a plugin are more than it calls where it is linked statically.
looked_up() { # LIST FILE
    [ -e "$2" ] || return 0
    strings "$2" | grep -xE 'hsa_[a-z0-9_]+' | sort -u >"$work/strings"
    [ -s "$work/strings" ] || return 0
    diff <(sort "$here/consumers/$1.txt") "$work/strings" || complain "consumers/$1.txt is not what $2 looks up"
}
for version in 14 15 16; do
    for folder in "/usr/lib/llvm-$version/lib" "$SOURCE_DIR/build/toolchains/llvm-$version/lib"; do
        looked_up "llvm-$version" "$folder/libomptarget.rtl.amdgpu.so"
    done
done
looked_up gcc-12 /usr/lib/x86_64-linux-gnu/libgomp-plugin-gcn.so.1.0.0
for library in /usr/lib/x86_64-linux-gnu/libamdhip64.so.5.2.*; do
    [ -e "$library" ] || continue
    nm -D --undefined-only "$library" | sed -nE 's/^.* U (hsa_.*)@ROCR_1$/\1/p' | sort >"$work/linked"
    diff <(sort "$here/consumers/hip-5.2.txt") "$work/linked" || complain "consumers/hip-5.2.txt is not what $library links"
done
exit $status
