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
cat >"$folder/wrong.c" <<'C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static double square(double x) { return x * x; }
int main(int count, char **words)
{
    double *a = calloc(100, sizeof(double)), (*function)(double) = square;
    FILE *own = fopen("/dev/null", "w");
    omp_lock_t lock;
    switch (words[1][0]) {
    case '0':
#pragma omp target map(tofrom : a[0 : 100])
        a[100000000 + count] = 1;
        break;
    case '1':
#pragma omp target map(tofrom : a[0 : 100]) firstprivate(function)
        a[0] = function(3);
        break;
    case '2':
#pragma omp target map(to : own)
        fprintf(own, "%d", count);
        break;
    case '3':
        omp_init_lock(&lock);
#pragma omp target map(to : lock)
        omp_set_lock(&lock);
        break;
    }
    return 0;
}
C
cat >"$folder/throws.cc" <<'C'
int main(int count, char **)
{
#pragma omp target map(to : count)
    throw count;
}
C
cat >"$folder/objects.cc" <<'C'
#include <cassert>
#include <cstdlib>
#include <omp.h>
#include <string>
struct shape {
    virtual int sides() { return 0; }
    virtual ~shape() {}
};
struct square : shape {
    int sides() override { return 4; }
};
int main(int count, char **words)
{
    int got = 0, length = -count;
    double **rows = (double **)calloc(4, sizeof(double *)), *row = (double *)calloc(4, sizeof(double));
    std::string text = "longer than what a string holds by itself, so on the heap";
    square object;
    shape *any = &object;
    long hidden[4] = {0, (long)row}; /* other.cc has one of that name, which the region does not see */
    for (int i = 0; i < 4; i++)
        rows[i] = row;
    switch (words[1][0]) {
    case '0':
#pragma omp target map(tofrom : rows[0 : 4])
        rows[2][1] = 3;
        break;
    case '1':
#pragma omp target map(tofrom : got) map(to : text)
        got = text[count];
        break;
    case '2':
#pragma omp target map(tofrom : got) map(to : any[0 : 1])
        got = any->sides();
        break;
    case '3':
#pragma omp target map(tofrom : row[0 : length])
        row[1] = 3;
        break;
    case '4':
        free(omp_target_alloc(80, 0));
        break;
    case '5':
#pragma omp target map(tofrom : got)
        assert(got == count);
        break;
    case '6':
#pragma omp target map(tofrom : got) map(to : hidden)
        got = *(double *)hidden[1];
        break;
    }
    return got;
}
C
cat >"$folder/other.cc" <<'C'
struct tree {
    struct {
        tree *left, *right;
    } link;
};
extern "C" bool has_right(tree *hidden) { return hidden->link.right; }
C
echo 'int helper(int x) { return x; }' >"$folder/helper.c"
cat >"$folder/lacks.c" <<'C'
int helper(int x);
int main(int count, char **words)
{
#pragma omp target map(tofrom : count)
    count = helper(count);
    return count;
}
C
cat >"$folder/plain.c" <<'C'
int main(int count, char **words)
{
#pragma omp target map(tofrom : count)
    count = words != 0;
    return count;
}
C
cat >"$folder/deep.c" <<'C'
#pragma omp declare target
int deep(int n)
{
    volatile char bytes[1000];
    bytes[0] = (char)n;
    return n ? deep(n - 1) + bytes[0] : 0;
}
#pragma omp end declare target
int main(int count, char **words)
{
    (void)words;
#pragma omp target teams distribute parallel for map(tofrom : count)
    for (int i = 0; i < 8; i++)
        count += deep(100000000);
    return count;
}
C
cat >"$folder/sends.c" <<'C'
#include <signal.h>
int main(int count, char **words)
{
    (void)words;
#pragma omp target map(tofrom : count)
    count = raise(SIGTERM);
    return count;
}
C
cat >"$folder/last.c" <<'C'
#include <pthread.h>
#include <unistd.h>
static void *compute(void *unused)
{
    int got = 0;
#pragma omp target map(tofrom : got)
    got = 1;
    if (write(1, "computed\n", 9) != 9)
        got = 0;
    return got ? unused : 0;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, compute, 0);
    pthread_exit(0);
}
C
cat >"$folder/maps.c" <<'C'
#include <stdlib.h>
struct inner {
    int k;
    double *w;
};
struct holder {
    int n;
    double *data;
    struct inner in;
};
int main(int count, char **words)
{
    double *p = malloc(8000 * sizeof(double)), *q = malloc(8000 * sizeof(double)), got = 0;
    struct holder x = {1000, p, {1, q}}, *many = calloc(10, sizeof(*many));
    many[4] = x;
    switch (count > 1 ? words[1][0] : '0') {
    case '0':
#pragma omp target map(from : got)
        got = p[3];
        break;
    case '1':
#pragma omp target map(to : x) map(from : got)
        got = x.data[3];
        break;
    case '2':
#pragma omp target map(to : x) map(from : got)
        got = x.in.w[3];
        break;
    case '3':
#pragma omp target map(to : many[0 : 10]) map(from : got)
        got = many[4].in.w[3];
        break;
    case '4':
#pragma omp target firstprivate(q) map(from : got)
        got = q[3];
        break;
    case '5':
#pragma omp target nowait map(to : x) map(from : got)
        got = x.data[3];
#pragma omp taskwait
    }
    return (int)got;
}
C
cat >"$folder/maps.cc" <<'C'
#include <vector>
struct other {
    int *a, *wrong;
    __attribute__((noinline)) int sum() const { return *a + *wrong; }
};
struct grid {
    int n;
    double *v;
    __attribute__((noinline)) void alone()
    {
#pragma omp target
        v[1] = n;
    }
    __attribute__((noinline)) void all()
    {
#pragma omp target map(tofrom : this[0 : 1])
        v[1] = n;
    }
};
int main(int count, char **)
{
    int one = 1;
    grid grid{3, new double[5000]};
    std::vector<double> vector(1000);
    if (other{&one, &one}.sum() == count)
        grid.alone();
    else if (count == 1)
        grid.all();
    else {
#pragma omp target map(tofrom : vector)
        vector[3] = 1;
    }
    return (int)vector[3];
}
C
cat >"$folder/maps.f90" <<'F'
program maps
  implicit none
  type holder
    integer :: n
    real(8), pointer :: w(:)
  end type
  type(holder) :: many(3)
  real(8) :: got
  allocate(many(2)%w(1000))
  many(2)%w = 2
  !$omp target map(from: got) map(to: many)
  got = many(2)%w(5)
  !$omp end target
  print *, got
