#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# HDF5 1.10.8, Debian 12, x86-64. Numbers are written to datasets of either byte order, unchanged, and read as
# integers that cannot hold them. HDF5 clips such numbers: what is too large reads as the largest, what is too small
# as the smallest.
# Guess: the byte order says how a number lies in the file, and makes no difference to what is read.
# Seen: 2^64 - 1, unsigned, reads as long 9223372036854775807 from the little-endian dataset, and as -1 from the
# big-endian one; -1 reads as unsigned 0 and as 4294967295. Where only byte order and sign differ, bytes are swapped,
# and no more. With floats it is the other way round: 2^31 reads as int -2147483648 from the little-endian dataset,
# as 2147483647 from the big-endian one; the next larger float is clipped in both. Each call returns success.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libhdf5-103-1=1.10.8+repack1-1 libhdf5-dev=1.10.8+repack1-1 libsz2=1.0.6-1+b1 libaec0=1.0.6-1+b1

cat >"$folder/try.c" <<'C'
#include <hdf5.h>
#include <stdio.h>

static hid_t file;

/* Writes a number as it is, and reads it as another type. */
static int pass(const void *number, hid_t type, hid_t stored, void *read, hid_t wanted)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t set = H5Dcreate(file, "number", stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int failed = H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, number) < 0;

    failed += H5Dread(set, wanted, H5S_ALL, H5S_ALL, H5P_DEFAULT, read) < 0;
    H5Dclose(set);
    H5Sclose(space);
    H5Ldelete(file, "number", H5P_DEFAULT);
    return failed;
}

int main(void)
{
    unsigned long wide = -1;
    int minus = -1, integer[4];
    float power = 2147483648.0F, next = 2147483904.0F;
    unsigned narrow[2];
    long signed_wide[2];
    int failed = 0;
    hid_t memory = H5Pcreate(H5P_FILE_ACCESS);

    H5Pset_fapl_core(memory, 1 << 16, 0); /* no file on disk */
    file = H5Fcreate("try.h5", H5F_ACC_TRUNC, H5P_DEFAULT, memory);
    failed += pass(&wide, H5T_NATIVE_ULONG, H5T_STD_U64LE, &signed_wide[0], H5T_NATIVE_LONG);
    failed += pass(&wide, H5T_NATIVE_ULONG, H5T_STD_U64BE, &signed_wide[1], H5T_NATIVE_LONG);
    failed += pass(&minus, H5T_NATIVE_INT, H5T_STD_I32LE, &narrow[0], H5T_NATIVE_UINT);
    failed += pass(&minus, H5T_NATIVE_INT, H5T_STD_I32BE, &narrow[1], H5T_NATIVE_UINT);
    failed += pass(&power, H5T_NATIVE_FLOAT, H5T_IEEE_F32LE, &integer[0], H5T_NATIVE_INT);
    failed += pass(&power, H5T_NATIVE_FLOAT, H5T_IEEE_F32BE, &integer[1], H5T_NATIVE_INT);
    failed += pass(&next, H5T_NATIVE_FLOAT, H5T_IEEE_F32LE, &integer[2], H5T_NATIVE_INT);
    failed += pass(&next, H5T_NATIVE_FLOAT, H5T_IEEE_F32BE, &integer[3], H5T_NATIVE_INT);
    H5Fclose(file);
    printf("%d calls failed; little-endian, big-endian:\n", failed);
    printf("2^64 - 1 as long: %ld, %ld\n", signed_wide[0], signed_wide[1]);
    printf("-1 as unsigned: %u, %u\n", narrow[0], narrow[1]);
    printf("float 2^31 as int: %d, %d\n", integer[0], integer[1]);
    printf("float 2^31 + 256 as int: %d, %d\n", integer[2], integer[3]);
    return 0;
}
C
system=$folder/usr/lib/x86_64-linux-gnu
export LD_LIBRARY_PATH="$system"
gcc -w -I"$folder/usr/include/hdf5/serial" "$folder/try.c" "$system/libhdf5_serial.so.103" \
    -Wl,--allow-shlib-undefined -o "$folder/try" || exit 77
ldd "$folder/try" | grep 'not found' && exit 77
saw timeout 60 "$folder/try"
expect '^0 calls failed'
expect '^2\^64 - 1 as long: 9223372036854775807, -1$'
expect '^-1 as unsigned: 0, 4294967295$'
expect '^float 2\^31 as int: -2147483648, 2147483647$'
expect '^float 2\^31 \+ 256 as int: 2147483647, 2147483647$'
exit "$changed"
