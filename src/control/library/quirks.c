/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * quirks.c: The table comes first. Which rows apply follows from version and component. The
 * component is found by reading the words behind the window's handle, one level deep, until one is
 * an address in a file mca_osc_NAME.so, or, where components are parts of libmpi, in a function
 * ompi_osc_NAME_....
 */
#define _GNU_SOURCE
#include "control/library/quirks.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "base/log.h"
#include "base/peek.h"
#include "control/shm/single_copy.h"

enum {
    V_ANY = 0,
    V4_0 = 40000,
    V4_2 = 40200,
    V5_0 = 50000,
    V5_0_10 = 50010,
    V6_0 = 60000,
    V6_1 = 60100,
    V_END = 1000000
};

static const struct quirk table[] = {
    {QUIRK_NO_RPUT, "no-rput", LIBRARY_OPENMPI, "ucx", V4_0, V5_0,
     "MPI_Put/MPI_Get and MPI_Win_flush instead of MPI_Rput/MPI_Rget",
     "the request's own word is looked up among the attached regions, and whatever lies in front "
     "of "
     "the table serves as its key: a crash unless that is zero"},
    {QUIRK_CALLS_WAIT, "calls-wait", LIBRARY_OPENMPI, "ucx", V4_0, V_END,
     "within a host data goes two-sided, unless one-sided is asked for",
     "MPI_Put and MPI_Get themselves wait for a target that does not poll, and with them all else"},
    {QUIRK_ATTACH_32, "attach-limit", LIBRARY_OPENMPI, "ucx", V4_0, V_END,
     "at most 31 arenas per worker", "the 33rd MPI_Win_attach fails with MPI_ERR_INTERN"},
    {QUIRK_ATTACH_64, "attach-limit", LIBRARY_OPENMPI, "rdma", V4_0, V_END,
     "at most 63 arenas per worker",
     "the 65th MPI_Win_attach fails; before 5.0 it keeps a lock, and the next access hangs"},
    {QUIRK_END_OF_REGION, "end-of-region", LIBRARY_OPENMPI, "ucx", V4_0, V5_0,
     "one page more is attached than is handed out",
     "a region's last byte, accessed alone, is looked up with <, not found, and can crash"},
    {QUIRK_ATTACH_ORDER, "attach-order", LIBRARY_OPENMPI, "ucx", V4_0, V_END,
     "each arena lies below the highest one, and is detached as often as it was counted",
     "an attach above all others leaves a hole in the table, by which others are not found; one "
     "below others begins with the references of its neighbour, and stays after MPI_Win_detach"},
    {QUIRK_TABLE_RACE, "table-race", LIBRARY_OPENMPI, "ucx", V4_0, V5_0,
     "no access to a worker's memory begins while it attaches or detaches an arena",
     "accesses read the table of attached regions without a lock, while its entries are moved (by "
     "its source; to be seen only where a network reads it without the worker)"},
    {QUIRK_TABLE_RACE_NEAR, "table-race", LIBRARY_OPENMPI, "rdma", V5_0, V_END,
     "no access to a worker's memory begins while it attaches or detaches an arena",
     "within a host accesses read the table of attached regions without a lock, while its entries "
     "are moved: MPI_ERR_RMA_RANGE"},
    {QUIRK_BTL_OFI, "btl-ofi", LIBRARY_OPENMPI, "rdma", V4_0, V5_0, "btl/ofi is left out",
     "MPI_Win_flush returns when its data was sent, not when it has arrived"},
    {QUIRK_TARGET_POLLS, "passive-progress", LIBRARY_OPENMPI, "rdma", V5_0, V_END,
     "a worker keeps calling MPI while kernels run, and is told to stay awake",
     "within a host, too, a put or get waits until the target enters MPI"},
    {QUIRK_ONE_THREAD, "one-thread", LIBRARY_OPENMPI, "ucx", V5_0, V5_0_10,
     "no window is made; data goes two-sided",
     "the window belongs to the thread that made it, and a UCX with assertions (from 1.18 on) "
     "aborts as soon as another one calls MPI"},
    {QUIRK_ONE_THREAD, "one-thread", LIBRARY_OPENMPI, "ucx", V6_0, V6_1,
     "no window is made; data goes two-sided",
     "of 6.0.0rc2: programs whose threads use devices are ended by an assertion of UCX, or crash"},
    {QUIRK_GET_LEAK, "get-leak", LIBRARY_OPENMPI, "rdma", V5_0, V_END,
     "MPI_Get of at most 31 KiB and MPI_Win_flush instead of MPI_Rget",
     "a larger one keeps 80 bytes of each 32 KiB for ever"},
    {QUIRK_PUT_LEAK, "put-leak", LIBRARY_OPENMPI, "rdma", V5_0, V_END,
     "within a host MPI_Put of at most 3.5 KiB and MPI_Win_flush instead of MPI_Rput",
     "a larger one keeps 656 bytes of each 128 KiB at the target for ever"},
    {QUIRK_TARGET_POLLS, "passive-progress", LIBRARY_MPICH, NULL, V_ANY, V_END,
     "a worker keeps calling MPI while kernels run, and is told to stay awake",
     "within a host, too, a put or get waits until the target enters MPI"},
    {QUIRK_SLOW_LARGE, "slow-large", LIBRARY_MPICH, NULL, V_ANY, V4_2,
     "large one-sided transfers are timed at start-up, and chosen away where messages are faster",
     "above 64 KiB they take 10 to 80 times as long as messages"},
    {QUIRK_PEERS_END, "peers-end", LIBRARY_MPICH, NULL, V_ANY, V_END,
     "a run does not continue without a worker that is lost",
     "over UCX, processes crash as one of them dies to which they send"},
};

