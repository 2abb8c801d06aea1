#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# hydra of MPICH 4.0.2 (mpiexec.hydra), Debian 12. A process of a job is killed by signal 9, or ends with 9.
# Guess: mpiexec ends with 137 for the signal, as a shell would, and -print-all-exitcodes lists statuses.
# Seen: mpiexec ends with 9 both times. The list has what wait() gives: 9 for the signal, and 2304 (9 * 256) for
# the status, so the list tells them apart, and the status of mpiexec does not. Statuses of several processes are
# combined by "or", so one that no process had comes out: 5 and 2 make 7.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
unpack mpich=4.0.2-3+b1
hydra=$folder/usr/bin/mpiexec.hydra
ldd "$hydra" | grep -q 'not found' && exit 77
export PATH="$folder/usr/bin:$PATH"

# shellcheck disable=SC2317 # saw calls it
job() { # SCRIPT
    timeout 60 "$hydra" -launcher fork -rmk user -iface lo -print-all-exitcodes -n 2 sh -c "$1"
    echo "mpiexec ends with $?"
}

# shellcheck disable=SC2016
saw job '[ "$PMI_RANK" = 0 ] || { sleep 0.5; kill -9 $$; }; sleep 1'
expect '^\[mpiexec@[^]]*\] Exit codes: \[[^]]*\] [09],9$'
expect '^mpiexec ends with 9$'
# shellcheck disable=SC2016
saw job '[ "$PMI_RANK" = 0 ] || exit 9'
expect '^\[mpiexec@[^]]*\] Exit codes: \[[^]]*\] 0,2304$'
expect '^mpiexec ends with 9$'
# shellcheck disable=SC2016
saw job '[ "$PMI_RANK" = 0 ] && exit 5; exit 2'
expect '^mpiexec ends with 7$'
exit "$changed"
