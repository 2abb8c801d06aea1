#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What --stats and --trace tell of runs: by source line, as a table and as JSON; also of those that
# end by a signal, a crash or a lost worker. An older file is replaced by a whole one.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
find_llvm || exit 77
[ -z "$SANITIZE" ] || { echo 'skipped: images of clang 14 and sanitizers do not mix' && exit 77; }
export OMPRMA_MEMORY=64M

cat >"$folder/program.c" <<'C'
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words)
{
    char how[8] = "";
    int x = 0;
    if (count > 1)
        strncpy(how, words[1], 7);
    for (int i = 0; i < 20; i++)
#pragma omp target map(tofrom : x)
        x++;
    puts("ready");
    fflush(stdout);
    if (strcmp(how, "killed") == 0)
        raise(SIGKILL);
#pragma omp target map(tofrom : x) map(to : how)
    {
        if (how[0] == 's')
            sleep(60);
        if (how[0] == 'c')
            *(volatile int *)8 = 1;
        x++;
    }
    return x - 21;
}
C
"$llvm/bin/clang" -g -O1 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" \
    -Wl,-rpath,"$llvm/lib" "$folder/program.c" -o "$folder/program" || exit 1

# Starts the program in its own session, and waits until its kernel sleeps. Sets run and program.
begin() {
    echo older >"$folder/trace.json"
    OMPRMA_STATS_FILE=$folder/stats.json setsid timeout -k 5 60 env --default-signal=INT "$RUN" -n 2 --stats \
        --trace "$folder/trace.json" "$folder/program" "$1" >"$folder/out" 2>"$folder/err" &
    job=$!
    [ "$1" = sleeps ] || return
    await "$folder/out" ready
    sleep 0.2
    run=$(pgrep -P "$job" -f "$RUN" | head -n 1)
    program=$(pgrep -P "$run" -f "^$folder/program")
}

# ended HOW STATUS KERNELS TABLE IN-ORDER: kernels of the first region, those that failed, those that are
# not over; lines and counts of the table.
ended() {
    wait "$job"
    check "$1: status" "$?" "$2"
    check "$1: sound" "$(jq -r -f "$SOURCE_DIR/tests/tools/trace.jq" "$folder/trace.json" 2>&1)" ''
    check "$1: nothing beside it" "$(find "$folder" -name '*.part*')" ''
    [ -z "$3" ] || check "$1: kernels" "$(jq -r '[.traceEvents[] | select(.cat == "kernel")]
        | "\(map(select(.name == "program.c:12")) | length) \(map(select(.args.failed)) | length) \(
        map(select(.args.unended)) | length)"' "$folder/trace.json")" "$3"
    check "$1: regions of the table" "$(sed -nE 's/^omprma: +program.c:([0-9]+) +0 +([0-9]+) .*/\1 \2/p' "$folder/err" |
        sort -n | paste -sd,)" "$4"
    check "$1: the same in JSON" "$(jq -r '[.regions[] | select(.kernel)] | sort_by(.region) | .[] |
        "\(.region | split(":")[1]) \(.count)"' "$folder/stats.json" | paste -sd,)" "$4"
    check "$1: in order" "$(jq .ended_in_order "$folder/stats.json")" "$5"
}

begin ''
ended 'a usual run' 0 '20 0 0' '12 20,18 1' true
check 'bytes' "$(jq -c '.regions[] | select(.region == "program.c:12") | [.bytes_to, .bytes_back]' "$folder/stats.json")" '[80,80]'
check 'times' "$(jq '.regions[] | select(.region == "program.c:12") | .total_us >= .max_us and .max_us >= .mean_us
    and .mean_us > 0 and .waited_us <= .total_us' "$folder/stats.json")" true
check 'details are for -v' "$(grep -c 'in the message:\|choices by size' "$folder/err")" 0
begin killed
ended 'kill -9' 137 '20 0 0' '12 20' false
begin crashes
ended 'a crash in a kernel' 134 '20 1 0' '12 20,18 1' false
begin sleeps
kill -INT "$program" "$run"
ended 'Ctrl-C' 130 '20 0 1' '12 20,18 1' false
begin sleeps
kill -TERM "$run"
ended 'SIGTERM' 143 '20 0 1' '12 20,18 1' false
begin sleeps
kill -9 "$(descendants "$run" | xargs ps -o pid=,comm= -p | awk '/omprma-worker/ { print $1; exit }')"
ended 'a lost worker' 125 '' '12 20,18 1' false