const struct quirk *quirks_table(int *count)
{
    *count = (int)(sizeof(table) / sizeof(table[0]));
    return table;
}

/* What is not known is used as if it were of 4.0, which has most of them, and large transfers as if
 * they were slow. */
static bool concerns(const struct quirk *quirk, const struct library *library)
{
    if (library->kind == LIBRARY_OTHER)
        return quirk->id == QUIRK_SLOW_LARGE ||
               (quirk->library == LIBRARY_OPENMPI && quirk->first_version <= V4_0);
    if (library->kind != quirk->library)
        return false;
    return library->version
               ? library->version >= quirk->first_version && library->version < quirk->end_version
               : quirk->first_version <= V4_0;
}

unsigned quirks_for(const struct library *library, const char *component)
{
    unsigned set = 0;

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const struct quirk *quirk = &table[i];

        if (concerns(quirk, library) &&
            (!quirk->component || strcmp(component, quirk->component) == 0 ||
             strcmp(component, "unknown") == 0))
            set |= quirk->id;
    }
    return set;
}

/* The component of which `text` has the name behind `prefix` and before `end`. NULL: there is no
 * such prefix. */
static const char *component_in(const char *text, const char *prefix, char end)
{
    static const char *const names[] = {"rdma", "ucx", "pt2pt", "sm"};
    const char *name = text ? strstr(text, prefix) : NULL;

    if (!name)
        return NULL;
    name += strlen(prefix);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0 && name[strlen(names[i])] == end)
            return names[i];
    return "unknown";
}

/* The component's name if `address` lies in a file .../mca_osc_NAME.so, or in a function
 * ompi_osc_NAME_... of the library; the base of all components has such functions, too. */
static const char *component_at(const void *address)
{
    const char *component;
    Dl_info info;

    if (!dladdr(address, &info))
        return NULL;
    component = component_in(info.dli_fname, "mca_osc_", '.');
    if (component || !info.dli_sname || strncmp(info.dli_sname, "ompi_osc_base_", 14) == 0)
        return component;
    return strncmp(info.dli_sname, "ompi_osc_", 9) == 0
               ? component_in(info.dli_sname, "ompi_osc_", '_')
               : NULL;
}

enum { FUNCTIONS = 16 }; /* of a component's table that are looked at */

/* Of what may be such a table: the component that the first one of any belongs to, and how many
 * belong to that one. NULL: there are none. */
static const char *component_of_functions(const void *at, int *count)
{
    void *functions[FUNCTIONS];
    size_t words = peek(at, functions, sizeof(functions)) / sizeof(void *);
    const char *found = NULL;

    *count = 0;
    for (size_t i = 0; i < words; i++) {
        const char *name = component_at(functions[i]);

        found = found ? found : name;
        *count += name && strcmp(name, found) == 0;
    }
    return found;
}

/* What a window points to may be small, and behind it in memory there may be anything of another
 * component. The window's own table has functions of one component alone, so the search ends at one
 * that has more than half. */
const char *quirks_component(const void *window)
{
    enum { WINDOW_WORDS = 128 };
    void *words[WINDOW_WORDS];
    size_t size = peek(window, words, sizeof(words)) / sizeof(void *);
    const char *component = "unknown";
    int most = 0;

    for (size_t i = 0; i < size && most <= FUNCTIONS / 2; i++) {
        int count;
        const char *found = component_of_functions(words[i], &count);

        if (count > most) {
            component = found;
            most = count;
        }
    }
    return component;
}

static bool is_ucx(const struct dl_phdr_info *info)
{
    const char *slash = strrchr(info->dlpi_name, '/');

    return slash && strncmp(slash, "/libucp.so", 10) == 0;
}

static int look_for_ucx(struct dl_phdr_info *info, size_t bytes, void *found)
{
    (void)bytes;
    *(bool *)found |= is_ucx(info);
    return 0;
}

