/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* allocation.c: reads what batch systems say. Starts nothing but scontrol, which knows how Slurm
 * shortens lists of hosts. */
#include "tools/launch/allocation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"

/* The value of a variable; NULL when it is unset or empty. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* ---- Slurm ---------------------------------------------------------------------------------- */

/* What Slurm says of hosts, under the names of one scope. */
struct slurm_scope {
    const char *nodes, *tasks; /* variables */
};

/* A step that srun has started has hosts of its own, and its tasks stand in the job's variable too,
 * beside hosts of the job. The steps that are the job's own script or shell have high numbers. */
static const struct slurm_scope *scope_of_slurm(void)
{
    static const struct slurm_scope job = {"SLURM_JOB_NODELIST", "SLURM_TASKS_PER_NODE"};
    static const struct slurm_scope step = {"SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE"};
    const char *number = variable("SLURM_STEP_ID");
    bool own = number && strtoull(number, NULL, 10) < 0xfffffff0;

    return own && variable(step.nodes) && variable(step.tasks) ? &step : &job;
}

/* The tasks of the next host in "2(x3),1": 1 without a text. *repeat is how often the item still
 * counts, 0 at first. False if that is not what the text is. */
static bool next_tasks(const char **text, int *tasks, int *repeat)
{
    char *end;

    if (!*text || --*repeat > 0)
        return true;
    *tasks = (int)strtol(*text, &end, 10);
    *repeat = 1;
    if (end == *text || *tasks < 1)
        return false;
    if (strncmp(end, "(x", 2) == 0)
        *repeat = (int)strtol(end + 2, &end, 10);
    if (*end == ')')
        end++;
    if (*end == ',')
        end++;
    *text = end;
    return *repeat > 0;
}

static omprma_status_t add_host(struct hosts *hosts, const char *name, int workers)
{
    char *text = text_make("%s:%d", name, workers);
    omprma_status_t status = hosts_parse(hosts, text);

    free(text);
    return status;
}

/* A host in each line. */
static omprma_status_t read_names(struct hosts *hosts, FILE *names, const char *tasks_name)
{
    omprma_status_t status = OMPRMA_OK;
    const char *left = variable(tasks_name);
    char *line = NULL;
    size_t room = 0;
    int tasks = 1, repeat = 0;

    while (status == OMPRMA_OK && getline(&line, &room, names) > 0) {
        line[strcspn(line, "\r\n")] = 0;
        if (!next_tasks(&left, &tasks, &repeat))
            status = error_set(OMPRMA_ERR_CONFIG,
                               "%s=%s is not what Slurm writes; name the hosts with --hosts",
                               tasks_name, variable(tasks_name));
        else
            status = add_host(hosts, line, tasks);
    }
    free(line);
    return status;
}

/* A list that is not shortened; in a container there may be no scontrol to ask. */
static omprma_status_t take_plain(struct hosts *hosts, const char *nodes, const char *tasks_name)
{
    char *lines = text_make("%s", nodes), *comma = lines;
    while ((comma = strchr(comma, ',')))
        *comma = '\n';
    FILE *names = fmemopen(lines, strlen(lines), "r");
    omprma_status_t status =
        names ? read_names(hosts, names, tasks_name)
              : error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the hosts of the Slurm job");
    if (names)
        fclose(names);
    free(lines);
    return status;
}

static omprma_status_t take_slurm(struct hosts *hosts, const char *job)
{
    const struct slurm_scope *scope = scope_of_slurm();
    const char *nodes = variable(scope->nodes);
    size_t plain = nodes ? strspn(nodes, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "0123456789-_.,[]")
                         : 0;
    if (!nodes || nodes[plain])
        return error_set(OMPRMA_ERR_CONFIG,
                         "Slurm job %s: %s=%s names no hosts; name them with --hosts", job,
                         scope->nodes, nodes ? nodes : "");
    if (!strchr(nodes, '['))
        return take_plain(hosts, nodes, scope->tasks);
    char *command = text_make("scontrol show hostnames '%s' 2>/dev/null", nodes);
    FILE *names = popen(command, "re");
    omprma_status_t status = names ? read_names(hosts, names, scope->tasks) : OMPRMA_OK;
    int end = names ? pclose(names) : -1;

    free(command);
    if (status == OMPRMA_OK && (end != 0 || hosts->total == 0))
        status = error_set(OMPRMA_ERR_CONFIG,
                           "Slurm job %s: \"scontrol show hostnames %s\" does not work here; name "
                           "the hosts with --hosts",
                           job, nodes);
    return status;
}

void allocation_srun(struct list *command, const char *host, const char *text)
{
    static const char *const words[] = {ALLOCATION_SLURM_SHELL, "--overlap", "--nodes=1",
                                        "--ntasks=1",           "--mem=0",   "--cpu-bind=none",
                                        "--mpi=none",           "--quiet"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        list_add(command, words[i]);
    list_addf(command, "--nodelist=%s", host);
    list_add(command, "/bin/sh");
    list_add(command, "-c");
    list_add(command, text);
}

/* ---- PBS ------------------------------------------------------------------------------------ */

/* Whoever did not name the file does not know why it is read. */
static omprma_status_t take_pbs(struct hosts *hosts, const char *file)
{
    omprma_status_t status = hosts_read(hosts, file);
    if (status != OMPRMA_OK)
        error_set(status, "PBS_NODEFILE=%s: %s; unset it, or name the hosts with --hosts", file,
                  error_text());
    return status;
}

/* ---- all ------------------------------------------------------------------------------------ */

omprma_status_t allocation_take(struct launch *launch)
{
    const char *job = variable("SLURM_JOB_ID"), *file = variable("PBS_NODEFILE");
    struct hosts *hosts = &launch->hosts;
    omprma_status_t status = OMPRMA_OK;

    launch->slurm = job != NULL;
    if (hosts->total > 0)
        return OMPRMA_OK;
    if (job)
        status = take_slurm(hosts, job);
    else if (file)
        status = take_pbs(hosts, file);
    if (status != OMPRMA_OK || hosts->total == 0)
        return status;
    if (launch->workers > 0)
        hosts_spread(hosts, launch->workers);
    char *text = hosts_format(hosts, 0);
    log_write(LOG_CHOICE, "workers on the hosts of %s %s: %s", job ? "Slurm job" : "PBS_NODEFILE",
              job ? job : file, text);
    free(text);
    launch->workers = hosts->total;
    if (hosts->names.count == 1 && hosts_is_here(hosts->names.items[0]))
        hosts_clear(hosts);
    return OMPRMA_OK;
}
