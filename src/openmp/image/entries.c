/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* entries.c: each entry says by its first words which form it has. */
#include "openmp/image/entries.h"

#include "openmp/abi/abi.h"
#include "openmp/site/report.h"

/* The step to the next entry; 0: damaged. Entries of other languages are left out. */
static size_t entry_read(const char *at, size_t room, struct entry *entry, bool *ours)
{
    const struct offload_entry *old = (const void *)at;
    const struct abi_entry_new *new = (const void *)at;
    if (room >= sizeof(*old) && new->zero == 0 && new->version == 1) {
        if (room < sizeof(*new))
            return 0;
        *entry = (struct entry){new->address,        new->name, new->bytes, new->flags,
                                (int64_t) new->data, false,     false};
        *ours = new->kind == ENTRY_KIND_OPENMP;
        return sizeof(*new);
    }
    if (room < sizeof(*old))
        return 0;
    *entry = (struct entry){old->address, old->name, old->bytes, (uint32_t)old->flags,
                            old->data,    false,     false};
    *ours = true;
    return sizeof(*old);
}

bool entries_each(const char *begin, const char *end,
                  bool (*call)(const struct entry *entry, void *context), void *context)
{
    for (size_t step; begin < end; begin += step) {
        struct entry entry;
        bool ours;
        step = entry_read(begin, (size_t)(end - begin), &entry, &ours);
        if (step == 0)
            return report(NULL, NULL,
                          "a table of target regions ends inside an entry; was the "
                          "program made by a newer clang?");
        if (ours && !call(&entry, context))
            return false;
    }
    return true;
}
