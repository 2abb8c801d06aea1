/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* verdict.c: understands Open MPI's messages. Knows nothing of processes. */
#include "tools/launch/verdict.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/coming.h"

/* Copies the word after `label` up to any of `ends`. */
static bool word_after(const char *text, const char *label, const char *ends, char *word,
                       size_t room)
{
    const char *at = strstr(text, label);
    if (!at)
        return false;
    at += strlen(label);
    at += strspn(at, " \t");
    size_t length = strcspn(at, ends);
    snprintf(word, room, "%.*s", (int)(length < room ? length : room - 1), at);
    return length > 0;
}

static bool number_after(const char *text, const char *label, int *number)
{
    const char *at = strstr(text, label);
    return at && sscanf(at + strlen(label), "%d", number) == 1;
}

/* A message as one line of words. */
static void message_flatten(const char *message, char *line, size_t room)
{
    size_t used = 0;
    bool space = false;
    for (; *message && used + 2 < room; message++) {
        if (strchr(" \t\n", *message)) {
            space = used > 0;
            continue;
        }
        if (space)
            line[used++] = ' ';
        space = false;
        line[used++] = *message;
    }
    line[used] = 0;
}

/* A warning of Open MPI's; the job goes on, and hangs or fails. */
static bool network_match(struct verdict *found, const char *message)
{
    char what[200] = "", why[200] = "";
    if (!strstr(message, "failed to TCP connect to a peer MPI process"))
        return false;
    found->kind = VERDICT_NETWORK;
    word_after(message, "Local host:", " \n", found->host, sizeof(found->host));
    word_after(message, "Message:", "\n", what, sizeof(what));
    word_after(message, "Error:", "\n", why, sizeof(why));
    snprintf(found->detail, sizeof(found->detail), "another host: %s: %s", what, why);
    return true;
}

static bool verdict_match(struct verdict *found, const char *message)
{
    if (network_match(found, message))
        return true;
    if (strstr(message, "attempted to initialize") && strstr(message, "more than once")) {
        found->kind = VERDICT_TWICE;
        return true;
    }
    if (number_after(message, "exited on signal ", &found->code)) {
        found->kind = VERDICT_SIGNAL;
        number_after(message, "process rank ", &found->rank);
        word_after(message, "on node ", " \n", found->host, sizeof(found->host));
        return true;
    }
    if (strstr(message, "exiting improperly")) { /* with status 0, and without a word */
        found->kind = VERDICT_STATUS;
        number_after(message, "process rank ", &found->rank);
        word_after(message, "\nnode ", " \n", found->host, sizeof(found->host));
        return true;
    }
    if (number_after(message, "MPI_ABORT was invoked on rank ", &found->rank)) {
        found->kind = VERDICT_GIVEN_UP;
        return true;
    }
    if (number_after(message, "Exit code:", &found->code)) {
        found->kind = VERDICT_STATUS;
        const char *name = strstr(message, "Process name: [["); /* [[job,1],rank] */
        if (!name || sscanf(name, "Process name: [[%*d,%*d],%d]", &found->rank) != 1)
            found->rank = -1;
        return true;
    }
    if (strstr(message, "unable to launch") &&
        word_after(message, "\nError:", "\n", found->detail, 400)) {
        found->kind = VERDICT_HOST; /* a limit, for example */
        word_after(message, "Node:", " \n", found->host, sizeof(found->host));
        if (strstr(found->detail, "number of processes"))
            strcat(found->detail, "; raise the limit (ulimit -u, pids.max of the control group)");
        return true;
    }
    if (strstr(message, "unable to find the specified executable") ||
        strstr(message, "could not access") || strstr(message, "unable to launch")) {
        found->kind = VERDICT_PROGRAM;
        word_after(message, "Node:", " \n", found->host, sizeof(found->host));
        if (!word_after(message, "Executable:", "\n", found->detail, sizeof(found->detail)))
            message_flatten(message, found->detail, sizeof(found->detail));
        return true;
    }
    return false;
}

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
    return old->kind == VERDICT_NONE || old->kind == VERDICT_OTHER ||
           ((old->kind == VERDICT_STATUS || old->kind == VERDICT_GIVEN_UP) &&
            found->kind == VERDICT_NETWORK);
}

