#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shared_memory.sh: sourced by tests that look for what ended jobs have left.
#   shared_memory   the files of MPI in shared memory that no process uses; other jobs of the machine
#                   have theirs in use. UCX's are not looked for: one stays where a process is killed
#                   while MPI starts, and its name is drawn by chance, so nobody can tell which job,
#                   of this test or of another beside it, has left it.

shared_memory() {
    local file
    for file in /dev/shm/*; do
        case $file in
        */__KMP_REGISTERED_LIB_* | */ucx_shm_posix_*) ;; # the first are of OpenMP programs
        *) [ ! -O "$file" ] || grep -qsF "$file" /proc/[0-9]*/maps || echo "$file" ;;
        esac
    done | sort
}
