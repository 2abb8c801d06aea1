/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * sessions_far.c: single operations on device 0, which is on another host, and in turns with each
 * of them what bare sockets need that wait, for the same bytes between the same hosts: "RESULT NAME
 * MICROSECONDS MICROSECONDS", medians, omprma's first.
 *
 * serve: the other end of the bare socket. Says on which port it listens.
 * ops ADDRESS PORT [NAME]: all that is measured, or one of launch, region, submit, retrieve.
 * idle: one region, nothing for a second, and "IDLE MICROSECONDS MICROSECONDS": processor time of
 * this process in that second, and the first region after it.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "sessions.h"

enum { ROUNDS = 10, TURNS = 40, LARGE_TURNS = 4, BYTES_MOST = 64 << 20, HEAD_BYTES = 64 };

/* What goes first, HEAD_BYTES with what pads it. */
struct head {
    uint64_t out, back; /* bytes that follow, and that are to come back */
};

/* ---- bare sockets ---- */

static void send_all(int fd, const void *head, const void *data, size_t bytes)
{
    struct iovec parts[2] = {{(void *)(uintptr_t)head, HEAD_BYTES},
                             {(void *)(uintptr_t)data, bytes}};

    while (parts[0].iov_len + parts[1].iov_len > 0) {
        ssize_t moved = writev(fd, parts, 2);

        if (moved < 0)
            exit(4);
        for (int i = 0; i < 2; i++) {
            size_t part = (size_t)moved < parts[i].iov_len ? (size_t)moved : parts[i].iov_len;

            parts[i].iov_base = (char *)parts[i].iov_base + part;
            parts[i].iov_len -= part;
            moved -= (ssize_t)part;
        }
    }
}

static int receive_all(int fd, void *data, size_t bytes)
{
    return bytes == 0 || recv(fd, data, bytes, MSG_WAITALL) == (ssize_t)bytes;
}

static void send_at_once(int fd)
{
    const int on = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static int serve(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t bytes = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM, 0), fd;
    char head[HEAD_BYTES], *data = malloc(BYTES_MOST);
    struct head wish;

    if (!data || bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&at, &bytes))
        return 4;
    memset(data, 1, BYTES_MOST);
    printf("%d\n", ntohs(at.sin_port));
    fflush(stdout);
    fd = accept(listener, NULL, NULL);
    send_at_once(fd);
    while (receive_all(fd, head, sizeof(head))) {
        memcpy(&wish, head, sizeof(wish));
        if (wish.out > BYTES_MOST || wish.back > BYTES_MOST || !receive_all(fd, data, wish.out))
            return 4;
        send_all(fd, head, data, wish.back);
    }
    return 0;
}

static int call(const char *address, const char *port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (inet_pton(AF_INET, address, &to.sin_addr) != 1 ||
        connect(fd, (struct sockaddr *)&to, sizeof(to)))
        exit(4);
    send_at_once(fd);
    return fd;
}

/* ---- operations ---- */

static void there_and_back(const struct place *place, size_t out, size_t back)
{
    char head[HEAD_BYTES] = {0};
    const struct head wish = {out, back};

    memcpy(head, &wish, sizeof(wish));
    send_all(place->bare, head, place->host, out);
    if (!receive_all(place->bare, head, sizeof(head)) ||
        !receive_all(place->bare, place->host, back))
        exit(4);
}

static void bare_out(const struct place *place, size_t bytes)
{
    there_and_back(place, bytes, 0);
}

static void bare_back(const struct place *place, size_t bytes)
{
    there_and_back(place, 0, bytes);
}

static const char *only; /* NULL: all */

/* The first of each turn is not counted: it meets who has slept. */
static void take(operation *what, const struct place *place, size_t bytes, int turns, double *us)
{
    what(place, bytes);
    for (int turn = 0; turn < turns; turn++) {
        double begin = clock_us();

        what(place, bytes);
        us[turn] = clock_us() - begin;
    }
    usleep(5000); /* who polls has gone to sleep */
}

static void measure(const char *name, operation *ours, operation *bare, const struct place *place,
                    size_t bytes)
{
    static double us[2][ROUNDS * TURNS];
    int turns = bytes >= 1 << 20 ? LARGE_TURNS : TURNS, count = ROUNDS * turns;

    if (only && strcmp(only, name) != 0)
        return;
    for (int round = 0; round < ROUNDS; round++) {
        take(ours, place, bytes, turns, us[0] + (ptrdiff_t)round * turns);
        take(bare, place, bytes, turns, us[1] + (ptrdiff_t)round * turns);
    }
    for (int i = 0; i < 2; i++)
        qsort(us[i], (size_t)count, sizeof(us[i][0]), by_value);
    printf("RESULT %s", name);
    if (bytes)
        printf("-%zu", bytes);
    printf(" %.2f %.2f\n", us[0][count / 2], us[1][count / 2]);
}

static int operations(const char *address, const char *port)
{
    static const size_t sizes[] = {32 << 10, 2 << 20, 16 << 20, BYTES_MOST};
    struct place place = {.host = malloc(BYTES_MOST),
                          .device = omp_target_alloc(BYTES_MOST, 0),
                          .bare = call(address, port)};

    if (!place.host || !place.device)
        return 3;
    memset(place.host, 1, BYTES_MOST);
    submit(&place, BYTES_MOST);
    measure("launch", launch, bare_out, &place, 0);
    measure("region", region, bare_out, &place, 0);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        measure("submit", submit, bare_out, &place, sizes[i]);
        measure("retrieve", retrieve, bare_back, &place, sizes[i]);
    }
    omp_target_free(place.device, 0);
    free(place.host);
    return 0;
}

static double processor_us(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static int idle(void)
{
    double used, begin;

    region(NULL, 0);
    used = processor_us();
    sleep(1);
    used = processor_us() - used;
    begin = clock_us();
    region(NULL, 0);
    printf("IDLE %.0f %.1f\n", used, clock_us() - begin);
    return 0;
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "";

    if (strcmp(what, "serve") == 0)
        return serve();
    only = count > 4 ? words[4] : NULL;
    if (strcmp(what, "ops") == 0 && count > 3)
        return operations(words[2], words[3]);
    return strcmp(what, "idle") == 0 ? idle() : 2;
}
