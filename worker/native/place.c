/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * place.c: where a worker runs, see place.h. Only cores, NUMA nodes and packages of the topology
 * are kept: caches and I/O devices play no part and take most of the time to find.
 * Must not know: MPI, queues, what a lane does.
 */
#include "worker/native/place.h"

#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/units.h"
#include "control/shm/arena.h"
#include "worker/map.h"
#include "worker/free_memory.h"

enum { HUGE_PAGE_BYTES = 2 << 20 };

struct place {
    hwloc_topology_t topology;
    bool is_part;         /* of the place whose topology it uses */
    hwloc_cpuset_t share; /* this worker's, or device's; all allowed cpus when shared */
    int lanes;
    int wanted_cores; /* per worker; 0: equal shares */
    bool by_numa;
    struct place_description description;
};

/* Cores of a share in the topology's order, grouped by NUMA node: node n has cores first[n] ..
 * first[n+1]. */
struct core_list {
    hwloc_obj_t *cores;
    int *first; /* node_count + 1 */
    int core_count, node_count;
};

/* ---- topology ---- */

static omprma_status_t topology_load(const char *synthetic, hwloc_topology_t *topology)
{
    const char *what = synthetic ? synthetic : "this machine";
    if (hwloc_topology_init(topology))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "hwloc cannot be started");
    int error = 0;
    if (synthetic)
        error = access(synthetic, R_OK) ? hwloc_topology_set_synthetic(*topology, synthetic)
                                        : hwloc_topology_set_xml(*topology, synthetic);
    if (error) {
        hwloc_topology_destroy(*topology);
        return error_set(OMPRMA_ERR_ARGUMENT,
                         "%s is neither a readable hwloc XML file nor a synthetic topology", what);
    }
    hwloc_topology_set_io_types_filter(*topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_cache_types_filter(*topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_icache_types_filter(*topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    /* What the launcher, taskset or a control group allows, and no more. */
    if (!synthetic)
        hwloc_topology_set_flags(*topology, HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING |
                                                HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM);
    if (hwloc_topology_load(*topology)) {
        error = errno;
        hwloc_topology_destroy(*topology);
        return error_set(OMPRMA_ERR_ARGUMENT, "hwloc cannot describe %s: %s", what,
                         strerror(error));
    }
    return OMPRMA_OK;
}

/* The first NUMA node that a core belongs to. Nodes without cores of their own (high-bandwidth
 * memory beside the first node, memory expanders) come later in the order. */
static int core_node(hwloc_topology_t topology, hwloc_obj_t core)
{
    int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
    for (int n = 0; n < count; n++) {
        hwloc_obj_t node = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, (unsigned)n);
        if (hwloc_bitmap_isincluded(core->cpuset, node->cpuset))
            return n;
    }
    return 0;
}

static void core_list_free(struct core_list *list)
{
    free(list->cores);
    free(list->first);
}

static omprma_status_t core_list_make(hwloc_topology_t topology, hwloc_const_cpuset_t within,
                                      struct core_list *list)
{
    /* Some virtual machines show processing units but no cores. */
    int depth = hwloc_get_type_or_below_depth(topology, HWLOC_OBJ_CORE);
    int cores = (int)hwloc_get_nbobjs_by_depth(topology, depth);
    int nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
    nodes = nodes > 0 ? nodes : 1;
    *list = (struct core_list){.cores = calloc((size_t)cores + 1, sizeof(*list->cores)),
                               .first = calloc((size_t)nodes + 1, sizeof(*list->first))};
    if (!list->cores || !list->first) {
        core_list_free(list);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a list of %d cores", cores);
    }
    for (int n = 0; n < nodes; n++) {
        int before = list->core_count;
        for (int c = 0; c < cores; c++) {
            hwloc_obj_t core = hwloc_get_obj_by_depth(topology, depth, (unsigned)c);
            if (core_node(topology, core) == n && hwloc_bitmap_isincluded(core->cpuset, within))
                list->cores[list->core_count++] = core;
        }
        if (list->core_count > before)
            list->first[++list->node_count] = list->core_count;
    }
    return OMPRMA_OK;
}

/* ---- shares ---- */

/* Cuts `total` into `parts` nearly equal ranges; gives the start of range `index`. */
static int cut(int total, int parts, int index)
{
    return (int)((int64_t)total * index / parts);
}

static int node_cores(const struct core_list *list, int node)
{
    return list->first[node + 1] - list->first[node];
}

/* Where worker `index` is, when workers[n] of them go to node n: its node, and which one of that
 * node's it is. */
static void seat_find(const struct core_list *list, const int *workers, bool by_numa, int index,
                      int *node, int *seat)
{
    for (*seat = 0; by_numa; ++*seat) /* a worker of each node, then another one of each */
        for (*node = 0; *node < list->node_count; ++*node)
            if (workers[*node] > *seat && index-- == 0)
                return;
    for (*node = 0; index >= workers[*node]; ++*node)
        index -= workers[*node];
    *seat = index;
}

/* Each new worker joins the node that has most cores per worker, so none is ever crossed and no
 * node gets more workers than cores. */
static void deal_equally(const struct core_list *list, int count, int *workers)
{
    for (int i = 0; i < count; i++) {
        int best = 0;
        double best_share = 0;
        for (int n = 0; n < list->node_count; n++) {
            double share = (double)node_cores(list, n) / (workers[n] + 1);
            if (share > best_share) {
                best = n;
                best_share = share;
            }
        }
        workers[best]++;
    }
}

/* Nodes take as many workers with `cores` each as they have room for: one after the other, or
 * `by_numa` in turns. False: not all find room without crossing a node. */
static bool deal_fixed(const struct core_list *list, const struct place *place, int count,
                       int *workers)
{
    int left = count;
    for (bool more = true; more && left;) {
        more = false;
        for (int n = 0; n < list->node_count && left; n++) {
            int room = node_cores(list, n) / place->wanted_cores - workers[n];
            int take = place->by_numa ? room > 0 : room < left ? room : left;
            workers[n] += take;
            left -= take;
            more |= take > 0;
        }
    }
    return left == 0;
}

static omprma_status_t refuse_cores(const struct core_list *list, const struct place *place,
                                    int count)
{
    int cores = place->wanted_cores;
    if ((int64_t)count * cores > list->core_count)
        return error_set(
            OMPRMA_ERR_CONFIG,
            "%d worker%s with %d core%s each need%s %lld cores, and this host has %d for "
            "them; use fewer workers or a smaller --cores-per-worker",
            count, units_plural(count), cores, units_plural(cores), count == 1 ? "s" : "",
            (long long)count * cores, list->core_count);
    if (place->by_numa)
        return error_set(
            OMPRMA_ERR_CONFIG,
            "--map-by numa: %d worker%s with %d core%s each do not fit into this host's "
            "%d NUMA node%s, of which none may be crossed",
            count, units_plural(count), cores, units_plural(cores), list->node_count,
            units_plural(list->node_count));
    return OMPRMA_OK;
}

/* Which cores are worker `index`'s, [*from, *to). Fewer workers than nodes: each gets whole nodes.
 */
static omprma_status_t share_find(const struct core_list *list, const struct place *place,
                                  int index, int count, int *from, int *to)
{
    int fixed = place->wanted_cores, node, seat;
    omprma_status_t status = OMPRMA_OK;
    if (!fixed && count <= list->node_count) {
        *from = list->first[cut(list->node_count, count, index)];
        *to = list->first[cut(list->node_count, count, index + 1)];
        return OMPRMA_OK;
    }
    int *workers = calloc((size_t)list->node_count + 1, sizeof(*workers));
    if (!workers)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to place %d workers", count);
    if (!fixed) {
        deal_equally(list, count, workers);
        seat_find(list, workers, place->by_numa, index, &node, &seat);
        *from = list->first[node] + cut(node_cores(list, node), workers[node], seat);
        *to = list->first[node] + cut(node_cores(list, node), workers[node], seat + 1);
    } else if (deal_fixed(list, place, count, workers)) {
        seat_find(list, workers, place->by_numa, index, &node, &seat);
        *from = list->first[node] + seat * fixed;
        *to = *from + fixed;
    } else {
        status = refuse_cores(list, place, count);
        *from = index * fixed;
        *to = *from + fixed;
    }
    free(workers);
    return status;
}

/* The operating system's index of the one node that holds all of `set`, -1 if there is none. */
static int set_node(hwloc_topology_t topology, hwloc_const_cpuset_t set)
{
    hwloc_obj_t node = NULL;
    while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)))
        if (hwloc_bitmap_isincluded(set, node->cpuset))
            return (int)node->os_index;
    return -1;
}

