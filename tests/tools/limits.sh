#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Under limits of the shell: what can be done with little is done. What takes more is in run.sh.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
export OMPRMA_MEMORY=320M # the program takes all there is

# right WHAT: the program runs as it should.
right() {
    timeout 60 "$RUN" -n 2 "$BUILD_DIR/tests/integration/data" >"$folder/out" 2>&1
    check "$1" "$? $(cat "$folder/out")" '0 '
}
for kib in 2000000 4000000 16000000; do
    (ulimit -v $kib && right "$kib KiB of address space" && exit "$failures") || failures=1
done
# A name of this host that is as long as Linux allows ends mpirun of Open MPI 4 by a signal.
if [[ $(mpirun --version) == *"(Open MPI) 4."* ]] && [ "$(id -u)" = 0 ]; then
    # shellcheck disable=SC2016 # for the shell there
    line=$(unshare --uts sh -c 'hostname "$(printf "n%.0s" $(seq 64))"; exec "$@"' named \
        "$RUN" "$BUILD_DIR/tests/integration/data" 2>&1)
    check 'a host with a name of 64 characters' "$? $(grep -c ' has 64 characters, .* 63 at most: ' <<<"$line")" '125 1'
fi
# What workers cannot do ends the run with the status of all that omprma-run itself cannot.
for transport in mpi direct; do
    timeout 60 "$RUN" -n 2 --transport "$transport" --cores-per-worker 9999 "$BUILD_DIR/tests/integration/data" >"$folder/out" 2>&1
    check "more cores than there are, by $transport" "$? $(grep -c 'with 9999 cores each need 19998 cores' "$folder/out")" '125 1'
done
if [[ $(mpirun --version) == *"(Open MPI) 4."* ]]; then
    OMPI_MCA_pml=none-such timeout 60 "$RUN" --transport mpi "$BUILD_DIR/tests/integration/data" >"$folder/out" 2>&1
    # MPI_Init ends the processes by itself, and mpirun may hear of it after omprma-run.
    check 'what MPI refuses' "$? $(grep -cE '^omprma: error: (mpirun: |the MPI library has ended the program)' "$folder/out")" '125 1'
fi
kib=8192 # launchers differ in how large files MPI makes
mpirun --version 2>/dev/null | grep -q '(Open MPI) 4' || kib=32768
(ulimit -f $kib && right "files of at most $kib KiB" && exit "$failures") || failures=1
(! ulimit -s unlimited 2>/dev/null || (right 'any stack' && exit "$failures")) || failures=1
# /dev/shm of a container. What an MPI library needs there differs; that a line tells of it does not.
cat >"$folder/shared" <<'SH'
mount -t tmpfs -o "$1" none /dev/shm
shift
exec "$@"
SH
if [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null; then
    shared() { # OPTIONS COMMAND...: with such a /dev/shm
        timeout 60 unshare --mount sh "$folder/shared" "$@" 2>&1
    }
    out=$(shared size=64k "$RUN" -n 2 --transport mpi "$BUILD_DIR/tests/integration/data")
    check 'a small /dev/shm' "$?" 0
    case $(mpirun --version) in
    *'(Open MPI) 4.'*)
        check 'a small /dev/shm, the line' "$(grep -c 'two-sided: MPI offers no dynamic window here: /dev/shm has only [0-9]* KiB left, and 64 MiB are enough (mount' <<<"$out")" 1
        ;;
    esac
    find_llvm || exit 1
    # shellcheck disable=SC2016 # for the shell there
    out=$(shared ro "$RUN" -n 1 --llvm "${llvm##*-}" sh -c 'kill -ABRT $$')
    check 'a read-only /dev/shm' "$(grep -c 'was ended by signal 6 (Aborted); libomp needs /dev/shm, which cannot be used: Read-only' <<<"$out")" 1
fi
(ulimit -l 0 && right 'no locked memory' && exit "$failures") || failures=1
finish
