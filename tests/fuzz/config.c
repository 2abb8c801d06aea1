/* config.c: settings: lines NAME=VALUE, each checked alone and all together loaded from the
 * environment. What is accepted alone is accepted by config_load(). */
#include "base/config.h"
#include "tests/fuzz/fuzz.h"

static bool set(char *line)
{
    char name[80] = "OMPRMA_", *value = strchr(line, '=');
    int64_t size;

    if (!value || value - line > 60)
        return true;
    *value++ = 0;
    strcat(name, line);
    setenv(name, value, 1);
    config_parse_bytes(value, &size);
    return config_check(line, value) == OMPRMA_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = fuzz_copy(data, bytes, 1), *save, *line;
    struct config config;
    bool good = true;

    clearenv();
    for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        good &= set(line);
    if (config_load(&config) == OMPRMA_OK)
        hold(config.lanes >= 1 && config.lanes <= 64 && config.piece >= 65536);
    else
        hold(!good);
    free(text);
    return 0;
}
