/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* units.h: numbers for people: in units that leave up to four digits, and with the right words. */
#ifndef OMPRMA_BASE_UNITS_H
#define OMPRMA_BASE_UNITS_H

#include <stdint.h>
#include <stdio.h>

/* "3052 MiB". Returns `text`. */
static inline const char *units_bytes(double value, char *text, size_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;

    while (value >= 10000 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        value /= 1024;
        unit++;
    }
    snprintf(text, bytes, "%.0f %s", value, units[unit]);
    return text;
}

/* For "1 worker", "2 workers". */
static inline const char *units_plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

#endif
