#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck disable=SC2016 # its scripts are to expand that
# Programs that others start, with the newest LLVM here: by a script, whatever that and the program do with
# library paths, and by a program that has offloaded. They have workers, or a line says why they have none; their
# kernels have the program's libomp, and their tasks are put in order. And libraries with regions that
# come when libomp has started.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
[ -z "${SANITIZE:-}" ] || exit 77 # its libraries must come first in a program
find_llvm || exit 77
for version in 19 22 23; do
    toolchain=$(dirname "$llvm")/llvm-$version
    [ ! -x "$toolchain/bin/clang" ] || newest=$toolchain
done
llvm=${newest:-$llvm}
export OMPRMA_BIND=0 OMPRMA_MEMORY=64M
cd "$folder" || exit 1

cat >where.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static const char *libomp(void)
{
    Dl_info info;
    return dladdr(dlsym(RTLD_DEFAULT, "omp_get_num_threads"), &info) ? realpath(info.dli_fname, NULL) : "";
}
static int chain(void)
{
    int device = 0, host = omp_get_initial_device(), bad = 0, a[100], b[100] = {0};
    int *there = omp_target_alloc(sizeof(a), device);
    omp_depend_t d;
    for (int i = 0; i < 100; i++)
        a[i] = i;
#pragma omp depobj(d) depend(inout : a)
    omp_target_memcpy_async(there, a, sizeof(a), 0, 0, device, host, 1, &d);
#pragma omp target nowait depend(inout : a) is_device_ptr(there)
    for (int i = 0; i < 100; i++)
        there[i] += 5;
    omp_target_memcpy_async(b, there, sizeof(b), 0, 0, host, device, 1, &d);
#pragma omp taskwait
    for (int i = 0; i < 100; i++)
        bad += b[i] != i + 5;
    omp_target_free(there, device);
    return bad;
}
int main(int count, char **words)
{
    char theirs[1000];
    int there = 0;
#pragma omp target map(from : there, theirs)
    {
        there = getpid();
        Dl_info info;
        strcpy(theirs, dladdr((void *)omp_get_num_threads, &info) ? info.dli_fname : "");
    }
    const char *theirs_real = realpath(theirs, NULL);
    printf("%s %s %s\n", there == getpid() ? "here" : "worker",
           theirs_real && strcmp(theirs_real, libomp()) == 0 ? "same" : theirs, chain() ? "disorder" : "order");
    fflush(stdout);
    return count > 1 ? system(words[1]) != 0 : 0;
}
C
build() { # PROGRAM ARGUMENT...
    "$llvm/bin/clang" -w -O1 -fopenmp -fopenmp-version=51 -fopenmp-targets=x86_64-pc-linux-gnu "${@:2}" \
        where.c -o "$1" -ldl || exit 1
}
build where
build rpath -Wl,--disable-new-dtags "-Wl,-rpath,$llvm/lib"
build fixed -no-pie
script() { # NAME LINE...
    printf '%s\n' '#!/bin/sh' "${@:2}" >"$1"
    chmod +x "$1"
}
script plain ./where
script rpaths ./rpath
script fixeds ./fixed
script module "export LD_LIBRARY_PATH=$llvm/lib:\$LD_LIBRARY_PATH" ./where
script anew "LD_LIBRARY_PATH=$llvm/lib ./where"
script again "./where ./plain && ./rpath"
script make "printf 'all:\\n\\t@./rpath\\n' | make -f -"
# shellcheck disable=SC2016 # the script expands it
script preloads 'LD_PRELOAD=libm.so.6:$LD_PRELOAD ./rpath'
script loader '/lib64/ld-linux-x86-64.so.2 ./rpath'
script child 'LD_PRELOAD=libm.so.6:$LD_PRELOAD ./rpath "printenv LD_PRELOAD | grep -c ^libm.so.6:"'
script lost './where; LD_PRELOAD= ./rpath; echo $?; OMP_TARGET_OFFLOAD=default LD_PRELOAD= ./rpath'

good='worker same order'
for name in plain rpaths fixeds module anew make preloads loader; do
    for transport in auto direct; do
        check "$name, $transport" "$(timeout 60 "$RUN" -n 2 --transport $transport -- "./$name" 2>&1)" "$good"
    done
