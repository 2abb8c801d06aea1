/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * service.c: the thread that takes the control channel over when a kernel on the main thread lasts,
 * and for good when a kernel has crashed. While short kernels come and go it only looks now and
 * then, and less and less often, because waking it for each would cost more than the kernel; after
 * a while without kernels it sleeps until the next one.
 */
#define _GNU_SOURCE
#include "worker/server.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"

enum {
    LOOK_NS = 60000,        /* between looks: a kernel that is seen twice is a long one */
    LOOK_NS_MOST = 1000000, /* the same after many short ones */
    QUIET_NS = 6000000      /* without a new kernel before it sleeps */
};

enum { SERVICE_AWAKE, SERVICE_ASLEEP, SERVICE_STOP };

void service_kernel_begins(struct server *server)
{
    uint32_t asleep = SERVICE_ASLEEP;

    if (!server->main_device)
        return;
    atomic_fetch_add(&server->kernel_seq, 1);
    if (atomic_load_explicit(&server->service_state, memory_order_seq_cst) == SERVICE_ASLEEP &&
        atomic_compare_exchange_strong(&server->service_state, &asleep, SERVICE_AWAKE))
        syscall(SYS_futex, &server->service_state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void service_kernel_ended(struct server *server)
{
    if (!server->main_device)
        return;
    atomic_store_explicit(&server->kernel_seq,
                          atomic_load_explicit(&server->kernel_seq, memory_order_relaxed) + 1,
                          memory_order_release);
}

bool service_stand_back(struct server *server)
{
    if (!atomic_load(&server->service_sleeps))
        return true;
    channel_wake(server->channel);
    return false;
}

static void look_pause(int64_t ns)
{
    struct timespec pause = {.tv_nsec = ns};

    nanosleep(&pause, NULL);
}

/* Serves until the kernel of `seq` has ended, or for ever after a crash. */
static void serve_meanwhile(struct server *server, uint32_t seq)
{
    struct waiting waiting = {0};

    server_lock(server);
    while (!server->exiting && atomic_load(&server->service_state) != SERVICE_STOP &&
           (server->lost || atomic_load(&server->kernel_seq) == seq)) {
        bool progressed = false;

        server_notice_faults(server);
        omprma_status_t status = server_step(server, false, &progressed);
        server_follow_program(server, status);
        if (status != OMPRMA_OK) {
            log_write(LOG_ERROR, "%s", error_text());
            world_abort(server->world, EXIT_FAILURE);
        }
        if (!progressed)
            server_wait(server, &waiting, false);
        else
            waiting = (struct waiting){0};
    }
    if (server->lost && server->exiting && server->leave_lost) {
        reply_flush(server->session);
        channel_drain(server->channel);
        server_unlock(server);
        server->leave_lost(); /* the main thread is parked in the kernel that crashed */
    }
    server_unlock(server);
}

/* Sleeps until the next kernel begins. */
static void service_sleep(struct server *server, uint32_t seq)
{
    uint32_t awake = SERVICE_AWAKE;

    if (!atomic_compare_exchange_strong(&server->service_state, &awake, SERVICE_ASLEEP))
        return;
    if (atomic_load(&server->kernel_seq) != seq) { /* one began before it could see us asleep */
        uint32_t asleep = SERVICE_ASLEEP;

        atomic_compare_exchange_strong(&server->service_state, &asleep, SERVICE_AWAKE);
        return;
    }
    while (atomic_load(&server->service_state) == SERVICE_ASLEEP)
        syscall(SYS_futex, &server->service_state, FUTEX_WAIT_PRIVATE, SERVICE_ASLEEP, NULL, NULL,
                0);
}

static void *service_main(void *data)
{
    struct server *server = data;
    int64_t look_ns = LOOK_NS, quiet_ns = 0;
    uint32_t seen = 0, seen_steps = 0;

    if (server->main_device->backend->adopt_thread)
        server->main_device->backend->adopt_thread(server->main_device);
    prctl(PR_SET_TIMERSLACK, 1000);
    while (atomic_load(&server->service_state) != SERVICE_STOP) {
        uint32_t seq = atomic_load(&server->kernel_seq);
        uint32_t steps = atomic_load(&server->steps);
        /* Kernel after kernel of a backlog, and nobody looks at the channel. */
        bool neglected = seq & 1 && steps == seen_steps;

        if (seq != seen && !neglected) {
            look_ns = 2 * look_ns < LOOK_NS_MOST ? 2 * look_ns : LOOK_NS_MOST;
            quiet_ns = 0;
        } else if (seq & 1 || server->main_device->backend->fault(server->main_device)) {
            serve_meanwhile(server, seq);
            look_ns = LOOK_NS;
            quiet_ns = 0;
        } else if ((quiet_ns += look_ns) >= QUIET_NS) {
            service_sleep(server, seq);
            look_ns = LOOK_NS;
            quiet_ns = 0;
        }
        seen = seq;
        seen_steps = steps;
        look_pause(look_ns);
    }
    return NULL;
}

omprma_status_t service_start(struct server *server)
{
    if (!server->main_device)
        return OMPRMA_OK;
    if (pthread_create(&server->service_thread, NULL, service_main, server) != 0)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot start the service thread");
    return OMPRMA_OK;
}

void service_stop(struct server *server)
{
    if (!server->main_device || pthread_equal(server->service_thread, pthread_self()))
        return;
    atomic_store(&server->service_state, SERVICE_STOP);
    syscall(SYS_futex, &server->service_state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    channel_wake(server->channel);
    pthread_join(server->service_thread, NULL);
}
