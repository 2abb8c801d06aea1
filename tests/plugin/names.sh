#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What omprma's OpenMP runtime takes for granted in each LLVM's libraries that are here, by their names
# alone: it exports all that libomptarget of that LLVM exports and all that libomp looks up, but for what is
# left out on purpose; libomp has all that the runtime asks of it; and what libomp leaves in /dev/shm when a
# process is killed has the name by which it is found (src/control/shm/leftovers.c).
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
failed=0 ran=0

complain() {
    echo "names: $*" >&2
    failed=1
}

# Of no use to a program: of clang 10 and before, of LLVM's own tools and plugins, and for a language that is
# not OpenMP. libomp asks for the finders of the allocators' memory, and does without.
left_out='__llvm(Pop|Push)CallConfiguration|llvmLaunchKernel|ompx_interop_add_completion_callback
__tgt_(rtl_(de)?init|activate_record_replay|target_kernel_replay|register_rpc_callback)
__tgt_target(_data_(begin|end|update)|_teams)?(_nowait)?
__tgt_get_mem_resources|__tgt_omp_(alloc|free)|ompt_libomptarget_connect'
# Before 16, libomp has no target tasks that can be put back, no events of devices, no fork_call_if.
lacking='__kmpc_(fork_call_if|omp_get_target_async_handle_ptr|omp_has_task_team|omp_taskwait_deps_51)
ompt_libomp_connect'

exported_by() { # LIBRARY
    nm -D --defined-only "$1" | awk '$2 != "A" { sub("@.*", "", $3); print $3 }' | sort -u
}

ours=$(sed -e '/^#/d' -e 's/^[a-z]* //' "$here/runtime_symbols.txt" | sort -u)
unserved() { # of the names on stdin
    sort -u | comm -23 - <(echo "$ours") | grep -vxE -f <(echo "$left_out") | tr '\n' ' '
}

asked=$({ grep -ohE '"__kmp[a-z]*_[a-z0-9_]+"' "$root"/src/openmp/*/*.c | tr -d '"'
    sed -n '/^LIBOMP /s/.*[ *]\([a-z0-9_]*\)(.*/\1/p' "$root/src/openmp/abi/libomp.h"; } | sort -u)
[ "$(wc -l <<<"$asked")" -ge 25 ] || complain "the sources name only: ${asked//$'\n'/ }"

for libraries in "$root"/build/toolchains/llvm-*/lib; do
    version=${libraries%/lib} version=${version##*llvm-}
    libomptarget=$(find -L "$libraries" -maxdepth 1 -name 'libomptarget.so*' ! -name '*.rtl.*' | sort | tail -n 1)
    if [ ! -e "$libraries/libomp.so.5" ] || [ -z "$libomptarget" ]; then
        continue
    fi
    ran=1
    names=$(exported_by "$libomptarget" | grep -v '^_Z' | unserved)
    [ -z "$names" ] || complain "libomptarget $version has these, omprma's runtime has not: $names"
    names=$(strings -a "$libraries/libomp.so.5" | grep -xE '(__tgt|llvm_omp_target|omp_target)_[a-z_]+' | unserved)
    [ -z "$names" ] || complain "libomp $version looks for these in vain: $names"
    names=$(comm -23 <(echo "$asked") <(exported_by "$libraries/libomp.so.5"))
    [ "$version" -ge 16 ] || names=$(grep -vxE -f <(echo "$lacking") <<<"$names")
    [ -z "$names" ] || complain "libomp $version lacks: ${names//$'\n'/ }"
    strings -a "$libraries/libomp.so.5" | grep -xq '/\?__KMP_REGISTERED_LIB_%d_%d' ||
        complain "libomp $version registers itself under another name"
    echo "LLVM $version: $(wc -l <<<"$asked") names asked of libomp, $(exported_by "$libomptarget" | wc -l) of libomptarget"
done
[ $ran = 1 ] || { echo "no LLVM's libraries here" && exit 77; }
exit $failed