void verdict_read(struct verdict *verdict, const char *message)
{
    struct verdict found = {.rank = -1};
    /* "Primary job terminated normally, but ..." precedes a message that says which. */
    if (!*message || strstr(message, "Primary job  terminated"))
        return;
    if (verdict_match(&found, message)) {
        if (verdict_replaces(&found, verdict))
            *verdict = found;
        return;
    }
    if (verdict->kind == VERDICT_NONE) {
        verdict->kind = VERDICT_OTHER;
        verdict->rank = -1;
        message_flatten(message, verdict->detail, sizeof(verdict->detail));
    }
}

/* Processes write such a line in three parts, which may mix with those of others: "...] from HOST
 * ", "to: HOST ", "Unable to connect ...". The last has all but the names of the hosts; those are
 * taken from the parts right before it if they can belong together. */
static bool line_match(struct verdict *found, const char *line)
{
    char from[256] = "", to[256] = "", address[100];
    const char *peer = strstr(line, "Unable to connect to the peer ");
    int why = 0, end = 0;
    if (!peer ||
        sscanf(peer, "Unable to connect to the peer %99s on port %*d: %n", address, &why) != 1 ||
        !why)
        return false;
    const char *part = line, *next;
    while ((next = strstr(part + 1, "] from ")) && next < peer)
        part = next;
    bool named = sscanf(part, "] from %255s to: %255s %n", from, to, &end) == 2 &&
                 part + end == peer && strcmp(from, to) != 0;
    if (named)
        snprintf(found->host, sizeof(found->host), "%s", from);
    snprintf(found->detail, sizeof(found->detail), "%s%.200s: connect() to %s failed: %.150s",
             named ? "host " : "another host", named ? to : "", address, peer + why);
    found->detail[strcspn(found->detail, "\n")] = 0;
    return true;
}

/* Open MPI's lines around a second MPI_Init, "[HOST:PID] *** ...". The first call does not fail
 * this way: the program's process has nobody to blame but itself then. */
static bool line_is_of_second_init(struct verdict *verdict, const char *line)
{
    const char *stars = strstr(line, "] *** ");
    if (*line != '[' || !stars)
        return false;
    if (strncmp(stars, "] *** An error occurred in MPI_Init", 35) == 0 &&
        verdict->kind == VERDICT_NONE)
        *verdict = (struct verdict){.kind = VERDICT_TWICE, .rank = 0};
    return verdict->kind == VERDICT_TWICE;
}

bool verdict_read_line(struct verdict *verdict, const char *line)
{
    if (line_is_of_second_init(verdict, line))
        return true;
    struct verdict found = {.kind = VERDICT_NETWORK, .rank = -1};
    if (!line_match(&found, line)) {
        /* The first part alone, and what follows a failed connection. */
        return strstr(line, ":mca_btl_tcp_endpoint_start_connect] from ") ||
               (verdict->kind == VERDICT_NETWORK && strstr(line, "/pml_ob1_") &&
                strstr(line, " FATAL\n"));
    }
    if (verdict_replaces(&found, verdict))
        *verdict = found;
    return true;
}

