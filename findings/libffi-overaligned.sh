#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# libffi 3.4.4, x86-64, Debian 12. A structure of 32 or 64 bytes that is aligned to its size is passed by
# value. Its ffi_type has that size and alignment, which is how libffi's manual describes unions.
# Guess: libffi passes it as compilers do, or ffi_prep_cif() refuses it.
# Seen: ffi_prep_cif() returns FFI_OK, and the function finds other bytes of the stack in place of the
# structure. libffi aligns the argument itself, but not the whole list of arguments, which is where the
# function counts from. So for 64 bytes it depends on where the caller's stack ends: the same call is
# right at one depth and wrong at the next. Alignment to 16 bytes is right. Scalars beside it are right.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libffi8=3.4.4-1 libffi-dev=3.4.4-1

cat >"$folder/try.c" <<'C'
#include <alloca.h>
#include <ffi.h>
#include <stdio.h>

#define CALLEE(N) \
    struct s##N { double a[N / 8]; } __attribute__((aligned(N))); \
    __attribute__((noinline)) static void f##N(int x, struct s##N s, int y) \
    { \
        first = s.a[0]; \
        beside = x == 1 && y == 2; \
    }

static double first;
static int beside;
CALLEE(16)
CALLEE(32)
CALLEE(64)

/* With a stack that ends so much lower. */
__attribute__((noinline)) static void call_below(int bytes, ffi_cif *cif, void (*function)(void), void **values)
{
    *(volatile char *)alloca((size_t)bytes) = 1;
    ffi_call(cif, function, NULL, values);
}

static void try(int bytes, void (*function)(void))
{
    double value[8] __attribute__((aligned(64))) = {42, 43, 44, 45, 46, 47, 48, 49};
    ffi_type *members[9] = {NULL}, structure = {(size_t)bytes, (unsigned short)bytes, FFI_TYPE_STRUCT, members};
    ffi_type *types[] = {&ffi_type_sint, &structure, &ffi_type_sint};
    int x = 1, y = 2, right = 0, scalars = 0;
    void *values[] = {&x, value, &y};
    ffi_cif cif;
    ffi_status status;

    for (int i = 0; i < bytes / 8; i++)
        members[i] = &ffi_type_double;
    status = ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 3, &ffi_type_void, types);
    for (int depth = 0; depth < 8; depth++) {
        first = -1;
        call_below(16 * depth + 1, &cif, function, values);
        right += first == 42;
        scalars += beside;
    }
    printf("aligned to %d: ffi_prep_cif %d, structure right in %d of 8 calls, scalars in %d\n", bytes, status, right,
           scalars);
}

int main(void)
{
    try(16, (void (*)(void))f16);
    try(32, (void (*)(void))f32);
    try(64, (void (*)(void))f64);
    return 0;
}
C
system=$folder/usr/lib/x86_64-linux-gnu
gcc -O1 -w -Wno-psabi -I"$folder/usr/include/x86_64-linux-gnu" "$folder/try.c" "$system/libffi.so.8" -o "$folder/try" || exit 77
saw env LD_LIBRARY_PATH="$system" "$folder/try"
expect '^aligned to 16: ffi_prep_cif 0, structure right in 8 of 8 calls, scalars in 8$'
expect '^aligned to 32: ffi_prep_cif 0, structure right in [0-7] of 8 calls, scalars in 8$'
expect '^aligned to 64: ffi_prep_cif 0, structure right in [0-7] of 8 calls, scalars in 8$'
exit "$changed"
