#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Numbers, sizes and places in src/base/hsa_abi.h are those of the HSA runtime's own headers (package
# libhsa-runtime-dev), as far as these know the name: two programs from the same list print them.
set -euo pipefail
# shellcheck source=tests/hsa-interface/common.sh
. "$SOURCE_DIR/tests/hsa-interface/common.sh"

ours=$SOURCE_DIR/src/base/hsa_abi.h
headers=$(echo '#include <hsa/hsa_ext_amd.h>' | "${CC:-cc}" -E -xc - 2>/dev/null | sed -nE 's/^# [0-9]+ "(.*)\/hsa\/hsa\.h".*/\1\/hsa/p' | head -1)
[ -n "$headers" ] || { echo 'skipped: no headers of the HSA runtime (libhsa-runtime-dev)' && exit 77; }
cat "$headers"/{hsa,hsa_ext_amd,hsa_ext_image,amd_hsa_signal,amd_hsa_queue,hsa_ven_amd_loader}.h |
    sed 's|//.*||' | tr '\n' '\f' | sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/||g' | tr '\f' '\n' >"$work/theirs"

# name_exists NAME: the headers have it
name_exists() {
    grep -qwF -- "$1" "$work/theirs"
}

number() { # NAME
    name_exists "$1" && echo "NUMBER($1)" >>"$work/list"
}

# Structures by the names of their types. The tags that ours have are not theirs.
structure() { # TYPE
    name_exists "$1" || return 0
    echo "SIZE($1)" >>"$work/list"
    [[ $1 != *_pfn_t ]] || return 0 # its members have parameters
    local member
    while read -r member; do
        ! name_exists "$member" || echo "PLACE($1, $member)" >>"$work/list"
    done < <(sed -n "/^typedef struct ${1%_t} {/,/^} $1;/p" "$ours" | sed '1d;$d;s|/\*.*\*/||g' | grep -v '[{}]' |
        grep -oE '\*?[A-Za-z_0-9]+(\[[0-9]+\])?[,;]' | grep -oE '[A-Za-z_][A-Za-z_0-9]*' || true)
}

: >"$work/list"
while read -r name; do
    number "$name" || true
done < <(sed 's|/\*.*\*/||' "$ours" | grep -oE '\b(HSA|AMD|hsa)_?[A-Za-z0-9_]+ = ' | sed 's/ = //' | sort -u)
while read -r type; do
    structure "$type"
done < <(sed -nE 's/^typedef struct ([a-z0-9_]+) \{$/\1_t/p' "$ours")
found="$(grep -c NUMBER "$work/list") $(grep -c PLACE "$work/list")"
[ "${found% *}" -gt 250 ] && [ "${found#* }" -gt 100 ] && found=enough
[ "$found" = enough ] || { echo "only $(wc -l <"$work/list") things to compare were found: the search is broken" && exit 1; }

cat >"$work/print.c" <<'END'
#include <stddef.h>
#include <stdio.h>
#ifdef THEIRS
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_image.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/hsa_ven_amd_loader.h>
#else
#include "base/hsa_abi.h"
#endif
#define NUMBER(name) printf("%s = %lld\n", #name, (long long)name);
#define SIZE(type) printf("%s: %zu bytes\n", #type, sizeof(type));
#define PLACE(type, member) printf("%s.%s: at %zu\n", #type, #member, offsetof(type, member));
int main(void)
{
#include "list"
    return 0;
}
END
for side in OURS THEIRS; do
    "${CC:-cc}" -D"$side" -DLITTLEENDIAN_CPU -w -I "$SOURCE_DIR/src" -I "$work" -o "$work/$side" "$work/print.c"
    "$work/$side" >"$work/$side.txt"
done
diff "$work/OURS.txt" "$work/THEIRS.txt" || { echo 'src/base/hsa_abi.h (<) and the headers (>) differ' && exit 1; }
