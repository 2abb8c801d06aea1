#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# HDF5 1.10.8, Debian 12, x86-64. Five floats, one of them NaN, as for a value that is missing, are written to a dataset
# whose filter is the scale-offset of floats with two decimal digits (H5Pset_scaleoffset), and read.
# Guess: the filter may lose digits beyond the two, and perhaps the NaN. The four others, 1.25 to 100, come back,
# wherever the NaN stands. With NaN as the fill value, which the filter keeps apart, it comes back as well.
# Seen: where NaN is the first of its chunk, all of the chunk is lost: five zeros come back, or five times the fill
# value. The filter takes the first for the least, and nothing is less than NaN. Anywhere else the others are right, and
# the NaN comes back as their least, 1.25, also where NaN is the fill value. Infinity comes back. Each call returns
# success.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libhdf5-103-1=1.10.8+repack1-1 libhdf5-dev=1.10.8+repack1-1 libsz2=1.0.6-1+b1 libaec0=1.0.6-1+b1

cat >"$folder/try.c" <<'C'
#include <hdf5.h>
#include <math.h>
#include <stdio.h>

enum { COUNT = 5 };

/* Through a file in memory, with a cache of no chunks, so that what is read has been through the filter. */
static void try(const char *what, const float *numbers, float fill)
{
    float got[COUNT] = {7, 7, 7, 7, 7};
    hsize_t size = COUNT;
    hid_t in_memory = H5Pcreate(H5P_FILE_ACCESS), filtered = H5Pcreate(H5P_DATASET_CREATE);
    hid_t uncached = H5Pcreate(H5P_DATASET_ACCESS), space = H5Screate_simple(1, &size, NULL), file, dataset;
    int failed;

    H5Pset_fapl_core(in_memory, 1 << 16, 0);
    H5Pset_chunk(filtered, 1, &size);
    H5Pset_scaleoffset(filtered, H5Z_SO_FLOAT_DSCALE, 2);
    H5Pset_fill_value(filtered, H5T_NATIVE_FLOAT, &fill);
    H5Pset_chunk_cache(uncached, 0, 0, 0);
    file = H5Fcreate("numbers", H5F_ACC_TRUNC, H5P_DEFAULT, in_memory);
    dataset = H5Dcreate2(file, "numbers", H5T_IEEE_F32LE, space, H5P_DEFAULT, filtered, uncached);
    failed = H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) < 0;
    failed |= H5Dclose(dataset) < 0;
    dataset = H5Dopen2(file, "numbers", uncached);
    failed |= H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, got) < 0;
    printf("%s, fill value %g:", what, fill);
    for (int i = 0; i < COUNT; i++)
        printf(" %g", got[i]);
    printf("%s\n", failed ? ", failed" : "");
    H5Dclose(dataset);
    H5Fclose(file);
    H5Sclose(space);
    H5Pclose(uncached);
    H5Pclose(filtered);
    H5Pclose(in_memory);
}

int main(void)
{
    float first[] = {NAN, 1.25f, 2.5f, 3.75f, 100}, last[] = {1.25f, 2.5f, 3.75f, 100, NAN};
    float infinite[] = {1.25f, 2.5f, 3.75f, 100, INFINITY};

    try("NaN first", first, 0);
    try("NaN first", first, -1);
    try("NaN first", first, NAN);
    try("NaN last", last, 0);
    try("NaN last", last, NAN);
    try("infinity last", infinite, 0);
    return 0;
}
C
system=$folder/usr/lib/x86_64-linux-gnu
gcc -w -I"$folder/usr/include/hdf5/serial" "$folder/try.c" "$system/libhdf5_serial.so.103" -Wl,--allow-shlib-undefined \
    -o "$folder/try" || exit 77
saw env LD_LIBRARY_PATH="$system" "$folder/try"
expect '^NaN first, fill value 0: 0 0 0 0 0$'
expect '^NaN first, fill value -1: -1 -1 -1 -1 -1$'
expect '^NaN first, fill value nan: nan nan nan nan nan$'
expect '^NaN last, fill value 0: 1.25 2.5 3.75 100 1.25$'
expect '^NaN last, fill value nan: 1.25 2.5 3.75 100 1.25$'
expect '^infinity last, fill value 0: 1.25 2.5 3.75 100 inf$'
exit "$changed"
