#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# omprma-info --check, --settings and --json: what is there, what is missing, and what to do then.
# shellcheck disable=SC2016,SC2015,SC2094 # text for other programs; A && B || C reports
set -u
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
INFO=$BUILD_DIR/bin/omprma-info

# doctor STATUS PATTERN [OPTION...]: ends so, and one of its lines is like that.
doctor() {
    local out status
    out=$(timeout 60 env PATH="${programs:-$PATH}" "$INFO" --check "${@:3}" 2>&1)
    status=$?
    check "status of --check ${*:3}" "$status" "$1"
    grep -qE -- "$2" <<<"$out" || check "--check ${*:3}" "$out" "$2"
}
doctor 0 '^ok +mpirun +[^ ]+'
doctor 0 '^ok +omprma-worker +[0-9.]+, .*/omprma-worker$'
doctor 0 '^omprma can run'
mkdir "$folder/bin"
for program in sh timeout; do ln -s "$(command -v $program)" "$folder/bin/$program"; done
programs=$folder/bin doctor 0 '^warning +mpirun +.*install (Open MPI|MPICH).*--transport direct needs none'
programs=$folder/bin doctor 1 '^failure +mpirun +.*install (Open MPI|MPICH)' --transport mpi
programs=$folder/bin doctor 1 '^failure +mpirun +.*install (Open MPI|MPICH)' --hosts elsewhere:2
OMPI_COMM_WORLD_SIZE=2 doctor 0 '^warning +mpirun +this is itself a process of an MPI job'
TMPDIR=/nowhere doctor 1 '^failure +TMPDIR +/nowhere cannot be written to'
OMPRMA_INTERNAL_WORKER=/bin/true doctor 1 '^failure +omprma-worker +/bin/true says ".*", and this is'
(ulimit -n 30 && doctor 1 '^failure +open files +at most 30, and 9 workers' -n 9 && [ "$failures" = 0 ]) ||
    failures=$((failures + 1))
doctor 1 '^failure +GPUs +no NVIDIA GPU' --cuda
doctor 1 '^failure +GPUs +no AMD GPU on this host \(there is no /dev/kfd\)' --gpus hsa

# Compilers: one that does all, as far as is asked, clangs that lack something, none.
compiler() { # STATUS PATTERN OUTPUT STATUS-OF-IT: of --version it says to be clang 98
    printf '#!/bin/sh\n[ "$1" != --version ] || exec echo "Debian clang version 98.1"\necho "%s"\nexit %s\n' "$3" "$4" >"$folder/cc"
    chmod +x "$folder/cc"
    doctor "$1" "$2" --compiler "$folder/cc"
}
compiler 0 '^ok +compiler +[^ ]+/cc compiles target regions: Debian clang version 98.1$' '' 0
compiler 1 "^failure +compiler .*: a.c:1: error: no omp.h; .* no clang-98 clang-tools-98 llvm-98 libomp-98-dev liboffload-98-dev(;.*)?$" \
    'a.c:1: error: no omp.h' 1
doctor 1 '^failure +compiler +/no/clang: there is no such command; take clang 14 or newer$' --compiler /no/clang
# What can be installed follows the release, and the libomp that is there: a system with clang 97 alone.
mkdir "$folder/system"
cat >"$folder/system/dpkg-query" <<'SH'
#!/bin/sh
case $* in
*Package*) printf 'installed libomp-97-dev\nconfig-files libomp-96-dev\n' ;;
*) false ;;
esac
SH
printf '#!/bin/sh\necho "libc6 | 2 |  Candidate: 2"\n' >"$folder/system/apt-cache"
chmod +x "$folder/system/"*
PATH=$folder/system:$PATH compiler 1 'no clang-98 .* liboffload-98-dev; libomp-97-dev, which is installed, excludes libomp-98-dev: scripts/toolchains 98 unpacks' \
    'a.c:1: error: no omp.h' 1
