/*
 * measure.c: sends real transfers of a few sizes each way through the real machinery, and derives
 * up to which size data travels in control messages and which sizes go one-sided.
 */
#include "host/measure.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "host/devices.h"
#include "host/issue.h"

enum {
    REPETITIONS_MOST = 48,
    REPETITIONS_LEAST = 3,
    ROUNDS = 2,             /* of everything, apart in time; the better one counts */
    BUDGET_NS = 200000,     /* per round, way, direction and size; all stay below 20 ms */
    DEADLINE_NS = 15000000, /* after so long every operation is timed once, and no round begins */
    HOSTS_BUDGET_NS = 60000000, /* after so long further hosts take over what others measured */
    WARM_UP_NS = 1000000,       /* until both ends poll and caches are filled */
    BATCH = 32,                 /* small submits between two acknowledged operations */
    BATCHES = 5,
    INLINE_MOST = 16384,
    INLINE_MEASURED = 8192,
    /* Beside a launch so few bytes cost nothing anywhere; a disturbed measurement must not say
     * otherwise. */
    INLINE_LEAST = 512
};

const uint64_t paths_sizes[PATHS_SIZES] = {8, 1024, 2048, 4096, 8192, 65536, 1 << 20};
const char *const paths_names[PATH_COUNT] = {"inline", "rma", "two-sided", "application"};

