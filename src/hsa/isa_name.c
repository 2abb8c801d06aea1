/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * isa_name.c: xnack+ says that a GPU waits for pages that the host brings while a kernel runs. A
 * program takes from it that kernels may use its own memory, which they cannot in another process.
 */
#include "hsa/isa_name.h"

#include <string.h>

bool isa_name(const struct hsa_fact *fact, char *name, size_t room)
{
    size_t bytes = strnlen((const char *)fact->value, fact->bytes);

    if (bytes == 0 || bytes >= room)
        return false;
    memcpy(name, fact->value, bytes);
    name[bytes] = 0;
    char *xnack = strstr(name, ":xnack+");
    if (xnack)
        xnack[strlen(":xnack")] = '-';
    return true;
}

void isa_processor(const char *name, char *processor, size_t room)
{
    const char *begin = strstr(name, "--");
    size_t bytes = begin ? strcspn(begin + 2, ":") : 0;

    if (bytes >= room)
        bytes = 0;
    memcpy(processor, begin ? begin + 2 : "", bytes);
    processor[bytes] = 0;
}
