/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * placement.c: reads what each worker said of itself in its hello, and prints a row per device;
 * devices that share cores are named once for each worker.
 */
#include "host/report/placement.h"

#include <stdbool.h>

#include "base/log.h"
#include "base/number_list.h"
#include "base/table.h"
#include "base/units.h"
#include "host/core/peer.h"

static const char *memory_text(uint64_t bytes, char *text, size_t room)
{
    if (bytes == 0)
        snprintf(text, room, "no limit");
    else
        snprintf(text, room, "%llu MiB", (unsigned long long)(bytes >> 20));
    return text;
}

static const char *node_text(int node, char *text, size_t room)
{
    if (node < 0)
        snprintf(text, room, "all");
    else
        snprintf(text, room, "%d", node);
    return text;
}

void placement_print(const struct runtime *runtime, FILE *out)
{
    static const struct table_column columns[] = {
        {"worker", 6, true, 0},  {"host", 16, true, 0}, {"own cores", 15, true, 0},
        {"of all", 7, false, 1}, {"NUMA", 5, false, 2}, {"memory limit", 14, false, 3}};
    bool lends = false;
    char worker[16], cores[16], memory[32], node[16];
    struct table table;

    table_open(&table, out, "", columns, sizeof(columns) / sizeof(*columns),
               table_terminal_width(fileno(out)));
    table_print_titles(&table);
    for (int rank = 0; rank < runtime->world.size; rank++) {
        const struct peer *peer = runtime->peers[rank];

        if (!peer)
            continue;
        lends |= peer->hello.lends;
        snprintf(worker, sizeof(worker), "%d", peer->number);
        snprintf(cores, sizeof(cores), "%d", peer->hello.host_cores);
        const char *const row[] = {worker,
                                   peer->hello.host,
                                   peer->hello.cpus,
                                   cores,
                                   node_text(peer->hello.numa_node, node, sizeof(node)),
                                   memory_text(peer->hello.memory_group, memory, sizeof(memory))};
        bool shares = peer->hello.shared || peer->hello.place.overlaps;
        table_print_row(&table, row, shares ? "shared" : NULL);
    }
    if (lends)
        fprintf(out, "idle workers lend their cores; --cores-per-worker N gives each worker N of "
                     "its own\n");
}

enum { DRAWN_GROUP = 8, DRAWN_MOST = 64 }; /* cores: side by side, and in one line */

static bool has_core(const char *cores, int core)
{
    bool has = false;

    return number_list_has(cores, core, &has) == OMPRMA_OK && has;
}

/* A line of up to DRAWN_MOST cores: their numbers, for NULL, or which of them are among `cores`. */
static void draw_cores(FILE *out, int first, int end, const char *cores)
{
    if (end - first > DRAWN_MOST)
        end = first + DRAWN_MOST;
    for (int core = first; core < end; core++) {
        bool begins = core % DRAWN_GROUP == 0;

        if (cores)
            fprintf(out, "%s%c", begins ? " " : "", has_core(cores, core) ? '#' : '.');
        else if (begins)
            fprintf(out, " %-*d", DRAWN_GROUP, core);
    }
    fputc('\n', out);
}

static void draw_host(const struct runtime *runtime, int group, FILE *out)
{
    const struct peer *first = runtime->peers[group];

    fprintf(out, "\n%s, %d core%s\n", first->hello.host, first->hello.host_cores,
            units_plural(first->hello.host_cores));
    for (int core = 0; core < first->hello.host_cores; core += DRAWN_MOST) {
        fprintf(out, "  %-11s", "core");
        draw_cores(out, core, first->hello.host_cores, NULL);
        for (int rank = 0; rank < runtime->world.size; rank++) {
            const struct peer *peer = runtime->peers[rank];

            if (!peer || peer->hello.place.group != group)
                continue;
            fprintf(out, "  worker %-4d", peer->number);
            draw_cores(out, core, first->hello.host_cores, peer->hello.cpus);
        }
    }
}

void placement_draw(const struct runtime *runtime, FILE *out)
{
    for (int rank = 0; rank < runtime->world.size; rank++)
        if (runtime->peers[rank] && runtime->peers[rank]->hello.place.group == rank)
            draw_host(runtime, rank, out);
}

static void say_shared(const struct peer *peer)
{
    if (peer->hello.shared)
        log_write(
            LOG_WARNING,
            "%d workers share the %d processor%s of %s; use fewer workers, or OMPRMA_BIND=0 if "
            "that is what you want",
            peer->hello.place.count, peer->hello.host_cores, units_plural(peer->hello.host_cores),
            peer->hello.host);
    else
        log_write(
            LOG_WARNING,
            "workers of %s may run on the same cores, %s among them, but not on all the same: "
            "bind them alike or apart, or set OMPRMA_BIND=0 if that is what you want",
            peer->hello.host, peer->hello.cpus);
}

void placement_say(const struct runtime *runtime)
{
    char memory[32], node[16];

    for (int rank = 0; rank < runtime->world.size; rank++) {
        const struct peer *peer = runtime->peers[rank];

        if (!peer)
            continue;
        log_write(LOG_CHOICE,
                  "worker %d (%s): own cores %s of %d, NUMA node %s, memory limit of its control "
                  "group: %s%s",
                  peer->number, peer->hello.host, peer->hello.cpus, peer->hello.host_cores,
                  node_text(peer->hello.numa_node, node, sizeof(node)),
                  memory_text(peer->hello.memory_group, memory, sizeof(memory)),
                  peer->can_ring ? "; the program runs on this host, too" : "");
        if ((peer->hello.shared || peer->hello.place.overlaps) && runtime->config.bind &&
            peer->hello.place.group == rank)
            say_shared(peer);
    }
}