static void force(struct paths *paths, enum path path)
{
    paths->inline_submit = paths->inline_retrieve = path == PATH_INLINE ? INLINE_MOST : 0;
    paths->inline_retrieve_fused = paths->inline_retrieve;
    paths->submit_rma_from = paths->retrieve_rma_from = path == PATH_RMA ? 0 : UINT64_MAX;
    paths->submit_rma_to = paths->retrieve_rma_to = UINT64_MAX;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* What the measurement works on. */
struct probe {
    struct device *device;
    int64_t deadline_ns;
    omprma_queue_t *queue;
    omprma_addr_t there;
    char *here;
};

static omprma_status_t one(const struct probe *probe, bool submit, uint64_t bytes)
{
    omprma_status_t status = submit
                                 ? omprma_submit(probe->queue, probe->there, probe->here, bytes)
                                 : omprma_retrieve(probe->queue, probe->here, probe->there, bytes);

    return status == OMPRMA_OK ? omprma_queue_synchronize(probe->queue) : status;
}

static void keep_better(double *us, double time)
{
    if (*us == 0 || time < *us)
        *us = time;
}

/* Time of one operation that is waited for: the first quartile, because disturbances only add. */
static omprma_status_t time_one(const struct probe *probe, bool submit, uint64_t bytes, double *us)
{
    double times[REPETITIONS_MOST];
    int64_t begin = clock_ns(), before, now;
    bool late = begin > probe->deadline_ns;
    int count = 0;
    omprma_status_t status = late ? OMPRMA_OK : one(probe, submit, bytes); /* warm-up */

    begin = before = now = clock_ns();
    while (status == OMPRMA_OK && count < REPETITIONS_MOST &&
           (count < (late ? 1 : REPETITIONS_LEAST) || (!late && now - begin < BUDGET_NS))) {
        status = one(probe, submit, bytes);
        now = clock_ns();
        times[count++] = (double)(now - before) / 1e3;
        before = now;
    }
    if (status != OMPRMA_OK)
        return status;
    qsort(times, (size_t)count, sizeof(*times), by_value);
    keep_better(us, times[count / 4]);
    return OMPRMA_OK;
}

/* Small submits are not acknowledged one by one: the time until the worker has taken a batch of
 * them is shared out among them. */
static omprma_status_t time_unacknowledged(const struct probe *probe, uint64_t bytes, double *us)
{
    double times[BATCHES] = {0};
    omprma_status_t status = OMPRMA_OK;
    int batches = clock_ns() > probe->deadline_ns ? 1 : BATCHES;

    for (int batch = 0; batch < batches && status == OMPRMA_OK; batch++) {
        int64_t begin = clock_ns();

        for (int i = 0; i < BATCH && status == OMPRMA_OK; i++)
            status = one(probe, true, bytes);
        if (status == OMPRMA_OK)
            status = one(probe, false, 8);
        times[batch] = (double)(clock_ns() - begin) / 1e3 / (BATCH + 1);
    }
    if (status != OMPRMA_OK)
        return status;
    qsort(times, (size_t)batches, sizeof(*times), by_value);
    keep_better(us, times[0]); /* the machine is disturbed more often than it is lucky */
    return OMPRMA_OK;
}

static omprma_status_t warm_up(const struct probe *probe)
{
    int64_t end = clock_ns() + WARM_UP_NS;
    omprma_status_t status = OMPRMA_OK;

    force(&probe->device->paths, PATH_INLINE);
    while (status == OMPRMA_OK && clock_ns() < end)
        status = one(probe, false, 8);
    return status;
}

static omprma_status_t measure_way(const struct probe *probe, enum path path)
{
    struct paths *paths = &probe->device->paths;
    omprma_status_t status = OMPRMA_OK;

    for (int i = 0; i < PATHS_SIZES && status == OMPRMA_OK; i++) {
        uint64_t bytes = paths_sizes[i];

        if (path == PATH_INLINE && bytes > INLINE_MEASURED)
            break;
        force(paths, path);
        if (path == PATH_INLINE)
            status = time_unacknowledged(probe, bytes, &paths->submit_us[path][i]);
        else if (path != PATH_TWO_SIDED || bytes > OMPRMA_COPIED_SUBMIT)
            status = time_one(probe, true, bytes, &paths->submit_us[path][i]);
        if (status == OMPRMA_OK)
            status = time_one(probe, false, bytes, &paths->retrieve_us[path][i]);
    }
    return status;
}

static omprma_status_t measure_one(struct device *device)
{
    struct probe probe = {.device = device};
    uint64_t most = paths_sizes[PATHS_SIZES - 1];
    omprma_status_t status = omprma_alloc(device->number, most, &probe.there);

    probe.here = calloc(1, most);
    if (status == OMPRMA_OK && !probe.here)
        status = error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the start-up measurement");
    if (status == OMPRMA_OK)
        status = omprma_queue_create(device->number, &probe.queue);
    if (status == OMPRMA_OK)
        status = warm_up(&probe);
    probe.deadline_ns = clock_ns() + DEADLINE_NS;
    for (int round = 0; round < ROUNDS && status == OMPRMA_OK; round++) {
        if (round > 0 && clock_ns() > probe.deadline_ns)
            break;
        status = measure_way(&probe, PATH_INLINE);
        if (status == OMPRMA_OK)
            status = measure_way(&probe, PATH_TWO_SIDED);
        if (status == OMPRMA_OK && device_is_one_sided(device))
            status = measure_way(&probe, PATH_RMA);
    }
    device->paths.round_trip_us = device->paths.retrieve_us[PATH_INLINE][0];
    force(&device->paths, PATH_INLINE);
    if (probe.queue)
        omprma_queue_destroy(probe.queue);
    omprma_free(device->number, probe.there);
    free(probe.here);
    return status;
}

/* ---- the choice ---- */

/* Time of a way at any size, on the line through the two measured sizes around it, or the nearest
 * two if it lies outside them. Not every way is measured at every size. */
static double way_time(const double (*us)[PATHS_SIZES], enum path path, uint64_t bytes)
{
    int low = -1, high = -1;
    double share, time;

    for (int i = 0; i < PATHS_SIZES; i++) {
        if (us[path][i] <= 0)
            continue;
        if (low >= 0 && bytes <= paths_sizes[high])
            break;
        low = high;
        high = i;
    }
    if (low < 0)
        return high < 0 ? 0 : us[path][high];
    share =
        ((double)bytes - (double)paths_sizes[low]) / (double)(paths_sizes[high] - paths_sizes[low]);
    time = us[path][low] + share * (us[path][high] - us[path][low]);
    /* Below what was measured the line promises too much: latency does not shrink with the size. */
    if (bytes < paths_sizes[low] && time < us[path][low] / 2)
        time = us[path][low] / 2;
    return time > 0 ? time : 0;
}

/* Sizes [from, to) for which one-sided beats two-sided. */
static void choose_bulk(const double (*us)[PATHS_SIZES], uint64_t least, uint64_t *from,
                        uint64_t *to)
{
    uint64_t last = paths_sizes[PATHS_SIZES - 1];

    *from = UINT64_MAX;
    *to = UINT64_MAX;
    for (uint64_t bytes = last; bytes >= 8; bytes /= 2) {
        bool better =
            way_time(us, PATH_RMA, bytes) <= way_time(us, PATH_TWO_SIDED, bytes) || bytes < least;

        if (better)
            *from = bytes;
        else if (*from == UINT64_MAX)
            *to = bytes;
        else
            break;
    }
    if (*from == 8)
        *from = 0;
}

/* Largest size at which a message beats the better of the other ways. */
static uint32_t choose_inline(const double (*us)[PATHS_SIZES], double base, bool rma,
                              bool two_sided, uint64_t two_sided_from)
{
    uint32_t limit = 0;

    for (uint32_t bytes = 8; bytes <= INLINE_MEASURED; bytes *= 2) {
        double mine = way_time(us, PATH_INLINE, bytes) - base;
        double other = 1e30, time;

        if (rma && (time = way_time(us, PATH_RMA, bytes)) < other)
            other = time;
        if (two_sided && bytes > two_sided_from &&
            (time = way_time(us, PATH_TWO_SIDED, bytes)) < other)
            other = time;
        if (mine <= other)
            limit = bytes;
        else
            break;
    }
    return limit;
}

void measure_choose(struct paths *paths, bool rma, enum config_data data)
{
    bool two_sided = data != DATA_RMA;
    double ride = paths->retrieve_us[PATH_INLINE][0];

    if (data == DATA_RMA) {
        force(paths, PATH_RMA); /* for comparison: everything that can goes one-sided */
        return;
    }
    force(paths, PATH_TWO_SIDED);
    if (data == DATA_AUTO && rma) {
        choose_bulk(paths->submit_us, OMPRMA_COPIED_SUBMIT, &paths->submit_rma_from,
                    &paths->submit_rma_to);
        choose_bulk(paths->retrieve_us, 0, &paths->retrieve_rma_from, &paths->retrieve_rma_to);
    }
    rma = rma && data == DATA_AUTO;
    paths->inline_submit = choose_inline(paths->submit_us, 0, rma, two_sided, OMPRMA_COPIED_SUBMIT);
    if (paths->inline_submit < INLINE_LEAST)
        paths->inline_submit = INLINE_LEAST;
    paths->inline_retrieve = choose_inline(paths->retrieve_us, 0, rma, two_sided, 0);
    /* A retrieve that rides on a result costs only what its size adds to the message. */
    paths->inline_retrieve_fused = choose_inline(paths->retrieve_us, ride, rma, two_sided, 0);
    if (paths->inline_retrieve_fused < INLINE_LEAST)
        paths->inline_retrieve_fused = INLINE_LEAST;
}

static bool is_same_kind(const struct device *a, const struct device *b)
{
    return strcmp(a->about.backend, b->about.backend) == 0;
}

bool measure_is_like(const struct device *a, const struct device *b)
{
    return is_same_kind(a, b) && strcmp(a->peer->hello.host, b->peer->hello.host) == 0;
}

/* A device whose figures this one takes over: one of its host has the same transport, and so, as a
 * rule, have those of other hosts, of which only as many are measured as the budget allows. */
static const struct device *measured_like(const struct runtime *runtime,
                                          const struct device *device, int64_t begin_ns)
{
    const struct device *far = NULL;

    for (int i = 0; i < device->number; i++) {
        const struct device *other = runtime->devices[i];

        if (measure_is_like(other, device))
            return other;
        if (!far && !other->peer->can_ring && is_same_kind(other, device))
            far = other;
    }
    return !device->peer->can_ring && clock_ns() - begin_ns > HOSTS_BUDGET_NS ? far : NULL;
}

/* The measurement is not the user's. */
static void forget_traffic(struct runtime *runtime)
{
    for (int i = 0; i < runtime->device_count; i++)
        runtime->devices[i]->stats = (struct stats){0};
    for (int rank = 0; rank < runtime->world.size; rank++)
        if (runtime->peers[rank])
            runtime->peers[rank]->stats = (struct peer_stats){0};
}

omprma_status_t measure_all(struct runtime *runtime)
{
    const struct config *config = &runtime->config;
    int64_t begin = clock_ns();
    omprma_status_t status;

    for (int i = 0; i < runtime->device_count; i++) {
        struct device *device = runtime->devices[i];
        const struct device *like = measured_like(runtime, device, begin);
        bool rma;

        if (like) {
            device->paths = like->paths;
            continue;
        }
        status = measure_one(device);
        if (status != OMPRMA_OK)
            return status;
        rma = device_is_one_sided(device);
        measure_choose(&device->paths, rma, rma ? (enum config_data)config->data : DATA_TWO_SIDED);
        if (config->inline_submit >= 0)
            device->paths.inline_submit = (uint32_t)config->inline_submit;
        if (config->inline_retrieve >= 0)
            device->paths.inline_retrieve = device->paths.inline_retrieve_fused =
                (uint32_t)config->inline_retrieve;
        log_write(LOG_DETAIL,
                  "device %d (%s): in the message: submit up to %u B, retrieve up to "
                  "%u B; one-sided: submit from %llu B, retrieve from %llu B",
                  i, device->peer->hello.host, device->paths.inline_submit,
                  device->paths.inline_retrieve, (unsigned long long)device->paths.submit_rma_from,
                  (unsigned long long)device->paths.retrieve_rma_from);
    }
    status = measure_exchange(runtime);
    if (status != OMPRMA_OK)
        return status;
    forget_traffic(runtime);
    log_write(LOG_DETAIL, "start-up measurement took %.1f ms", (double)(clock_ns() - begin) / 1e6);
    return OMPRMA_OK;
}
