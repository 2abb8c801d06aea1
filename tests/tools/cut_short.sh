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
"$RUN" -n 1 "--stats=$folder/only.json" "$folder/program" >"$folder/out" 2>"$folder/err"
check 'to a file' "$? $(grep -c region "$folder/err") $(jq -r '.devices[0].launches' "$folder/only.json")" '0 0 21'
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
