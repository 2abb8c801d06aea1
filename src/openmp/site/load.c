/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* load.c: A kernel that nobody has seen yet is thought to be short. */
#include "openmp/site/load.h"

#include <stddef.h>

#include "base/clock.h"

enum { UNKNOWN_NS = 100000 };

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void load_begin(struct load *load, struct loaded *loaded, int64_t *usual)
{
    int64_t now = clock_ns();
    load->until_ns = later(load->until_ns, now) + (*usual ? *usual : UNKNOWN_NS);
    *loaded = (struct loaded){.usual = usual, .begun_ns = now, .until_ns = load->until_ns};
    load->under_way++;
    load->regions++;
}

void load_end(struct load *load, struct loaded *loaded)
{
    int64_t now = clock_ns();
    int64_t took = now - later(loaded->begun_ns, load->ended_ns);
    int64_t *usual = loaded->usual;
    *usual = !*usual || took < *usual ? took : *usual + (took - *usual) / 8;
    loaded->usual = NULL;
    load->ended_ns = now;
    if (--load->under_way == 0)
        load->until_ns = now;
}

int64_t load_wait(const struct load *load)
{
    return load->under_way > 0 ? later(load->until_ns - clock_ns(), 0) : 0;
}