"$RUN" -n 1 -v --stats "$folder/program" >"$folder/out" 2>"$folder/err"
check 'with -v' "$(grep -c 'in the message:\|choices by size' "$folder/err")" 2
# At a terminal tables lose columns rather than lines.
if command -v script >/dev/null; then
    for width in 80 60; do
        script -qefc "stty cols $width && $(printf '%q ' "$RUN" -n 1 --stats "$folder/program")" /dev/null </dev/null |
            tr -d '\r' >"$folder/out"
        check "$width columns" "$(grep -c '^omprma:   program.c:12' "$folder/out") $(awk -v most="$width" '/^omprma:  / && length > most' \
            "$folder/out" | wc -l)" '1 0'
    done
fi
"$RUN" -n 1 "--stats=$folder/only.json" "$folder/program" >"$folder/out" 2>"$folder/err"
check 'to a file' "$? $(grep -c region "$folder/err") $(jq -r '.devices[0].launches' "$folder/only.json")" '0 0 21'
# Data that comes back behind a kernel is that region's in each mode, and the kernel's time is none of the data's.
cat >"$folder/back.c" <<'EOF'
#include <unistd.h>
static char a[1 << 20], b[1 << 20];
int main(void)
{
    for (int i = 0; i < 3; i++) {
#pragma omp target map(to : a) map(from : b)
        b[0] = a[0] + (char)usleep(200000);
    }
}
EOF
"$llvm/bin/clang" -g -w -O1 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" -Wl,-rpath,"$llvm/lib" \
    "$folder/back.c" -o "$folder/back" || exit 1
for mode in one-sided two-sided; do
    [ "$mode" = one-sided ] && timed=true || timed=false
    timeout 60 "$RUN" -n 1 --data "$mode" "--stats=$folder/back.json" "$folder/back" 2>"$folder/err"
    check "$mode: bytes of the region" "$(jq -c '.regions[] | select(.kernel) | [.count, .bytes_to, .bytes_back]' \
        "$folder/back.json")" '[3,3145728,3145728]'
    # Three kernels of 200 ms, for which the program waits.
    check "$mode: kernels, data and waiting apart" "$(jq -c '.regions[] | select(.kernel) | .kernel_us >= 600000,
        .waited_us >= 500000, .data_us < .kernel_us and .data_us < .total_us, .median_us >= 180000, .under_way_us >= .kernel_us' \
        "$folder/back.json" | sort | uniq -c | xargs)" '5 true'
    check "$mode: of the device" "$(jq '.devices[0].kernel_us >= 600000' "$folder/back.json")" true
    check "$mode: bytes that are timed" "$(jq -c '.devices[0].paths[] | select(.bytes >= 3145728) |
        [.op, .timed_bytes >= 3145728]' "$folder/back.json" | paste -sd' ')" "[\"submit\",true] [\"retrieve\",$timed]"
done
timeout 60 "$RUN" -n 1 "--stats=$folder/back.csv" "$folder/back" 2>"$folder/err"
check 'as CSV' "$(head -1 "$folder/back.csv" | cut -d, -f1-5) $(awk -F, '{ print NF }' "$folder/back.csv" | sort -u) $(
    grep -c '^"back.c:6",".*back.c",0,3,0,0,[0-9.]*,' "$folder/back.csv")" 'region,kernel,source,device,count 17 1'

# omprma-run reads what the first program has done; a later one of a script reads that itself.
# shellcheck disable=SC2016 # the script's
"$RUN" -n 1 "--stats=$folder/run.json" --trace "$folder/time.json.gz" -- sh -c '"$0" && "$0"' "$folder/program" \
    >"$folder/out" 2>"$folder/err"
check 'two programs of a script' "$? $(wc -l <"$folder/err")" '0 0'
for file in "$folder"/run*.json; do
    jq -c '[(.regions | map([.region, .count]) | sort), [.devices[].paths[] | .op, .path, .operations]]' "$file"
done >"$folder/each"
check 'two programs: files, and what is the same' "$(wc -l <"$folder/each") $(sort -u "$folder/each" | wc -l)" '2 1'
for file in "$folder"/time*.json.gz; do
    gzip -dc "$file" | jq -r -f "$SOURCE_DIR/tests/tools/trace.jq"
    gzip -dc "$file" | jq '[.traceEvents[] | select(.cat == "kernel")] | length'
done >"$folder/each" 2>&1
check 'two programs: timelines' "$(xargs <"$folder/each")" '21 21'
out=$("$RUN" -n 1 --stats=/no/folder/x "$folder/program" 2>&1)
check 'a file that cannot be made' "$? $out" \
    '125 omprma: error: --stats: cannot write /no/folder/x: No such file or directory'
finish
