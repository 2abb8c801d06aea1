/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* wrap.c: see wrap.h. A variable tells the second process that it is one. */
#define _GNU_SOURCE
#include "worker/wrap.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/error.h"
#include "base/number_list.h"
#include "base/shell_words.h"
#include "control/agent/join.h"
#include "control/direct/local_rank.h"
#include "control/host.h"

static const char inner[] = "OMPRMA_INTERNAL_WRAPPED";

/* A copy of `text` with {worker} and {host} filled in; NULL: no memory. */
static char *text_fill(const char *text, const char *number, const char *host)
{
    static const char worker_mark[] = "{worker}", host_mark[] = "{host}";
    char *filled = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&filled, &bytes);
    if (!stream)
        return NULL;
    while (*text) {
        bool is_worker = strncmp(text, worker_mark, sizeof(worker_mark) - 1) == 0;
        bool is_host = strncmp(text, host_mark, sizeof(host_mark) - 1) == 0;
        if (is_worker || is_host)
            fputs(is_worker ? number : host, stream);
        else
            fputc(*text, stream);
        text += is_worker ? sizeof(worker_mark) - 1 : is_host ? sizeof(host_mark) - 1 : 1;
    }
    return fclose(stream) == 0 ? filled : NULL;
}

omprma_status_t wrap_words(const char *command, int number, const char *host, const char *program,
                           char ***words)
{
    char digits[16];
    size_t count;
    snprintf(digits, sizeof(digits), "%d", number);
    char *text = text_fill(command, digits, host);
    if (!text)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for %s",
                         config_known_as("OMPRMA_WRAP"));
    omprma_status_t status = shell_words_split(text, words, &count);
    free(text);
    if (status != OMPRMA_OK)
        return error_set(status, "%s: %s", config_known_as("OMPRMA_WRAP"), error_text());
    (*words)[count] = (char *)(uintptr_t)program;
    (*words)[count + 1] = NULL;
    return OMPRMA_OK;
}

const char *wrap_session(void)
{
    static char session[DIRECT_SESSION_BYTES];
    const char *text = getenv(inner);
    snprintf(session, sizeof(session), "%s", text ? text : "");
    return *session ? session : NULL;
}

omprma_status_t wrap_enter(const char *session, int number)
{
    const char *command = getenv("OMPRMA_WRAP"), *workers = getenv("OMPRMA_WRAP_WORKERS");
    char **words, self[4096], host[HOST_TEXT_BYTES];
    bool selected;
    if (getenv(inner) || !command || !*command) {
        unsetenv(inner); /* not for children */
        return OMPRMA_OK;
    }
    if (number < 0)
        number = rank_find() > 0 ? rank_find() - 1 : 0; /* rank 0 is the program */
    omprma_status_t status = number_list_has(workers ? workers : "", number, &selected);
    if (status != OMPRMA_OK)
        return error_set(status, "%s: %s", config_known_as("OMPRMA_WRAP_WORKERS"), error_text());
    if (!selected)
        return OMPRMA_OK;
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length <= 0)
        return error_set(OMPRMA_ERR_CONFIG, "%s: cannot read /proc/self/exe: %s",
                         config_known_as("OMPRMA_WRAP"), strerror(errno));
    self[length] = 0;
    host_name(host);
    status = wrap_words(command, number, host, self, &words);
    if (status != OMPRMA_OK)
        return status;
    setenv(inner, session ? session : "", 1);
    execvp(words[0], words);
    return error_set(OMPRMA_ERR_CONFIG,
                     "%s: cannot run %s on %s: %s; install it there, or give its path",
                     config_known_as("OMPRMA_WRAP"), words[0], host, strerror(errno));
}
