/*
 * measure_exchange.c: how long each way from device to device takes, by sending real data between
 * one pair of devices of the same host and one of different hosts, and the choice between them.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "host/exchange.h"
#include "host/measure.h"

enum {
    MEASURED_BYTES = 1 << 20,
    ROUNDS = 2, /* of everything, apart in time; the better one counts */
    REPETITIONS = 4,
    BUDGET_NS = 500000 /* per round and way; one repetition is made in any case */
};

static const char *const way_names[EXCHANGE_WAYS] = {
    [EXCHANGE_PUT] = "put",
    [EXCHANGE_GET] = "get",
    [EXCHANGE_SEND] = "send",
    [EXCHANGE_APPLICATION] = "application",
};

const char *exchange_way_name(enum config_exchange way)
{
    return way_names[way];
}

static bool allowed(enum config_exchange way, bool rma, enum config_data data)
{
    if (way == EXCHANGE_PUT || way == EXCHANGE_GET)
        return rma && data != DATA_TWO_SIDED;
    return way == EXCHANGE_SEND && (!rma || data != DATA_RMA);
}

void measure_choose_exchange(struct exchange_paths *paths, bool rma, enum config_data data)
{
    paths->small_put = allowed(EXCHANGE_PUT, rma, data);
    paths->way = paths->small_put ? EXCHANGE_PUT : EXCHANGE_SEND;
    for (enum config_exchange way = EXCHANGE_GET; way <= EXCHANGE_SEND; way++) {
        /* A put takes the fewest messages: others must be clearly better. */
        double handicap = paths->way == EXCHANGE_PUT ? 0.8 : 1;

        if (allowed(way, rma, data) && paths->us[way] > 0 &&
            paths->us[way] < handicap * paths->us[paths->way])
            paths->way = way;
    }
}

/* What the measurement works on. */
struct pair {
    struct device *from, *to;
    omprma_queue_t *queue;
    omprma_addr_t source, target;
};

static omprma_status_t exchange_once(const struct pair *pair)
{
    omprma_status_t status =
        omprma_exchange(pair->queue, pair->source, pair->to->number, pair->target, MEASURED_BYTES);

    return status == OMPRMA_OK ? omprma_queue_synchronize(pair->queue) : status;
}

/* The least of some repetitions, because disturbances only add. */
static omprma_status_t time_way(const struct pair *pair, double *us)
{
    omprma_status_t status = exchange_once(pair); /* warm-up */
    int64_t begin = clock_ns(), before = begin, now = begin;

    for (int i = 0; i < REPETITIONS && now - begin < BUDGET_NS && status == OMPRMA_OK; i++) {
        double time;

        status = exchange_once(pair);
        now = clock_ns();
        time = (double)(now - before) / 1e3;
        before = now;
        if (*us == 0 || time < *us)
            *us = time;
    }
    return status;
}

static omprma_status_t time_ways(const struct pair *pair, struct exchange_paths *paths)
{
    const struct runtime *runtime = pair->from->runtime;
    bool rma = runtime->one_sided != NULL;
    omprma_status_t status = OMPRMA_OK;

    for (int i = 0; i < ROUNDS * EXCHANGE_WAYS && status == OMPRMA_OK; i++) {
        paths->way = (enum config_exchange)(i % EXCHANGE_WAYS);
        if (allowed(paths->way, rma, (enum config_data)runtime->config.data))
            status = time_way(pair, &paths->us[paths->way]);
    }
    return status;
}

static omprma_status_t measure_pair(struct device *from, struct device *to,
                                    struct exchange_paths *paths)
{
    struct pair pair = {.from = from, .to = to};
    omprma_status_t status = omprma_queue_create(from->number, &pair.queue);

    if (status == OMPRMA_OK)
        status = omprma_alloc(from->number, MEASURED_BYTES, &pair.source);
    if (status == OMPRMA_OK)
        status = omprma_alloc(to->number, MEASURED_BYTES, &pair.target);
    if (status == OMPRMA_OK)
        status = time_ways(&pair, paths);
    omprma_queue_destroy(pair.queue);
    omprma_free(from->number, pair.source);
    omprma_free(to->number, pair.target);
    return status;
}

static bool goes_by(const struct device *from, const struct device *to,
                    const struct exchange_paths *paths)
{
    return from->peer != to->peer && device_is_one_sided(from) == device_is_one_sided(to) &&
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
                     way_names[way], runtime->world.why_no_window);
}

omprma_status_t measure_exchange(struct runtime *runtime)
{
    int64_t begin = clock_ns();
    enum config_exchange forced = (enum config_exchange)runtime->config.exchange;
    bool rma = runtime->one_sided != NULL;

    for (int far = 0; far < 2; far++) {
        struct exchange_paths *paths = &runtime->exchange[far];
        struct device *from, *to;
        omprma_status_t status = OMPRMA_OK;

        if (forced != EXCHANGE_AUTO) {
            *paths = (struct exchange_paths){.way = forced};
            status = check_forced(runtime, forced);
        } else if (find_pair(runtime, paths, &from, &to)) {
            status = measure_pair(from, to, paths);
        }
        if (status != OMPRMA_OK)
            return status;
        if (forced == EXCHANGE_AUTO)
            measure_choose_exchange(paths, rma, (enum config_data)runtime->config.data);
    }
    log_write(LOG_DETAIL,
              "exchange: on one host by %s, between hosts by %s; measuring took %.1f ms",
              way_names[runtime->exchange[0].way], way_names[runtime->exchange[1].way],
              (double)(clock_ns() - begin) / 1e6);
    return OMPRMA_OK;
}
