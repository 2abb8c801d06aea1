/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* region_name.c: of the file's path the last part is enough, as for a compiler's own messages. */
#include "report/region_name.h"

#include <stdio.h>
#include <string.h>

#include "base/kernel_name.h"

const char *region_name(const char *symbol, const char *source, char text[REGION_NAME_BYTES])
{
    const char *slash = strrchr(source, '/');
    char words[KERNEL_NAME_WORDS];
    struct kernel_name name;

    if (!kernel_name_split(symbol, &name))
        snprintf(text, REGION_NAME_BYTES, "%s", kernel_name_words(symbol, words));
    else if (*source)
        snprintf(text, REGION_NAME_BYTES, "%s:%d", slash ? slash + 1 : source, name.line);
    else if (name.bytes <= KERNEL_NAME_SHOWN)
        snprintf(text, REGION_NAME_BYTES, "%.*s:%d", (int)name.bytes, name.function, name.line);
    else
        snprintf(text, REGION_NAME_BYTES, "%s", kernel_name_words(symbol, words));
    return text;
}
