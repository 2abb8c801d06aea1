/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ends.c: ends HOW: bad ends. The program learns of each and can say so.
 * - read_null, call_abort, call_exit, divide, read_null_in_thread: a kernel crashes that way
 * - print: not bad: prints on the host and on the device by turns
 * - kill, stop: the worker gets SIGKILL, SIGSTOP while it works and more is appended
 * - submit, retrieve, exchange: large transfers with all devices, and the last one's worker gets
 *   SIGKILL meanwhile; omprma-run ends the program
 * - part BYTES: says that it is ready on its stdout, waits for a byte on its stdin, while somebody
 *   parts the workers' hosts, and then exchanges between the first and the last device
 * - silent: the worker gets SIGSTOP, and data is submitted
 * - init: says what omprma_init() returns, and ends
 */
#include <signal.h>

#include "check.h"

static int crash(const char *how)
{
    omprma_queue_t *queue = queue_on(0), *other = queue_on(0);
    omprma_addr_t there = memory_on(0, 8);
    omprma_status_t status;

    launch(queue, symbol_at(0, how, 0), 0, there, 0);
    status = omprma_queue_synchronize(queue);
    fprintf(stderr, "crash: %s: %s\n", omprma_status_string(status), omprma_error());
    check(status == OMPRMA_ERR_KERNEL);
    check(strstr(omprma_error(), how));
    /* The device is lost, and says so at once. */
    status = omprma_submit(other, there, &there, 8);
    if (status == OMPRMA_OK)
        status = omprma_launch(other, there, NULL, NULL, 0);
    if (status == OMPRMA_OK)
        status = omprma_queue_synchronize(other);
    check(status == OMPRMA_ERR_DEVICE_LOST || status == OMPRMA_ERR_KERNEL);
    omprma_finalize();
    return 0;
}

static int print(void)
{
    omprma_queue_t *queue = queue_on(0);
    omprma_addr_t kernel = symbol_at(0, "print", 0);

    for (uint64_t i = 0; i < 20; i++) {
        printf("host %d\n", (int)i);
        launch(queue, kernel, i, 1, 0);
        if (i % 3 == 0)
            launch(queue, kernel, 100 + i, 1, 0);
        check_ok(omprma_queue_synchronize(queue));
    }
    for (uint64_t i = 0; i < 20; i++) {
        fprintf(stderr, "host %d\n", (int)i);
        launch(queue, kernel, i, 2, 0);
        check_ok(omprma_queue_synchronize(queue));
    }
    printf("host end\n");
    omprma_finalize();
    return 0;
}

static int lose(int signal)
{
    omprma_queue_t *queue = queue_on(0);
    omprma_addr_t kernel = symbol_at(0, "forever", 0);
    omprma_device_info_t info;
    omprma_status_t status;

    check_ok(omprma_device_info(0, &info));
    launch(queue, kernel, 0, 0, 0);
    check_ok(omprma_queue_flush(queue));
    usleep(100000);
    fprintf(stderr, "signal %d to process %d\n", signal, info.pid);
    check(kill(info.pid, signal) == 0);
    do { /* until the queue is full, and then until the worker is given up */
        status = omprma_launch(queue, kernel, NULL, NULL, 0);
        omprma_queue_flush(queue);
    } while (status == OMPRMA_OK);
    check(omprma_queue_synchronize(queue) == status);
    fprintf(stderr, "lost: %s: %s\n", omprma_status_string(status), omprma_error());
    check(status == OMPRMA_ERR_DEVICE_LOST || status == OMPRMA_ERR_MPI);
    omprma_finalize();
    return 4;
}

/* Where MPI has begun to wait for the worker inside one of its calls, the call ends this process.
 */