bool quirks_has_ucx(void)
{
    bool found = false;

    dl_iterate_phdr(look_for_ucx, &found);
    return found;
}

/* UCX's own words for it, in its memory that is only read. */
static int look_for_words(struct dl_phdr_info *info, size_t bytes, void *found)
{
    static const char words[] = "ucs_async_check_owner_thread(";

    (void)bytes;
    if (!is_ucx(info))
        return 0;
    for (int i = 0; i < info->dlpi_phnum && !*(bool *)found; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type == PT_LOAD && (part->p_flags & (PF_R | PF_W)) == PF_R)
            *(bool *)found = memmem((const void *)(info->dlpi_addr + part->p_vaddr), part->p_filesz,
                                    words, sizeof(words) - 1) != NULL;
    }
    return 0;
}

bool quirks_ucx_asserts_threads(void)
{
    bool found = false;

    dl_iterate_phdr(look_for_words, &found);
    return found;
}

int quirks_attach_limit(unsigned quirks)
{
    if (quirks & QUIRK_ATTACH_32)
        return 31;
    return quirks & QUIRK_ATTACH_64 ? 63 : INT_MAX;
}

/* ---- what is left out ---- */

static const char left_out[] = "ofi";

static const char *value_of(const struct quick_environment *environment, const char *name)
{
    const char *value = environment->get(environment->data, name);

    return value ? value : "";
}

/* Copies a list of components, with commas between, without the one that is left out. True if it
 * was there. */
static bool copy_rest(char *rest, const char *list)
{
    bool found = false;
    char *end = rest;

    *end = 0;
    while (*list) {
        size_t length = strcspn(list, ",");

        if (length == strlen(left_out) && strncmp(list, left_out, length) == 0)
            found = true;
        else
            end += sprintf(end, "%s%.*s", end == rest ? "" : ",", (int)length, list);
        list += length + (list[length] == ',');
    }
    return found;
}

/* A choice of components without that one: a list of some, or, behind ^, of those that are not
 * taken. Every process needs btl/self, so it can stand where nothing else is left. False: the
 * choice stays as it is. */
static bool leave_out(char *rest, const char *choice)
{
    bool others = *choice == '^', found = copy_rest(rest, choice + others);

    if (others && !found)
        sprintf(rest, "%s%s%s", choice, choice[1] ? "," : "", left_out);
    else if (!others && found && !*rest)
        strcpy(rest, "self");
    return others != found;
}

/* Room for what becomes of the longest list that is changed. */
enum { LIST_BYTES = 1024 };

static void change(const struct quick_environment *environment, const char *name, bool says)
{
    const char *choice = value_of(environment, name);
    char rest[LIST_BYTES + sizeof(left_out) + 1];

    if (!*choice || strlen(choice) >= LIST_BYTES || !leave_out(rest, choice))
        return;
    if (says)
        log_write(LOG_WARNING,
                  "%s=%s is taken as %s: what this Open MPI's btl/ofi carries one-sided arrives "
                  "later than it says, and data would be wrong",
                  name, choice, rest);
    environment->set(environment->data, name, rest);
}

/* Open MPI opens what its `btl` names, wherever that was set, and then passes over what
 * `btl_base_exclude` has, unless `btl_base_include` is set. That is enough; but what was opened
 * takes a second to close, so it is not named either where that can be seen. */
void quirks_rank(const struct quick_environment *environment, const struct library *library,
                 bool says)
{
    static const char excluded[] = "OMPI_MCA_btl_base_exclude";
    const char *list = value_of(environment, excluded);
    char rest[LIST_BYTES], files[LIST_BYTES + 1], all[LIST_BYTES + sizeof(left_out) + 1];

    if (!(quirks_for(library, "rdma") & QUIRK_BTL_OFI))
        return;
    change(environment, "OMPI_MCA_btl", says);
    change(environment, "OMPI_MCA_btl_base_include", says);
    if (!*list) { /* a variable would replace what a file says */
        quick_setting(environment, "btl_base_exclude", files, sizeof(files));
        list = files;
    }
    if (strlen(list) >= LIST_BYTES || copy_rest(rest, list))
        return;
    snprintf(all, sizeof(all), "%s%s%s", list, *list ? "," : "", left_out);
    environment->set(environment->data, excluded, all);
}

void quirks_single_copy(const struct quick_environment *environment)
{
    static const char name[] = "OMPI_MCA_btl_vader_single_copy_mechanism";

    if (!*value_of(environment, name) && !single_copy_is_allowed())
        environment->set(environment->data, name, "none");
}

void quirks_print(unsigned quirks, FILE *out)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (quirks & table[i].id) {
            fprintf(out, "  %s: %s (%s)\n", table[i].name, table[i].what, table[i].why);
            quirks &= ~(unsigned)table[i].id; /* it may stand there for another library, too */
        }
}
