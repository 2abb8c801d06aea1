#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Crashes in target regions, as a user sees them: the place in the source, the functions called,
# what the address is; with and without debug information, C, C++ and Fortran.
set -u
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"

cat >"$folder/null.c" <<'C'
#pragma omp declare target
__attribute__((noinline)) void store(int *where, int value)
{
    *where = value + 1;
}
__attribute__((noinline)) int deeper(int *where, int value)
{
    store(where, value);
    return value;
}
#pragma omp end declare target
int main(void)
{
    int sum = 0;
#pragma omp target map(tofrom : sum)
    sum += deeper((int *)16, 3);
    return sum;
}
C
cat >"$folder/host.c" <<'C'
#include <stdlib.h>
struct holder {
    int n;
    double *data;
};
int main(int count, char **words)
{
    double *data = malloc(8000 * sizeof(double)), got = 0;
    struct holder holder = {1000, data};
    if (count > 1) {
#pragma omp target enter data map(to : data[0:1000]) device(words[1][0] - '0')
    }
#pragma omp target map(to : holder) map(from : got)
    got = holder.data[3];
    return (int)got;
}
C
cat >"$folder/shapes.cc" <<'C'
#pragma omp declare target
namespace shapes {
template <typename T> struct box {
    T *corner;
    __attribute__((noinline)) T area(int which) const { return corner[which] * 2; }
};
}
#pragma omp end declare target
template <typename T> T run(T seed)
{
#pragma omp target map(tofrom : seed)
    seed += shapes::box<T>{(T *)8}.area(4);
    return seed;
}
int main() { return (int)run(2.5); }
C
cat >"$folder/form.f90" <<'F'
program form
  implicit none
  integer :: values(4)
  integer, pointer :: none(:)
  values = 1
  nullify(none)
  !$omp target map(tofrom: values)
  values(2) = none(1)
  !$omp end target
  print *, values
end program
F

# crashes WHAT PATTERN COMMAND...: it ends with a status and says a line like that.
crashes() {
    local what=$1 pattern=$2
    shift 2
    timeout 60 "$RUN" "$@" >"$folder/out" 2>&1 && check "$what" "status 0" "a failure"
    grep -qE -- "$pattern" "$folder/out" && return
    check "$what" "$(cat "$folder/out")" "$pattern"
}

found=''
for version in 14 19 22; do
    llvm=$SOURCE_DIR/build/toolchains/llvm-$version
    [ -x "$llvm/bin/clang" ] || continue
    found=yes
    export LD_LIBRARY_PATH=$llvm/lib
    build() { # SOURCE OPTION...
        local driver=clang
        [[ $1 == *.cc ]] && driver=clang++
        "$llvm/bin/$driver" "${@:2}" -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu \
            -L"$llvm/lib" "$folder/$1" -o "$folder/program"
    }
    for level in -O0 -O2; do
        build null.c -g $level || exit 1
        crashes "C $version -g $level" \
            'kernel main:15 crashed at null.c:4: .*address 0x10 .*writing\): that is a null pointer' \
            -n 1 "$folder/program"
        check "$version $level, frames" \
            "$(grep -cE '#[0-9] (store at null.c:4|main:15 at null.c:16)$' "$folder/out")" 2
    done
    build null.c -O2 || exit 1
    crashes "C $version -O2" 'kernel main:15 crashed: .*address 0x10' -n 1 "$folder/program"
    build shapes.cc -g -O1 || exit 1
    crashes "C++ $version" \
        'kernel double run<double>\(double\):[0-9]+ crashed at shapes.cc:5: .*reading' \
        -vv -n 1 "$folder/program"
    check "C++ $version, frames" \
        "$(grep -c '#0 shapes::box<double>::area(int) const at shapes.cc:5$' "$folder/out")" 1
    check "C++ $version, registers" "$(grep -c 'registers where it crashed: rax=0x' "$folder/out")" 1
    build host.c -g || exit 1
    crashes "host pointer $version" 'crashed at host.c:1[34]: .*that is a host pointer \(heap of the program\), which is not mapped: map what' \
        -n 1 "$folder/program"
    crashes "$version, mapped here" 'host pointer .*inside "data.*" \(8000 bytes\), which is mapped here' \
        -n 2 "$folder/program" 0
    crashes "$version, mapped elsewhere" \
        'host pointer .*inside "data.*" \(8000 bytes\), which is mapped on device 1' \
        -n 2 "$folder/program" 1
done

flang=$SOURCE_DIR/build/toolchains/flang-22/bin/flang
if [ -x "$flang" ] && [ -x "$llvm/bin/clang" ]; then
    "$flang" -g -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" \
        -Xoffload-linker "$BUILD_DIR/lib/libomprma-device.a" \
        "$folder/form.f90" -o "$folder/program" && \
        crashes "Fortran" 'kernel main program:7 crashed.*: .*null pointer' -n 1 "$folder/program"
fi
[ "$found" ] || exit 77
finish