static int submit_to_silent(void)
{
    enum { BYTES = 100000 };
    static unsigned char data[BYTES];
    omprma_queue_t *queue = queue_on(0);
    omprma_addr_t there = memory_on(0, BYTES);
    omprma_device_info_t info;
    omprma_status_t status;

    check_ok(omprma_device_info(0, &info));
    check(kill(info.pid, SIGSTOP) == 0);
    status = omprma_submit(queue, there, data, BYTES);
    if (status == OMPRMA_OK)
        status = omprma_queue_synchronize(queue);
    fprintf(stderr, "silent: %s: %s\n", omprma_status_string(status), omprma_error());
    check(kill(info.pid, SIGCONT) == 0);
    omprma_finalize();
    return 4;
}

/* In the middle of a transfer as a rule: they follow each other closely. */
static void kill_later(int device)
{
    omprma_device_info_t info;

    check_ok(omprma_device_info(device, &info));
    if (fork() == 0) {
        usleep(100000 + (unsigned)getpid() % 32 * 1000);
        kill(info.pid, SIGKILL);
        _exit(0);
    }
}

static int lose_while(const char *how)
{
    enum { DEVICES_MOST = 8, BYTES = 32 << 20 };
    static unsigned char data[BYTES];
    omprma_queue_t *queues[DEVICES_MOST];
    omprma_addr_t from[DEVICES_MOST], to[DEVICES_MOST];
    int devices = omprma_device_count();

    check(devices <= DEVICES_MOST);
    for (int i = 0; i < devices; i++) {
        queues[i] = queue_on(i);
        from[i] = memory_on(i, BYTES);
        to[i] = memory_on(i, BYTES);
    }
    kill_later(devices - 1);
    for (;;) { /* whatever the calls say, until somebody ends this process */
        for (int i = 0; i < devices; i++) {
            int next = (i + 1) % devices;

            if (strcmp(how, "submit") == 0)
                omprma_submit(queues[i], from[i], data, BYTES);
            else if (strcmp(how, "retrieve") == 0)
                omprma_retrieve(queues[i], data, from[i], BYTES);
            else
                omprma_exchange(queues[i], from[i], next, to[next], BYTES);
        }
        for (int i = 0; i < devices; i++)
            omprma_queue_synchronize(queues[i]);
    }
}

static int part(uint64_t bytes)
{
    int last = omprma_device_count() - 1;
    omprma_queue_t *queue = queue_on(0);
    omprma_addr_t from = memory_on(0, bytes), to = memory_on(last, bytes);
    omprma_status_t status;

    check_ok(omprma_exchange(queue, from, last, to, bytes));
    check_ok(omprma_queue_synchronize(queue));
    printf("ready\n");
    fflush(stdout);
    check(getchar() != EOF);
    status = omprma_exchange(queue, from, last, to, bytes);
    if (status == OMPRMA_OK)
        status = omprma_queue_synchronize(queue);
    fprintf(stderr, "part: %s: %s\n", omprma_status_string(status), omprma_error());
    omprma_finalize();
    return 0;
}

int main(int count, char **words)
{
    const char *how = count > 1 ? words[1] : "init";
    omprma_status_t status = omprma_init();

    if (strcmp(how, "init") == 0) {
        fprintf(stderr, "init: %s: %s\n", omprma_status_string(status), omprma_error());
        return status == OMPRMA_OK ? omprma_finalize(), 0 : 10 + (int)status;
    }
    check(status == OMPRMA_OK);
    if (strcmp(how, "print") == 0)
        return print();
    if (strcmp(how, "kill") == 0)
        return lose(SIGKILL);
    if (strcmp(how, "stop") == 0)
        return lose(SIGSTOP);
    if (strcmp(how, "silent") == 0)
        return submit_to_silent();
    if (strcmp(how, "submit") == 0 || strcmp(how, "retrieve") == 0 || strcmp(how, "exchange") == 0)
        return lose_while(how);
    if (strcmp(how, "part") == 0)
        return part(count > 2 ? strtoul(words[2], NULL, 10) : 8);
    return crash(how);
}
