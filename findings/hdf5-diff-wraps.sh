#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# HDF5 1.10.8's h5diff, Debian 12, x86-64. Two files hold a number each by the same name. h5diff compares them with a
# limit for the difference (-d 2), for the relative one (-p 0.1), or none. Its status is 0 if nothing differs by more.
# Guess: numbers at opposite ends of their type differ by more than 2, and by more than a tenth. 0.0 and -0.0 are
# equal.
# Seen: the difference is computed in the numbers' own type, or in int, and wraps. 2147483647 and -2147483647 differ by
# 2, so they are the same to -d 2, and to -p 0.1 as well; so it is with long. An unsigned int of 4294967295, which
# h5diff shows as -1, and one of 0 differ by 1, and as unsigned char 255 and 0 are within a tenth. Infinity is within a
# tenth of minus infinity, and of 1. Without a limit 0.0 and -0.0 differ. So a test by h5diff passes some results that
# are far off, and just those that have overflowed.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libhdf5-103-1=1.10.8+repack1-1 libhdf5-dev=1.10.8+repack1-1 hdf5-tools=1.10.8+repack1-1 \
    libhdf5-hl-100=1.10.8+repack1-1 libsz2=1.0.6-1+b1 libaec0=1.0.6-1+b1

cat >"$folder/try.c" <<'C'
#include <hdf5.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

static int put(const char *file_name, const char *name, hid_t type, const void *number)
{
    hid_t file = H5Fopen(file_name, H5F_ACC_RDWR, H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
    hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int failed = H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, number) < 0;

    H5Dclose(dataset);
    H5Sclose(space);
    return failed | (H5Fclose(file) < 0);
}

#define BOTH(NAME, TYPE, KIND, FIRST, SECOND) \
    do { \
        TYPE first = FIRST, second = SECOND; \
        failed |= put("first", NAME, KIND, &first) | put("second", NAME, KIND, &second); \
    } while (0)

int main(void)
{
    int failed = 0;

    H5Fclose(H5Fcreate("first", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    H5Fclose(H5Fcreate("second", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    BOTH("near", int, H5T_NATIVE_INT, 100, 101);
    BOTH("apart", int, H5T_NATIVE_INT, 100, 150);
    BOTH("int", int, H5T_NATIVE_INT, INT_MAX, -INT_MAX);
    BOTH("long", long, H5T_NATIVE_LONG, LONG_MAX, -LONG_MAX);
    BOTH("uint", unsigned, H5T_NATIVE_UINT, UINT_MAX, 0);
    BOTH("uchar", unsigned char, H5T_NATIVE_UCHAR, 255, 0);
    BOTH("infinite", double, H5T_NATIVE_DOUBLE, INFINITY, -INFINITY);
    BOTH("finite", double, H5T_NATIVE_DOUBLE, INFINITY, 1);
    BOTH("zero", double, H5T_NATIVE_DOUBLE, 0.0, -0.0);
    return failed;
}
C
system=$folder/usr/lib/x86_64-linux-gnu
gcc -w -I"$folder/usr/include/hdf5/serial" "$folder/try.c" "$system/libhdf5_serial.so.103" -Wl,--allow-shlib-undefined \
    -o "$folder/try" || exit 77
export LD_LIBRARY_PATH=$system
ldd "$folder/usr/bin/h5diff" | grep -q 'not found' && exit 77
cd "$folder" && ./try || exit 77

# shellcheck disable=SC2317 # saw calls it
compare() { # NAME OPTION...
    local name=$1

    shift
    usr/bin/h5diff "$@" first second "/$name"
    echo "$name, options '$*': status $?"
}

for name in int long uint uchar infinite finite zero near apart; do
    saw compare $name
    expect ": status 1$"
done
for name in near int long uint; do
    saw compare $name -d 2
    expect ": status 0$"
done
for name in near int long uchar infinite finite; do
    saw compare $name -p 0.1
    expect ": status 0$"
done
for limit in '-d 2' '-p 0.1'; do
    # shellcheck disable=SC2086 # an option and its number
    saw compare apart $limit
    expect ": status 1$"
done
saw compare int -r
expect '^ +2147483647 +-2147483647 +2 *$'
saw compare uint -r
expect '^ +-1 +0 +1 *$'
exit "$changed"
