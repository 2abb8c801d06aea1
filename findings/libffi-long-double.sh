#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# libffi 3.4.4, x86-64, Debian 12. A function returns a structure whose only member is a long double.
# Guess: ffi_call() brings it, as it brings a long double, or ffi_prep_cif() refuses the type.
# Seen: ffi_prep_cif() returns FFI_OK, and after ffi_call() other bytes stand in the result: compilers return such a
# structure in a register of the x87, as a long double, and libffi looks into those for integers. So it is with such a
# structure within another. As an argument the structure is right, and so is a closure that returns it, or a structure
# with a second long double, which goes through memory.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libffi8=3.4.4-1 libffi-dev=3.4.4-1

cat >"$folder/try.c" <<'C'
#include <ffi.h>
#include <stdio.h>

struct one {
    long double value;
};
struct outer {
    struct one one;
};
struct two {
    long double value, other;
};

static ffi_type *members_of_one[] = {&ffi_type_longdouble, NULL};
static ffi_type one = {0, 0, FFI_TYPE_STRUCT, members_of_one};
static ffi_type *members_of_outer[] = {&one, NULL};
static ffi_type outer = {0, 0, FFI_TYPE_STRUCT, members_of_outer};
static ffi_type *members_of_two[] = {&ffi_type_longdouble, &ffi_type_longdouble, NULL};
static ffi_type two = {0, 0, FFI_TYPE_STRUCT, members_of_two};

static long double get_plain(void)
{
    return 1.5L;
}

static struct one get_one(void)
{
    return (struct one){1.5L};
}

static struct outer get_outer(void)
{
    return (struct outer){{1.5L}};
}

static struct two get_two(void)
{
    return (struct two){1.5L, 2.5L};
}

static long double take_one(struct one one)
{
    return one.value;
}

static void closure_of_one(ffi_cif *cif, void *result, void **values, void *data)
{
    (void)cif;
    (void)values;
    (void)data;
    *(struct one *)result = get_one();
}

static void try(const char *what, void (*function)(void), ffi_type *result)
{
    struct two got = {-7, -7}; /* the largest of them, and each begins with the number */
    ffi_cif cif;
    int status = ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 0, result, NULL);

    ffi_call(&cif, function, &got, NULL);
    printf("%s: ffi_prep_cif %d, %s\n", what, status, got.value == 1.5L ? "right" : "wrong");
}

int main(void)
{
    ffi_type *types[] = {&one};
    struct one value = {1.5L};
    void *values[] = {&value}, *code;
    ffi_closure *closure = ffi_closure_alloc(sizeof(*closure), &code);
    long double got = -7;
    ffi_cif cif;

    try("a long double", (void (*)(void))get_plain, &ffi_type_longdouble);
    try("a structure of two", (void (*)(void))get_two, &two);
    try("a structure of one", (void (*)(void))get_one, &one);
    try("a structure of a structure of one", (void (*)(void))get_outer, &outer);

    ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 1, &ffi_type_longdouble, types);
    ffi_call(&cif, (void (*)(void))take_one, &got, values);
    printf("as an argument: %s\n", got == 1.5L ? "right" : "wrong");

    ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 0, &one, NULL);
    if (!closure || ffi_prep_closure_loc(closure, &cif, closure_of_one, NULL, code) != FFI_OK)
        return 1;
    value = ((struct one(*)(void))code)();
    printf("from a closure: %s\n", value.value == 1.5L ? "right" : "wrong");
    ffi_closure_free(closure);
    return 0;
}
C
system=$folder/usr/lib/x86_64-linux-gnu
for level in -O0 -O2; do
    gcc $level -w -I"$folder/usr/include/x86_64-linux-gnu" "$folder/try.c" "$system/libffi.so.8" -o "$folder/try" ||
        exit 77
    echo "gcc $level"
    saw env LD_LIBRARY_PATH="$system" "$folder/try"
    expect '^a long double: ffi_prep_cif 0, right$'
    expect '^a structure of two: ffi_prep_cif 0, right$'
    expect '^a structure of one: ffi_prep_cif 0, wrong$'
    expect '^a structure of a structure of one: ffi_prep_cif 0, wrong$'
    expect '^as an argument: right$'
    expect '^from a closure: right$'
done
exit "$changed"
