/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* settings.c: options become variables, so options.h remembers which option has set what. */
#include "tools/info/settings.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "tools/launch/list.h"
#include "tools/launch/options.h"

/* An alias of another runtime, which omprma obeys where its own name is not set. */
static const char profile[] = "LIBOMPTARGET_PROFILE";

static const char *origin(const char *name)
{
    char *variable = text_make("OMPRMA_%s", name);
    const char *value = getenv(variable), *option = option_of(name);
    free(variable);
    if (option)
        return option;
    if (value && *value)
        return "environment";
    value = strcmp(name, "TRACE") == 0 ? getenv(profile) : NULL;
    return value && *value ? profile : "default";
}

static void tell(void *data, const char *name, const char *value, const char *standard)
{
    cJSON *all = data;
    const char *from = origin(name);
    if (from == profile)
        value = getenv(profile);
    if (!all) {
        printf("OMPRMA_%-16s %-20s %-20s %s\n", name, *value ? value : "-",
               *standard ? standard : "-", from);
        return;
    }
    cJSON *one = cJSON_AddObjectToObject(all, name);
    cJSON_AddStringToObject(one, "value", value);
    cJSON_AddStringToObject(one, "default", standard);
    cJSON_AddStringToObject(one, "from", from);
}

void settings_print(bool json)
{
    if (!json) {
        printf("%-23s %-20s %-20s %s\n", "setting", "value", "default", "set by");
        config_tell(tell, NULL);
        return;
    }
    cJSON *root = cJSON_CreateObject();
    config_tell(tell, cJSON_AddObjectToObject(root, "settings"));
    char *text = cJSON_Print(root);
    if (text)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(root);
}
