#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# PMIx 4.2.2 (libpmix), Debian 12, x86-64. A double and a float are packed by PMIx_Data_pack() and unpacked in the same
# process, by themselves and as a pmix_value_t, which is what keys, attributes and job data travel as.
# Guess: the same eight or four bytes come back, perhaps after a change of byte order, as with integers.
# Seen: numbers go as text with six digits behind the point. 1e-10 and a float of 1e-7 come back as 0, a third as
# 0.333333, and 1.25e-6 as 1e-06; each call returns success. 1.5 and 1e300 come back as they were, and integers do. So
# what is small, as latencies in seconds are, has to go as an integer, as text of one's own or as bytes.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libpmix2=4.2.2-1+deb12u1 libpmix-dev=4.2.2-1+deb12u1 libhwloc15=2.9.0-1 libmunge2=0.5.15-2+deb12u1 \
    libevent-core-2.1-7=2.1.12-stable-8+deb12u1 libevent-pthreads-2.1-7=2.1.12-stable-8+deb12u1

cat >"$folder/try.c" <<'C'
#include <pmix_server.h>
#include <stdio.h>
#include <string.h>

static pmix_server_module_t module;

/* Whether all went well, and what has come back is in GOT. */
static int there_and_back(void *value, void *got, pmix_data_type_t type)
{
    int32_t count = 1;
    pmix_data_buffer_t *buffer;
    int good;

    PMIX_DATA_BUFFER_CREATE(buffer);
    good = PMIx_Data_pack(NULL, buffer, value, 1, type) == PMIX_SUCCESS &&
           PMIx_Data_unpack(NULL, buffer, got, &count, type) == PMIX_SUCCESS && count == 1;
    PMIX_DATA_BUFFER_RELEASE(buffer);
    return good;
}

static void try(double number)
{
    double as_double = -7;
    float as_float = -7, single = (float)number;
    pmix_value_t value = {.type = PMIX_DOUBLE, .data.dval = number}, got;
    int good;

    memset(&got, 0, sizeof(got));
    good = there_and_back(&number, &as_double, PMIX_DOUBLE) && there_and_back(&single, &as_float, PMIX_FLOAT) &&
           there_and_back(&value, &got, PMIX_VALUE);
    printf("%.16g: double %.16g, value %.16g, float %.7g%s\n", number, as_double, got.data.dval, as_float,
           good ? "" : ", failed");
}

int main(void)
{
    uint64_t integer = 12345678901234567890u, as_integer = 0;

    if (PMIx_server_init(&module, NULL, 0) != PMIX_SUCCESS)
        return 1;
    try(1.5);
    try(-1048576.25);
    try(1.25e-6);
    try(1e-7);
    try(1e-10);
    try(1.0 / 3);
    try(1e300);
    printf("an integer: %s\n",
           there_and_back(&integer, &as_integer, PMIX_UINT64) && as_integer == integer ? "right" : "wrong");
    PMIx_server_finalize();
    return 0;
}
C
system=$folder/usr/lib/x86_64-linux-gnu
pmix=$system/pmix2
gcc -w -I"$pmix/include" "$folder/try.c" "$pmix/lib/libpmix.so.2" -Wl,--allow-shlib-undefined -o "$folder/try" ||
    exit 77
LD_LIBRARY_PATH=$pmix/lib:$system ldd "$folder/try" | grep -q 'not found' && exit 77
saw env LD_LIBRARY_PATH="$pmix/lib:$system" TMPDIR="$folder" timeout 60 "$folder/try"
expect '^1\.5: double 1\.5, value 1\.5, float 1\.5$'
expect '^-1048576\.25: double -1048576\.25, value -1048576\.25, float -1048576$'
expect '^1\.25e-06: double 1e-06, value 1e-06, float 1e-06$'
expect '^1e-07: double 0, value 0, float 0$'
expect '^1e-10: double 0, value 0, float 0$'
expect '^0\.3333333333333333: double 0\.333333, value 0\.333333, float 0\.333333$'
expect '^an integer: right$'
exit "$changed"
