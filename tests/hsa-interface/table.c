/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * table.c: prints the tables of docs/reference/hsa.md from the lists of which the HSA library is
 * made, and the lists of functions by consumer (the folder that is its argument).
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hsa_abi.h"

/* Lists by consumer, in the order of their releases: the first one that has a function is named. */
static const struct consumer {
    const char *name, *releases[8];
} consumers[] = {{"LLVM", {"14", "15", "16", "22", "23", "24"}},
                 {"gcc", {"12", "14"}},
                 {"HIP", {"5.2", "5.7", "6.4", "7.2"}}};
enum { CONSUMERS = sizeof(consumers) / sizeof(consumers[0]), FILE_BYTES = 16384 };

static const char *const files[CONSUMERS] = {"llvm", "gcc", "hip"};
static char lists[CONSUMERS][8][FILE_BYTES];

static void lists_read(const char *folder)
{
    for (int i = 0; i < CONSUMERS; i++) {
        for (int k = 0; consumers[i].releases[k]; k++) {
            char path[4096];
            snprintf(path, sizeof(path), "%s/%s-%s.txt", folder, files[i],
                     consumers[i].releases[k]);
            FILE *file = fopen(path, "r");
            if (!file) {
                perror(path);
                exit(1);
            }
            lists[i][k][0] = '\n';
            size_t bytes = fread(lists[i][k] + 1, 1, FILE_BYTES - 2, file);
            lists[i][k][bytes + 1] = 0;
            fclose(file);
        }
    }
}

/* "LLVM 16, HIP 5.2"; "" where none calls it. */
static const char *callers(const char *function)
{
    static char text[256];
    char line[128];

    snprintf(line, sizeof(line), "\n%s\n", function);
    text[0] = 0;
    for (int i = 0; i < CONSUMERS; i++) {
        for (int k = 0; consumers[i].releases[k]; k++) {
            if (!strstr(lists[i][k], line))
                continue;
            size_t length = strlen(text);
            snprintf(text + length, sizeof(text) - length, "%s%s %s", length ? ", " : "",
                     consumers[i].name, consumers[i].releases[k]);
            break;
        }
    }
    return text;
}

/* ---- functions ------------------------------------------------------------------------------ */

static int others;

static void function_row(const char *name, const char *status, const char *words)
{
    const char *by = callers(name);

    if (!*by) {
        others++;
        return;
    }
    printf("| `%s` | %s | %s%s%s |\n", name, by, status, *status && *words ? ": " : "",
           *words || *status ? words : "as in the interface");
}

static void functions(void)
{
    puts("| Function | Called by, from this release on | What it does here |\n|---|---|---|");
#define HSA_FUNCTION(result, name, parameters, words) function_row(#name, "", words);
#define HSA_REFUSED(name, status, printed, why)
#include "hsa/hsa.def"
    printf("\nNone of these calls %d more, which are there, too.\n", others);
}

static void refused(void)
{
    others = 0;
    puts("| Function | Linked or looked up by | What it returns, and why |\n|---|---|---|");
#define HSA_FUNCTION(result, name, parameters, words)
#define HSA_REFUSED(name, status, printed, why) function_row(#name, "`" #status "`", why);
#include "hsa/hsa.def"
    printf("\nNone of these knows %d more, which are refused, too.\n", others);
}

/* ---- attributes ----------------------------------------------------------------------------- */

static const char *wanted; /* rows of this one */

static void attribute_row(const char *of, const char *name, uint32_t number, const char *asked,
                          const char *answer, const char *why)
{
    if (strcmp(of, wanted) != 0)
        return;
    if (*asked || *why)
        printf("| `%s` (%#x) | %s | %s%s%s |\n", name, number, *asked ? asked : "none known",
               answer, *answer && *why ? ": " : "", why);
    else
        others++;
}

static const char *number_text(long long number)
{
    static char text[32];

    snprintf(text, sizeof(text), number == -1 ? "the largest number" : "%lld", number);
    return text;
}

static const char *told_text(long long otherwise)
{
    static char text[64];

    snprintf(text, sizeof(text), "as told, else %lld", otherwise);
    return text;
}

static void attributes(const char *of)
{
    wanted = of;
    others = 0;
    puts("| Attribute | Asked by, from this release on | Answer |\n|---|---|---|");
#define HSA_TOLD(of, attribute, asked, bytes, otherwise, words)                                    \
    attribute_row(#of, #attribute, attribute, asked, told_text(otherwise), words);
#define HSA_TOLD_ONLY(of, attribute, asked, bytes, words)                                          \
    attribute_row(#of, #attribute, attribute, asked, "as told", words);
#define HSA_FIXED(of, attribute, asked, bytes, number, words)                                      \
    attribute_row(#of, #attribute, attribute, asked, number_text((long long)(number)), words);
#define HSA_BY(of, attribute, asked, bytes, function, words)                                       \
    attribute_row(#of, #attribute, attribute, asked, "", *words ? words : "see its name");
#define HSA_SYMBOL(attribute, asked, words)                                                        \
    attribute_row("SYMBOL", #attribute, attribute, asked, *words ? "" : "as told", words);
#include "hsa/answers.def"
    if (others)
        printf("\nNobody is known to ask for %d more, which are answered, too.\n", others);
}

int main(int count, char **arguments)
{
    static const struct section {
        const char *title, *of;
    } sections[] = {{"System attributes", "SYSTEM"},
                    {"Agent attributes: GPU", "GPU"},
                    {"Agent attributes: host", "HOST"},
                    {"ISA attributes", "ISA"},
                    {"Pool attributes", "POOL"},
                    {"Region attributes", "REGION"},
                    {"Attributes of an agent and a pool", "LINK"},
                    {"Symbol attributes", "SYMBOL"}};

    if (count != 2)
        return 2;
    lists_read(arguments[1]);
    puts("## Functions that are served\n");
    functions();
    puts("\n## Functions that are refused\n");
    refused();
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        printf("\n## %s\n\n", sections[i].title);
        attributes(sections[i].of);
    }
    return 0;
}