done
check 'script, program, script' "$(timeout 60 "$RUN" -n 1 -- ./again 2>&1)" "$good"$'\n'"$good"$'\n'"$good"
check 'program, script' "$(timeout 60 "$RUN" -n 1 --transport direct ./where ./rpaths 2>&1)" "$good"$'\n'"$good"
timeout 60 "$RUN" -n 1 --transport mpi ./where ./rpaths >out 2>err
check 'status of a program whose child has no workers' $? 1
check 'its lines' "$(cat out)" "$good"
check 'the line of the child' "$(grep -c 'the workers of this omprma-run serve one program' err)" 1

check 'what a script preloads, in children' "$(timeout 60 "$RUN" -n 1 -- ./child 2>&1)" "$good"$'\n1'
check 'a script without LD_PRELOAD' "$(timeout 60 "$RUN" -n 1 -- ./lost 2>err)" "$good"$'\n125\nhere same order'
check 'its lines' "$(grep -cE '(error|warning): .*/rpath runs its regions by .*, and not on workers' err)" 2
cp where grouped && chgrp 1 grouped && chmod 2755 grouped
check 'a set-group-ID bit' "$(timeout 60 "$RUN" -n 1 -- ./grouped 2>&1 | grep -c 'set-group-ID bit')" 1
# Programs that want nothing of it: AddressSanitizer's library wants to be the first.
echo 'int main(void) { return 0; }' | gcc -fsanitize=address -x c - -o asan || exit 1
script sanitized './asan && ASAN_OPTIONS=detect_leaks=0 ./asan && echo fine'
timeout 60 "$RUN" -n 1 -- ./sanitized >out 2>err
check 'sanitized' "$(cat out)" fine
check 'the line of a script without workers' "$(cat err)" \
    'omprma: warning: no program that ./sanitized has started used a worker of this run'
check 'the C library it needs' "$(objdump -T "$BUILD_DIR/lib/omprma/libomprma-preload.so" |
    grep -oE 'GLIBC_2\.(1[89]|[2-9][0-9])')" ''

# What comes late, and is seen by its opener alone or by all. The opener may have no OpenMP itself: then libomp comes
# late, too.
cat >regions.c <<'C'
#include <omp.h>
int devices(void) { return omp_get_num_devices() * 10 + omp_get_initial_device(); }
int add(int x)
{
#pragma omp target nowait map(tofrom : x)
    x += 1;
#pragma omp taskwait
    return x;
}
C
cat >opens.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words)
{
    int threads = 0;
#pragma omp parallel reduction(+ : threads)
    threads += 1;
    (void)count;
    void *library = dlopen("./regions.so", RTLD_NOW | atoi(words[1]));
    int (*devices)(void) = library ? (int (*)(void))dlsym(library, "devices") : NULL;
    int (*add)(int) = library ? (int (*)(int))dlsym(library, "add") : NULL;
    if (!devices || !add)
        return puts(dlerror());
    printf("%d %d %d\n", devices(), add(1), add(2));
    return 0;
}
C
for version in 14 16 22; do
    llvm=$(dirname "$llvm")/llvm-$version
    [ -x "$llvm/bin/clang" ] || continue
    "$llvm/bin/clang" -w -O1 -fPIC -shared -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu regions.c -o regions.so &&
        "$llvm/bin/clang" -w -O1 -fopenmp opens.c -o opens -ldl && gcc -w -O1 opens.c -o bare -ldl || exit 1
    for flag in 0 256 8; do # RTLD_LOCAL, RTLD_GLOBAL, RTLD_DEEPBIND
        check "LLVM $version, opened with $flag" \
            "$(timeout 60 "$RUN" --llvm "$llvm/lib" -n 2 ./opens $flag 2>&1)" '22 2 3'
        script opener "./bare $flag"
        check "LLVM $version, opened with $flag by a program without OpenMP" \
            "$(timeout 60 "$RUN" --llvm "$llvm/lib" -n 2 --transport direct -- ./opener 2>&1)" '22 2 3'
    done
    "$llvm/bin/clang" -w -O1 -fPIC -shared -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -Wl,--disable-new-dtags \
        "-Wl,-rpath,$llvm/lib" regions.c -o regions.so || exit 1
    check "LLVM $version, opened by its own path" "$(timeout 60 "$RUN" --llvm "$llvm/lib" -n 2 ./opens 0 2>&1)" '22 2 3'
done
finish