/* Takes part `index` of `count` of the cores in `within`. */
static omprma_status_t place_fill(struct place *place, hwloc_const_cpuset_t within, int index,
                                  int count)
{
    struct place_description *description = &place->description;
    struct core_list list;
    omprma_status_t status = core_list_make(place->topology, within, &list);
    if (status)
        return status;
    description->all_cores = hwloc_bitmap_weight(within);
    description->shared = count > list.core_count && !place->wanted_cores;
    if (description->shared) {
        hwloc_bitmap_copy(place->share, within);
        description->cores = 1;
    } else {
        int from = 0, to = 0;
        status = share_find(&list, place, index, count, &from, &to);
        hwloc_bitmap_zero(place->share);
        for (int c = from; c < to && status == OMPRMA_OK; c++)
            hwloc_bitmap_or(place->share, place->share, list.cores[c]->cpuset);
        description->cores = hwloc_bitmap_weight(place->share);
    }
    core_list_free(&list);
    if (status)
        return status;
    hwloc_bitmap_list_snprintf(description->cpus, sizeof(description->cpus), place->share);
    description->numa_node = set_node(place->topology, place->share);
    description->memory_bytes = free_memory_bytes("");
    hwloc_obj_t package = hwloc_get_obj_by_type(place->topology, HWLOC_OBJ_PACKAGE, 0);
    const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    snprintf(description->cpu, sizeof(description->cpu), "%s", model ? model : "unknown");
    return OMPRMA_OK;
}

