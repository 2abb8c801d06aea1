/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ucx_transport.c: Every process says whether it can use UCX, and the program decides. Addresses
 * and a secret go over the sockets of start-up. Then the program gets and puts memory of each
 * worker of another host, and UCX is used only if all of that was right. Knows the data path, to
 * hand it out.
 */
#include "control/direct/ucx_transport.h"

#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "base/rdma_port.h"
#include "control/direct/try_path.h"
#include "control/direct/world.h"
#include "control/shm/single_copy.h"
#include "rma/ucx.h"

enum {
    TEXT_BYTES = 256,
    TRY_S = 10, /* as long as connections may take to come up */
    ADDRESS_BYTES_MOST = 65536
};

enum answer { CAN, HAS_NO_DEVICE, FAILS };

/* Of each process. */
struct offer {
    int32_t answer; /* enum answer */
    int32_t copies; /* processes of its host may copy each other's memory */
    uint32_t address_bytes;
    uint64_t memory;       /* that is attached for the trial; 0: none */
    char text[TEXT_BYTES]; /* what it would use, or why it cannot */
};

/* Of the program. */
struct verdict {
    int32_t by_ucx, copies;
    int32_t ends; /* it cannot go on with sockets */
    unsigned char secret[UCX_SECRET_BYTES];
    char text[TEXT_BYTES]; /* why */
};

/* What a process has while they agree. */
struct agreement {
    struct world *world;
    struct datapath *path; /* NULL: it cannot use UCX */
    unsigned char *memory; /* for the trial; workers of other hosts */
    struct offer *offers;  /* of all; the program */
    struct verdict verdict;
};

/* ---- offers ---- */

static omprma_status_t no_memory(void)
{
    return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to start");
}

static bool is_wanted(const struct world *world)
{
    return world->settings.network == NETWORK_UCX;
}

/* With the name of this host. */
static void say(struct offer *offer, enum answer answer, const char *what)
{
    char host[64] = "";

    gethostname(host, sizeof(host) - 1);
    offer->answer = answer;
    snprintf(offer->text, sizeof(offer->text), "host %.63s: %.180s", host, what);
}

/* So that memory that may not be locked is no surprise later. */
static omprma_status_t attach_memory(struct agreement *a)
{
    void *memory = mmap(NULL, TRY_PATH_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0); /* not among what malloc() gives, which it would pin */
    if (memory == MAP_FAILED)
        return no_memory();
    a->memory = memory;
    try_path_fill(a->memory, a->world->rank);
    return a->path->attach(a->path, a->memory, TRY_PATH_BYTES);
}

static omprma_status_t open_path(struct agreement *a)
{
    const struct world *world = a->world;
    const struct ucx_options options = {
        .rank = world->rank,
        .size = world->size,
        .any_network = is_wanted(world),
        .piece_bytes = world->settings.piece_bytes,
    };
    omprma_status_t status = ucx_open(&options, &a->path);

    if (status != OMPRMA_OK || world->rank == 0)
        return status;
    if (ucx_descriptor(a->path) < 0)
        return error_set(OMPRMA_ERR_UNSUPPORTED, "UCX has no descriptor to sleep at");
    return world->far ? attach_memory(a) : OMPRMA_OK;
}

static void make_offer(struct agreement *a, struct offer *offer)
{
    char port[64] = "any network";
    size_t bytes;

    *offer = (struct offer){.answer = CAN, .copies = single_copy_is_allowed()};
    if (!is_wanted(a->world) && !rdma_find_port(port, sizeof(port))) {
        say(offer, HAS_NO_DEVICE, "no device does RDMA");
        return;
    }
    if (open_path(a) != OMPRMA_OK) {
        say(offer, FAILS, error_text());
        return;
    }
    ucx_address(a->path, &bytes);
    offer->address_bytes = (uint32_t)bytes;
    offer->memory = (uint64_t)(uintptr_t)a->memory;
    if (bytes > ADDRESS_BYTES_MOST)
        say(offer, FAILS, "its address in UCX is too long");
    else
        snprintf(offer->text, sizeof(offer->text), "%.100s, %.63s", ucx_name(), port);
}

