/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * rtl_18.c: loading an image, which changed with LLVM 18. Before, load_binary(device, image)
 * returned a table. Since then load_binary(device, image, binary) returns 0 and fills `binary`,
 * and addresses are asked for one by one through get_global and get_function. One object serves
 * both, so the caller must be recognised: libomptarget looks our functions up by name, hence an
 * old one does not hold the name of get_global in its memory. No other logic here: see plugin.h.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "plugin/plugin.h"
#include "plugin/rtl.h"

static const char new_name[] = "__tgt_rtl_get_global";

struct caller {
    Elf64_Addr code; /* in: an address in the caller's code */
    bool is_new;     /* out: its object holds new_name */
};

static bool object_holds(const struct dl_phdr_info *object, Elf64_Addr address)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const Elf64_Phdr *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD &&
            address - (object->dlpi_addr + segment->p_vaddr) < segment->p_memsz)
            return true;
    }
    return false;
}

/* Called for each loaded object; a value other than 0 ends the walk. */
static int object_look(struct dl_phdr_info *object, size_t bytes, void *data)
{
    (void)bytes;
    struct caller *caller = data;
    if (!object_holds(object, caller->code))
        return 0;
    for (int i = 0; i < object->dlpi_phnum && !caller->is_new; i++) {
        const Elf64_Phdr *segment = &object->dlpi_phdr[i];
        const void *start = (const void *)(object->dlpi_addr + segment->p_vaddr);
        if (segment->p_type == PT_LOAD && (segment->p_flags & (PF_R | PF_W)) == PF_R)
            caller->is_new = memmem(start, segment->p_filesz, new_name, sizeof(new_name)) != NULL;
    }
    return 1;
}

static bool caller_is_new(void *code)
{
    static atomic_int known; /* 0 not yet, 1 old, 2 new: there is one libomptarget in a process */
    if (atomic_load(&known) == 0) {
        struct caller caller = {.code = (Elf64_Addr)code};
        dl_iterate_phdr(object_look, &caller);
        atomic_store(&known, caller.is_new ? 2 : 1);
    }
    return atomic_load(&known) == 2;
}

/* Returns a struct tgt_table *, or a status where `binary` is passed. */
intptr_t __tgt_rtl_load_binary(int32_t device, struct tgt_image *image, struct tgt_binary *binary)
{
    bool is_new = caller_is_new(__builtin_return_address(0));
    struct tgt_table *table = NULL;
    if (plugin_enter(device)) {
        table = image_place(device, image);
        plugin_leave();
    }
    if (!is_new)
        return (intptr_t)table;
    if (!table)
        return RTL_FAIL;
    binary->handle = (uintptr_t)table;
    return RTL_SUCCESS;
}

int32_t __tgt_rtl_get_global(struct tgt_binary binary, uint64_t bytes, const char *name,
                             void **address)
{
    (void)bytes; /* load_binary has compared the size in the image */
    *address = image_find((const struct tgt_table *)binary.handle, name);
    return *address ? RTL_SUCCESS : RTL_FAIL;
}

int32_t __tgt_rtl_get_function(struct tgt_binary binary, const char *name, void **address)
{
    *address = image_find((const struct tgt_table *)binary.handle, name);
    return *address ? RTL_SUCCESS : RTL_FAIL;
}

/* Data must be copied: a worker does not see the application's memory. */
int32_t __tgt_rtl_use_auto_zero_copy(int32_t device)
{
    (void)device;
    return 0;
}
