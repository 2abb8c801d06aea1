#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Real Slurm on two hosts: omprma-run takes an allocation by itself, and its end leaves nothing.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
command -v slurmctld slurmd munged salloc >/dev/null || exit 77
hosts_up 2 || exit 77
build_stand_ins
chmod 755 "$folder"
a=${HOSTS[0]} b=${HOSTS[1]}
unset OMPRMA_HOSTS
trap 'slurm_down; hosts_down; rm -rf "$folder"' EXIT

slurm_write() {
    cat >"$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=$(hostname)($hosts_net.1)
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
SlurmctldPidFile=$folder/slurmctld.pid
TmpFS=$folder/tmp-%n
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd-%n.log
SlurmctldPort=$((20000 + $$ % 10000))
SlurmdPort=$((10000 + $$ % 10000))
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
MpiDefault=none
KillWait=5
NodeName=$a NodeAddr=$hosts_net.2 CPUs=2
NodeName=$b NodeAddr=$hosts_net.3 CPUs=2
PartitionName=all Nodes=ALL Default=YES State=UP
CONF
}

# Munge and a controller here, a daemon on each host. They share this machine's /sys, where Slurm
# looks for cgroups; "ip netns exec" would hide those.
slurm_up() {
    local host
    export SLURM_CONF=$folder/slurm.conf
    mkdir "$folder/munge" "$folder/state" "$folder/"{tmp,spool}-{"$a","$b"}
    head -c 1024 /dev/urandom >"$folder/munge/key"
    chown -R munge: "$folder/munge"
    chmod 400 "$folder/munge/key"
    runuser -u munge -- munged --socket="$folder/munge/socket" --key-file="$folder/munge/key" \
        --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" \
        --seed-file="$folder/munge/seed" || return 1
    slurm_write
    # Newer ones do not start without cgroups, which nothing here needs and a root may not have.
    [[ $(slurmd -V) = *' 2'[0-2].* ]] || echo CgroupPlugin=disabled >"$folder/cgroup.conf"
    slurmctld -f "$SLURM_CONF" || return 1
    for host in "$a" "$b"; do
        # shellcheck disable=SC2016 # for the shell there
        nsenter --net="/run/netns/$host" unshare --uts sh -c \
            'hostname "$1"; exec slurmd -N "$1" -f "$2"' slurmd "$host" "$SLURM_CONF" || return 1
    done
    for _ in $(seq 100); do
        [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] && return
        sleep 0.1
    done
    return 1
}

slurm_down() {
    scancel --user=root 2>/dev/null
    cat "$folder"/slurm*.pid "$folder/munge/pid" 2>/dev/null | xargs -r kill
    sleep 0.5
    cat "$folder"/slurm*.pid "$folder/munge/pid" 2>/dev/null | xargs -r kill -9 2>/dev/null
}

slurm_up || { tail "$folder"/slurm*.log && exit 1; }

# Where the workers are, from omprma-info's table.
hosts_of() { sed -nE 's/^ *[0-9]+ +(om[0-9]+-h[0-9]) +[0-9]+ +[0-9]+\.[0-9]+ .*/\1/p' "$1" | sort |
    uniq -c | awk '{printf "%s%s:%s", sep, $2, $1; sep = ","}'; }
info() { env -u OMPRMA_INTERNAL_WORKER "$BUILD_DIR/bin/omprma-info" "$@"; }
export -f info

out=$(timeout 60 salloc -Q -N2 "$RUN" -v "$folder/program" status 5 2>"$folder/err")
check 'status in salloc' $? 5
check 'workers in salloc' "$out" 'ready 3'
check 'line about hosts' "$(grep -c "hosts of Slurm job [0-9]*: $a:1,$b:1" "$folder/err")" 1

timeout 60 salloc -Q -N2 bash -c info >"$folder/info" 2>&1
check 'one worker for each node' "$(hosts_of "$folder/info")" "$a:1,$b:1"
timeout 60 salloc -Q -N2 --ntasks-per-node=2 bash -c info >"$folder/info" 2>&1
check 'one worker for each task' "$(hosts_of "$folder/info")" "$a:2,$b:2"
timeout 60 salloc -Q -N2 bash -c 'info -n 3' >"$folder/info" 2>&1
check 'workers spread' "$(hosts_of "$folder/info")" "$a:2,$b:1"

