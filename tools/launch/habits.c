/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * habits.c: A word is looked up among our options first, then in a table of other launchers'. The
 * nearest option is the one with the fewest letters to change.
 */
#include "tools/launch/habits.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"

/* A word of another launcher, with so many arguments. `ours` takes its place; else `advice` says
 * what to do. */
static const struct habit {
    const char *word;
    int arguments;
    const char *ours, *advice;
} habits[] = {
    {"-np", 1, "-n", NULL},
    {"--np", 1, "-n", NULL},
    {"--n", 1, "-n", NULL},
    {"-c", 1, "-n", NULL},
    {"-H", 1, "--hosts", NULL},
    {"-host", 1, "--hosts", NULL},
    {"--host", 1, "--hosts", NULL},
    {"-hosts", 1, "--hosts", NULL},
    {"-f", 1, "--hostfile", NULL},
    {"-hostfile", 1, "--hostfile", NULL},
    {"-machinefile", 1, "--hostfile", NULL},
    {"--machinefile", 1, "--hostfile", NULL},
    {"-N", 1, "--workers-per-host", NULL},
    {"-ppn", 1, "--workers-per-host", NULL},
    {"-npernode", 1, "--workers-per-host", NULL},
    {"--npernode", 1, "--workers-per-host", NULL},
    {"-x", 1, "--export", NULL},
    {"-?", 0, "--help", NULL},
    {"-help", 0, "--help", NULL},
    {"--usage", 0, "--help", NULL},
    {"--mca", 2, "--mpi-arg", NULL},
    {"-mca", 2, "--mpi-arg", NULL},
    {"--bind-to", 1, NULL,
     "workers are bound to cores of their own; --cores-per-worker N sets how many, and "
     "OMPRMA_BIND=0 binds none"},
    {"-bind-to", 1, NULL,
     "workers are bound to cores of their own; --cores-per-worker N sets how many, and "
     "OMPRMA_BIND=0 binds none"},
    {"--report-bindings", 0, NULL, "omprma-info with the same options prints the workers' cores"},
    {"--rank-by", 1, NULL, "--map-by core, numa or node says where consecutive workers go"},
    {"--ntasks", 1, NULL,
     "write -n N for N workers; under Slurm their number follows from the job"},
    {"--oversubscribe", 0, NULL, "leave it out: there may be more workers than cores"},
    {"--allow-run-as-root", 0, NULL, "leave it out: omprma-run may be used as root"},
    {"--wdir", 1, NULL, "change the folder before omprma-run (cd)"},
    {"-wdir", 1, NULL, "change the folder before omprma-run (cd)"},
    {"--timeout", 1, NULL,
     "put timeout SECONDS before omprma-run; OMPRMA_TIMEOUT is the limit for workers that do not "
     "answer"},
    {"--prefix", 1, NULL, "leave it out: other hosts have omprma in the same folder as this one"},
    {"--gdb", 0, NULL, "--wrap 'gdb --args' starts workers by a debugger"},
    {"-genv", 2, NULL, "write --export NAME=VALUE"},
    {"-env", 2, NULL, "write --export NAME=VALUE"},
};

static const struct habit *habit_find(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++)
        if (strncmp(habits[i].word, word, length) == 0 && !habits[i].word[length])
            return &habits[i];
    return NULL;
}

/* ---- our options ---------------------------------------------------------------------------- */

/* The next option of all tables; begins with one that is NULL. */
struct place {
    const struct argp_option *const *tables;
    const struct argp_option *option;
};

static const struct argp_option *next(struct place *place)
{
    place->option = place->option ? place->option + 1 : *place->tables;
    while (place->option && !place->option->name)
        place->option = *++place->tables;
    return place->option;
}

/* By its name, or by the beginning of one that is no other's (*count: how many there are). */
static const struct argp_option *find_long(const struct argp_option *const *tables,
                                           const char *name, size_t length, int *count)
{
    const struct argp_option *found = NULL, *option;
    struct place place = {.tables = tables};
    *count = 0;
    while ((option = next(&place)) != NULL) {
        if (strncmp(option->name, name, length) != 0)
            continue;
        if (!option->name[length]) {
            *count = 1;
            return option;
        }
        if (found && strcmp(found->name, option->name) == 0)
            continue; /* a tool's own goes before one that all have */
        found = found ? found : option;
        (*count)++;
    }
    return found;
}

static const struct argp_option *find_short(const struct argp_option *const *tables, int letter)
{
    const struct argp_option *option;
    struct place place = {.tables = tables};
    while ((option = next(&place)) != NULL)
        if (option->key == letter)
            return option;
    return NULL;
}

