/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gpu_library.c: the table, and sets of kinds as text. */
#include "base/gpu_library.h"

#include <stdio.h>

const struct gpu_library gpu_libraries[GPU_LIBRARIES] = {
#define LIBRARY(NAME, name, maker_, ...)                                                           \
    {.backend = BACKEND_##NAME, .kind = #name, .maker = maker_, __VA_ARGS__},
    GPU_TABLE(LIBRARY)
#undef LIBRARY
};

bool gpu_kinds_read(const char *text, int *kinds)
{
    return config_read_set("BACKENDS", text, kinds) && !(*kinds & 1 << BACKEND_NATIVE);
}

const char *gpu_kinds_write(int kinds, char text[GPU_WORDS_BYTES])
{
    config_write_set("BACKENDS", kinds & ~(1 << BACKEND_NATIVE), text, GPU_WORDS_BYTES);
    return text;
}

const char *gpu_kinds_words(int kinds, char text[GPU_WORDS_BYTES])
{
    size_t used = 0;

    for (int i = 0; i < GPU_LIBRARIES; i++)
        if (kinds & gpu_bit(&gpu_libraries[i]))
            used += (size_t)snprintf(text + used, GPU_WORDS_BYTES - used, "%s%s",
                                     used ? " or " : "", gpu_libraries[i].maker);
    snprintf(text + used, GPU_WORDS_BYTES - used, " GPUs");
    return text;
}