out=$(timeout 60 salloc -Q -N2 srun -Q -N1 -n1 "$RUN" "$folder/program" status 5 2>"$folder/err")
check 'a step of one task in a job of two hosts' "$? $out" '5 ready 2'

# A batch job runs on the first of its hosts.
cat >"$folder/job" <<JOB
#!/bin/bash
"$RUN" "$folder/program" _exit 0
echo "status \$?"
JOB
timeout 60 sbatch -Q -W -N2 -o "$folder/batch" "$folder/job"
check 'batch job' "$(tr '\n' ' ' <"$folder/batch")" 'ready 3 status 0 '

# A cancelled job, and one at its time limit, leave nothing.
sed -i 's/_exit 0/sleep 60/' "$folder/job"
sbatch -Q -N2 -o "$folder/batch" "$folder/job"
for _ in $(seq 100); do
    grep -q ready "$folder/batch" 2>/dev/null && break
    sleep 0.1
done
check 'cancelled job was up' "$(grep ready "$folder/batch")" 'ready 3'
scancel --user=root
check 'processes left of a cancelled job' "$(processes_left)" 0

# At its time limit a job is sent SIGTERM, which is passed on to the program.
sed -i "s|^\"$RUN\"|exec env TMPDIR=$folder/tmp &|" "$folder/job"
mkdir "$folder/tmp"
rm -f "$folder/batch"
sbatch -Q -N2 -o "$folder/batch" "$folder/job"
for _ in $(seq 100); do
    grep -q ready "$folder/batch" 2>/dev/null && break
    sleep 0.1
done
scancel --batch --signal=TERM --user=root
check 'processes left of a job at its limit' "$(processes_left)" 0
check 'files left of a job at its limit' "$(ls "$folder/tmp")" ''

# By hand, as docs/how-to/launch-by-hand.md says: rank 0 is the program, the others are workers.
kind=pmix # of Open MPI
[ "$(launcher_name)" != mpiexec.hydra ] || kind=pmi2
offered=$(srun --mpi=list 2>&1 | grep -m 1 -w "$kind")
case $(slurmd -V) in
*\ 2[0-5].*) check "srun --mpi=list has $kind" "${offered:+yes}" yes ;;
esac
if [ -n "$offered" ] && find_llvm; then
    "$llvm/bin/clang" -O1 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu "-L$llvm/lib" "$SOURCE_DIR/examples/saxpy.c" \
        -o "$folder/saxpy" || exit 1
    line=$(env -u OMPRMA_INTERNAL_WORKER "$RUN" -n 2 --dry-run "$folder/saxpy")
    path=$(grep -oE 'LD_LIBRARY_PATH[= ][^ ]*' <<<"${line##* : }" | tr ' ' =)
    printf '0 %s\n1-2 env %s %s\n' "$(sed -E 's/.* (env OMP_TARGET_OFFLOAD=.*) : .*/\1/' <<<"$line")" "$path" \
        "$BUILD_DIR/bin/omprma-worker" >"$folder/parts"
    out=$(env -u OMPRMA_INTERNAL_WORKER OMPRMA_MEMORY=320M OMP_NUM_THREADS=2 timeout 60 salloc -Q -N2 -n3 srun -Q \
        "--mpi=$kind" --overlap --multi-prog "$folder/parts" 2>&1)
    check "by srun ($out): status, devices" "$? $(grep -c '^device [01]: ' <<<"$out")" '0 2'
fi

# An OpenMP MPI program on both hosts: srun hands on all that its ranks need, and each has its host's worker.
if [ -n "$offered" ] && find_llvm && mpirun --version | grep -q 'Open MPI'; then
    OMPI_CC=$llvm/bin/clang "${MPICC:-mpicc}" -O1 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu "-L$llvm/lib" \
        "$SOURCE_DIR/tests/mpi-programs/programs/devices.c" -o "$folder/devices" || exit 1
    out=$(env -u OMPRMA_INTERNAL_WORKER -u OMPRMA_TRANSPORT OMPRMA_MEMORY=320M OMP_NUM_THREADS=2 timeout 120 \
        salloc -Q -N2 "$RUN" -n 2 -- srun -Q --mpi=pmix --overlap -O -n 8 "$folder/devices" own 2>&1)
    check "ranks under srun ($out)" "$? $(grep -c '^ok devices [0-7] of 8$' <<<"$out")" '0 8'
    check "their devices ($out)" "$(grep -c '^devices [0-7] of 8: 1$' <<<"$out")" 8
fi
finish
