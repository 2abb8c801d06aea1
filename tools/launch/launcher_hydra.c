/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * launcher_hydra.c: the table of hydra, MPICH's mpiexec. With -pmi-port, rank 0's place is a port
 * and a number in variables, else it would be a descriptor, which cannot be handed on.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/launch/command.h"
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

static bool only_here(const struct hosts *hosts)
{
    for (size_t i = 0; i < hosts->names.count; i++)
        if (!hosts_is_here(hosts->names.items[i]))
            return false;
    return true;
}

/* hydra takes options with one dash or two. */
static bool is_users(const struct launch *launch, const char *option)
{
    char *longer = text_make("-%s", option);
    bool has = list_contains(&launch->mpi_args, option) || list_contains(&launch->mpi_args, longer);
    free(longer);
    return has;
}

/* An option that the user gives wins, for hydra refuses it twice. */
static void set_default(struct list *line, const struct launch *launch, const char *option,
                        const char *value)
{
    if (is_users(launch, option))
        return;
    list_add(line, option);
    list_add(line, value);
}

static bool is_launcher_users(const struct launch *launch)
{
    return is_users(launch, "-launcher") || is_users(launch, "-bootstrap"); /* its older name */
}

static void write_hosts(struct list *line, const struct command *command)
{
    char *hosts = places(command);
    list_add(line, "-hosts");
    list_add(line, hosts);
    free(hosts);
    char *own = hosts_own_address(&command->launch->hosts);
    if (!own && !only_here(&command->launch->hosts))
        own = hosts_first_address();
    if (own) /* where others look for mpiexec: not at a name */
        set_default(line, command->launch, "-localhost", own);
    free(own);
    if (!command->shell || is_launcher_users(command->launch))
        return;
    list_add(line, "-launcher"); /* the way in which it calls what follows: HOST COMMAND... */
    list_add(line, "rsh");
    list_add(line, "-launcher-exec");
    list_add(line, command->shell);
}

