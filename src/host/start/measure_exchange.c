/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * measure_exchange.c: how long each path from device to device takes, by sending real data between
 * one pair of devices of the same host and one of different hosts, and the choice between them:
 * a put, which takes the fewest messages, unless it has measured much longer than another path.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "host/calls/exchange.h"
#include "host/choice/cost.h"
#include "host/start/measure.h"
#include "host/start/measured.h"
#include "host/start/trial.h"

enum {
    FULL_BYTES = 1 << 20, /* what exchange_paths.us is for */
    SLOW_BYTES = 64 << 10,
    SMALL_BYTES = 64, /* these go one-sided wherever that is possible */
    SMALL_ROOM = 4096,
    LARGE_BYTES = FULL_BYTES - SLOW_BYTES - SMALL_ROOM, /* beside them in the least arena */
    PAIR_TRIALS = 3,                                    /* of those sizes; of them */
    FAR_TRIALS = 2,    /* are made between hosts whatever they take */
    SLOW_NS = 2000000, /* an exchange of so few bytes takes longer: more would take too long */
    ROUNDS = 5,
    BUDGET_NS = 8000000,    /* then no other exchange begins, */
    NEAR_END_NS = 18000000, /* nor on one host when that and what one device took add up to this, */
    LEAST_NS = 3000000,     /* nor any at all in less */
    TRIAL_REST = 2          /* on one host, trials leave that part of it */
};

static bool allowed(enum config_exchange way, bool rma, enum config_data data)
{
    if (way == EXCHANGE_PUT || way == EXCHANGE_GET)
        return rma && data != DATA_TWO_SIDED;
    return way == EXCHANGE_SEND && (!rma || data != DATA_RMA);
}

static const double put_ratio = 1.25; /* by which another path has to be better than a put */

void measure_choose_exchange(struct exchange_paths *paths, bool rma, enum config_data data)
{
    paths->copies = false; /* until that has been tried */
    paths->small_put = allowed(EXCHANGE_PUT, rma, data);
    paths->way = paths->small_put ? EXCHANGE_PUT : EXCHANGE_SEND;
    for (enum config_exchange way = EXCHANGE_GET; way <= EXCHANGE_SEND; way++) {
        double ratio = paths->way == EXCHANGE_PUT ? put_ratio : 1;

        if (allowed(way, rma, data) && paths->us[way] > 0 &&
            ratio * paths->us[way] < paths->us[paths->way])
            paths->way = way;
    }
}

/* What the measurement works on. */
struct pair {
    struct device *from, *to;
    omprma_queue_t *queue, *targets;
    omprma_addr_t source, target;
    struct trial_memory memory;
    struct trial trials[PAIR_TRIALS];
    int64_t took_ns[EXCHANGE_WAYS]; /* by the trials of a way on one host; 0: none */
    bool keeps;                     /* data may still arrive there */
};

/* How data may go between devices of one host, or of two. A worker whose call waits for one that is
 * late keeps the program waiting. */
static enum config_data data_between(const struct runtime *runtime, bool far)
{
    enum config_data data = (enum config_data)runtime->config.data;

    return data == DATA_AUTO && runtime->world.can.calls_wait && !far ? DATA_TWO_SIDED : data;
}

static bool is_far(const struct pair *pair)
{
    return !peer_shares_host(pair->from->peer, pair->to->peer);
}

static omprma_status_t exchange_once(const struct pair *pair, uint64_t bytes, double *us)
{
    int64_t begin = clock_ns();
    omprma_status_t status =
        omprma_exchange(pair->queue, pair->source, pair->to->number, pair->target, bytes);

    if (status == OMPRMA_OK)
        status = omprma_queue_synchronize(pair->queue);
    *us = (double)(clock_ns() - begin) / 1e3;
    return status;
}

/* ---- trials ---- */

static bool is_one_sided(enum config_exchange way)
{
    return way == EXCHANGE_PUT || way == EXCHANGE_GET;
}

/* Of a trial of a way only `right` bytes are. What is missing may still arrive. */
static omprma_status_t refuse(struct pair *pair, enum config_exchange way,
                              const struct trial *trial, uint64_t right)
{
    char what[256], from[96];

    snprintf(from, sizeof(from), "%s", device_name(pair->from));
    snprintf(what, sizeof(what),
             "%llu bytes exchanged by %s from %s to %s were wrong from byte %llu on",
             (unsigned long long)trial->bytes, exchange_way_name(way), from, device_name(pair->to),
             (unsigned long long)right);
    pair->keeps = true;
    return is_one_sided(way) ? measure_refuse_one_sided(pair->from->runtime, what)
                             : measure_refuse_messages(what);
}