static omprma_status_t place_make(int index, int count, int lanes, struct place **place)
{
    if (count < 1 || index < 0 || index >= count || lanes < 1)
        return error_set(OMPRMA_ERR_ARGUMENT, "no place for number %d of %d with %d lanes", index,
                         count, lanes);
    struct place *made = calloc(1, sizeof(*made));
    if (!made || !(made->share = hwloc_bitmap_alloc())) {
        free(made);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a place");
    }
    made->lanes = lanes;
    *place = made;
    return OMPRMA_OK;
}

int place_nodes(const struct place *place)
{
    struct core_list list;
    if (core_list_make(place->topology, place->share, &list))
        return 1;
    int nodes = list.node_count;
    core_list_free(&list);
    return nodes > 0 ? nodes : 1;
}

/* Part `index` of `count` of what is in `within`, by the topology of another place. */
static omprma_status_t place_within(const struct place *whole, hwloc_const_cpuset_t within,
                                    bool by_numa, int index, int count, struct place **part)
{
    struct place *made = NULL;
    omprma_status_t status = place_make(index, count, whole->lanes, &made);
    if (status)
        return status;
    made->topology = whole->topology;
    made->is_part = true;
    made->by_numa = by_numa;
    status = place_fill(made, within, index, count);
    if (status) {
        place_destroy(made);
        return status;
    }
    *part = made;
    return OMPRMA_OK;
}

omprma_status_t place_part(const struct place *whole, int index, int count, struct place **part)
{
    omprma_status_t status = place_within(whole, whole->share, false, index, count, part);
    if (status == OMPRMA_OK)
        (*part)->description.shared |= whole->description.shared;
    return status;
}

omprma_status_t place_now(const struct place *whole, int index, int count, struct place **now)
{
    return place_within(whole, hwloc_topology_get_allowed_cpuset(whole->topology), whole->by_numa,
                        index, count, now);
}

