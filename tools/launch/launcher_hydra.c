/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * launcher_hydra.c: the table of hydra, MPICH's mpiexec. With -pmi-port, rank 0's place is a port
 * and a number in variables, else it would be a descriptor, which cannot be handed on.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tools/launch/launcher.h"
#include "tools/launch/words.h"

/* ---- the command line ----------------------------------------------------------------------- */

static const char *name_here(const struct hosts *hosts)
{
    for (size_t i = 0; i < hosts->names.count; i++)
        if (hosts_is_here(hosts->names.items[i]))
            return hosts->names.items[i];
    return "localhost";
}

static int most_slots(const struct hosts *hosts)
{
    int most = 1;
    for (size_t i = 0; i < hosts->names.count; i++)
        most = hosts->slots[i] > most ? hosts->slots[i] : most;
    return most;
}

/* Places in the order of ranks, rank 0's first; a host may come again. */
static char *places(const struct command *command)
{
    const struct hosts *hosts = &command->launch->hosts;
    bool turns = command->launch->by_node;
    char *text = text_make("%s:1", name_here(hosts));
    for (int turn = 0; turn < (turns ? most_slots(hosts) : 1); turn++)
        for (size_t i = 0; i < hosts->names.count; i++) {
            int count = turns ? hosts->slots[i] > turn : hosts->slots[i];
            if (!count)
                continue;
            char *longer = text_make("%s,%s:%d", text, hosts->names.items[i], count);
            free(text);
            text = longer;
        }
    return text;
}

static void write_hosts(struct list *line, const struct command *command)
{
    char *hosts = places(command);
    list_add(line, "-hosts");
    list_add(line, hosts);
    free(hosts);
    char *own = hosts_own_address(&command->launch->hosts);
    if (own && !list_contains(&command->launch->mpi_args, "-localhost")) {
        list_add(line, "-localhost"); /* where others look for mpiexec: not at a name */
        list_add(line, own);
    }
    free(own);
    if (!command->agent)
        return;
    list_add(line, "-launcher"); /* the way in which it calls what follows: HOST COMMAND... */
    list_add(line, "rsh");
    list_add(line, "-launcher-exec");
    list_add(line, command->agent);
}

/* All variables of this process go to all hosts by themselves. */
static void write_variables(struct list *line, const struct list *variables)
{
    for (size_t i = 0; i < variables->count; i++) {
        const char *text = variables->items[i], *equals = strchr(text, '=');
        if (!equals)
            continue;
        list_add(line, "-env");
        list_addf(line, "%.*s", (int)(equals - text), text);
        list_add(line, equals + 1);
    }
}

static void write_line(struct list *line, const struct command *command,
                       const struct list *variables)
{
    const struct launch *launch = command->launch;
    list_add(line, command->mpirun);
    list_add(line, "-pmi-port");
    list_add(line, "-print-all-exitcodes"); /* from which follows which process it was */
    list_add(line, "-bind-to");
    list_add(line, "none"); /* workers share out the cores among themselves */
    if (launch->continues)
        list_add(line, "-disable-auto-cleanup");
    if (launch->hosts.total > 0) {
        write_hosts(line, command);
    } else if (!list_contains(&launch->mpi_args, "-iface")) {
        list_add(line, "-iface"); /* else the port is at this host's name, which may lead nowhere */
        list_add(line, "lo");
    }
    for (size_t i = 0; i < launch->mpi_args.count; i++)
        list_add(line, launch->mpi_args.items[i]);

    list_add(line, "-n");
    list_add(line, "1");
    for (size_t i = 0; i < command->first->count; i++)
        list_add(line, command->first->items[i]);

    list_add(line, ":");
    list_add(line, "-n");
    list_addf(line, "%d", command->workers);
    write_variables(line, variables);
    list_add(line, command->worker);
    if (command->option)
        list_add(line, command->option);
}

static const char *users_shell(const struct launch *launch)
{
    (void)launch;
    const char *words = getenv("HYDRA_LAUNCHER_EXEC");
    return words && *words ? words : NULL;
}

/* ---- environments --------------------------------------------------------------------------- */

/* What a site says of hosts and of where processes go does not hold, because that is the user's own
 * choice here; arguments still do. */
/* The library has UCX, which would take signals from the program and from kernels, and reads its
 * variables before main(). */
static void set_process(const struct quick_environment *environment)
{
    quick_default(environment, "UCX_HANDLE_ERRORS", "none");
    quick_default(environment, "UCX_DEBUG_SIGNO", "0");
}