/* Where a trial's data lies, on all sides; they do not meet. */
static uint64_t offset_of(const struct trial *trial)
{
    return trial->bytes == LARGE_BYTES  ? 0
           : trial->bytes == SLOW_BYTES ? LARGE_BYTES
                                        : LARGE_BYTES + SLOW_BYTES;
}

/* Known data to the source, and from there to the target. */
static omprma_status_t carry(const struct pair *pair, const struct trial *trial)
{
    uint64_t offset = offset_of(trial);
    char *here = pair->memory.here + offset;
    omprma_status_t status;

    trial_fill(trial, here);
    status = omprma_submit(pair->queue, pair->source + offset, here, trial->bytes);
    return status == OMPRMA_OK
               ? omprma_exchange(pair->queue, pair->source + offset, pair->to->number,
                                 pair->target + offset, trial->bytes)
               : status;
}

static char *back_of(const struct pair *pair, const struct trial *trial)
{
    return pair->memory.here + FULL_BYTES + offset_of(trial);
}

/* A look at the target, and all of it back to this side. */
static omprma_status_t bring_back(const struct pair *pair, struct trial *trial)
{
    omprma_addr_t target = pair->target + offset_of(trial);
    omprma_status_t status = trial_look(trial, pair->targets, target);

    return status == OMPRMA_OK
               ? omprma_retrieve(pair->targets, back_of(pair, trial), target, trial->bytes)
               : status;
}

/* Each step of all trials at once: this side waits twice. The largest one arrives last. */
static omprma_status_t try_sizes(struct pair *pair, enum config_exchange way, int first, int end)
{
    omprma_status_t status = OMPRMA_OK;

    for (int i = first; i < end && status == OMPRMA_OK; i++) {
        pair->trials[i].number++;
        status = carry(pair, &pair->trials[i]);
    }
    if (status == OMPRMA_OK)
        status = omprma_queue_synchronize(pair->queue);
    for (int i = end - 1; i >= first && status == OMPRMA_OK; i--)
        status = bring_back(pair, &pair->trials[i]);
    if (status == OMPRMA_OK)
        status = omprma_queue_synchronize(pair->targets);
    for (int i = first; i < end && status == OMPRMA_OK; i++) {
        const struct trial *trial = &pair->trials[i];
        uint64_t seen = trial_seen(trial), right = trial_compare(trial, back_of(pair, trial));

        if (seen < trial->bytes || right < trial->bytes)
            return refuse(pair, way, trial, seen < trial->bytes ? seen : right);
    }
    return status;
}

/* Between hosts the first transfers may wait for a connection, so the smaller ones are made twice,
 * and the large one is left out where those have then taken long. */
static omprma_status_t try_way(struct pair *pair, struct exchange_paths *paths,
                               enum config_exchange way)
{
    int64_t begin = clock_ns();
    omprma_status_t status;

    paths->way = way;
    if (pair->from->peer->is_near && pair->to->peer->is_near) {
        status = try_sizes(pair, way, 0, PAIR_TRIALS);
        pair->took_ns[way] = clock_ns() - begin;
        return status;
    }
    status = try_sizes(pair, way, 0, FAR_TRIALS);
    begin = clock_ns();
    if (status == OMPRMA_OK && !pair->keeps)
        status = try_sizes(pair, way, 0, FAR_TRIALS);
    return status == OMPRMA_OK && !pair->keeps && clock_ns() - begin < SLOW_NS
               ? try_sizes(pair, way, FAR_TRIALS, PAIR_TRIALS)
               : status;
}

static void go_two_sided(struct device *device)
{
    device->paths.adapt = NULL;
    paths_set(&device->paths, PATHS_SUBMIT, COST_NEVER);
    paths_set(&device->paths, PATHS_RETRIEVE, COST_NEVER);
}

/* A way that is forced is tried if it can be taken and its data does not go through this side. */
static bool is_tried(const struct device *from)
{
    enum config_exchange forced = (enum config_exchange)from->runtime->config.exchange;

    return forced == EXCHANGE_AUTO || forced == EXCHANGE_SEND ||
           (is_one_sided(forced) && device_is_one_sided(from));
}

/* All ways that may be taken, or the one that is forced. Those that may be refused come last. */
static omprma_status_t try_each(struct pair *pair, struct exchange_paths *paths)
{
    static const enum config_exchange order[] = {EXCHANGE_SEND, EXCHANGE_PUT, EXCHANGE_GET};
    const struct runtime *runtime = pair->from->runtime;
    enum config_exchange forced = (enum config_exchange)runtime->config.exchange;
    enum config_data data = data_between(runtime, is_far(pair));
    omprma_status_t status = OMPRMA_OK;

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]) && status == OMPRMA_OK; i++) {
        bool rma = device_is_one_sided(pair->from);

        if (forced == EXCHANGE_AUTO ? allowed(order[i], rma, data)
                                    : forced == order[i] && is_tried(pair->from))
            status = try_way(pair, paths, order[i]);
    }
    return status;
}