omprma_status_t place_create(const char *synthetic, const struct place_wish *wish,
                             struct place **place)
{
    struct place *made = NULL;
    omprma_status_t status = place_make(wish->index, wish->count, wish->lanes, &made);
    if (status)
        return status;
    made->wanted_cores = wish->cores;
    made->by_numa = wish->by_numa;
    /* hwloc's own variables may describe another machine, where nothing is bound. */
    const char *this_system = getenv("HWLOC_THISSYSTEM");
    bool other = !this_system || atoi(this_system) == 0;
    if (!synthetic && other)
        synthetic = getenv("HWLOC_SYNTHETIC");
    if (!synthetic && other)
        synthetic = getenv("HWLOC_XMLFILE");
    status = topology_load(synthetic, &made->topology);
    if (status)
        goto free_share;
    status = place_fill(made, hwloc_topology_get_allowed_cpuset(made->topology), wish->index,
                        wish->count);
    if (status)
        goto destroy_topology;
    *place = made;
    return OMPRMA_OK;

destroy_topology:
    hwloc_topology_destroy(made->topology);
free_share:
    hwloc_bitmap_free(made->share);
    free(made);
    return status;
}

void place_destroy(struct place *place)
{
    if (!place)
        return;
    if (!place->is_part)
        hwloc_topology_destroy(place->topology);
    hwloc_bitmap_free(place->share);
    free(place);
}

const struct place_description *place_describe(const struct place *place)
{
    return &place->description;
}

/* ---- lanes ---- */

/* A lane gets whole cores while there are enough, else processing units, else the whole share. */
static void lane_set(const struct place *place, int lane, hwloc_cpuset_t set)
{
    hwloc_topology_t topology = place->topology;
    int depth = hwloc_get_type_or_below_depth(topology, HWLOC_OBJ_CORE);
    int parts = (int)hwloc_get_nbobjs_inside_cpuset_by_depth(topology, place->share, depth);
    hwloc_bitmap_copy(set, place->share);
    if (parts < place->lanes) {
        depth = hwloc_get_type_depth(topology, HWLOC_OBJ_PU);
        parts = (int)hwloc_get_nbobjs_inside_cpuset_by_depth(topology, place->share, depth);
    }
    if (place->description.shared || parts < place->lanes)
        return;
    hwloc_bitmap_zero(set);
    for (int i = cut(parts, place->lanes, lane); i < cut(parts, place->lanes, lane + 1); i++) {
        hwloc_obj_t part =
            hwloc_get_obj_inside_cpuset_by_depth(topology, place->share, depth, (unsigned)i);
        hwloc_bitmap_or(set, set, part->cpuset);
    }
}

void place_lane_list(const struct place *place, int lane, char *text, size_t bytes)
{
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    if (bytes)
        *text = 0;
    if (!set)
        return;
    lane_set(place, lane, set);
    hwloc_bitmap_list_snprintf(text, bytes, set);
    hwloc_bitmap_free(set);
}

/* A refused binding costs speed, not correctness: it is told and that is all. */
static void bind_to(const struct place *place, hwloc_const_cpuset_t set, int flags,
                    const char *what)
{
    if (hwloc_set_cpubind(place->topology, set, flags))
        log_write(LOG_CHOICE, "%s runs unbound: hwloc_set_cpubind: %s", what, strerror(errno));
}

omprma_status_t place_apply_lane(const struct place *place, int lane)
{
    if (lane < 0 || lane >= place->lanes)
        return error_set(OMPRMA_ERR_ARGUMENT, "there is no lane %d, only %d", lane, place->lanes);
    if ((place->lanes == 1 && !place->is_part) || place->description.shared)
        return OMPRMA_OK;
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    if (!set)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to bind lane %d", lane);
    lane_set(place, lane, set);
    bind_to(place, set, HWLOC_CPUBIND_THREAD, "a lane");
    hwloc_bitmap_free(set);
    return OMPRMA_OK;
}

void place_bind(const struct place *place)
{
    if (!place->description.shared)
        bind_to(place, place->share, HWLOC_CPUBIND_PROCESS, "the worker");
}

int place_threads(const struct place *place, int devices)
{
    int per_lane = place->description.cores / (place->lanes * devices);
    return per_lane > 0 ? per_lane : 1;
}

/* The user means processors of the program's host; libomp would say of each that is not a part of
 * this worker's share that it is not there. */
