/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* wrap.c: the words are read as the worker will read them; that a command is there is only known
 * here. */
#include "tools/launch/wrap.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/number_list.h"
#include "base/shell_words.h"
#include "tools/launch/paths.h"

/* Does it name any of the workers? */
static omprma_status_t check_numbers(const char *list, int workers)
{
    bool has = !*list;
    for (int i = 0; i < workers && !has; i++) {
        omprma_status_t status = number_list_has(list, i, &has);
        if (status != OMPRMA_OK)
            return error_set(status, "--wrap-workers: %s", error_text());
    }
    if (has)
        return OMPRMA_OK;
    return workers == 1
               ? error_set(OMPRMA_ERR_CONFIG, "--wrap-workers %s: the only worker is 0", list)
               : error_set(OMPRMA_ERR_CONFIG, "--wrap-workers %s: workers are 0 to %d", list,
                           workers - 1);
}

omprma_status_t wrap_check(bool here, int workers)
{
    const char *command = getenv("OMPRMA_WRAP"), *list = getenv("OMPRMA_WRAP_WORKERS");
    char **words, *path = NULL;
    size_t count;
    omprma_status_t status = check_numbers(list ? list : "", workers);
    if (status != OMPRMA_OK)
        return status;
    if (!command || !*command) {
        if (list && *list)
            log_write(LOG_WARNING, "--wrap-workers %s has no effect without --wrap", list);
        return OMPRMA_OK;
    }
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
