#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# --trace on a program with several devices, under both OpenMP runtimes, and on one whose regions are placed: the file is
# sound, names the source lines of regions and kernels, and their files where the program knows them, and kernels
# stand where their worker ran them, also where that has another clock.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
find_llvm || exit 77
runtimes='omprma llvm'
[ "${llvm##*-}" -lt 19 ] || runtimes=omprma # LLVM's own takes no plugins from 19 on
[ -z "$SANITIZE" ] || { echo 'skipped: images of clang and sanitizers do not mix' && exit 77; }
export OMPRMA_MEMORY=64M

cat >"$folder/program.c" <<'C'
static double x[2][100000];
static void scale(double *data, int device)
{
#pragma omp target map(tofrom : data[0:100000]) device(device) nowait
    for (int i = 0; i < 100000; i++)
        data[i] += 1;
}
int main(void)
{
    int sum = 0;
    for (int device = 0; device < 2; device++)
        scale(x[device], device);
#pragma omp taskwait
#pragma omp target map(tofrom : sum)
    sum = 1;
#pragma omp parallel num_threads(2) /* one of the two waits in the worker */
#pragma omp target
    for (volatile int i = 0; i < 10000000; i++)
        ;
    return sum + (int)x[0][5] + (int)x[1][99999] - 3;
}
C
"$llvm/bin/clang" -O1 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" \
    -Wl,-rpath,"$llvm/lib" "$folder/program.c" -o "$folder/traced" || exit 1

traced() { # NAME PROGRAM: of $runtime
    timeout -k 5 100 "$RUN" -n 2 --runtime "$runtime" --trace "$folder/trace.json" "$folder/$2"
    check "$1: status" "$?" 0
    check "$1: sound" "$(jq -r -f "$SOURCE_DIR/tests/tools/trace.jq" "$folder/trace.json" 2>&1)" ''
}
events() { # FILTER: of the file, one line
    jq -r "[.traceEvents[] | $1] | join(\" \")" "$folder/trace.json"
}
for runtime in $runtimes; do
    traced "$runtime" traced
    check "$runtime: kernels" "$(events 'select(.cat == "kernel").name' | xargs -n1 | sort | xargs)" \
        'main:14 main:17 main:17 scale:4 scale:4'
    check "$runtime: regions" \
        "$(events 'select(.cat == "region" and .args.launches == 1).name' | xargs -n1 | sort | xargs)" \
        'main:14 main:17 main:17 scale:4 scale:4'
    check "$runtime: both devices" "$(events 'select(.cat == "kernel").pid' | xargs -n1 | sort -u | xargs)" '2 3'
    check "$runtime: device names" "$(events 'select(.name == "process_name").args.name')" \
        "program device 0 ($(hostname)) device 1 ($(hostname))"
done

"$llvm/bin/clang" -g -O1 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" \
    -Wl,-rpath,"$llvm/lib" "$folder/program.c" -o "$folder/debug" || exit 1

# as_worker WHAT: kernels are where the worker says, inside of what the program saw of each.
as_worker() {
    check "$1: times of the worker" "$(events 'select(.cat == "kernel").args.seen' | xargs -n1 | uniq -c | xargs)" \
        '5 worker'
    check "$1: what the program saw" "$(jq '[.traceEvents[] | select(.cat == "kernel") | .dur > 0
        and .args.queued_us >= 0 and .args.result_us >= 0] | all' "$folder/trace.json")" true
    # Each queue has one track, and a further one where its parts overlap.
    check "$1: few tracks" "$(jq '[.traceEvents[] | select(.name == "thread_name")] | length <= 16' "$folder/trace.json")" true
}
labels() { events 'select(.name == "process_labels").args.labels' | grep -o 'brought to' | wc -l; }
for runtime in $runtimes; do
    traced "$runtime with -g" debug
    check "$runtime with -g: kernels" "$(events 'select(.cat == "kernel").name' | xargs -n1 | sort | xargs)" \
        'program.c:14 program.c:17 program.c:17 program.c:4 program.c:4'
    check "$runtime with -g: files" "$(events 'select(.cat == "kernel").args.source' | xargs -n1 | sort -u | head -n 1)" \
        "$folder/program.c:14"
    as_worker "$runtime"
    check "$runtime: the same clock" "$(labels)" 0
done

