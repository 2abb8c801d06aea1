/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* member.c: see member.h. Variables of one name are tried in turn, until one has a member there. */
#include "tools/fault/member.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_MOST = 32 };

static bool is_systems(const char *file)
{
    return strncmp(file, "/usr/lib", 8) == 0 || strncmp(file, "/lib", 4) == 0 || *file != '/';
}

/* Without names of types and qualifiers. False: it is of no type. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
           dwarf_formref_die(&attribute, type) && dwarf_peel_type(type, type) == 0;
}

static bool is_structure(Dwarf_Die *type)
{
    int tag = dwarf_tag(type);
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* What a pointer, a reference or an array is of; steps of each kind are counted. */
static bool structure_of(Dwarf_Die *type, bool *pointer, bool *array)
{
    Dwarf_Die next;
    for (int i = 0; i < DEPTH_MOST && !is_structure(type); i++) {
        int tag = dwarf_tag(type);
        *pointer |= tag == DW_TAG_pointer_type;
        *array |= tag == DW_TAG_array_type;
        if (tag != DW_TAG_pointer_type && tag != DW_TAG_reference_type &&
            tag != DW_TAG_rvalue_reference_type && tag != DW_TAG_array_type)
            return false;
        if (!type_of(type, &next))
            return false;
        *type = next;
    }
    return is_structure(type);
}

/* Appends ".v" to `name`, and what follows where that is a structure too. */
static bool member_at(Dwarf_Die *structure, uint64_t offset, const char *between, char *name,
                      size_t room, int depth)
{
    Dwarf_Die child, type;
    if (depth > DEPTH_MOST || dwarf_child(structure, &child) != 0)
        return false;
    do {
        Dwarf_Attribute attribute;
        Dwarf_Word at = 0, bytes = sizeof(void *);
        int tag = dwarf_tag(&child);
        bool is_static = dwarf_hasattr(&child, DW_AT_declaration);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || is_static ||
            !type_of(&child, &type))
            continue;
        if (dwarf_attr(&child, DW_AT_data_member_location, &attribute))
            dwarf_formudata(&attribute, &at);
        if (dwarf_aggregate_size(&type, &bytes) != 0)
            bytes = sizeof(void *);
        if (offset < at || offset - at >= bytes)
            continue;
        size_t used = strlen(name);
        const char *own = dwarf_diename(&child);
        if (tag == DW_TAG_member && own)
            snprintf(name + used, room - used, "%s%s", between, own);
        if (!is_structure(&type))
            return tag == DW_TAG_member && own;
        if (member_at(&type, offset - at, tag == DW_TAG_member ? "." : between, name, room,
                      depth + 1))
            return true;
        name[used] = 0; /* an empty one before it */
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

/* What is looked for, and the best answer so far. */
struct search {
    const char *variable, *file; /* of the region, without folders */
    uint64_t offset, bytes;
    int line;
    bool ambiguous;
    bool fortran; /* the unit that is looked at */
    int best;     /* line of the function around the best answer; -1: there is none */
    char *name;
    size_t room;
};

/* Is it an array of pointers, or does it point to one? */
static bool is_of_pointers(Dwarf_Die type)
{
    int tag = dwarf_tag(&type);
    return (tag == DW_TAG_pointer_type || tag == DW_TAG_array_type) && type_of(&type, &type) &&
           dwarf_tag(&type) == DW_TAG_pointer_type;
}

static bool variable_has(const struct search *search, Dwarf_Die *die, char *name, size_t room)
{
    bool pointer = false, array = false;
    const char *own = dwarf_diename(die);
    uint64_t offset = search->offset;
    Dwarf_Word bytes;
    Dwarf_Die type;
    if (!own || !type_of(die, &type))
        return false;
    if (*search->variable ? strcmp(own, search->variable) != 0
                          : dwarf_aggregate_size(&type, &bytes) != 0 || bytes != search->bytes)
        return false;
    if (is_of_pointers(type)) {
        snprintf(name, room, "%s[i]", own);
        return true;
    }
    if (!structure_of(&type, &pointer, &array))
        return false;
    if (dwarf_aggregate_size(&type, &bytes) == 0 && bytes > 0 && offset >= bytes)
        offset %= bytes, array = true;
    snprintf(name, room, "%s%s", own, array ? search->fortran ? "(i)" : "[i]" : "");
    return member_at(&type, offset,
                     search->fortran     ? "%"
                     : pointer && !array ? "->"
                                         : ".",
                     name, room, 0);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The line where a function of the region's file begins; INT_MAX, behind all regions: it is another
 * file's, whose variables the region does not see. */
static int function_line(const struct search *search, Dwarf_Die *function)
{
    const char *file = dwarf_decl_file(function);
    int line = 0;
    Dwarf_Die unit;
    if (!file && dwarf_diecu(function, &unit, NULL, NULL)) /* clang's file 0, which libdw has not */
        file = dwarf_diename(&unit);
    if (!file || strcmp(base_name(file), search->file) != 0 ||
        dwarf_decl_line(function, &line) != 0)
        return INT_MAX;
    return line;
}

/* The nearest function that begins before the region is the one around it. `line`: of the function
 * around `die`, 0: there is none. */
static void tree_search(struct search *search, Dwarf_Die *die, int line, int depth)
{
    Dwarf_Die child;
    if (depth > DEPTH_MOST || dwarf_child(die, &child) != 0)
        return;
    do {
        char name[512];
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) {
            if (line >= search->best && line <= search->line &&
                variable_has(search, &child, name, sizeof(name))) {
                search->ambiguous = line == search->best && strcmp(name, search->name) != 0;
                snprintf(search->name, search->room, "%s", name);
                search->best = line;
            }
        } else {
            bool function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
            tree_search(search, &child, function ? function_line(search, &child) : line, depth + 1);
        }
    } while (dwarf_siblingof(&child, &child) == 0);
}

static int module_search(Dwfl_Module *module, void **user, const char *path, Dwarf_Addr base,
                         void *data)
{
    struct search *search = data;
    Dwarf_Die *unit = NULL;
    Dwarf_Addr bias;
    (void)user, (void)base;
    if (is_systems(path))
        return DWARF_CB_OK;
    while ((unit = dwfl_module_nextcu(module, unit, &bias))) {
        int language = dwarf_srclang(unit);
        search->fortran = language == DW_LANG_Fortran77 || language == DW_LANG_Fortran90 ||
                          language == DW_LANG_Fortran95 || language == DW_LANG_Fortran03 ||
                          language == DW_LANG_Fortran08;
        tree_search(search, unit, 0, 0);
    }
    return DWARF_CB_OK;
}

bool member_name(const struct member_question *question, char *name, size_t room)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo};
    struct search search = {.variable = question->variable,
                            .file = base_name(question->file),
                            .offset = question->offset,
                            .bytes = question->bytes,
                            .line = question->line,
                            .best = -1,
                            .name = name,
                            .room = room};
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (dwfl && dwfl_linux_proc_report(dwfl, question->process) == 0 &&
        dwfl_report_end(dwfl, NULL, NULL) == 0)
        dwfl_getmodules(dwfl, module_search, &search, 0);
    if (dwfl)
        dwfl_end(dwfl);
    return search.best >= 0 && !search.ambiguous;
}