/* Between this side and devices the data goes two-sided, of which it is known that it is right. */
static omprma_status_t try_ways(struct pair *pair, struct exchange_paths *paths)
{
    struct paths from = pair->from->paths, to = pair->to->paths;
    omprma_status_t status;

    go_two_sided(pair->from);
    go_two_sided(pair->to);
    status = try_each(pair, paths);
    pair->from->paths = from;
    pair->to->paths = to;
    return status;
}

/* ---- times ---- */

/* Each way once: pages are touched, workers awake. *bytes: what can be measured; ways
 * for which there is no time are left out: at half of it no other is begun. */
static omprma_status_t warm_up(const struct pair *pair, struct exchange_paths *paths,
                               int64_t deadline_ns, bool ways[EXCHANGE_WAYS], uint64_t *bytes)
{
    int64_t begin = clock_ns(), half_ns = begin + (deadline_ns - begin) / 2;
    omprma_status_t status = OMPRMA_OK;
    double us = 0;

    *bytes = FULL_BYTES;
    for (int way = 0; way < EXCHANGE_WAYS && status == OMPRMA_OK; way++) {
        paths->way = (enum config_exchange)way;
        ways[way] &= clock_ns() < half_ns;
        if (ways[way] && status == OMPRMA_OK)
            status = exchange_once(pair, SLOW_BYTES, &us);
        if (ways[way] && us * 1e3 > SLOW_NS)
            *bytes = SLOW_BYTES;
    }
    return status;
}

/* The ways take turns, so that what disturbs the machine disturbs all of them. */
static omprma_status_t time_ways(const struct pair *pair, struct exchange_paths *paths,
                                 int64_t deadline_ns)
{
    const struct runtime *runtime = pair->from->runtime;
    struct cost_samples samples[EXCHANGE_WAYS] = {0};
    bool ways[EXCHANGE_WAYS], rma = runtime->one_sided != NULL;
    uint64_t bytes;
    omprma_status_t status;

    for (int way = 0; way < EXCHANGE_WAYS; way++)
        ways[way] = allowed((enum config_exchange)way, rma, data_between(runtime, is_far(pair)));
    status = warm_up(pair, paths, deadline_ns, ways, &bytes);
    for (int i = 0; i < ROUNDS * EXCHANGE_WAYS && status == OMPRMA_OK; i++) {
        double us;

        if (clock_ns() > deadline_ns)
            break;
        paths->way = (enum config_exchange)((i + i / EXCHANGE_WAYS) % EXCHANGE_WAYS);
        if (!ways[paths->way])
            continue;
        status = exchange_once(pair, bytes, &us);
        if (status == OMPRMA_OK) /* the first one finds data in the wrong caches */
            status = exchange_once(pair, bytes, &us);
        cost_sample(&samples[paths->way], us * FULL_BYTES / (double)bytes);
    }
    for (int way = 0; way < EXCHANGE_WAYS; way++) {
        paths->us[way] = cost_of(&samples[way]);
        paths->spread[way] = (float)cost_spread(&samples[way]);
    }
    return status;
}

static omprma_status_t pair_open(struct pair *pair)
{
    omprma_status_t status = omprma_queue_create(pair->from->number, &pair->queue);

    if (status == OMPRMA_OK)
        status = omprma_queue_create(pair->to->number, &pair->targets);
    if (status == OMPRMA_OK)
        status = omprma_alloc(pair->from->number, FULL_BYTES, &pair->source);
    if (status == OMPRMA_OK)
        status = omprma_alloc(pair->to->number, FULL_BYTES, &pair->target);
    return status;
}

static void pair_close(const struct pair *pair)
{
    omprma_queue_destroy(pair->queue);
    omprma_queue_destroy(pair->targets);
    if (pair->keeps)
        return;
    omprma_free(pair->from->number, pair->source);
    omprma_free(pair->to->number, pair->target);
}

static int64_t left_after(int64_t budget_ns, int64_t trials_ns)
{
    int64_t left = budget_ns - trials_ns, least = budget_ns / TRIAL_REST;

    return left > least ? left : least;
}

/* Of a library of which it is not known that they do not differ much, what the trials took tells
 * more than nothing. */
static void take_trials(const struct pair *pair, struct exchange_paths *paths)
{
    bool known = !pair->from->runtime->world.can.may_be_slow;

    for (int way = 0; way < EXCHANGE_WAYS; way++)
        known |= paths->us[way] > 0;
    for (int way = 0; way < EXCHANGE_WAYS && !known; way++)
        paths->us[way] = (double)pair->took_ns[way] / 1e3;
}

