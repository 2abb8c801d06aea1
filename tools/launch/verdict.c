/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* verdict.c: weighs what a launcher says, and puts it in words. Knows nothing of processes. */
#include "tools/launch/verdict.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/coming.h"
#include "base/log.h"
#include "tools/launch/words.h"

extern char **environ;

/* Of two the first is the cause as a rule. A connection that failed may have been replaced by
 * another, or be what ended the process whose status is known. */
static bool verdict_replaces(const struct verdict *found, const struct verdict *old)
{
    if (old->kind == VERDICT_TWICE)
        return false;
    if (found->kind == VERDICT_TWICE)
        return true;
    if (old->kind == VERDICT_NETWORK)
        return found->kind == VERDICT_SIGNAL || found->kind == VERDICT_PROGRAM;
    if (old->kind == VERDICT_OTHER)
        return found->kind != VERDICT_OTHER;
    return old->kind == VERDICT_NONE ||
           ((old->kind == VERDICT_STATUS || old->kind == VERDICT_GIVEN_UP) &&
            found->kind == VERDICT_NETWORK);
}

/* What is counted, and who speaks, stays. */
static void verdict_take(struct verdict *verdict, const struct verdict *found)
{
    verdict->kind = found->kind;
    verdict->rank = found->rank;
    verdict->code = found->code;
    memcpy(verdict->host, found->host, sizeof(verdict->host));
    memcpy(verdict->detail, found->detail, sizeof(verdict->detail));
}

void verdict_read(struct verdict *verdict, const char *message)
{
    char flat[MESSAGE_BYTES];
    words_flatten(message, flat, sizeof(flat));
    struct verdict found = {.rank = -1};
    if (!*flat || !verdict->dialect->message(&found, message, flat)) {
        if (!*flat || verdict->kind != VERDICT_NONE)
            return;
        found.kind = VERDICT_OTHER;
        words_flatten(message, found.detail, sizeof(found.detail));
    }
    if (found.kind != VERDICT_NONE && verdict_replaces(&found, verdict))
        verdict_take(verdict, &found);
}

bool verdict_read_line(struct verdict *verdict, const char *line)
{
    struct verdict found = {.rank = -1};
    if (!verdict->dialect->line(&found, verdict, line))
        return false;
    if (found.kind != VERDICT_NONE && verdict_replaces(&found, verdict))
        verdict_take(verdict, &found);
    return true;
}

void verdict_host(struct verdict *verdict, const char *report)
{
    if (verdict->kind == VERDICT_HOST)
        return;
    verdict_take(verdict, &(struct verdict){.kind = VERDICT_HOST, .rank = -1});
    size_t length = strcspn(report, ":");
    snprintf(verdict->host, sizeof(verdict->host), "%.*s", (int)(length < 200 ? length : 200),
             report);
    const char *detail = report + length;
    snprintf(verdict->detail, sizeof(verdict->detail), "%s", detail + strspn(detail, ": "));
}

static bool was_killed(int status)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

void verdict_add_status(struct verdict *verdict, int status, const char *host)
{
    struct statuses *all = &verdict->statuses;
    if (status && (!all->status || (was_killed(all->status) && !was_killed(status)))) {
        all->rank = all->ranks;
        all->status = status;
        snprintf(all->host, sizeof(all->host), "%s", host);
    }
    all->killed += was_killed(status);
    all->ranks++;
}

/* A worker has said why it cannot start, and the launcher does not say which one it is. */
static bool is_early(const struct verdict *verdict)
{
    bool unknown =
        verdict->kind == VERDICT_NONE || (verdict->kind == VERDICT_STATUS && verdict->rank < 0);
    return unknown && verdict->told && !verdict->connected;
}

struct verdict verdict_settled(const struct verdict *verdict)
{
    struct verdict settled = *verdict;
    const struct statuses *all = &verdict->statuses;
    bool asks = verdict->kind == VERDICT_STATUS || verdict->kind == VERDICT_SIGNAL;
    asks = (asks && verdict->rank < 0) || is_early(verdict);
    /* Rank 0 stands in for the program; only the launcher kills it. */
    bool unknown = was_killed(all->status) && (all->killed > 1 || all->rank == 0);
    /* hydra may give the number of a signal as a status. */
    if (asks && unknown && settled.code == WTERMSIG(all->status))
        settled.kind = VERDICT_SIGNAL;
    if (!asks || !all->status || unknown)
        return settled;
    settled.kind = WIFSIGNALED(all->status) ? VERDICT_SIGNAL : VERDICT_STATUS;
    settled.code = WIFSIGNALED(all->status) ? WTERMSIG(all->status) : WEXITSTATUS(all->status);
    settled.rank = all->rank;
    memcpy(settled.host, all->host, sizeof(settled.host));
    return settled;
}

static void word_rank(const struct verdict *verdict, char *text, size_t room)
{
    bool host = *verdict->host != 0;
    if (verdict->rank > 0)
        snprintf(text, room, "worker %d%s%.200s", verdict->rank - 1, host ? " on " : "",
                 verdict->host);
    else if (verdict->rank == 0)
        snprintf(text, room, "omprma-run's own process in the job");
    else
        snprintf(text, room, "a worker%s%.200s", host ? " on " : "", verdict->host);
}

