/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* launcher_openmpi_words.c: understands what mpirun and the library of Open MPI say. */
#include <stdio.h>
#include <string.h>

#include "tools/launch/launcher_openmpi.h"
#include "tools/launch/words.h"

static const char advice[] =
    "; name the network that connects all hosts, --mpi-arg --mca --mpi-arg btl_tcp_if_include "
    "--mpi-arg NETWORK, or, if only workers cannot reach each other, set "
    "OMPRMA_EXCHANGE=application";

/* A warning of Open MPI's; the job goes on, and hangs or fails. */
static bool match_network(struct verdict *found, const char *message, const char *flat)
{
    char what[200] = "", why[200] = "";
    if (!strstr(flat, "failed to TCP connect to a peer MPI process"))
        return false;
    found->kind = VERDICT_NETWORK;
    words_after(message, "Local host:", " \n", found->host, sizeof(found->host));
    words_after(message, "Message:", "\n", what, sizeof(what));
    words_after(message, "Error:", "\n", why, sizeof(why));
    snprintf(found->detail, sizeof(found->detail), "another host: %s: %s%s", what, why, advice);
    return true;
}

/* Of 5: there is no connection to try. */
static bool match_unreachable(struct verdict *found, const char *message, const char *flat)
{
    char to[256] = "";
    const char *second = strstr(message, "Process 2 ");
    if (!strstr(flat, "unable to reach each other for MPI communications") || !second)
        return false;
    found->kind = VERDICT_NETWORK;
    words_after(message, "is on host:", " \n", found->host, sizeof(found->host));
    words_after(second, "is on host:", " \n", to, sizeof(to));
    snprintf(found->detail, sizeof(found->detail), "host %.200s: no network leads there%s", to,
             advice);
    return true;
}

bool openmpi_message(struct verdict *found, const char *message, const char *flat)
{
    /* "Primary job terminated normally, but ..." precedes a message that says which. */
    if (strstr(flat, "Primary job terminated") || strstr(flat, "A deprecated MCA variable") ||
        match_network(found, message, flat) || match_unreachable(found, message, flat))
        return true;
    if (strstr(flat, "attempted to initialize") && strstr(flat, "more than once")) {
        found->kind = VERDICT_TWICE;
        return true;
    }
    if (words_number(flat, "exited on signal ", &found->code)) {
        found->kind = VERDICT_SIGNAL;
        words_number(flat, "process rank ", &found->rank);
        words_after(flat, "on node ", " \n", found->host, sizeof(found->host));
        return true;
    }
    if (strstr(flat, "exiting improperly")) { /* with status 0, and without a word */
        found->kind = VERDICT_STATUS;
        words_number(flat, "process rank ", &found->rank);
        words_after(flat, "on node ", " \n", found->host, sizeof(found->host));
        return true;
    }
    bool aborts =
        strstr(flat, "calling \"abort\"") && words_number(flat, "process rank ", &found->rank);
    if (aborts || words_number(flat, "MPI_ABORT was invoked on rank ", &found->rank)) {
        found->kind = VERDICT_GIVEN_UP;
        return true;
    }
    if (words_number(message, "Exit code:", &found->code)) {
        found->kind = VERDICT_STATUS;
        const char *name = strstr(message, "Process name: ["); /* [[job,1],rank], [job@1,rank] */
        if (!name || (sscanf(name, "Process name: [[%*d,%*d],%d]", &found->rank) != 1 &&
                      sscanf(name, "Process name: [%*[^],],%d]", &found->rank) != 1))
            found->rank = -1;
        return true;
    }
    if (strstr(flat, "unable to launch") &&
        words_after(message, "\nError:", "\n", found->detail, 400)) {
        found->kind = VERDICT_HOST; /* a limit, for example */
        words_after(message, "Node:", " \n", found->host, sizeof(found->host));
        if (strstr(found->detail, "number of processes"))
            strcat(found->detail, "; raise the limit (ulimit -u, pids.max of the control group)");
        return true;
    }
    if (strstr(flat, "unable to find the specified executable") ||
        strstr(flat, "could not access") || strstr(flat, "unable to launch")) {
        found->kind = VERDICT_PROGRAM;
        words_after(message, "Node:", " \n", found->host, sizeof(found->host));
        if (!words_after(message, "Executable:", "\n", found->detail, sizeof(found->detail)))
            words_flatten(message, found->detail, sizeof(found->detail));
        return true;
    }
    return false;
}

/* Processes write such a line in three parts, which may mix with those of others: "...] from HOST
 * ", "to: HOST ", "Unable to connect ...". The last has all but the names of the hosts; those are
 * taken from the parts right before it if they can belong together. */
static bool match_connection(struct verdict *found, const char *line)
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
    found->kind = VERDICT_NETWORK;
    snprintf(found->detail, sizeof(found->detail), "%s%.200s: connect() to %s failed: %.*s%s",
             named ? "host " : "another host", named ? to : "", address,
             (int)strcspn(peer + why, "\n"), peer + why, advice);
    return true;
}