/* Inside a job of Slurm or the like hydra would take the job's hosts, and its ways to them. */
static void write_here(struct list *line, const struct launch *launch)
{
    set_default(line, launch, "-rmk", "user");
    if (!is_launcher_users(launch))
        set_default(line, launch, "-launcher", "fork");
    /* Else the port is at this host's name, which may lead nowhere. */
    set_default(line, launch, "-iface", "lo");
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
    if (!command->option) /* of workers; from agents follows what has ended */
        list_add(line, "-print-all-exitcodes");
    list_add(line, "-bind-to");
    list_add(line, "none"); /* workers share out the cores among themselves */
    if (launch->continues)
        list_add(line, "-disable-auto-cleanup");
    if (launch->hosts.total > 0)
        write_hosts(line, command);
    else
        write_here(line, launch);
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

/* The library has UCX, which would take signals from the program and from kernels, and reads its
 * variables before main(). */
static void set_process(const struct quick_environment *environment)
{
    quick_default(environment, "UCX_HANDLE_ERRORS", "none");
    quick_default(environment, "UCX_DEBUG_SIGNO", "0");
}

/* What a site says of hosts and of where processes go does not hold, because that is the user's own
 * choice here; arguments of mpiexec still do. */
static void prepare(const struct quick_environment *environment, bool alone)
{
    static const char *const names[] = {"HYDRA_HOST_FILE", "HYDRA_BINDING", "HYDRA_MAPPING",
                                        "HYDRA_LAUNCHER_EXTRA_ARGS"}; /* Slurm's, for its srun */
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
    bool early = strstr(what, "assert (!closed) failed") != NULL;
    words_flatten(early ? "a process ended at its start, before mpiexec could see how; run with -v"
                        : what + 3,
                  found->detail, sizeof(found->detail));
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

/* "[HOST] STATUS,STATUS [HOST] STATUS", in the order of ranks. False: there are no more. */
static bool next_status(const char **text, char host[256], int *status)
{
    int length = 0;
    *text += strspn(*text, ", \n");
    if (sscanf(*text, "[%255[^]]]%n", host, &length) == 1 && length)
        *text += length;
    length = 0;
    if (sscanf(*text, "%d%n", status, &length) != 1)
        return false;
    *text += length;
    return true;
}

static bool is_list(const char *line)
{
    char host[256];
    int status;
    if (*line != '[')
        return false;
    while (next_status(&line, host, &status))
        ;
    return !*line;
}

/* The list has a line for each host. */
static bool match_statuses(struct verdict *verdict, const char *line)
{
    static const char begin[] = "Exit codes:";
    struct statuses *statuses = &verdict->statuses;
    const char *text = strstr(line, begin);
    char host[256] = "";
    int status;
    if (text)
        *statuses = (struct statuses){.coming = true};
    statuses->coming = statuses->coming && (text || is_list(line));
    if (!statuses->coming)
        return false;
    for (text = text ? text + strlen(begin) : line; next_status(&text, host, &status);)
        verdict_add_status(verdict, status, host);
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

/* UCX's "[TIME] [HOST:PID:THREAD] sock.c:334 UCX  ERROR connect(fd=29, dest_addr=ADDRESS:PORT)
 * failed: WHY", of whichever process. */
static bool match_connection(struct verdict *found, const char *line)
{
    char address[100], why[200];
    if (*line != '[' || !strstr(line, " UCX  ERROR ") || !strstr(line, " connect(fd=") ||
        !words_after(line, "dest_addr=", ":", address, sizeof(address)) ||
        !words_after(line, ") failed: ", "\n", why, sizeof(why)))
        return false;
    found->kind = VERDICT_NETWORK;
    words_after(line, "] [", ":", found->host, sizeof(found->host));
    snprintf(found->detail, sizeof(found->detail),
             "another host: connect() to %s failed: %s; all hosts must reach each other; "
             "UCX_NET_DEVICES names their network devices",
             address, why);
    return true;
}

/* When MPI_Init fails for that reason MPICH says "Abort(N) on node N: Fatal error in ...", and then
 * "NAME(LINE)....: WHAT" for each function on the way. */
static bool is_aside(const struct verdict *verdict, const char *line)
{
    int end = 0;
    if (verdict->kind != VERDICT_NETWORK)
        return false;
    sscanf(line, "%*[A-Za-z_](%*d)%*[.:]%n", &end);
    return end || (strncmp(line, "Abort(", 6) == 0 && strstr(line, "Fatal error in internal_Init"));
}

static bool read_line(struct verdict *found, struct verdict *verdict, const char *line)
{
    return match_connection(found, line) || is_aside(verdict, line) ||
           match_statuses(verdict, line) || match_trace(found, line) ||
           match_signal(verdict, line) || match_abort(found, line);
}

static bool is_noise(const char *line)
{
    return strncmp(line, "This typically refers to a problem with your application.", 57) == 0 ||
           strncmp(line, "Please see the FAQ page for debugging suggestions", 49) == 0;
}

/* ---- its own words on stdout ---------------------------------------------------------------- */

/* Where its words have come to. */
enum place { ANYWHERE, FRAME_BEGINS, IN_FRAME, BEHIND_FRAME, IN_LIST };

/* "\n====...\n=   BAD TERMINATION ...\n=   ...\n====...\n", and up to three lines behind it. */
static const char bad[] = "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n";
static const char *const behind[] = {"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: ",
                                     "This typically refers to a problem with your application.",
                                     "Please see the FAQ page for debugging suggestions"};
static const char own_name[] = "[mpiexec@";

static bool is_behind(int place)
{
    return place == BEHIND_FRAME || place == IN_LIST;
}

static bool may_be_own(const char *begin, size_t bytes, int place)
{
    if (place == FRAME_BEGINS)
        return words_agree(begin, bytes, bad);
    if (place == IN_FRAME)
        return *begin == '=';
    for (size_t i = 0; is_behind(place) && i < sizeof(behind) / sizeof(behind[0]); i++)
        if (words_agree(begin, bytes, behind[i]))
            return true;
    size_t most = bytes - (begin[bytes - 1] == '\n');
    bool frame = true;
    for (size_t i = 0; i < most && frame; i++)
        frame = begin[i] == '=';
    return frame || words_agree(begin, bytes, own_name) || (place == IN_LIST && *begin == '[');
}

static bool is_frame(const char *line)
{
    size_t bytes = strspn(line, "=");
    return bytes > 60 && strcmp(line + bytes, "\n") == 0;
}

static enum own_line is_own(const char *line, int *place)
{
    int before = *place;
    bool frame = is_frame(line), list = strncmp(line, own_name, sizeof(own_name) - 1) == 0
                                            ? strstr(line, "] Exit codes: ") != NULL
                                            : before == IN_LIST && is_list(line);
    if (before == FRAME_BEGINS || before == IN_FRAME) {
        *place = before == IN_FRAME && frame ? BEHIND_FRAME : IN_FRAME;
        return OWN_WITH_HELD;
    }
    if (list) {
        *place = IN_LIST;
        return OWN_ALONE;
    }
    if (strcmp(line, "\n") == 0)
        return OWN_MAYBE;
    *place = frame ? FRAME_BEGINS : ANYWHERE;
    for (size_t i = 0; is_behind(before) && i < sizeof(behind) / sizeof(behind[0]); i++)
        if (words_agree(line, strlen(line), behind[i]))
            *place = BEHIND_FRAME;
    return frame ? OWN_MAYBE : *place == BEHIND_FRAME ? OWN_ALONE : OWN_NOT;
}

static const char *const mark_lines[] = {"-prepend-rank", NULL};

static const struct dialect dialect = {.name = "MPICH",
                                       .on_stdout = true,
                                       .may_be_own = may_be_own,
                                       .own = is_own,
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
                                        .lost_status = {15}, /* MPI_ERR_OTHER */
                                        .lost_signal = SIGABRT,
                                        .hears_ends = true,
                                        .starts_early = true,
                                        .file_bytes = 8 << 20,
                                        .mark_lines = mark_lines,
                                        .variables = variables};
