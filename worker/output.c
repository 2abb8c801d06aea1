/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * output.c: captured output, see output.h. Text is a list of pieces in the order of writing. At
 * most LIMIT_BYTES are kept: a writer that would exceed them waits until text is taken. When
 * nothing is taken for PATIENCE_S it goes on without, later writers do not wait until text is taken
 * again, and a line in the text tells how much was lost.
 * Must not know: MPI, messages, devices.
 */
#include "worker/output.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

enum {
    LIMIT_BYTES = 64 << 20,    /* kept, with the bookkeeping of each piece */
    PATIENCE_S = 10,           /* of a writer that found the limit reached */
    BUFFER_BYTES = 16 << 10,   /* of stdout */
    PIPE_BYTES = 1 << 20,      /* what anybody may ask for */
    PIECE_BYTES = 1 << 20,     /* a longer write is split */
    STREAM_WAIT_NS = 20000000, /* for a thread that is in the middle of a printf */
    NOTICE_BYTES = 128,
};

struct piece {
    struct piece *next;
    enum output_stream stream;
    bool flushed; /* by who wrote it */
    size_t bytes, taken;
    char text[];
};

struct capture {
    pthread_mutex_t lock;
    pthread_cond_t room;
    struct piece *first, *last;
    size_t kept;           /* bytes, with bookkeeping */
    uint64_t lost[3];      /* bytes per stream, not yet told */
    _Atomic size_t pieces; /* in the list, or losses to tell */
    _Atomic int waiting;   /* writers that wait for room, holding their stream */
    FILE *streams[3];      /* by enum output_stream */
    int pipes[3];          /* read ends */
    bool stuck;            /* stdout's lock was not to be had the last time */
    _Atomic bool parked;   /* a thread may be, inside stdio */
    bool abandoned;        /* nobody took text for PATIENCE_S: writers do not wait */
};

/* The flush that runs now is ours: device code did not ask for it. */
static _Thread_local bool flushing;

static struct capture capture = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                 .room = PTHREAD_COND_INITIALIZER};

/* ---- the list ---- */

static size_t piece_cost(const struct piece *piece)
{
    return sizeof(*piece) + piece->bytes;
}

/* Under the lock. Waits for room; false when none came. */
static bool room_wait(size_t cost)
{
    atomic_fetch_add(&capture.waiting, 1);
    while (!capture.abandoned && capture.kept + cost > LIMIT_BYTES) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += PATIENCE_S;
        if (pthread_cond_timedwait(&capture.room, &capture.lock, &until) == ETIMEDOUT)
            capture.abandoned = capture.kept + cost > LIMIT_BYTES;
    }
    atomic_fetch_sub(&capture.waiting, 1);
    return !capture.abandoned;
}

static void piece_append(struct piece *piece)
{
    piece->next = NULL;
    if (capture.last)
        capture.last->next = piece;
    else
        capture.first = piece;
    capture.last = piece;
    capture.kept += piece_cost(piece);
    atomic_fetch_add(&capture.pieces, 1);
}

/* Under the lock. Turns losses into lines of text, once there is room to tell them. */
static void losses_tell(void)
{
    for (int stream = OUTPUT_STDOUT; stream <= OUTPUT_STDERR; stream++) {
        if (!capture.lost[stream])
            continue;
        struct piece *piece = malloc(sizeof(*piece) + NOTICE_BYTES);
        if (!piece)
            return;
        *piece = (struct piece){.stream = stream};
        piece->bytes =
            (size_t)snprintf(piece->text, NOTICE_BYTES,
                             "\nomprma: warning: %llu bytes of output lost here, more "
                             "than %d MiB at once\n",
                             (unsigned long long)capture.lost[stream], LIMIT_BYTES >> 20);
        capture.lost[stream] = 0;
        piece_append(piece);
        atomic_fetch_sub(&capture.pieces, 1); /* the loss had been counted as one */
    }
}

/* A copy is made before the lock is taken: the text may be a kernel's memory that is not mapped,
 * and a thread parked there must not hold the lock. NULL: no memory. */
static struct piece *piece_make(enum output_stream stream, const char *text, size_t bytes)
{
    struct piece *piece = malloc(sizeof(*piece) + bytes);
    if (piece) {
        *piece = (struct piece){
            .stream = stream,
            .flushed = stream == OUTPUT_STDOUT && !flushing,
            .bytes = bytes,
        };
        memcpy(piece->text, text, bytes);
    }
    return piece;
}

static void piece_keep(enum output_stream stream, const char *text, size_t bytes)
{
    struct piece *piece = piece_make(stream, text, bytes);
    pthread_mutex_lock(&capture.lock);
    if (piece && room_wait(piece_cost(piece))) {
        losses_tell();
        piece_append(piece);
    } else {
        if (!capture.lost[stream])
            atomic_fetch_add(&capture.pieces, 1);
        capture.lost[stream] += bytes;
        free(piece);
    }
    pthread_mutex_unlock(&capture.lock);
}

static void text_keep(enum output_stream stream, const char *text, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        size_t n = bytes - done < PIECE_BYTES ? bytes - done : PIECE_BYTES;
        piece_keep(stream, text + done, n);
        done += n;
    }
}

/* ---- stdio ---- */

static ssize_t stdout_write(void *cookie, const char *text, size_t bytes)
{
    (void)cookie;
    text_keep(OUTPUT_STDOUT, text, bytes);
    return (ssize_t)bytes;
}

static ssize_t stderr_write(void *cookie, const char *text, size_t bytes)
{
    (void)cookie;
    text_keep(OUTPUT_STDERR, text, bytes);
    return (ssize_t)bytes;
}

