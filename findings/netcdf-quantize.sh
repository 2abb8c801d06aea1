#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# netCDF 4.9.0 (netcdf-c), Debian 12, x86-64. Floats and doubles are written to variables that nc_def_var_quantize()
# keeps to three significant digits, or ten bits, for better compression, and are read. Among them are NaN and
# infinity, as for values that are missing or too large.
# Guess: ordinary numbers lose digits. NaN stays NaN and infinity stays infinity, whichever of the three ways is taken,
# as there are no digits to lose.
# Seen: that holds for BitRound only. Granular BitRound turns NaN and both infinities into 0, an ordinary value.
# BitGroom turns infinity into NaN in each second place. So it is for doubles as well, and nc_put_var() and
# nc_get_var() return success. What is the variable's fill value is kept by each, so that one, not NaN, has to stand
# for what is missing.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libnetcdf19=1:4.9.0-3+b1 libnetcdf-dev=1:4.9.0-3+b1 libhdf5-103-1=1.10.8+repack1-1 \
    libhdf5-hl-100=1.10.8+repack1-1 libsz2=1.0.6-1+b1 libaec0=1.0.6-1+b1

cat >"$folder/try.c" <<'C'
#include <math.h>
#include <netcdf.h>
#include <stdio.h>

enum { COUNT = 6 };

static const double numbers[COUNT] = {NAN, INFINITY, INFINITY, -INFINITY, 9.87654, -999};

/* -999 is the fill value. The file is in memory only. */
static void try(const char *what, int way, int digits, nc_type type)
{
    double got[COUNT] = {7, 7, 7, 7, 7, 7}, fill = -999;
    float got_floats[COUNT] = {7, 7, 7, 7, 7, 7}, floats[COUNT], fill_float = -999;
    int file, dimension, variable, failed;

    for (int i = 0; i < COUNT; i++)
        floats[i] = (float)numbers[i];
    failed = nc_create("numbers", NC_NETCDF4 | NC_CLOBBER | NC_DISKLESS, &file);
    failed |= nc_def_dim(file, "x", COUNT, &dimension);
    failed |= nc_def_var(file, "numbers", type, 1, &dimension, &variable);
    failed |= nc_def_var_fill(file, variable, NC_FILL, type == NC_FLOAT ? (void *)&fill_float : (void *)&fill);
    failed |= nc_def_var_quantize(file, variable, way, digits);
    if (type == NC_FLOAT) {
        failed |= nc_put_var_float(file, variable, floats);
        failed |= nc_get_var_float(file, variable, got_floats);
        for (int i = 0; i < COUNT; i++)
            got[i] = got_floats[i];
    } else {
        failed |= nc_put_var_double(file, variable, numbers);
        failed |= nc_get_var_double(file, variable, got);
    }
    failed |= nc_close(file);
    printf("%s, %s:", what, type == NC_FLOAT ? "float" : "double");
    for (int i = 0; i < COUNT; i++)
        if (isnan(got[i]))
            printf(" NaN");
        else
            printf(" %.3g", got[i] + 0.0); /* without the sign of 0 */
    printf("%s\n", failed ? ", failed" : "");
}

int main(void)
{
    for (int i = 0; i < 2; i++) {
        nc_type type = i ? NC_DOUBLE : NC_FLOAT;

        try("none", NC_NOQUANTIZE, 0, type);
        try("BitGroom", NC_QUANTIZE_BITGROOM, 3, type);
        try("Granular BitRound", NC_QUANTIZE_GRANULARBR, 3, type);
        try("BitRound", NC_QUANTIZE_BITROUND, 10, type);
    }
    return 0;
}
C
system=$folder/usr/lib/x86_64-linux-gnu
gcc -w -I"$folder/usr/include" "$folder/try.c" "$system/libnetcdf.so.19" -Wl,--allow-shlib-undefined -o "$folder/try" ||
    exit 77
LD_LIBRARY_PATH=$system ldd "$folder/try" | grep -q 'not found' && exit 77
saw env LD_LIBRARY_PATH="$system" timeout 60 "$folder/try"
for type in float double; do
    expect "^none, $type: NaN inf inf -inf 9.88 -999\$"
    expect "^BitGroom, $type: NaN NaN inf NaN 9.88 -999\$"
    expect "^Granular BitRound, $type: 0 0 0 0 9.88 -999\$"
    expect "^BitRound, $type: NaN inf inf -inf 9.88 -999\$"
done
exit "$changed"
