#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# libcbor 0.8.0, Debian 12, x86-64. Numbers are encoded as CBOR's half-precision floats, which reach to 65504.
# Guess: what is larger becomes infinity, as in any conversion to half precision, or cannot be encoded. Its header says
# that of large numbers sign, exponent and ten bits are kept.
# Seen: the exponent is cut to five bits and the rest of it runs into the sign. 100000 becomes not-a-number, 131072
# becomes -0, 200000 a tiny negative number, and 10000000000 becomes -2.328125, in the same bytes as its negative. The
# number of bytes that is returned says success each time.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libcbor0.8=0.8.0-2+b1 libcbor-dev=0.8.0-2+b1

cat >"$folder/try.c" <<'C'
#include <cbor.h>
#include <stdio.h>

static void try(float number)
{
    unsigned char bytes[8] = {0};
    size_t written = cbor_encode_half(number, bytes, sizeof(bytes));
    struct cbor_load_result result;
    cbor_item_t *item = cbor_load(bytes, written, &result);

    if (!item)
        return;
    printf("%.9g: %d bytes, %02x%02x, reads %.7g\n", number, (int)written, bytes[1], bytes[2],
           cbor_float_get_float2(item));
    cbor_decref(&item);
}

int main(void)
{
    try(1.5f);
    try(65504);
    try(65536);
    try(100000);
    try(131072);
    try(200000);
    try(1e10f);
    try(-1e10f);
    return 0;
}
C
system=$folder/usr/lib/x86_64-linux-gnu
gcc -w -I"$folder/usr/include" "$folder/try.c" "$system/libcbor.so.0.8" -o "$folder/try" || exit 77
saw env LD_LIBRARY_PATH="$system" "$folder/try"
expect '^1.5: 3 bytes, 3e00, reads 1.5$'
expect '^65504: 3 bytes, 7bff, reads 65504$'
expect '^65536: 3 bytes, 7c00, reads inf$'
expect '^100000: 3 bytes, 7e1a, reads nan$'
expect '^131072: 3 bytes, 8000, reads -0$'
expect '^200000: 3 bytes, 821a, reads -3.2'
expect '^1e\+10: 3 bytes, c0a8, reads -2.328125$'
expect '^-1e\+10: 3 bytes, c0a8, reads -2.328125$'
exit "$changed"