static void flush_for_us(FILE *out)
{
    flushing = true;
    fflush_unlocked(out);
    flushing = false;
}

void output_expect_stuck(void)
{
    atomic_store(&capture.parked, true);
}

/* Flushes stdout without waiting for ever: its lock may belong to a writer that waits for room, or
 * to a thread that is parked since it crashed inside printf. In the latter case the buffer is at
 * rest and may be flushed without the lock. */
static void stdout_flush(void)
{
    FILE *out = capture.streams[OUTPUT_STDOUT];
    if (!out || !__fpending(out))
        return;
    int64_t until = clock_ns() + (capture.stuck ? 0 : STREAM_WAIT_NS);
    while (ftrylockfile(out)) {
        if (atomic_load(&capture.waiting))
            return;
        if (clock_ns() > until) {
            capture.stuck = true;
            if (atomic_load(&capture.parked))
                flush_for_us(out);
            return;
        }
        sched_yield();
    }
    capture.stuck = false;
    flush_for_us(out);
    funlockfile(out);
}

/* `name` replaces the stream; code that asks for its descriptor gets the pipe's. */
static FILE *stream_open(cookie_write_function_t *write_text, int fd)
{
    FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_text});
    if (stream)
        stream->_fileno = fd;
    return stream;
}

/* ---- pipes ---- */

static omprma_status_t pipe_open(int fd, int *read_end)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no pipe for descriptor %d: %s", fd,
                         strerror(errno));
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) || dup2(ends[1], fd) < 0) {
        int error = errno;
        close(ends[0]);
        close(ends[1]);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no pipe for descriptor %d: %s", fd,
                         strerror(error));
    }
    fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES); /* else it holds 64 KiB, which will do */
    close(ends[1]);
    *read_end = ends[0];
    return OMPRMA_OK;
}

/* Appends what one pipe holds. Stops at the limit: the caller is the one that takes the text, so it
 * must not wait for room; what stays in the pipe keeps its writer waiting. */
static void pipe_drain(enum output_stream stream)
{
    char text[4096];
    for (;;) {
        pthread_mutex_lock(&capture.lock);
        bool room = capture.kept + sizeof(struct piece) + sizeof(text) <= LIMIT_BYTES;
        pthread_mutex_unlock(&capture.lock);
        ssize_t n = room ? read(capture.pipes[stream], text, sizeof(text)) : 0;
        struct piece *piece = n > 0 ? piece_make(stream, text, (size_t)n) : NULL;
        if (!piece)
            return;
        pthread_mutex_lock(&capture.lock);
        piece_append(piece);
        pthread_mutex_unlock(&capture.lock);
    }
}

void output_drain_fds(void)
{
    if (!capture.streams[OUTPUT_STDOUT])
        return;
    stdout_flush();
    pipe_drain(OUTPUT_STDOUT);
    pipe_drain(OUTPUT_STDERR);
}

/* ---- interface ---- */

omprma_status_t output_capture(bool lines, int *real_stderr)
{
    if (capture.streams[OUTPUT_STDOUT])
        return error_set(OMPRMA_ERR_ARGUMENT, "output is captured already");
    fflush(NULL);
    int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    FILE *out = stream_open(stdout_write, STDOUT_FILENO);
    FILE *err = stream_open(stderr_write, STDERR_FILENO);
    omprma_status_t status = OMPRMA_OK;
    if (kept < 0 || !out || !err || setvbuf(out, NULL, lines ? _IOLBF : _IOFBF, BUFFER_BYTES) ||
        setvbuf(err, NULL, _IONBF, 0))
        status =
            error_set(OMPRMA_ERR_HOST_MEMORY, "output cannot be captured: %s", strerror(errno));
    if (!status)
        status = pipe_open(STDOUT_FILENO, &capture.pipes[OUTPUT_STDOUT]);
    if (!status)
        status = pipe_open(STDERR_FILENO, &capture.pipes[OUTPUT_STDERR]);
    if (status) {
        if (out)
            fclose(out);
        if (err)
            fclose(err);
        if (kept >= 0)
            close(kept);
        return status;
    }
    capture.streams[OUTPUT_STDOUT] = out;
    capture.streams[OUTPUT_STDERR] = err;
    stdout = out;
    stderr = err;
    *real_stderr = kept;
    return OMPRMA_OK;
}

bool output_pending(void)
{
    FILE *out = capture.streams[OUTPUT_STDOUT];
    return atomic_load_explicit(&capture.pieces, memory_order_acquire) || (out && __fpending(out));
}

size_t output_take(enum output_stream *stream, char *text, size_t capacity, bool *flushed)
{
    size_t stored = 0;

    *flushed = false;
    stdout_flush();
    pthread_mutex_lock(&capture.lock);
    losses_tell();
    while (capture.first && stored < capacity) {
        struct piece *piece = capture.first;
        if (stored && (piece->stream != *stream || *flushed))
            break;
        size_t n = piece->bytes - piece->taken;
        n = n < capacity - stored ? n : capacity - stored;
        memcpy(text + stored, piece->text + piece->taken, n);
        *stream = piece->stream;
        piece->taken += n;
        stored += n;
        if (piece->taken < piece->bytes)
            break;
        *flushed = piece->flushed;
        capture.first = piece->next;
        if (!capture.first)
            capture.last = NULL;
        capture.kept -= piece_cost(piece);
        atomic_fetch_sub(&capture.pieces, 1);
        free(piece);
    }
    if (stored) {
        capture.abandoned = false;
        if (atomic_load(&capture.waiting))
            pthread_cond_broadcast(&capture.room);
    }
    pthread_mutex_unlock(&capture.lock);
    return stored;
}
