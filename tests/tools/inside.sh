#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Workers that are started by another command: which ones, with what in its words; target code that is kept;
# a worker that a debugger holds; gdb and perf in a kernel; streams of the program in a kernel.
# shellcheck disable=SC2016,SC2015,SC2094 # text for other programs; A && B || C reports
set -u
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
find_llvm || exit 77
export LD_LIBRARY_PATH=$llvm/lib OMPRMA_BIND=0
cd "$folder" || exit 1

build() { # SOURCE PROGRAM
    "$llvm/bin/clang" -g -O1 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" "$1" -o "$2" || exit 1
}
cat >small.c <<'C'
#include <omp.h>
#include <stdio.h>
int main(void)
{
    int sum = 0;
    for (int device = 0; device < omp_get_num_devices(); device++) {
        int part = 0;
#pragma omp target device(device) map(tofrom : part)
        part = part + 7;
        sum += part;
    }
    printf("sum %d\n", sum);
    return 0;
}
C
cat >streams.c <<'C'
#include <stdio.h>
int main(void)
{
    FILE *own = stderr;
#pragma omp target
    {
        fprintf(stderr, "one\n");
        fprintf(own, "two\n");
        fputs("three\n", stdout);
        fflush(stdout);
    }
    fprintf(stderr, "four\n");
    return 0;
}
C
build small.c small
build streams.c streams

# ---- which workers, and with what ----------------------------------------------------------------

cat >note <<'S'
#!/bin/sh
echo "$1:$2" >>noted
shift 2
exec "$@"
S
chmod +x note
# noted WANTED OPTION...
noted() {
    local wanted=$1
    shift
    rm -f noted
    check "$* runs" "$(timeout 60 "$RUN" -n 3 "$@" ./small 2>&1)" 'sum 21'
    check "$*" "$(sort noted 2>/dev/null | tr '\n' ' ')" "$wanted"
}
host=$(hostname | cut -d. -f1)
noted "a 0:b 0 a 1:b 1 a 2:b 2 " --wrap "./note 'a {worker}' \"b {worker}\""
noted "1:$host 2:$host " --wrap './note {worker} {host}' --wrap-workers 1-2
noted '0:x 2:x ' --wrap './note {worker} x' --wrap-workers 0,2
OMPRMA_WRAP='./note {worker} x' noted '0:x 1:x 2:x '

# fails PATTERN OPTION...: before anything runs, in one line.
fails() {
    local out
    out=$(timeout 60 "$RUN" "${@:2}" ./small 2>&1) && check "${*:2}" 0 'a failure'
    grep -qE -- "$1" <<<"$out" && [ "$(wc -l <<<"$out")" = 1 ] || check "${*:2}" "$out" "$1"
}
fails 'a quote is not closed' --wrap "gdb 'x"
fails 'cannot find the program "nosuch"' --wrap 'nosuch {worker}'
fails '--wrap-workers: 1- cannot be used' --wrap-workers 1-
fails '--wrap-workers 7: workers are 0 to 2' -n 3 --wrap ./note --wrap-workers 7
fails '--wrap-workers 7: the only worker is 0' -n 1 --wrap ./note --wrap-workers 7
check 'a list without a command' "$(timeout 60 "$RUN" -n 1 --wrap-workers 0 ./small 2>&1 >small.out)" \
    'omprma: warning: --wrap-workers 0 has no effect without --wrap'

# ---- target code as files ------------------------------------------------------------------------

timeout 60 "$RUN" -n 2 --debug ./small >out 2>&1
check 'kept' "$(find omprma-images -name 'image-*.so' | wc -l)" 1
before=$(ls -i omprma-images)
timeout 60 "$RUN" -n 2 --debug ./small >out 2>&1
check 'kept twice' "$(ls -i omprma-images)" "$before"
OMPRMA_KEEP_IMAGES=two timeout 60 "$RUN" -n 1 --devices-per-worker 2 ./small >out 2>&1
check 'two devices of one worker' "$(cat out) $(find two -name '*.so' | wc -l)" 'sum 14 2'
OMPRMA_KEEP_IMAGES=/proc/no timeout 60 "$RUN" -n 1 ./small >out 2>&1
grep -q 'OMPRMA_KEEP_IMAGES: images cannot be kept in /proc/no: ' out || check 'a folder that cannot be' "$(cat out)" ''
(cd /proc && timeout 60 "$RUN" -n 1 --debug "$OLDPWD/small") >out 2>&1
grep -q 'error: .*--debug: images cannot be kept in omprma-images: ' out || check 'the same by --debug' "$(cat out)" ''

# ---- streams -------------------------------------------------------------------------------------

timeout 60 "$RUN" -n 1 ./streams >out 2>err
check 'streams' "$(cat out) $(tr '\n' ' ' <err)" 'three one two four '

# ---- debuggers and profilers ---------------------------------------------------------------------

if command -v gdb >/dev/null; then
    timeout 120 "$RUN" -n 2 --wrap-workers 1 --wrap "gdb --batch -ex 'set breakpoint pending on' \
        -ex 'break small.c:9' -ex run -ex 'print part' -ex bt -ex delete -ex continue --args" ./small >out 2>&1
    grep -qE 'hit Breakpoint 1.* at small.c:9' out && grep -qE '^\$1 = (.*: )?0$' out && grep -q 'sum 14' out ||
        check 'gdb in a kernel' "$(cat out)" 'Breakpoint 1 at small.c:9, $1 = 0, sum 14'

    # Held for longer than any limit.
    cat >hold.c <<'C'
#include <stdio.h>
int main(void)
{
    int x = 0;
    fputs("ready\n", stderr);
    while (getchar() != EOF)
        ;
    for (int i = 0; i < 3; i++) {
#pragma omp target map(tofrom : x)
        x++;
    }
    printf("x %d\n", x);
}
C
    build hold.c hold
    mkfifo go
    printf '#!/bin/sh\necho $$ >worker\nexec "$@"\n' >noted_pid && chmod +x noted_pid
    OMPRMA_TIMEOUT=1 timeout 60 "$RUN" -n 1 --wrap ./noted_pid ./hold <go >out 2>err &
    run=$!
    exec 9>go
    for _ in $(seq 100); do grep -qs ready err && [ -s worker ] && break; sleep 0.1; done
    gdb -q --batch -p "$(cat worker)" -ex 'shell touch held; sleep 4' -ex detach >gdb.out 2>&1 &
    for _ in $(seq 100); do [ -e held ] && break; sleep 0.1; done
    exec 9>&-
    wait $run
    check 'status of a worker that was held' "$? $(cat out)" '0 x 3'
else
    echo 'no gdb: kernels are not stopped in'
fi

if perf record -q -e cpu-clock -o perf.test true >out 2>&1; then
    cat >busy.c <<'C'
int main(void)
{
    double sum = 0;
#pragma omp target map(tofrom : sum)
    for (long i = 1; i < 100000000; i++)
        sum += 1.0 / (double)i;
    return sum < 1;
}
C
    build busy.c busy
    timeout 60 "$RUN" -n 1 --debug --wrap 'perf record -q -e cpu-clock -o perf.{worker}' ./busy >out 2>&1
    perf report -q -i perf.0 --stdio --sort symbol,srcline >report 2>&1
    grep -qE '__omp_offloading_[^ ]*main_l4 +busy.c:[56]' report || check 'perf of a kernel' "$(head -20 report)" 'main_l4 busy.c:6'
else
    echo 'no perf, or it may not: kernels are not profiled'
fi
finish
