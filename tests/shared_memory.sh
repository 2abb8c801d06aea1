#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shared_memory.sh: sourced by tests that look for what ended jobs have left.
#   shared_memory   the files of MPI in shared memory that no process uses; other jobs of the machine
#                   have theirs in use

shared_memory() {
    local file
    for file in /dev/shm/*; do
        case $file in
        */__KMP_REGISTERED_LIB_*) ;; # of OpenMP programs, which are not looked for
        *) [ ! -O "$file" ] || grep -qsF "$file" /proc/[0-9]*/maps || echo "$file" ;;
        esac
    done | sort
}
