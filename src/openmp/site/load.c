/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* load.c: what waits is counted by kernels, whose times may become known while it waits. A kernel
 * that nobody has seen yet is thought to take as long as others do. */
#include "openmp/site/load.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    UNKNOWN_NS = 1000000,  /* while no kernel's time is known */
    PART = 4,              /* of what is new about a kernel's time counts */
    PACE_PART = 16,        /* of what is known of a site's pace fades with each region */
    PACE_KNOWN = 16,       /* regions tell a pace */
    PACE_LEAST_NS = 200000 /* and shorter ones do not */
};

static int64_t typical_ns;

int64_t load_usual(const int64_t *usual)
{
    return *usual ? *usual : typical_ns ? typical_ns : UNKNOWN_NS;
}

/* Sites differ by what is measured, if it is only a little. */
static bool has_own_pace(const struct load *load)
{
    return load->paced >= PACE_KNOWN &&
           (2 * load->took_ns > 3 * load->expected_ns || 3 * load->took_ns < 2 * load->expected_ns);
}

static int64_t scaled(int64_t ns, int64_t by, int64_t of)
{
    return (int64_t)((double)ns * (double)by / (double)of);
}

int64_t load_time(const struct load *load, int64_t usual_ns)
{
    return has_own_pace(load) ? scaled(usual_ns, load->took_ns, load->expected_ns) : usual_ns;
}

static void pace_note(struct load *load, int64_t usual_ns, int64_t took_ns)
{
    if (usual_ns < PACE_LEAST_NS)
        return;
    load->took_ns += took_ns - load->took_ns / PACE_PART;
    load->expected_ns += usual_ns - load->expected_ns / PACE_PART;
    load->paced++;
}

/* Of more kernels at once than there is room for, the rest counts as the last one. */
static struct load_kernel *kernel_of(struct load *load, int64_t *usual)
{
    struct load_kernel *each = load->kernels, *last = &load->kernels[LOAD_KERNELS - 1];
    struct load_kernel *free = NULL;
    for (; each <= last; each++)
        if (each->under_way > 0 && each->usual == usual)
            return each;
        else if (each->under_way == 0 && !free)
            free = each;
    if (!free)
        return last;
    free->usual = usual;
    return free;
}

void load_begin(struct load *load, struct loaded *loaded, int64_t *usual, int64_t now)
{
    loaded->until_ns = now + load_wait(load, now) + load_time(load, load_usual(usual));
    loaded->usual = usual;
    loaded->kernel = kernel_of(load, usual);
    loaded->kernel->under_way++;
    if (load->under_way++ == 0)
        load->since_ns = now;
    load->regions++;
}

static int64_t mean(int64_t known, int64_t seen)
{
    return known ? known + (seen - known) / PART : seen;
}

void load_drop(struct load *load, struct loaded *loaded, int64_t now)
{
    loaded->usual = NULL;
    loaded->kernel->under_way--;
    load->under_way--;
    load->since_ns = now;
}

void load_end(struct load *load, struct loaded *loaded, int64_t now)
{
    int64_t took = now - load->since_ns;
    pace_note(load, *loaded->usual, took);
    if (has_own_pace(load)) /* as it would take elsewhere */
        took = scaled(took, load->expected_ns, load->took_ns);
    *loaded->usual = mean(*loaded->usual, took > 0 ? took : 1);
    typical_ns = mean(typical_ns, *loaded->usual);
    load_drop(load, loaded, now);
}

int64_t load_wait(const struct load *load, int64_t now)
{
    int64_t all = 0;
    if (load->under_way == 0)
        return 0;
    for (int i = 0; i < LOAD_KERNELS; i++)
        if (load->kernels[i].under_way > 0)
            all += load->kernels[i].under_way * load_usual(load->kernels[i].usual);
    all = load_time(load, all);
    int64_t first = all / load->under_way, done = now - load->since_ns;
    return all - (done < first ? done : first);
}

int64_t load_idle(const struct load *load, int64_t now)
{
    return load->under_way > 0 ? 0 : now - load->since_ns;
}