/* What another MPI's mpirun does with words that are not its own, and one that does not find its
 * parts. */
static void word_strange(const struct verdict *verdict, int status, char *line, size_t room)
{
    const char *variable = verdict->dialect->folder_variable;
    const char *folder = variable ? getenv(variable) : NULL;
    snprintf(line, room,
             "%s ended with status %d before it had started anything; see the line above, and "
             "whether this first mpirun in PATH is %s's%s%s%s%s",
             verdict->strange, WEXITSTATUS(status), verdict->dialect->name,
             folder ? " and has its files in " : "", folder ? variable : "",
             folder ? ", which is " : "", folder ? folder : "");
}

/* What the launcher says in its own words. Where that is because of the host or of a site's
 * settings, a user cannot see that. */
static void word_other(const struct verdict *verdict, char *line, size_t room)
{
    const char *set = NULL;
    for (char **variable = environ; *variable && !set; variable++)
        if (strncmp(*variable, "OMPI_MCA_", 9) == 0)
            set = *variable;
    if (strstr(verdict->detail, "listener thread failed to start"))
        snprintf(line, room,
                 "mpirun cannot start: no network interface is up here; have one (ip link set lo "
                 "up), or go without mpirun: --transport direct");
    else
        snprintf(line, room, "mpirun: %.600s%s%.200s", verdict->detail,
                 set ? "; the environment has " : "", set ? set : "");
}

void verdict_word(const struct verdict *known, int status, char *line, size_t room)
{
    const struct verdict settled = verdict_settled(known), *verdict = &settled;
    char who[256];
    word_rank(verdict, who, sizeof(who));
    if (is_early(verdict)) {
        snprintf(line, room, "a worker could not start; see the lines above, or run with -v");
        return;
    }
    switch (verdict->kind) {
    case VERDICT_SIGNAL:
        snprintf(line, room, "%s was killed by signal %d (%s)%s", who, verdict->code,
                 strsignal(verdict->code),
                 verdict->code == 9 ? "; was it out of memory (see dmesg there), or ended by hand?"
                                    : "; see the lines above, or run with -v");
        return;
    case VERDICT_STATUS:
        snprintf(line, room, "%s ended early with status %d; see the lines above, or run with -v",
                 who, verdict->code);
        return;
    case VERDICT_GIVEN_UP:
        snprintf(line, room, "%s has ended the run; see the lines above, or run with -v",
                 verdict->rank == 0 ? "the program" : who);
        return;
    case VERDICT_PROGRAM:
        snprintf(line, room,
                 "cannot start %s on host %s; omprma must be installed in the same "
                 "folder on every host",
                 verdict->detail, verdict->host);
        return;
    case VERDICT_HOST:
        snprintf(line, room, "cannot start workers on host %s: %s", verdict->host, verdict->detail);
        return;
    case VERDICT_TWICE:
        snprintf(line, room,
                 "the program has called MPI_Init, but omprma had started MPI in it before; "
                 "for programs that use MPI themselves there is --transport direct");
        return;
    case VERDICT_NETWORK:
        snprintf(line, room, "%s%s cannot reach %s", *verdict->host ? "host " : "a host",
                 verdict->host, verdict->detail);
        return;
    case VERDICT_OTHER:
        word_other(verdict, line, room);
        return;
    case VERDICT_NONE:
        break;
    }
    if (WIFSIGNALED(status))
        snprintf(line, room, "mpirun was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) > 128 && WEXITSTATUS(status) < 128 + NSIG)
        snprintf(line, room,
                 "the workers are gone: one was killed by signal %d (%s) before MPI had started "
                 "there, and mpirun did not say which; run with -v",
                 WEXITSTATUS(status) - 128, strsignal(WEXITSTATUS(status) - 128));
    else if (verdict->strange && WEXITSTATUS(status) != 0 && !verdict->up)
        word_strange(verdict, status, line, room);
    else
        snprintf(line, room, "the workers are gone; mpirun ended with status %d and said nothing%s",
                 WEXITSTATUS(status),
                 WEXITSTATUS(status) ? ""
                                     : ": was one of them out of memory (see dmesg there), or "
                                       "ended by hand?");
}

/* ---- the stream ---------------------------------------------------------------------------- */

/* False when the reader is gone. */
static bool write_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        count -= (size_t)written;
    }
    return true;
}

static bool pass_held(struct sieve *sieve)
{
    size_t bytes = sieve->held_bytes;
    sieve->held_bytes = 0;
    return write_all(sieve->out, sieve->held, bytes);
}

bool sieve_end(struct sieve *sieve)
{
    size_t used = sieve->used;
    sieve->used = 0;
    return pass_held(sieve) && write_all(sieve->out, sieve->line, used);
}

static void hold_line(struct sieve *sieve)
{
    if (sieve->held_bytes + sieve->used > sizeof(sieve->held))
        pass_held(sieve);
    memcpy(sieve->held + sieve->held_bytes, sieve->line, sieve->used);
    sieve->held_bytes += sieve->used;
    sieve->used = 0;
}