static void prepare(const struct quick_environment *environment, bool alone)
{
    static const char *const names[] = {"HYDRA_HOST_FILE", "HYDRA_BINDING", "HYDRA_MAPPING"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        environment->set(environment->data, names[i], NULL);
    set_process(environment);
    (void)alone;
}

static const char *const variables[] = {"PMI_", "MPIR_CVAR_", "HYDI_", NULL};

/* ---- messages ------------------------------------------------------------------------------- */

/* It is about the first process that did not end well, in the order of ranks, which may be one that
 * mpiexec has killed because of another. What else stands in such a frame on stdout is a kernel's.
 */
static bool read_message(struct verdict *found, const char *message, const char *flat)
{
    if (!strstr(flat, "BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES"))
        return true;
    words_after(message, " RUNNING AT ", " \n", found->host, sizeof(found->host));
    if (words_number(message, "EXIT CODE:", &found->code))
        found->kind = VERDICT_STATUS;
    return true;
}

/* "[mpiexec@HOST] FUNCTION (FILE:LINE): WHAT", from the cause upwards, and the same from proxies.
 */
static bool match_trace(struct verdict *found, const char *line)
{
    const char *what = strstr(line, "): ");
    if ((strncmp(line, "[mpiexec@", 9) != 0 && strncmp(line, "[proxy:", 7) != 0) || !what)
        return false;
    found->kind = VERDICT_OTHER;
    words_flatten(what + 3, found->detail, sizeof(found->detail));
    return true;
}

/* Behind the frame, "... EXIT STRING: Killed (signal 9)": the code in it was a signal. */
static bool match_signal(struct verdict *verdict, const char *line)
{
    const char *text = strstr(line, "TERMINATED WITH THE EXIT STRING: ");
    int number;
    if (!text)
        return false;
    if (verdict->kind == VERDICT_STATUS && verdict->rank < 0 &&
        words_number(text, "(signal ", &number)) {
        verdict->kind = VERDICT_SIGNAL;
        verdict->code = number;
    }
    return true;
}

struct ended {
    int rank, status; /* as wait() gives it */
    char host[256];
};

static bool was_killed(const struct ended *ended)
{
    return WIFSIGNALED(ended->status) && WTERMSIG(ended->status) == SIGKILL;
}

/* " [HOST] STATUS,STATUS [HOST] STATUS", in the order of ranks. False: there are no more. */
static bool next_ended(const char **text, struct ended *ended)
{
    int length = 0;
    *text += strspn(*text, ", \n");
    if (sscanf(*text, "[%255[^]]]%n", ended->host, &length) == 1 && length)
        *text += length;
    length = 0;
    if (sscanf(*text, "%d%n", &ended->status, &length) != 1)
        return false;
    *text += length;
    ended->rank++;
    return true;
}

/* Which process was it? mpiexec kills the others, so whoever was not killed is the cause, and else
 * the only one that was. */
static bool match_ended(struct verdict *verdict, const char *line)
{
    static const char begin[] = "Exit codes:";
    struct ended ended = {.rank = -1}, cause = ended;
    const char *text = strstr(line, begin);
    int killed = 0;
    if (!text)
        return false;
    for (text += strlen(begin); next_ended(&text, &ended);) {
        killed += was_killed(&ended);
        if (ended.status && (cause.rank < 0 || (was_killed(&cause) && !was_killed(&ended))))
            cause = ended;
    }
    if (verdict->kind != VERDICT_STATUS || cause.rank < 0 || (was_killed(&cause) && killed > 1))
        return true;
    verdict->kind = WIFSIGNALED(cause.status) ? VERDICT_SIGNAL : VERDICT_STATUS;
    verdict->code = WIFSIGNALED(cause.status) ? WTERMSIG(cause.status) : WEXITSTATUS(cause.status);
    verdict->rank = cause.rank;
    memcpy(verdict->host, cause.host, sizeof(verdict->host));
    return true;
}

/* "Abort(7) on node 2 (rank 2 in comm 0): application called MPI_Abort(...)" */
static bool match_abort(struct verdict *found, const char *line)
{
    if (strncmp(line, "Abort(", 6) != 0 || !strstr(line, "MPI_Abort(") ||
        !words_number(line, ") on node ", &found->rank))
        return false;
    found->kind = VERDICT_GIVEN_UP;
    return true;
}

static bool read_line(struct verdict *found, struct verdict *verdict, const char *line)
{
    return match_ended(verdict, line) || match_trace(found, line) || match_signal(verdict, line) ||
           match_abort(found, line);
}

static bool is_noise(const char *line)
{
    return strncmp(line, "This typically refers to a problem with your application.", 57) == 0 ||
           strncmp(line, "Please see the FAQ page for debugging suggestions", 49) == 0;
}

static const struct dialect dialect = {.name = "MPICH",
                                       .on_stdout = true,
                                       .own_begin = "[mpiexec@",
                                       .own_words = "] Exit codes: ",
                                       .frame = '=',
                                       .message = read_message,
                                       .line = read_line,
                                       .noise = is_noise};

const struct launcher launcher_hydra = {.library = LIBRARY_MPICH,
                                        .sign = "HYDRA build details:",
                                        .first = 0,
                                        .end = 10000000,
                                        .dialect = &dialect,
                                        .write = write_line,
                                        .users_shell = users_shell,
                                        .prepare = prepare,
                                        .program = set_process,
                                        .lost_signal = SIGABRT,
                                        .file_bytes = 8 << 20,
                                        .variables = variables};
