#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# omprma-run --versus: the program runs in both modes in turns, its output is there once, a table has a row for each
# construct, and no winner is named within the noise; the first run that fails is the last, and its status is
# returned.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
find_llvm || exit 77
[ -z "$SANITIZE" ] || { echo 'skipped: images of clang 14 and sanitizers do not mix' && exit 77; }
export OMPRMA_MEMORY=64M

cat >"$folder/program.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
static char a[1 << 20];
int main(int count, char **words)
{
    char line[8] = "";
    int x = count;
    FILE *log = fopen(getenv("MODES"), "a");
    fprintf(log, "%s\n", getenv("OMPRMA_DATA"));
    fclose(log);
    for (int i = 0; i < 4; i++) {
#pragma omp target map(tofrom : a)
        a[i]++;
#pragma omp target map(tofrom : x)
        x++;
    }
    printf("%d %s\n", x, fgets(line, sizeof(line), stdin) ? line : "none");
    return count > 1 ? atoi(words[1]) : 0;
}
C
"$llvm/bin/clang" -g -O1 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" \
    -Wl,-rpath,"$llvm/lib" "$folder/program.c" -o "$folder/program" || exit 1
export MODES=$folder/modes TMPDIR=$folder/temporary
mkdir "$TMPDIR"

for transport in mpi direct; do
    rm -f "$MODES"
    printf 'in' | timeout 100 "$RUN" -n 2 --transport "$transport" --versus "$folder/program" >"$folder/out" 2>"$folder/err"
    check "$transport: status" $? 0
    check "$transport: the program's output once" "$(cat "$folder/out")" '5 in'
    check "$transport: in turns" "$(xargs <"$MODES")" 'one-sided two-sided one-sided two-sided'
    for line in 12 14; do
        check "$transport: line $line" "$(grep -cE "^omprma:   program.c:$line +4 +[0-9.]+ +[0-9.]+ " "$folder/err")" 1
    done
    check "$transport: words" "$(grep -cE '^omprma: all regions: one-sided .* s, two-sided .* s: (alike|within|too short|(one|two)-sided is)' \
        "$folder/err")" 1
    check "$transport: how data travelled" "$(grep -cE '^omprma: (one-sided: rma|two-sided: two-sided) as asked' "$folder/err")" 2
done
[ ! -s "$folder/err" ] || ! command -v script >/dev/null || for width in 80 50; do
    script -qefc "stty cols $width && $(printf '%q ' "$RUN" --transport direct --versus "$folder/program")" /dev/null \
        </dev/null | tr -d '\r' >"$folder/out"
    check "$width columns" "$(awk -v most="$width" '/^omprma:   / && length > most' "$folder/out" | wc -l)" 0
done

# Each run sleeps in its regions for the time that is next in a list. The longer turn of a mode against its shorter one
# is the noise.
cat >"$folder/sleeper.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int count, char **words)
{
    int run = 1, c;
    FILE *log = fopen(getenv("MODES"), "a+");
    rewind(log);
    while ((c = fgetc(log)) != EOF)
        run++;
    fputc('r', log);
    fclose(log);
    int us = run < count ? 1000 * atoi(words[run]) : 0;
    for (int i = 0; i < 3; i++) {
#pragma omp target map(to : us)
        usleep(us);
    }
    return 0;
}
C
"$llvm/bin/clang" -g -O1 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" \
    -Wl,-rpath,"$llvm/lib" "$folder/sleeper.c" -o "$folder/sleeper" || exit 1
words_of() { # MS...: what is said of runs that take so long
    rm -f "$MODES"
    timeout 60 "$RUN" --transport direct --versus "$folder/sleeper" "$@" 2>&1 </dev/null | grep -A1 'all regions'
}
check 'noise' "$(words_of 40 60 900 60 | grep -cE 'within the noise$|turns of the same mode differ [0-9.]+ times, so no')" 2
check 'more than noise' "$(words_of 700 40 700 40 | grep -cE 'two-sided is [0-9.]+ times faster')" 1
check 'nothing to compare' "$(words_of 0 0 0 0 | grep -cE 'too short to compare|alike|within the noise|times faster')" 1

rm -f "$MODES"
timeout 60 "$RUN" --transport direct --versus "$folder/program" 3 </dev/null >"$folder/out" 2>"$folder/err"
check 'a program that fails' "$? $(cat "$folder/err")" \
    '3 omprma: error: --versus: the one-sided run did not end with status 0, so nothing is compared'
check 'is not run again' "$(xargs <"$MODES")" 'one-sided'
for option in --data=rma --stats --stats=x --trace=x; do
    timeout 60 "$RUN" "$option" --versus "$folder/program" >"$folder/out" 2>"$folder/err"
    check "with $option" "$? $(grep -c "leave out ${option%%=*}$" "$folder/err")" '125 1'
done
check 'nothing is left' "$(ls "$TMPDIR")" ''
finish
