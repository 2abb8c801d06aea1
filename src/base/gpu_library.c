/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gpu_library.c: the table, and sets of kinds as text. */
#include "base/gpu_library.h"

#include <stdio.h>
#include <string.h>

const struct gpu_library gpu_libraries[GPU_LIBRARIES] = {
#define LIBRARY(NAME, name, maker_, ...)                                                           \
    {.backend = BACKEND_##NAME, .kind = #name, .maker = maker_, __VA_ARGS__},
    GPU_TABLE(LIBRARY)
#undef LIBRARY
};

static int find(const char *name, size_t length)
{
    for (int i = 0; i < GPU_LIBRARIES; i++) {
        const char *kind = gpu_libraries[i].kind;

        if (strlen(kind) == length && strncmp(kind, name, length) == 0)
            return gpu_bit(&gpu_libraries[i]);
    }
    return 0;
}

bool gpu_kinds_read(const char *text, int *kinds)
{
    *kinds = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        int kind = find(text, length);

        if (!kind)
            return false;
        *kinds |= kind;
        if (!text[length])
            return true;
        text += length + 1;
    }
}

static const char *join(int kinds, const char *between, bool makers, char text[GPU_WORDS_BYTES])
{
    int used = 0;

    text[0] = 0;
    for (int i = 0; i < GPU_LIBRARIES; i++) {
        const struct gpu_library *library = &gpu_libraries[i];

        if (kinds & gpu_bit(library))
            used += snprintf(text + used, (size_t)(GPU_WORDS_BYTES - used), "%s%s",
                             used ? between : "", makers ? library->maker : library->kind);
    }
    return text;
}

const char *gpu_kinds_write(int kinds, char text[GPU_WORDS_BYTES])
{
    return join(kinds, ",", false, text);
}

const char *gpu_kinds_words(int kinds, char text[GPU_WORDS_BYTES])
{
    join(kinds, " or ", true, text);
    strncat(text, " GPUs", GPU_WORDS_BYTES - strlen(text) - 1);
    return text;
}
