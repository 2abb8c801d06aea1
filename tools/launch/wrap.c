/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* wrap.c: the words are read as the worker will read them; that a command is there is only known
 * here. */
#include "tools/launch/wrap.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number_list.h"
#include "base/shell_words.h"
#include "tools/launch/paths.h"

omprma_status_t wrap_check(bool here)
{
    const char *command = getenv("OMPRMA_WRAP"), *workers = getenv("OMPRMA_WRAP_WORKERS");
    char **words, *path = NULL;
    size_t count;
    bool has;
    omprma_status_t status = number_list_has(workers ? workers : "", 0, &has);
    if (status != OMPRMA_OK)
        return error_set(status, "--wrap-workers: %s", error_text());
    if (!command || !*command)
        return OMPRMA_OK;
    status = shell_words_split(command, &words, &count);
    if (status != OMPRMA_OK)
        return error_set(status, "--wrap: %s", error_text());
    if (here && !strchr(words[0], '{')) /* {worker} may be a part of the name */
        status = path_program(words[0], &path);
    if (status != OMPRMA_OK)
        status = error_set(status, "--wrap: %s", error_text());
    free(words);
    free(path);
    return status;
}