/* Sockets it is, unless UCX was asked for. That there is no device is no news. */
static void refuse(struct agreement *a, bool is_news, const char *why)
{
    struct verdict *verdict = &a->verdict;

    verdict->by_ucx = false;
    verdict->ends = is_wanted(a->world);
    snprintf(verdict->text, sizeof(verdict->text), "%.250s", why);
    if (is_news && !verdict->ends)
        log_write(LOG_WARNING,
                  "data between hosts goes by sockets, although there are devices that do RDMA: "
                  "%s; OMPRMA_NETWORK=sockets leaves it at that without this line",
                  verdict->text);
}

/* Of those that cannot, one that fails has the word before one that has no device. */
static void judge(struct agreement *a)
{
    const struct offer *offers = a->offers, *worst = &offers[0];

    a->verdict = (struct verdict){.by_ucx = true, .copies = true};
    snprintf(a->verdict.text, sizeof(a->verdict.text), "%.250s", offers[0].text);
    for (int rank = 0; rank < a->world->size; rank++) {
        a->verdict.copies &= offers[rank].copies;
        if (offers[rank].answer > worst->answer)
            worst = &offers[rank];
    }
    if (worst->answer != CAN)
        refuse(a, worst->answer == FAILS, worst->text);
    else if (getrandom(a->verdict.secret, sizeof(a->verdict.secret), 0) !=
             (ssize_t)sizeof(a->verdict.secret))
        refuse(a, true, "there are no random numbers for a secret");
}

static omprma_status_t hear_verdict(struct agreement *a)
{
    return bootstrap_spread(&a->world->bootstrap, 0, &a->verdict, sizeof(a->verdict));
}

static omprma_status_t exchange_offers(struct agreement *a)
{
    struct offer mine;
    omprma_status_t status;

    make_offer(a, &mine);
    status = bootstrap_gather(&a->world->bootstrap, 0, &mine, a->offers, sizeof(mine));
    if (status == OMPRMA_OK && a->world->rank == 0)
        judge(a);
    return status == OMPRMA_OK ? hear_verdict(a) : status;
}

/* ---- addresses ---- */

/* Everybody's to the program, one behind the other. */
static omprma_status_t collect(struct agreement *a, char *addresses, const size_t *bytes)
{
    size_t own_bytes, ranks = (size_t)a->world->size;
    const void *own = ucx_address(a->path, &own_bytes);
    void **places;
    omprma_status_t status;

    if (a->world->rank > 0)
        return bootstrap_collect(&a->world->bootstrap, 0, own, own_bytes, NULL, NULL);
    places = calloc(ranks, sizeof(*places));
    if (!places)
        return no_memory();
    memcpy(addresses, own, own_bytes);
    for (size_t rank = 0; rank < ranks; rank++) {
        places[rank] = addresses;
        addresses += bytes[rank];
    }
    status = bootstrap_collect(&a->world->bootstrap, 0, own, own_bytes, places, bytes);
    free(places);
    return status;
}

static omprma_status_t meet_all(struct agreement *a, const char *addresses, const size_t *bytes)
{
    omprma_status_t status = OMPRMA_OK;

    for (int rank = 0; rank < a->world->size && status == OMPRMA_OK; rank++) {
        if (rank != a->world->rank)
            status = ucx_meet(a->path, rank, addresses, bytes[rank]);
        addresses += bytes[rank];
    }
    return status;
}

static omprma_status_t exchange_addresses(struct agreement *a)
{
    const struct bootstrap *bootstrap = &a->world->bootstrap;
    size_t ranks = (size_t)a->world->size, all = 0, *bytes = calloc(ranks, sizeof(*bytes));
    char *addresses = NULL;
    omprma_status_t status;

    if (!bytes)
        return no_memory();
    for (size_t rank = 0; a->offers && rank < ranks; rank++)
        bytes[rank] = a->offers[rank].address_bytes;
    status = bootstrap_spread(bootstrap, 0, bytes, ranks * sizeof(*bytes));
    for (size_t rank = 0; rank < ranks; rank++)
        all += bytes[rank];
    if (status == OMPRMA_OK)
        addresses = malloc(all);
    if (status == OMPRMA_OK)
        status = addresses ? collect(a, addresses, bytes) : no_memory();
    if (status == OMPRMA_OK)
        status = bootstrap_spread(bootstrap, 0, addresses, all);
    if (status == OMPRMA_OK)
        status = meet_all(a, addresses, bytes);
    free(addresses);
    free(bytes);
    return status;
}

