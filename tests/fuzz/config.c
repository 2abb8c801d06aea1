/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* config.c: settings: lines NAME=VALUE, each checked alone and all together loaded from the
 * environment. What is accepted alone is accepted by config_load(). */
#include "base/config.h"
#include "tests/fuzz/fuzz.h"

enum { LINES_MOST = 64 };

extern char **environ;

/* Not setenv(), which keeps every value for ever. */
struct variables {
    char *line[LINES_MOST + 1];
    int count;
};

static bool check(struct variables *variables, const char *line)
{
    const char *value = strchr(line, '=');
    char *name, *variable;
    int64_t size;
    bool good;

    if (!value || variables->count == LINES_MOST)
        return true;
    variable = malloc(strlen(line) + sizeof("OMPRMA_"));
    name = strndup(line, (size_t)(value - line));
    hold(variable && name);
    strcpy(variable, "OMPRMA_");
    strcat(variable, line);
    variables->line[variables->count++] = variable;
    config_parse_bytes(value + 1, &size);
    good = config_check(name, value + 1) == OMPRMA_OK;
    free(name);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = fuzz_copy(data, bytes, 1), *save, *line, **before = environ;
    struct variables variables = {0};
    struct config config;
    bool good = true;

    for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        good &= check(&variables, line);
    environ = variables.line;
    if (config_load(&config) == OMPRMA_OK)
        hold(config.lanes >= 1 && config.lanes <= 64 && config.piece >= 65536);
    else
        hold(!good);
    environ = before;
    while (variables.count > 0)
        free(variables.line[--variables.count]);
    free(text);
    return 0;
}
