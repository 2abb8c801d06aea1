#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# LLVM's OpenMP runtime 16.0.6 and 19.1.7 (libomp), Debian 12. A tool registers callbacks in a program that has
# no target regions, and no libomptarget.
# Guess: the callbacks of target constructs are refused, or registered the same way in both, for libomp itself
# never calls them; there are no devices; ompt_get_callback() gives back what ompt_set_callback() has taken.
# Seen: 16 says ompt_set_never (1) to them, 19 ompt_set_always (5) without anything that could call them.
# ompt_get_num_devices() is 1 in both. And inside the tool's initializer ompt_get_callback() says 0, none,
# for each callback that was just taken with "always".
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libomp5-16=1:16.0.6-15~deb12u1 libomp5-19=1:19.1.7-3~deb12u1

cat >"$folder/try.c" <<'C'
#include <stdint.h>
#include <stdio.h>

/* As omp-tools.h has them. */
enum { THREAD_BEGIN = 1, TARGET = 8, TARGET_SUBMIT_EMI = 35 };
typedef void (*function_t)(void);
typedef function_t (*lookup_t)(const char *);
int omp_get_max_threads(void);

static void callback(void)
{
}

static void try(lookup_t lookup, const char *name, int event)
{
    int (*set)(int, function_t) = (int (*)(int, function_t))lookup("ompt_set_callback");
    int (*get)(int, function_t *) = (int (*)(int, function_t *))lookup("ompt_get_callback");
    function_t got = NULL;
    int taken = set(event, callback), found = get(event, &got);

    printf("%s: set %d, get %d; ", name, taken, found);
    set(event, NULL);
}

static int initialize(lookup_t lookup, int device, uint64_t *data)
{
    int (*devices)(void) = (int (*)(void))lookup("ompt_get_num_devices");

    (void)device;
    (void)data;
    try(lookup, "thread_begin", THREAD_BEGIN);
    try(lookup, "target", TARGET);
    try(lookup, "target_submit_emi", TARGET_SUBMIT_EMI);
    printf("devices %d\n", devices());
    return 1;
}

static void finalize(uint64_t *data)
{
    (void)data;
}

void *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct {
        int (*initialize)(lookup_t, int, uint64_t *);
        void (*finalize)(uint64_t *);
        uint64_t data;
    } result = {initialize, finalize, 0};

    (void)version;
    (void)runtime;
    return &result;
}

int main(void)
{
    return omp_get_max_threads() < 1;
}
C
for version in 16 19; do
    library=$(find "$folder/usr/lib/llvm-$version" -name libomp.so.5)
    gcc -rdynamic -w "$folder/try.c" "$library" -o "$folder/try" || exit 77
    echo "libomp $version"
    saw env LD_LIBRARY_PATH="$(dirname "$library")" "$folder/try"
    always=5
    [ $version != 16 ] || always=1
    expect "^thread_begin: set 5, get 0; target: set $always, get 0; target_submit_emi: set $always, get 0; devices 1\$"
done
exit "$changed"