/* Tries the ways, and measures them if there is time for it. */
static omprma_status_t measure_pair(struct device *from, struct device *to,
                                    struct exchange_paths *paths, int64_t budget_ns)
{
    int64_t begin;
    struct pair pair = {
        .from = from,
        .to = to,
        .trials = {{.bytes = SMALL_BYTES}, {.bytes = SLOW_BYTES}, {.bytes = LARGE_BYTES}}};
    omprma_status_t status;

    if (!trial_map(&pair.memory, 2 * FULL_BYTES))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the start-up measurement");
    status = pair_open(&pair);
    begin = clock_ns();
    if (status == OMPRMA_OK)
        status = try_ways(&pair, paths);
    if (from->peer->is_near && to->peer->is_near)
        budget_ns = left_after(budget_ns, clock_ns() - begin);
    if (status == OMPRMA_OK && budget_ns > LEAST_NS)
        status = time_ways(&pair, paths, clock_ns() + budget_ns);
    take_trials(&pair, paths);
    pair_close(&pair);
    trial_unmap(&pair.memory);
    return status;
}

static bool goes_by(const struct device *from, const struct device *to,
                    const struct exchange_paths *paths)
{
    return device_is_well(from) && device_is_well(to) && from->peer != to->peer &&
           device_is_one_sided(from) == device_is_one_sided(to) &&
           device_is_staged(from) == device_is_staged(to) && exchange_paths_of(from, to) == paths;
}

/* Two devices whose data would go that way; false if there are none. */
static bool find_pair(const struct runtime *runtime, const struct exchange_paths *paths,
                      struct device **from, struct device **to)
{
    for (int i = 1; i < runtime->device_count; i++) {
        *to = runtime->devices[i];
        *from = runtime->devices[0];
        if (goes_by(*from, *to, paths))
            return true;
        *from = runtime->devices[i - 1];
        if (goes_by(*from, *to, paths))
            return true;
    }
    return false;
}

static omprma_status_t check_forced(const struct runtime *runtime, enum config_exchange way)
{
    if (runtime->one_sided || way == EXCHANGE_SEND || way == EXCHANGE_APPLICATION)
        return OMPRMA_OK;
    return error_set(OMPRMA_ERR_CONFIG, "OMPRMA_EXCHANGE=%s: %s; use auto, send or application",
                     exchange_way_name(way), runtime->world.why_no_window);
}

/* A driver that fails at one copy does not end the program, nor does a GPU that is lost by that. */
static bool may_fail(const struct device *from, const struct device *to)
{
    return !from->lost && !to->lost && (!from->native || !to->native);
}

/* How long exchanges may be measured. */
static int64_t budget(bool far, int64_t near_ns)
{
    int64_t left = NEAR_END_NS - near_ns;

    return far || left > BUDGET_NS ? BUDGET_NS : left;
}

omprma_status_t measure_exchange(struct runtime *runtime, int64_t near_ns)
{
    int64_t begin = clock_ns();
    enum config_exchange forced = (enum config_exchange)runtime->config.exchange;
    bool left_out = false, rma = runtime->one_sided != NULL;

    for (int far = 0; far < 2; far++) {
        struct exchange_paths *paths = &runtime->exchange[far];
        struct device *from, *to;
        omprma_status_t status = OMPRMA_OK;
        int64_t budget_ns = budget(far, near_ns);
        bool used;

        used = find_pair(runtime, paths, &from, &to);
        if (used && forced == EXCHANGE_AUTO && !far && measured_take_exchange(runtime, paths))
            budget_ns = 0;
        if (used && is_tried(from))
            status = measure_pair(from, to, paths, forced == EXCHANGE_AUTO ? budget_ns : 0);
        if (status != OMPRMA_OK && may_fail(from, to)) {
            log_write(LOG_WARNING, "exchanges between devices %d and %d are not measured: %s",
                      from->number, to->number, error_text());
            status = OMPRMA_OK;
        }
        if (status == OMPRMA_OK && forced != EXCHANGE_AUTO) {
            *paths = (struct exchange_paths){.way = forced};
            status = check_forced(runtime, forced);
        }
        if (status != OMPRMA_OK)
            return status;
        if (forced != EXCHANGE_AUTO)
            continue;
        measure_choose_exchange(paths, runtime->one_sided != NULL, data_between(runtime, far));
        left_out |= used && paths->us[paths->way] <= 0;
    }
    if (forced == EXCHANGE_AUTO && rma && !runtime->one_sided) /* refused, perhaps by the second */
        for (int far = 0; far < 2; far++)
            measure_choose_exchange(&runtime->exchange[far], false, DATA_AUTO);
    log_write(
        LOG_DETAIL, "exchange: on one host by %s, between hosts by %s; measuring took %.1f ms%s",
        exchange_way_name(runtime->exchange[0].way), exchange_way_name(runtime->exchange[1].way),
        (double)(clock_ns() - begin) / 1e6, left_out ? "; there was no time left to compare" : "");
    return OMPRMA_OK;
}
