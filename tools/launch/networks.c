/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * networks.c: A bridge ends within its host if nothing is plugged into it that stands on a device,
 * and no route to another network goes through it. What the kernel says of them lies in /sys and
 * /proc.
 */
#define _GNU_SOURCE
#include "tools/launch/networks.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool folder_has(const char *path, const char *prefix)
{
    DIR *folder = opendir(path);
    bool found = false;
    for (struct dirent *entry; folder && !found && (entry = readdir(folder));)
        found = entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    if (folder)
        closedir(folder);
    return found;
}

/* Ports of containers and of virtual machines stand on nothing. */
static bool port_leads_out(const char *port)
{
    char *path = text_make("/sys/class/net/%s", port);
    bool out = folder_has(path, "device") || folder_has(path, "lower_");
    free(path);
    return out;
}

static bool bridge_leads_out(const char *name)
{
    char *path = text_make("/sys/class/net/%s/brif", name);
    DIR *ports = opendir(path);
    bool out = false;
    for (struct dirent *entry; ports && !out && (entry = readdir(ports));)
        out = entry->d_name[0] != '.' && port_leads_out(entry->d_name);
    if (ports)
        closedir(ports);
    free(path);
    return out;
}

/* Whether packets for other networks than its own go that way. */
static bool has_routes(const char *name, in_addr_t own)
{
    FILE *routes = fopen("/proc/net/route", "re");
    char line[256], network[IF_NAMESIZE];
    unsigned long to;
    bool found = false;
    while (routes && !found && fgets(line, sizeof(line), routes))
        found =
            sscanf(line, "%15s %lx", network, &to) == 2 && strcmp(network, name) == 0 && to != own;
    if (routes)
        fclose(routes);
    return found;
}

static bool is_bridge(const char *name)
{
    char *path = text_make("/sys/class/net/%s/bridge", name);
    bool is = access(path, F_OK) == 0;
    free(path);
    return is;
}

static in_addr_t ipv4(const struct sockaddr *address)
{
    return ((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr;
}

struct network {
    in_addr_t address, mask;
};

struct networks {
    struct network *items;
    size_t count;
};

static void add_inner(struct networks *inner)
{
    struct ifaddrs *all, *each;
    if (getifaddrs(&all))
        return;
    for (each = all; each; each = each->ifa_next) {
        if (!each->ifa_addr || !each->ifa_netmask || each->ifa_addr->sa_family != AF_INET ||
            !is_bridge(each->ifa_name) || bridge_leads_out(each->ifa_name))
            continue;
        struct network network = {.mask = ipv4(each->ifa_netmask)};
        network.address = ipv4(each->ifa_addr) & network.mask;
        struct network *grown = realloc(inner->items, (inner->count + 1) * sizeof(*grown));
        if (!grown)
            break;
        inner->items = grown;
        if (!has_routes(each->ifa_name, network.address))
            grown[inner->count++] = network;
    }
    freeifaddrs(all);
}

static void drop_with(struct networks *inner, in_addr_t address)
{
    size_t kept = 0;
    for (size_t i = 0; i < inner->count; i++)
        if ((address & inner->items[i].mask) != inner->items[i].address)
            inner->items[kept++] = inner->items[i];
    inner->count = kept;
}

/* A host of which only the remote shell knows where it is may be anywhere. */
static void drop_used(struct networks *inner, const char *host)
{
    const struct addrinfo wish = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *all;
    if (getaddrinfo(host, NULL, &wish, &all)) {
        inner->count = 0;
        return;
    }
    for (struct addrinfo *each = all; each; each = each->ai_next)
        drop_with(inner, ipv4(each->ai_addr));
    freeaddrinfo(all);
}

static char *format(const struct networks *inner)
{
    char *text = NULL, name[INET_ADDRSTRLEN];
    for (size_t i = 0; i < inner->count; i++) {
        const struct in_addr address = {inner->items[i].address};
        inet_ntop(AF_INET, &address, name, sizeof(name));
        char *longer = text_make("%s%s%s/%d", text ? text : "", text ? "," : "", name,
                                 __builtin_popcount(inner->items[i].mask));
        free(text);
        text = longer;
    }
    return text;
}

char *networks_inner(const struct hosts *hosts)
{
    struct networks inner = {0};
    add_inner(&inner);
    for (size_t i = 0; i < hosts->names.count && inner.count > 0; i++)
        if (!hosts_is_here(hosts->names.items[i]))
            drop_used(&inner, hosts->names.items[i]);
    char *text = format(&inner);
    free(inner.items);
    return text;
}