static void leave_out_lists(const struct place *place)
{
    static const char *const lists[][2] = {
        {"GOMP_CPU_AFFINITY", ""}, {"OMP_PLACES", "{"}, {"KMP_AFFINITY", "proclist"}};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        const char *value = getenv(lists[i][0]);
        if (!value || !strstr(value, lists[i][1]) ||
            place->description.cores >= place->description.all_cores)
            continue;
        log_write(LOG_CHOICE, "%s names processors, of which this worker has a part: left out here",
                  lists[i][0]);
        unsetenv(lists[i][0]);
    }
}

omprma_status_t place_environment(const struct place *place, int *threads)
{
    leave_out_lists(place);
    static char ours[16]; /* the number that is in the environment, if it is not the user's */
    const char *now = getenv("OMP_NUM_THREADS");
    bool users = now && strcmp(now, ours) != 0;
    if (users)
        *threads = 0;
    else
        snprintf(ours, sizeof(ours), "%d", *threads);
    /* libomp's threads spin this long (ms) after a kernel. Its own default, 200, keeps an idle
     * worker busy; 1 lets kernels that follow each other find their threads awake. */
    const char *spin = place->description.shared ? "0" : "1";
    int failed = users ? 0 : setenv("OMP_NUM_THREADS", ours, 1);
    if (!getenv("OMP_WAIT_POLICY"))
        failed |= setenv("KMP_BLOCKTIME", spin, 0);
    failed |= setenv("OMP_TARGET_OFFLOAD", "disabled", 1);
    failed |= setenv("OMP_TOOL", "disabled", 1); /* the program's is told there */
    unsetenv("OMP_DEFAULT_DEVICE"); /* of the program, and may be a name, which libomp refuses */
    if (failed)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the kernels' environment");
    return OMPRMA_OK;
}

/* ---- memory ---- */

/* `bytes` in whole pages, and the extra one. 0: too large, or none, and then there is nothing to be
 * attached: osc/ucx of Open MPI 4.1 crashes. */
static size_t map_bytes(uint64_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (bytes == 0 || bytes > SIZE_MAX / 2)
        return 0;
    return (bytes + page - 1) / page * page + page;
}

static bool is_huge(size_t length, const struct place_memory *where)
{
    return where->huge_pages && length >= HUGE_PAGE_BYTES;
}

static void *map(size_t length, const struct place_memory *where)
{
    bool huge = is_huge(length, where);
    if (where->wish)
        return map_wished(length, where->wish, where->below, huge);
    return huge ? map_huge(length, where->below) : map_below(length, where->below);
}

/* Of huge pages or not at all. What the program does not get at goes by other paths. */
static void share(void *start, size_t length, const struct place_memory *where)
{
    struct place_file *file = where->file;

    *file = (struct place_file){.fd = -1};
    errno = ENOTSUP;
    if (is_huge(length, where))
        file->fd = arena_share(start, length, &file->address);
    if (file->fd < 0)
        log_write(LOG_CHOICE, "the program cannot map this worker's memory: %s", strerror(errno));
}

omprma_status_t place_map(const struct place *place, uint64_t bytes,
                          const struct place_memory *where, void **base)
{
    size_t length = map_bytes(bytes);
    char *start = length ? map(length, where) : MAP_FAILED, size[32];
    if (start == MAP_FAILED && where->wish && length && errno == EEXIST)
        return error_set(OMPRMA_ERR_ADDRESS, "an arena cannot begin at %p", where->wish);
    if (start == MAP_FAILED)
        return error_set(OMPRMA_ERR_DEVICE_MEMORY,
                         "no %s of memory for an arena: %s; raise the limit (ulimit -v), or set "
                         "OMPRMA_ARENA to less",
                         units_bytes((double)bytes, size, sizeof(size)),
                         strerror(length ? errno : ENOMEM));
    if (where->file)
        share(start, length, where);
    /* A preference: without it, or where containers forbid it, the first touch decides. */
    if (place->description.numa_node >= 0 && !place->description.shared)
        hwloc_set_area_membind(place->topology, start, length, place->share, HWLOC_MEMBIND_BIND, 0);
    *base = start;
    return OMPRMA_OK;
}

void place_unmap(void *base, uint64_t bytes, const struct place_file *file)
{
    if (base)
        munmap(base, map_bytes(bytes));
    if (file && file->fd >= 0)
        close(file->fd);
}