# The program's clock is a day ahead of the workers'.
ahead=(unshare --time --monotonic 86400 --fork)
if "${ahead[@]}" true 2>/dev/null; then
    printf '#!/bin/sh\nexec nsenter --time=/proc/%d/ns/time "%s"\n' "$$" "$BUILD_DIR/bin/omprma-worker" >"$folder/behind"
    chmod +x "$folder/behind"
    OMPRMA_INTERNAL_WORKER=$folder/behind timeout -k 5 100 "${ahead[@]}" "$RUN" -n 2 --trace "$folder/trace.json" "$folder/debug"
    check 'another clock: status' "$?" 0
    check 'another clock: sound' "$(jq -r -f "$SOURCE_DIR/tests/tools/trace.jq" "$folder/trace.json" 2>&1)" ''
    as_worker 'another clock'
    check 'another clock: said' "$(labels)" 2
fi

# Compressed by its name, asked for as LLVM's runtime is, and what else it says.
LIBOMPTARGET_PROFILE=$folder/trace.json.gz timeout -k 5 100 "$RUN" -n 2 "$folder/traced"
check 'compressed: status' "$?" 0
gzip -dc "$folder/trace.json.gz" >"$folder/trace.json"
check 'compressed: sound' "$(jq -r -f "$SOURCE_DIR/tests/tools/trace.jq" "$folder/trace.json" 2>&1)" ''
check 'what was run' "$(jq -r '.otherData | [.program, .devices, .hosts] | join(" ")' "$folder/trace.json")" \
    "$folder/traced 2 $(hostname)"
check 'counters' "$(events 'select(.ph == "C").name' | sed 's/ \(bytes\|memory\|operations\)/\n\1/g' | sort -u | sed 's/ *$//' | paste -sd,)" \
    'bytes under way,memory in use,operations'

# One device on two workers: what is read on one of them and was written on the other has an arrow. Statistics say
# that eight regions were followed by eight, and what had to move.
cat >"$folder/placed.c" <<'C'
#include <stdio.h>
#include <unistd.h>
enum { PARTS = 8, N = 10000 };
static double part[PARTS][N], sums[PARTS][8];
int main(void)
{
    double all = 0;
    for (int i = 0; i < PARTS; i++) {
        double *own = part[i];
#pragma omp target enter data map(to : own[0 : N])
    }
    for (int i = 0; i < PARTS; i++) {
        double *own = part[i];
#pragma omp target nowait depend(out : own[0]) map(tofrom : own[0 : N])
        {
            usleep(50000);
            own[i] = i;
        }
    }
    for (int i = 0; i < PARTS; i++) {
        double *sum = sums[i], *own = part[i], *last = part[(i + PARTS - 1) % PARTS];
#pragma omp target nowait depend(in : last[0], own[0]) map(from : sum[0 : 1]) map(to : last[0 : N], own[0 : N])
        *sum = last[(i + PARTS - 1) % PARTS] + own[i];
    }
#pragma omp taskwait
    for (int i = 0; i < PARTS; i++)
        all += sums[i][0];
    printf("%g\n", all);
    return 0;
}
C
"$llvm/bin/clang" -O1 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" \
    -Wl,-rpath,"$llvm/lib" "$folder/placed.c" -o "$folder/placed" || exit 1
OMPRMA_MEMORY=256M timeout -k 5 100 "$RUN" -n 2 --placement auto --stats --trace "$folder/trace.json" "$folder/placed" >"$folder/out" 2>&1
check 'placed: status' "$?" 0
check 'placed: result' "$(grep -c '^56$' "$folder/out")" 1
check 'placed: sound' "$(jq -r -f "$SOURCE_DIR/tests/tools/trace.jq" "$folder/trace.json" 2>&1)" ''
check 'placed: arrows' "$(jq '[.traceEvents[] | select(.ph == "s")] | length >= 1 and length <= 16' "$folder/trace.json")" true
check 'placed: statistics' "$(grep -cE '^omprma: (placed: 16 regions, of which at most 2 |between devices: .* if each range |critical path: kernels 0\.[0-9]+ s \([0-9]+ of 16\), data)' "$folder/out")" 3

out=$("$RUN" --trace /no/folder/x "$folder/traced" 2>&1)
check 'a file that cannot be made' "$? $out" \
    '125 omprma: error: --trace: cannot write /no/folder/x: No such file or directory'
"$RUN" -n 2 --trace /dev/full "$folder/traced" >"$folder/out" 2>&1
check 'a full disk: status' "$?" 125
check 'a full disk: said' "$(grep -c 'error: --trace: cannot write /dev/full: No space left on device' "$folder/out")" 1
"$RUN" -n 2 --stats=/dev/full "$folder/traced" >"$folder/out" 2>&1
check 'a full disk, statistics' "$?$(grep -c 'error: --stats: cannot write /dev/full' "$folder/out")" 1251
OMPRMA_TRACE=/dev/full "$RUN" -n 2 "$folder/traced" >"$folder/out" 2>&1
check 'a full disk, by the setting' "$?$(grep -c 'error: OMPRMA_TRACE: cannot write /dev/full' "$folder/out")" 1251
finish
