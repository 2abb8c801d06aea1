#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Commands in front of the program, by which it is started: they work as they do without omprma-run.
# shellcheck disable=SC2015,SC2094 # text for other programs; A && B || C reports
set -u
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
find_llvm || exit 77
export LD_LIBRARY_PATH=$llvm/lib
cd "$folder" || exit 1
cat >app.c <<'C'
#include <stdio.h>
int main(int count, char **words)
{
    int x = 1;
#pragma omp target map(tofrom : x)
    x += 41;
    printf("x %d of %d %s\n", x, count - 1, count > 1 ? words[1] : "");
    return count - 1;
}
C
"$llvm/bin/clang" -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" app.c -o app || exit 1
printf '#!/bin/sh\nexec ./app\n' >script
chmod +x script

# starts STATUS WORD...: the program prints its line and what the command returns comes back.
starts() {
    local wanted=$1
    shift
    type -P "$1" >/dev/null || { echo "no $1" && return; }
    local plain=("$@") i
    for i in "${!plain[@]}"; do
        [[ ${plain[i]} != ./app && ${plain[i]} != ./script ]] || plain[i]=true
    done
    timeout 60 "${plain[@]}" >out 2>err </dev/null || { echo "$1 does not work here: $(head -n 1 err)" && return; }
    timeout 120 "$RUN" -n 1 "$@" >out 2>err </dev/null
    local got=$?
    check "status of $*" "$got" "$wanted"
    [ "$got" = "$wanted" ] || cat err
    grep -q '^x 42' out || check "$*" "$(cat out err)" 'x 42'
}
starts 0 env X=1 ./app
starts 1 env X=1 ./app 'a b'
grep -qxF 'x 42 of 1 a b' out || check 'its words' "$(cat out)" 'x 42 of 1 a b'
starts 0 env nice -n 1 timeout 60 ./app
starts 0 env PATH="$PWD:$PATH" ./app
starts 0 timeout 60 ./script
starts 0 env bash -c ./app
starts 0 time ./app
starts 0 taskset -c 0 ./app
starts 0 stdbuf -oL ./app
starts 0 setsid -w ./app
starts 0 numactl -N 0 ./app
starts 0 strace -f -o trace ./app
starts 0 gdb --batch -ex run --args ./app
starts 0 valgrind -q ./app
starts 0 hyperfine -N -r 1 --show-output ./app
! perf record -q -e cpu-clock -o perf.test true >/dev/null 2>&1 || starts 0 perf record -q -e cpu-clock -o perf.data ./app

# What is no offloading program is refused, whatever starts it.
out=$(timeout 60 "$RUN" -n 1 env X=1 /bin/ls 2>&1) && check 'env ls' 'status 0' 'a failure'
grep -q 'env is not compiled for offloading .*no program among its arguments is' <<<"$out" || check 'env ls' "$out" ''
grep -q 'starts ./app, so what that needs is prepared' <(timeout 60 "$RUN" -v -n 1 nice ./app 2>&1) ||
    check 'it is said' "$(timeout 60 "$RUN" -v -n 1 nice ./app 2>&1)" 'starts ./app'
finish