/* Open MPI's lines around a second MPI_Init, "[HOST:PID] *** ...". The first call may fail this
 * way, too, when another process ends meanwhile; who has started MPI calls it again by its own
 * fault. */
static bool match_second_init(struct verdict *found, const struct verdict *verdict,
                              const char *line)
{
    const char *stars = strstr(line, "] *** ");
    if (*line != '[' || !stars)
        return false;
    if (strncmp(stars, "] *** An error occurred in MPI_Init", 35) != 0 || !verdict->connected ||
        verdict->kind != VERDICT_NONE)
        return verdict->kind == VERDICT_TWICE;
    found->kind = VERDICT_TWICE;
    found->rank = 0;
    return true;
}

/* Open MPI 5 has processes say so, in such lines, when another one has ended or mpirun has. */
static bool is_aside(struct verdict *verdict, const char *line)
{
    static const char *const ends[] = {"Socket closed\n", "PMIx Event Notification\n"};
    static const char begins[] = "] *** An error occurred in ";
    const char *stars = strstr(line, "] *** "), *what = strstr(line, begins);
    if (what) {
        verdict->aside = false;
        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
            verdict->aside |= strcmp(what + sizeof(begins) - 1, ends[i]) == 0;
        /* mpirun's frame has said why MPI does not start. */
        verdict->aside |= verdict->kind == VERDICT_OTHER &&
                          strncmp(what + sizeof(begins) - 1, "MPI_Init", 8) == 0;
    }
    return verdict->aside && *line == '[' && stars;
}

bool openmpi_line(struct verdict *found, struct verdict *verdict, const char *line)
{
    return is_aside(verdict, line) || match_second_init(found, verdict, line) ||
           match_connection(found, line) ||
           /* The first part alone, and what follows a failed connection. */
           strstr(line, ":mca_btl_tcp_endpoint_start_connect] from ") ||
           (verdict->kind == VERDICT_NETWORK && strstr(line, "/pml_ob1_") &&
            strstr(line, " FATAL\n"));
}

/* A process that copies to or from another one of its host that has died tries for ever, or until
 * it is ended, thousands of times. Which one has died is said once, by mpirun. */
static bool is_of_dead_peer(const char *line)
{
    char verb[6];
    int end = 0;
    return sscanf(line, "[%*[^]]] %5s -1, expected %*u, errno = 3%n", verb, &end) == 1 && end &&
           strcmp(line + end, "\n") == 0 &&
           (strcmp(verb, "Wrote") == 0 || strcmp(verb, "Read") == 0);
}

/* Said where there is no network at all, before mpirun says that it cannot go on. */
static bool is_filler(const char *line)
{
    static const char *const all[] = {"_ifinit: unable to find network interfaces.",
                                      "ptl_tool: problems getting address for index "};
    for (size_t i = 0; *line == '[' && i < sizeof(all) / sizeof(all[0]); i++)
        if (strstr(line, all[i]))
            return true;
    return false;
}

/* mpirun's counting of repeated messages, which are not shown either, and what it says when it is
 * told to end while it is ending, or cannot read what a process wants it to say. */
bool openmpi_noise(const char *line)
{
    return is_of_dead_peer(line) || is_filler(line) || strncmp(line, "[warn] Epoll ", 13) == 0 ||
           strstr(line, "plm:rsh: Warning: setpgid(") ||
           strstr(line, "plm:ssh: Warning: setpgid(") ||
           strstr(line, "PMIX ERROR: PMIX_ERR_UNREACH") ||
           strstr(line, "OSC UCX component priority set inside component query failed") ||
           strstr(line, "] Unable to find reachable pairing between ") ||
           strncmp(line, "Error in MPI_Isend(", 19) == 0 ||
           (strstr(line, "PRTE ERROR: ") &&
            (strstr(line, "/iof_hnp.c ") || strstr(line, "/odls_base_default_fns.c "))) ||
           (strstr(line, "PMIX ERROR: ") && strstr(line, "/pmix_server.c ")) ||
           (strstr(line, "PMIX ERROR: ") && strstr(line, "/pmix_event_notification.c ")) ||
           (strstr(line, "ORTE_ERROR_LOG: ") && strstr(line, "/show_help.c ")) ||
           strncmp(line, "mpirun: abort is already in progress", 36) == 0 ||
           (strstr(line, "PMIX ERROR: ") && strstr(line, "/oob_tcp_sendrecv.c ")) ||
           strstr(line, " sent help message help-") ||
           strncmp(line, "Set the PMIX_AGGREGATE_HELP attribute", 37) == 0 ||
           strcmp(line, " \n") == 0 || /* around that */
           strstr(line, "Set MCA parameter \"orte_base_help_aggregate\"");
}