static bool takes_next(const struct argp_option *option)
{
    return option->arg && !(option->flags & OPTION_ARG_OPTIONAL);
}

/* What "-vn" takes, or -1: not all of its letters are options. */
static int letters_take(const struct argp_option *const *tables, const char *letters)
{
    for (; *letters; letters++) {
        const struct argp_option *option = find_short(tables, (unsigned char)*letters);
        if (!option)
            return -1;
        if (option->arg)
            return !letters[1] && takes_next(option);
    }
    return 0;
}

/* ---- what is not understood ------------------------------------------------------------------ */

static char *answer_several(const struct argp_option *const *tables, const char *word,
                            size_t length)
{
    const struct argp_option *option;
    struct place place = {.tables = tables};
    char *answer = text_make("%s may be", word);
    while ((option = next(&place)) != NULL) {
        if (strncmp(option->name, word + 2, length) != 0)
            continue;
        char *longer = text_make("%s --%s", answer, option->name);
        free(answer);
        answer = longer;
    }
    return answer;
}

static char *answer_unknown(const struct argp_option *const *tables, const char *word)
{
    const struct argp_option *option, *best = NULL;
    struct place place = {.tables = tables};
    size_t dashes = strspn(word, "-"), length = strcspn(word + dashes, "="), nearest = SIZE_MAX;
    while ((option = next(&place)) != NULL) {
        size_t distance = near_distance(word + dashes, length, option->name);
        if (distance < nearest) {
            nearest = distance;
            best = option;
        }
    }
    return text_make("%.*s is not an option; did you mean --%s? --help lists them",
                     (int)(dashes + length), word, best ? best->name : "help");
}

/* ---- all words ------------------------------------------------------------------------------- */

/* Puts `habit` into our words. `value` is what stands behind "=", or NULL. Returns how many words
 * of `rest` it has taken, or -1: they are missing. */
static int translate(const struct habit *habit, const char *value, char *const *rest,
                     struct list *words)
{
    int taken = 0;
    bool several = habit->arguments > 1;
    if (several)
        list_addf(words, "%s=--%s", habit->ours, habit->word + strspn(habit->word, "-"));
    else
        list_add(words, habit->ours);
    for (int i = 0; i < habit->arguments; i++) {
        const char *word = i == 0 && value ? value : rest[taken];
        if (!word)
            return -1;
        taken += word != value;
        if (several)
            list_addf(words, "%s=%s", habit->ours, word);
        else
            list_add(words, word);
    }
    return taken;
}

/* Reads a word that begins with '-', and fills `answer` where it is not understood. Returns how
 * many words of `rest` it has taken, or -1: they are missing. */
static int word_read(const struct argp_option *const *tables, const char *word, char *const *rest,
                     struct list *words, char **answer)
{
    bool is_long = word[1] == '-';
    size_t length = strcspn(word, "=");
    const char *value = word[length] ? word + length + 1 : NULL;
    int count = 0;
    const struct argp_option *option =
        is_long ? find_long(tables, word + 2, length - 2, &count) : NULL;
    const struct habit *habit = count == 1 ? NULL : habit_find(word, length);
    if (habit && habit->ours)
        return translate(habit, value, rest, words);
    int take = is_long ? option && !value && takes_next(option) : letters_take(tables, word + 1);
    if (habit)
        *answer = text_make("%s: %s", habit->word, habit->advice);
    else if (count > 1)
        *answer = answer_several(tables, word, length - 2);
    else if (take < 0 || (is_long && !option))
        *answer = answer_unknown(tables, word);
    else if (option && !option->arg && value)
        *answer = text_make("%.*s takes no value", (int)length, word);
    if (*answer)
        return 0;
    list_add(words, word);
    if (take == 0)
        return 0;
    if (!*rest)
        return -1;
    list_add(words, *rest);
    return 1;
}

char *habits_read(char *const *argv, const struct argp_option *const *tables, bool starts_program,
                  struct list *words)
{
    char *answer = NULL;
    list_add(words, *argv);
    for (argv++; *argv && !answer; argv++) {
        bool is_option = argv[0][0] == '-' && argv[0][1];
        if (strcmp(*argv, "--") == 0 || (!is_option && starts_program))
            break;
        if (!is_option) {
            list_add(words, *argv);
            continue;
        }
        int taken = word_read(tables, *argv, argv + 1, words, &answer);
        if (taken < 0)
            answer = text_make("%s needs a value", *argv);
        else
            argv += taken;
    }
    for (; *argv && !answer; argv++)
        list_add(words, *argv);
    return answer;
}