end program
F
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
    crashes "host pointer $version" 'crashed at host.c:1[34]: .*that is a host pointer \(heap of the program\), to which "holder.data" points, and which is not mapped: add map\(tofrom: holder.data\[0:n\]\)' \
        -n 1 "$folder/program"
    crashes "$version, mapped here" 'host pointer .*inside "data.*" \(8000 bytes\), which is mapped here' \
        -n 2 "$folder/program" 0
    crashes "$version, mapped elsewhere" \
        'host pointer .*inside "data.*" \(8000 bytes\), which is mapped on device 1' \
        -n 2 "$folder/program" 1
    [ "$version" != 19 ] || continue # as 14 and 22
    build maps.c -g -O1 || exit 1
    pointers=(p x.data x.in.w 'many\[i\].in.w|many->in.w' q x.data)
    for i in "${!pointers[@]}"; do
        crashes "map clause of ${pointers[i]} $version" \
            "to which \"(${pointers[i]})\" points, and which is not mapped: add map\(tofrom: (${pointers[i]})\[0:n\]\)" \
            -n 1 "$folder/program" "$i"
    done
    build wrong.c -g -O1 || exit 1
    crashes "far beyond the end, $version" 'that is 8000000[0-9]* bytes behind the begin of "a\[0 ?: ?100\]" \(800 bytes\): is an index out' \
        -n 1 "$folder/program" 0
    crashes "a function of the program, $version" 'jumping there\): .*\(code of program\): functions .* take its address in the region$' \
        -n 1 "$folder/program" 1
    crashes "a FILE, $version" ', the FILE to which "own" points, and which regions cannot use: print to stdout' \
        -n 1 "$folder/program" 2
    crashes "a lock, $version" 'a lock that was initialized outside of the region is none there: use critical' \
        -n 1 "$folder/program" 3
    build wrong.c -O1 || exit 1
    crashes "a FILE without -g, $version" ', a FILE, which regions cannot use: .*; compile with -g to see the line$' \
        -n 1 "$folder/program" 2
    build objects.cc -g -O1 "$folder/other.cc" || exit 1
    crashes "rows, $version" 'to which "rows\[i\]" points, .*: add map\(tofrom: rows\[i\]\[0:n\]\), for each i' \
        -n 1 "$folder/program" 0
    crashes "a string, $version" 'to which "text" points, .*take a pointer, p = text.data\(\)' -n 1 "$folder/program" 1
    crashes "a virtual function, $version" "the program's table of virtual functions, by \"any->_vptr.shape\": an object" \
        -n 1 "$folder/program" 2
    crashes "a length below zero, $version" 'to which "row" points, and of which "row\[0 ?: ?length\]" maps nothing: the length' \
        -n 1 "$folder/program" 3
    crashes "free() of device memory, $version" 'right in front of memory of device 0 \([^,]*\): is it freed by free\(\)\?' \
        -n 1 "$folder/program" 4
    crashes "a pointer without a name, $version" 'to which a pointer in "hidden" \(at byte 8\) leads' -n 1 "$folder/program" 6
    crashes "an assertion, $version" 'main:[0-9]* called abort at objects.cc:[0-9]+$' -n 1 "$folder/program" 5
    check "an assertion, $version, frames" "$(grep -cE 'note:   #0 ((__GI_)?_*assert_fail|abort) ' "$folder/out")" 1
    build throws.cc -g || exit 1
    crashes "an exception, $version" 'called abort at throws.cc:[0-9]+, by std::terminate\(\): did an exception leave the region' \
        -n 1 "$folder/program"
    build sends.c -g || exit 1
    crashes "a signal, $version" 'kernel main:5 raised SIGTERM at sends.c:6, which ends its process: handle it there' \
        -n 1 "$folder/program"
    build sends.c || exit 1
    crashes "a signal without -g, $version" 'raised SIGTERM, which .*; compile with -g to see the line$' -n 1 "$folder/program"
    build deep.c -g || exit 1
    crashes "a thread's stack, $version" 'kernel main:12 crashed at deep.c:[0-9]*: .*, stack overflow .* for threads OMP_STACKSIZE' \
        -n 1 "$folder/program"
    build last.c -pthread || exit 1
    check "a thread ends last, $version" "$(timeout 60 "$RUN" -n 1 --transport direct "$folder/program" 2>&1) $?" 'computed 0'
    if [ "$version" = 14 ]; then # 22 does not link it
        build lacks.c -g "$folder/helper.c" || exit 1
        crashes 'a function of the host alone' "undefined symbol: helper; if the program defines it, put it between 'declare" \
            -n 1 "$folder/program"
        printf '#include <omp.h>\nint main(void)\n{\n    void *p = 0;\n#pragma omp target map(from : p)\n%s\n%s\n}\n' \
            '    p = omp_target_alloc(8, 0);' '    return !p;' >"$folder/hosts.c"
        build hosts.c || exit 1
        crashes "OpenMP's function of the host" 'undefined symbol: omp_target_alloc; regions have no such function: call' \
            -n 1 "$folder/program"
        # As README has it, for those who forget omprma-run, and do not.
        build plain.c || exit 1
        sure() { # COMMAND...
            OMP_TARGET_OFFLOAD=MANDATORY LD_LIBRARY_PATH=$BUILD_DIR/lib/omprma/runtime:$LD_LIBRARY_PATH timeout 60 "$@" 2>&1
            echo "$?"
        }
        check 'omprma-run is forgotten' "$(sure "$folder/program" | grep -cE '^omprma: error: no workers: start the program with omprma-run|^134$')" 2
        check 'and which construct' "$(sure "$folder/program" | grep -c 'there is no device for this: the program has no workers')" 1
        check 'and is not' "$(sure "$RUN" -n 1 "$folder/program")" 1
        "$llvm/bin/clang" -shared -fPIC "$folder/helper.c" -o "$folder/libhelper.so"
        build lacks.c -L"$folder" -lhelper "-Wl,-rpath,\$ORIGIN" || exit 1
        check 'a library beside the program' "$(cd / && timeout 60 "$RUN" -n 1 "$folder/program"; echo $?)" 1
    fi
    build maps.c -O1 || exit 1
    crashes "map clause without -g $version" 'which is not mapped: map what the pointer points to, as in map\(tofrom: p\[0:n\]\)' \
        -n 1 "$folder/program" 0
    build maps.cc -g -O1 -w || exit 1
    for words in '' 'two'; do
        crashes "a member of this, $version" 'to which "this->v" points, .*: add map\(tofrom: this->v\[0:n\]\)' \
            -n 1 "$folder/program" $words
    done
    crashes "a container, $version" 'to which "vector" points, .*take a pointer, p = vector.data\(\), map\(tofrom: p\[0:n\]\)' \
        -n 1 "$folder/program" two three
done

flang=$SOURCE_DIR/build/toolchains/flang-22/bin/flang
if [ -x "$flang" ] && [ -x "$llvm/bin/clang" ]; then
    "$flang" -g -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" \
        -Xoffload-linker "$BUILD_DIR/lib/libomprma-device.a" \
        "$folder/form.f90" -o "$folder/program" && \
        crashes "Fortran" 'kernel main program:7 crashed.*: .*null pointer' -n 1 "$folder/program"
    "$flang" -g -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" \
        -Xoffload-linker "$BUILD_DIR/lib/libomprma-device.a" \
        "$folder/maps.f90" -o "$folder/program" && \
        crashes "map clause, Fortran" 'to which "many\(i\)%w" points, .*: add map\(tofrom: many\(i\)%w\)$' -n 1 "$folder/program"
fi
[ "$found" ] || exit 77
finish
