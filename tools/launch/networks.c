/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * networks.c: A bridge ends within its host if nothing is plugged into it that stands on a device,
 * and no route goes through it to anywhere else. What the kernel says of them lies in /sys and
 * /proc.
 */
#define _GNU_SOURCE
#include "tools/launch/networks.h"

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

/* Whether packets for other networks go that way. */
static bool has_gateway(const char *name)
{
    FILE *routes = fopen("/proc/net/route", "re");
    char line[256], network[IF_NAMESIZE];
    unsigned long gateway;
    bool found = false;
    while (routes && !found && fgets(line, sizeof(line), routes))
        found = sscanf(line, "%15s %*x %lx", network, &gateway) == 2 &&
                strcmp(network, name) == 0 && gateway != 0;
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

/* A host of which only the remote shell knows where it is may be anywhere. */
static bool may_have(const struct ifaddrs *network, const char *host)
{
    const struct addrinfo wish = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    in_addr_t mask = ipv4(network->ifa_netmask), own = ipv4(network->ifa_addr) & mask;
    struct addrinfo *all;
    bool has = false;
    if (getaddrinfo(host, NULL, &wish, &all))
        return true;
    for (struct addrinfo *each = all; each && !has; each = each->ai_next)
        has = (ipv4(each->ai_addr) & mask) == own;
    freeaddrinfo(all);
    return has;
}

static bool may_have_any(const struct ifaddrs *network, const struct hosts *hosts)
{
    for (size_t i = 0; i < hosts->names.count; i++)
        if (!hosts_is_here(hosts->names.items[i]) && may_have(network, hosts->names.items[i]))
            return true;
    return false;
}

char *networks_inner(const struct hosts *hosts)
{
    static const char *const usual[] = {"docker0", "podman0", "cni0", "virbr0", "lxcbr0", "lxdbr0"};
    struct list inner = {0}, used = {0};
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all))
        all = NULL;
    for (struct ifaddrs *each = all; each; each = each->ifa_next) {
        if (!each->ifa_addr || each->ifa_addr->sa_family != AF_INET || !is_bridge(each->ifa_name))
            continue;
        bool leads = bridge_leads_out(each->ifa_name) || has_gateway(each->ifa_name) ||
                     may_have_any(each, hosts);
        list_add(leads ? &used : &inner, each->ifa_name);
    }
    if (all)
        freeifaddrs(all);
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        list_add(&inner, usual[i]);
    char *text = text_make("%s", "");
    for (size_t i = 0; i < inner.count; i++) {
        if (list_contains(&used, inner.items[i]))
            continue;
        char *longer = text_make("%s%s%s", text, *text ? "," : "", inner.items[i]);
        free(text);
        text = longer;
    }
    list_clear(&inner);
    list_clear(&used);
    return text;
}
