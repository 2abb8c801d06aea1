/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* advice.c: each kind of advice is a function that says how many nanoseconds it is about. */
#include "report/advice.h"

#include <inttypes.h>

#include "base/units.h"
#include "report/regions.h"

enum {
    WORTH = 10,       /* a run is so many times as long as what is worth a line, at most */
    OFTEN = 5,        /* calls that could have shared what they move */
    MANY = 1000,      /* calls of which each is short */
    SHORT_NS = 20000, /* a kernel that a message takes as long as */
    SIZES_BYTES = 32
};

static bool is_worth(const struct recording *recording, int64_t ns)
{
    return ns > 0 && ns >= (recording->end_ns - recording->launch_ns) / WORTH;
}

/* Its data takes longer than its kernels, again and again. What has none moves what others keep. */
static int64_t about_data(const struct recorded_region *region)
{
    bool is =
        region->count >= OFTEN && region->data_ns > region->kernel_ns && region->kernel_ns > 0;

    return is ? region->data_ns : 0;
}

/* What is not kernel, of many short ones. */
static int64_t about_short(const struct recorded_region *region)
{
    int64_t calls = (int64_t)region->count;
    bool is = calls >= MANY && region->kernel_ns < calls * SHORT_NS &&
              region->data_ns < region->waited_ns / 2;

    return is && region->waited_ns > 2 * region->kernel_ns ? region->waited_ns - region->kernel_ns
                                                           : 0;
}

/* What the first call takes beyond the others. */
static int64_t about_first(const struct recorded_region *region)
{
    int64_t more = region->first_ns - recording_median(region);

    return region->count > 1 && more > 9 * recording_median(region) ? more : 0;
}

static void say_data(const struct recording *recording, const struct recorded_region *region,
                     FILE *out)
{
    char name[REGION_NAME_BYTES], bytes[SIZES_BYTES];

    fprintf(out,
            "omprma: hint: %s: %" PRIu64 " calls moved %s in %.3f s, and their kernels took %.3f "
            "s: keep the data on the device (target data around them)\n",
            region_row_name(recording, region, name), region->count,
            units_bytes((double)(region->to + region->back), bytes, sizeof(bytes)),
            (double)region->data_ns / 1e9, (double)region->kernel_ns / 1e9);
}

static void say_short(const struct recording *recording, const struct recorded_region *region,
                      FILE *out)
{
    char name[REGION_NAME_BYTES];

    fprintf(out,
            "omprma: hint: %s: a kernel of %.1f us was waited for %.1f us, %" PRIu64
            " times: put more work into a region, or begin several before the first wait "
            "(nowait)\n",
            region_row_name(recording, region, name),
            (double)region->kernel_ns / 1e3 / (double)region->count,
            (double)region->waited_ns / 1e3 / (double)region->count, region->count);
}

static void say_first(const struct recording *recording, const struct recorded_region *region,
                      FILE *out)
{
    char name[REGION_NAME_BYTES];

    fprintf(out,
            "omprma: hint: %s: the first call took %.1f ms, the median of %" PRIu64
            " is %.3f: the first use loads code and touches memory\n",
            region_row_name(recording, region, name), (double)region->first_ns / 1e6, region->count,
            (double)recording_median(region) / 1e6);
}

static const struct {
    int64_t (*about)(const struct recorded_region *region);
    void (*say)(const struct recording *recording, const struct recorded_region *region, FILE *out);
} kinds[] = {{about_data, say_data}, {about_short, say_short}, {about_first, say_first}};

static void advise_regions(const struct recording *recording, size_t kind, FILE *out)
{
    const struct recorded_region *best = NULL;

    for (uint32_t i = 0; i < RECORDING_ROWS; i++) {
        const struct recorded_region *region = &recording->row[i];

        if (region->name && region->count && is_worth(recording, kinds[kind].about(region)) &&
            (!best || kinds[kind].about(region) > kinds[kind].about(best)))
            best = region;
    }
    if (best)
        kinds[kind].say(recording, best, out);
}

/* Some work while others have nothing to do. */
static void advise_balance(const struct recording *recording, FILE *out)
{
    const struct recorded_device *device = recording->device;
    int most = 0, least = 0;

    for (int i = 1; i < recording->device_count; i++) {
        most = device[i].kernel_ns > device[most].kernel_ns ? i : most;
        least = device[i].kernel_ns < device[least].kernel_ns ? i : least;
    }
    if (most == least || !is_worth(recording, device[most].kernel_ns))
        return;
    if (device[least].stats.launches == 0)
        fprintf(out,
                "omprma: hint: device %d ran nothing: regions go to the default device, or to that "
                "of a device clause\n",
                least);
    else if (device[most].kernel_ns > 2 * device[least].kernel_ns)
        fprintf(out,
                "omprma: hint: device %d was in kernels for %.3f s, device %d for %.3f: give "
                "device %d less to do\n",
                most, (double)device[most].kernel_ns / 1e9, least,
                (double)device[least].kernel_ns / 1e9, most);
}

void advice_print(const struct recording *recording, FILE *out)
{
    for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++)
        advise_regions(recording, kind, out);
    advise_balance(recording, out);
}