void verdict_host(struct verdict *verdict, const char *report)
{
    if (verdict->kind == VERDICT_HOST)
        return;
    *verdict = (struct verdict){.kind = VERDICT_HOST, .rank = -1};
    size_t length = strcspn(report, ":");
    snprintf(verdict->host, sizeof(verdict->host), "%.*s", (int)(length < 200 ? length : 200),
             report);
    const char *detail = report + length;
    snprintf(verdict->detail, sizeof(verdict->detail), "%s", detail + strspn(detail, ": "));
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
static void word_strange(const char *mpirun, int status, char *line, size_t room)
{
    const char *prefix = getenv("OPAL_PREFIX");
    snprintf(line, room,
             "%s ended with status %d before it had started anything; see the line above, and "
             "whether this first mpirun in PATH is Open MPI 4's%s%s",
             mpirun, WEXITSTATUS(status),
             prefix ? " and has its files in OPAL_PREFIX, which is " : "", prefix ? prefix : "");
}

void verdict_word(const struct verdict *verdict, int status, char *line, size_t room)
{
    char who[256];
    word_rank(verdict, who, sizeof(who));
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
                 "programs that use MPI themselves are not served yet");
        return;
    case VERDICT_NETWORK:
        snprintf(line, room,
                 "%s%s cannot reach %s; name the network that connects all hosts, --mpi-arg --mca "
                 "--mpi-arg btl_tcp_if_include --mpi-arg NETWORK, or, if only workers cannot reach "
                 "each other, set OMPRMA_EXCHANGE=application",
                 *verdict->host ? "host " : "a host", verdict->host, verdict->detail);
        return;
    case VERDICT_OTHER:
        snprintf(line, room, "mpirun: %s", verdict->detail);
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
        word_strange(verdict->strange, status, line, room);
    else
        snprintf(line, room, "the workers are gone; mpirun ended with status %d and said nothing",
                 WEXITSTATUS(status));
}

/* ---- the stream ---------------------------------------------------------------------------- */

static void write_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return; /* the reader is gone */
        bytes += written;
        count -= (size_t)written;
    }
}

static bool line_is_frame(const char *line, size_t bytes)
{
    return bytes > 60 && strspn(line, "-") == bytes - 1;
}

/* mpirun's counting of repeated messages, which are not shown either, and what it says when it is
 * told to end while it is ending, or cannot read what a process wants it to say. */
static bool line_is_noise(const char *line)
{
    return strcmp(line, "\n") == 0 || strncmp(line, "[warn] Epoll ", 13) == 0 ||
           strstr(line, "plm:rsh: Warning: setpgid(") ||
           (strstr(line, "PMIX ERROR: ") && strstr(line, "/pmix_event_notification.c ")) ||
           (strstr(line, "ORTE_ERROR_LOG: ") && strstr(line, "/show_help.c ")) ||
           strncmp(line, "mpirun: abort is already in progress", 36) == 0 ||
           strstr(line, " sent help message help-") ||
           strstr(line, "Set MCA parameter \"orte_base_help_aggregate\"");
}

/* A process that copies to or from another one of its host that has died tries for ever, or until
 * it is ended, thousands of times. Which one has died is said once, by mpirun. */
static bool line_is_of_dead_peer(const char *line)
{
    char verb[6];
    int end = 0;
    return sscanf(line, "[%*[^]]] %5s -1, expected %*u, errno = 3%n", verb, &end) == 1 && end &&
           strcmp(line + end, "\n") == 0 &&
           (strcmp(verb, "Wrote") == 0 || strcmp(verb, "Read") == 0);
}

/* True if the line belongs to a framed message. */
static bool stream_frame(struct stream *stream, struct verdict *verdict)
{
    bool frame = line_is_frame(stream->line, stream->used);
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

static void stream_line(struct stream *stream, struct verdict *verdict)
{
    stream->line[stream->used] = 0;
    bool up = coming_is(stream->line);
    verdict->up += up;
    bool ours = up || (stream->from_mpirun && stream_frame(stream, verdict)) ||
                line_is_noise(stream->line) || line_is_of_dead_peer(stream->line) ||
                verdict_read_line(verdict, stream->line);
    if (stream->verbose || !ours)
        write_all(stream->out, stream->line, stream->used);
    stream->used = 0;
}

void stream_feed(struct stream *stream, const char *bytes, size_t count, struct verdict *verdict)
{
    for (size_t i = 0; i < count; i++) {
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