/* ---- the trial ---- */

/* The program's. */
static omprma_status_t try_workers(struct agreement *a)
{
    size_t ranks = (size_t)a->world->size;
    uint64_t *addresses = calloc(ranks, sizeof(*addresses));
    char why[TEXT_BYTES];
    void *kept;

    if (!addresses)
        return no_memory();
    for (size_t rank = 0; rank < ranks; rank++)
        addresses[rank] = a->offers[rank].memory;
    if (try_path(a->path, addresses, a->world->size, TRY_S, &kept) != OMPRMA_OK) {
        snprintf(why, sizeof(why), "%.60s: %.180s", ucx_name(), error_text());
        refuse(a, true, why);
        datapath_destroy(a->path);
        a->path = NULL;
        free(kept);
    }
    free(addresses);
    return hear_verdict(a);
}

/* A worker's: until the program says something, it may need this process. */
static omprma_status_t serve(struct agreement *a)
{
    struct pollfd ready = {.fd = a->world->direct->messages[0].fd, .events = POLLIN};
    omprma_status_t status;

    while (poll(&ready, 1, 0) == 0)
        if (!datapath_progress(a->path))
            sched_yield();
    status = hear_verdict(a);
    if (a->memory)
        a->path->detach(a->path, a->memory);
    return status;
}

/* ---- the whole ---- */

static omprma_status_t agree(struct agreement *a)
{
    omprma_status_t status = exchange_offers(a);

    if (status == OMPRMA_OK && a->verdict.by_ucx) {
        ucx_share_secret(a->path, a->verdict.secret);
        status = exchange_addresses(a);
        if (status == OMPRMA_OK)
            status = a->world->rank == 0 ? try_workers(a) : serve(a);
    }
    if (status != OMPRMA_OK || !a->verdict.ends)
        return status;
    return a->world->rank == 0
               ? error_set(OMPRMA_ERR_UNSUPPORTED, "OMPRMA_NETWORK=ucx: %s", a->verdict.text)
               : error_set(OMPRMA_ERR_CLOSED, "the program has ended");
}

static void take_up(struct world *world, const struct agreement *a)
{
    bool by_ucx = a->verdict.by_ucx;

    snprintf(world->between_hosts, sizeof(world->between_hosts), "%s%.250s",
             by_ucx ? "" : "sockets; ", a->verdict.text);
    if (!by_ucx)
        return;
    world->direct->ucx = a->path;
    world->direct->ucx_events = world->rank > 0 ? ucx_descriptor(a->path) : -1;
    world->direct->copies = a->verdict.copies;
    world->has_window = true;
    world->component = a->verdict.copies && !world->far ? "local+ucx" : "ucx";
    world->can.may_be_slow = true;
    world->why_no_window[0] = '\0';
}

omprma_status_t ucx_transport_agree(struct world *world)
{
    struct agreement a = {.world = world};
    omprma_status_t status;

    if (!world->direct->other_hosts)
        return OMPRMA_OK;
    if (world->settings.network == NETWORK_SOCKETS) {
        snprintf(world->between_hosts, sizeof(world->between_hosts), "sockets, as asked");
        return OMPRMA_OK;
    }
    if (world->rank == 0)
        a.offers = calloc((size_t)world->size, sizeof(*a.offers));
    if (world->rank == 0 && !a.offers)
        return no_memory();
    status = agree(&a);
    if (status == OMPRMA_OK)
        take_up(world, &a);
    if (status != OMPRMA_OK || !a.verdict.by_ucx)
        datapath_destroy(a.path);
    free(a.offers);
    if (a.memory)
        munmap(a.memory, TRY_PATH_BYTES);
    return status;
}
