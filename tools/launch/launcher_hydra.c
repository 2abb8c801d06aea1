/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * launcher_hydra.c: the table of hydra, MPICH's mpiexec. With -pmi-port, rank 0's place is a port
 * and a number in variables, else it would be a descriptor, which cannot be handed on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
static void prepare(const struct quick_environment *environment, bool alone)
{
    static const char *const names[] = {"HYDRA_HOST_FILE", "HYDRA_BINDING", "HYDRA_MAPPING"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        environment->set(environment->data, names[i], NULL);
    (void)alone;
}

static void complete_program(const struct quick_environment *environment)
{
    (void)environment;
}

static const char *const variables[] = {"PMI_", "MPIR_CVAR_", "HYDI_", NULL};

/* ---- messages ------------------------------------------------------------------------------- */

/* It does not say which process it was. What else stands in such a frame on stdout is a kernel's.
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
    if (verdict->kind == VERDICT_STATUS && words_number(text, "(signal ", &number)) {
        verdict->kind = VERDICT_SIGNAL;
        verdict->code = number;
    }
    return true;
}

static bool read_line(struct verdict *found, struct verdict *verdict, const char *line)
{
    return match_trace(found, line) || match_signal(verdict, line);
}

static bool is_noise(const char *line)
{
    return strncmp(line, "This typically refers to a problem with your application.", 57) == 0 ||
           strncmp(line, "Please see the FAQ page for debugging suggestions", 49) == 0;
}

static const struct dialect dialect = {.name = "MPICH",
                                       .on_stdout = true,
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
                                        .program = complete_program,
                                        .file_bytes = 8 << 20,
                                        .shell_stays = true,
                                        .variables = variables};