printf '#!/bin/sh\n[ "$1" != madison ] || echo libc6\n' >"$folder/system/apt-cache"
PATH=$folder/system:$PATH compiler 1 'liboffload-98-dev; this release of the system has no clang-98 .* liboffload-98-dev$' \
    'a.c:1: error: no omp.h' 1
PATH=$folder/system:$PATH doctor 1 '^failure +compiler +clang-95: there is no such command; of .* no clang-95 .*; this release .* no clang-95 ' --compiler clang-95
check 'without --check' "$("$INFO" --compiler cc 2>&1)" 'omprma: error: --compiler cc: write --check, too'

# Other hosts: a remote shell that stays here, one that finds another version, one that finds nobody.
shell() { # COMMAND: what it does with the words
    printf '#!/bin/sh\nhost=$1; shift\n%s\n' "$1" >"$folder/shell"
    chmod +x "$folder/shell"
}
remote_shell "$folder/shell"
# shellcheck disable=SC2016 # for the script
shell 'eval "$*"'
doctor 0 '^ok +elsewhere +reached, and has omprma-worker' --hosts elsewhere:2
shell 'echo omprma; echo omprma-worker 0.0.9'
doctor 1 '^failure +elsewhere +reached, but .* says "omprma-worker 0.0.9": omprma .* must be in the same folder' --hosts elsewhere:2
shell 'echo nobody at home; exit 255'
doctor 1 '^failure +elsewhere +cannot be reached: nobody at home' --hosts localhost:1,elsewhere:2
check 'JSON' "$("$INFO" --check --json --hosts elsewhere | jq -c '[.failures, (.checks[] | select(.verdict == "failure") | .what)]')" '[1,"elsewhere"]'
remote_shell

# Settings: what an option, the environment and nobody has set.
set_by() { # NAME WANTED OPTION...
    check "who has set $1" "$("$INFO" --settings --json "${@:3}" | jq -r --arg n "$1" '.settings[$n] | .value + " " + .from')" "$2"
}
set_by DATA 'rma --data' --data rma
OMPRMA_DATA=two-sided set_by DATA 'rma --data' --data rma
OMPRMA_LANES=3 set_by LANES '3 environment'
set_by LANES '1 default'
OMPRMA_TIMEOUT=9 set_by TIMEOUT '9 environment' --debug
set_by TIMEOUT '0 --debug' --debug
LIBOMPTARGET_PROFILE=t.json set_by TRACE 't.json LIBOMPTARGET_PROFILE'
check 'a table' "$("$INFO" --settings --data rma | grep -cE '^OMPRMA_DATA +rma +auto +--data$')" 1
check 'all of the help' "$("$INFO" --settings | grep -c '^OMPRMA_')" \
    "$("$BUILD_DIR/bin/omprma-run" --help=all | grep -cE '^ +OMPRMA_[A-Z_]+=')"

# What carries messages and data comes first, in words and in JSON.
out=$(timeout 60 "$INFO" -n 2 2>/dev/null)
check 'the paths, first' "$(head -n 2 <<<"$out" | cut -d: -f1 | paste -sd,)" 'control messages,data path'
timeout 60 "$INFO" -n 2 --data two-sided --json >"$folder/json"
check 'the paths in JSON' "$(jq -c '[.control_path, .data_path, (.quirks | type), (.costs | type)]' "$folder/json" |
    sed 's/two-sided as asked[^"]*/two-sided as asked/; s/, by MPI to 0//')" \
    '["through shared memory to 2 workers","two-sided as asked","array","array"]'
check 'titles for 40 columns' "$(OMPRMA_INTERNAL_COLUMNS=40 script -qec "stty cols 40; '$INFO' -n 1" /dev/null 2>/dev/null |
    grep -oE '^(device|worker) +host .*[^[:space:]]' | tr -s ' ' | paste -sd,)" 'device host cores memory,worker host own cores'
check 'devices' "$(OMPRMA_BIND=0 "$INFO" --json -n 2 | jq -c '[.devices[] | [.device, .worker, .kind]]')" '[[0,0,"native"],[1,1,"native"]]'
finish