/* Of a whole line. False when the reader is gone. */
static bool take_line(struct sieve *sieve, const struct dialect *dialect)
{
    sieve->line[sieve->used] = 0;
    switch (dialect->own(sieve->line, &sieve->place)) {
    case OWN_MAYBE:
        hold_line(sieve);
        return true;
    case OWN_WITH_HELD:
        sieve->held_bytes = 0;
        sieve->used = 0;
        return true;
    case OWN_ALONE:
        sieve->used = 0;
        return pass_held(sieve);
    case OWN_NOT:
        break;
    }
    return sieve_end(sieve);
}

bool sieve_feed(struct sieve *sieve, const struct dialect *dialect, const char *bytes, size_t count)
{
    bool read = true;
    if (!dialect->own)
        return write_all(sieve->out, bytes, count);
    for (size_t i = 0; i < count && read; i++) {
        bool ends = bytes[i] == '\n';
        sieve->line[sieve->used++] = bytes[i];
        if (!sieve->passes && !dialect->may_be_own(sieve->line, sieve->used, sieve->place)) {
            sieve->passes = true;
            sieve->place = 0;
        }
        bool full = sieve->used == SIEVE_LINE;
        if (ends && !sieve->passes)
            read = take_line(sieve, dialect);
        else if (ends || full || (sieve->passes && i + 1 == count))
            read = sieve_end(sieve);
        sieve->passes = !ends && (sieve->passes || full);
    }
    return read;
}

static bool line_is_frame(const struct dialect *dialect, const char *line, size_t bytes)
{
    const char frame[] = {dialect->frame, 0};
    return bytes > 60 && strspn(line, frame) == bytes - 1;
}

/* True if the line belongs to a framed message. */
static bool stream_frame(struct stream *stream, struct verdict *verdict)
{
    bool frame = line_is_frame(verdict->dialect, stream->line, stream->used);
    bool inside = stream->framed;
    if (frame && inside) {
        stream->message[stream->message_bytes] = 0;
        verdict_read(verdict, stream->message);
    }
    if (frame) {
        stream->framed = !inside;
        stream->message_bytes = 0;
    } else if (inside) {
        size_t room = sizeof(stream->message) - 1 - stream->message_bytes;
        size_t bytes = stream->used < room ? stream->used : room;
        memcpy(stream->message + stream->message_bytes, stream->line, bytes);
        stream->message_bytes += bytes;
    }
    return frame || inside;
}

/* A process of ours, or the dynamic linker about one that it could not start. */
static bool is_told(const struct verdict *verdict, const char *line)
{
    static const char own[] = "omprma: error: ", linker[] = ": error while loading shared ";
    size_t bytes = verdict->worker ? strlen(verdict->worker) : 0;
    return strncmp(line, own, sizeof(own) - 1) == 0 ||
           (bytes && strncmp(line, verdict->worker, bytes) == 0 &&
            strncmp(line + bytes, linker, sizeof(linker) - 1) == 0);
}

static void stream_take(struct stream *stream, struct verdict *verdict)
{
    stream->line[stream->used] = 0;
    bool up = coming_is(stream->line);
    verdict->up += up;
    verdict->told |= is_told(verdict, stream->line);
    bool ours = up || (stream->from_mpirun && stream_frame(stream, verdict)) ||
                strcmp(stream->line, "\n") == 0 || verdict->dialect->noise(stream->line) ||
                verdict_read_line(verdict, stream->line);
    if (stream->verbose || !ours)
        log_pass(stream->out, stream->line, stream->used);
    stream->used = 0;
}

/* A frame may follow words without an end of line. */
static void stream_line(struct stream *stream, struct verdict *verdict)
{
    size_t end = stream->used, start = end > 0 ? end - 1 : 0;
    char frame[sizeof(stream->line)];
    while (start > 0 && stream->line[start - 1] == verdict->dialect->frame)
        start--;
    bool follows = stream->from_mpirun && start > 0 && end - start > 60;
    if (follows) {
        memcpy(frame, stream->line + start, end - start);
        stream->line[start] = '\n';
        stream->used = start + 1;
    }
    stream_take(stream, verdict);
    if (follows) {
        memcpy(stream->line, frame, end - start);
        stream->used = end - start;
        stream_take(stream, verdict);
    }
}

void stream_feed(struct stream *stream, const char *bytes, size_t count, struct verdict *verdict)
{
    for (size_t i = 0; i < count; i++) {
        if (!bytes[i] && !stream->used) /* the end of a message that should not have been sent */
            continue;
        stream->line[stream->used++] = bytes[i];
        if (bytes[i] == '\n' || stream->used == sizeof(stream->line) - 1)
            stream_line(stream, verdict);
    }
}

void stream_end(struct stream *stream)
{
    if (stream->framed && !stream->verbose)
        write_all(stream->out, stream->message, stream->message_bytes);
    write_all(stream->out, stream->line, stream->used);
    stream->framed = false;
    stream->message_bytes = 0;
    stream->used = 0;
}
