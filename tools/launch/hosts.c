/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * hosts.c: Both forms become one list of names and slots. A name is this host's if it is one of
 * its names, with or without a domain, or an address of one of its interfaces.
 */
#include "tools/launch/hosts.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "tools/launch/ranges.h"

enum { SLOTS_MAX = 1024 };

static bool host_name_valid(const char *name)
{
    if (!*name || *name == '-')
        return false;
    for (; *name; name++) {
        if (!isalnum((unsigned char)*name) && !strchr("-._", *name))
            return false;
    }
    return true;
}

static bool slots_parse(const char *text, int *slots)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || value < 1 || value > SLOTS_MAX)
        return false;
    *slots = (int)value;
    return true;
}

static omprma_status_t hosts_add(struct hosts *hosts, const char *name, int slots)
{
    size_t i = 0;
    while (i < hosts->names.count && strcmp(hosts->names.items[i], name) != 0)
        i++;
    if (i == hosts->names.count) {
        int *grown = realloc(hosts->slots, (i + 1) * sizeof(*grown));
        if (!grown)
            return error_set(OMPRMA_ERR_HOST_MEMORY, "out of memory for %zu hosts", i + 1);
        hosts->slots = grown;
        hosts->slots[i] = 0;
        list_add(&hosts->names, name);
    }
    hosts->slots[i] += slots;
    hosts->total += slots;
    return OMPRMA_OK;
}

/* All that "node[1-4]" stands for; false: one of them is no name. */
static bool names_expand(const char *item, struct list *names)
{
    bool good = ranges_expand(item, names);
    for (size_t i = 0; good && i < names->count; i++)
        good = host_name_valid(names->items[i]);
    return good;
}

omprma_status_t hosts_parse(struct hosts *hosts, const char *text)
{
    omprma_status_t status = OMPRMA_OK;
    char *copy = text_make("%s", text), *rest = copy, *item;
    while (status == OMPRMA_OK && (item = ranges_next(&rest))) {
        int slots = 1;
        struct list names = {0};
        char *colon = strchr(item, ':');
        if (colon)
            *colon = 0;
        if (!names_expand(item, &names) || (colon && !slots_parse(colon + 1, &slots)))
            status = error_set(OMPRMA_ERR_CONFIG,
                               "\"%s%s%s\" is not a host; write NAME, NAME:WORKERS (1 to %d) or "
                               "NAME[1-4]:WORKERS, separated by commas%s",
                               item, colon ? ":" : "", colon ? colon + 1 : "", SLOTS_MAX,
                               strchr(item, '@') ? "; name the user in ~/.ssh/config" : "");
        for (size_t i = 0; status == OMPRMA_OK && i < names.count; i++)
            status = hosts_add(hosts, names.items[i], slots);
        list_clear(&names);
    }
    free(copy);
    return status;
}

/* One line: NAME [slots=N] [max_slots=N], comments after '#'. */
static omprma_status_t hosts_read_line(struct hosts *hosts, char *line, const char *path,
                                       int number)
{
    line[strcspn(line, "#\r\n")] = 0;
    char *save, *name = strtok_r(line, " \t", &save), *word;
    if (!name)
        return OMPRMA_OK;
    if (!host_name_valid(name))
        return error_set(OMPRMA_ERR_CONFIG, "%s, line %d: \"%s\" is not a host name", path, number,
                         name);
    int slots = 1;
    while ((word = strtok_r(NULL, " \t", &save))) {
        if (strncmp(word, "max_slots=", 10) == 0 || strncmp(word, "max-slots=", 10) == 0)
            continue;
        if (strncmp(word, "slots=", 6) != 0 || !slots_parse(word + 6, &slots))
            return error_set(
                OMPRMA_ERR_CONFIG,
                "%s, line %d: \"%s\" after the host; only slots=N (1 to %d) may follow", path,
                number, word, SLOTS_MAX);
    }
    return hosts_add(hosts, name, slots);
}

omprma_status_t hosts_read(struct hosts *hosts, const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return error_set(OMPRMA_ERR_CONFIG, "cannot read the host file %s: %s", path,
                         strerror(errno));
    omprma_status_t status = OMPRMA_OK;
    char *line = NULL;
    size_t room = 0;
    errno = 0;
    for (int number = 1; status == OMPRMA_OK && getline(&line, &room, file) >= 0; number++)
        status = hosts_read_line(hosts, line, path, number);
    if (status == OMPRMA_OK && ferror(file))
        status =
            error_set(OMPRMA_ERR_CONFIG, "cannot read the host file %s: %s", path, strerror(errno));
    else if (status == OMPRMA_OK && hosts->total == 0)
        status = error_set(OMPRMA_ERR_CONFIG, "the host file %s names no host", path);
    free(line);
    fclose(file);
    return status;
}

void hosts_spread(struct hosts *hosts, int workers)
{
    int count = (int)hosts->names.count;

    for (int i = 0; i < count; i++)
        hosts->slots[i] = workers / count + (i < workers % count);
    hosts->total = workers;
    while (hosts->names.count > (size_t)workers)
        list_drop(&hosts->names);
}

/* As many as there is room for; true if there was any. */
static bool fill_slots(const struct hosts *all, int *given, int *left, bool in_turns)
{
    int before = *left;
    for (size_t i = 0; i < all->names.count; i++) {
        int room = all->slots[i] - given[i];
        int more = in_turns && room > 1 ? 1 : room;
        more = more < *left ? more : *left;
        given[i] += more;
        *left -= more;
    }
    return *left < before;
}

int hosts_divide(const struct hosts *all, int workers, bool in_turns, struct hosts *others)
{
    int left = workers, here = 0, *given = calloc(all->names.count + 1, sizeof(*given));
    if (!given) {
        error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for %zu hosts", all->names.count);
        return -1;
    }
    while (left > 0 && fill_slots(all, given, &left, in_turns))
        ;
    for (size_t i = 0; left > 0; i = (i + 1) % all->names.count, left--)
        given[i]++;
    others->slots = given;
    for (size_t i = 0; i < all->names.count; i++) {
        int each = given[i];
        if (hosts_is_here(all->names.items[i])) {
            here += each;
        } else if (each > 0) {
            given[others->names.count] = each; /* never behind i */
            others->total += each;
            list_add(&others->names, all->names.items[i]);
        }
    }
    return here;
}

void hosts_level(struct hosts *hosts, int workers)
{
    for (size_t i = 0; i < hosts->names.count; i++)
        hosts->slots[i] = workers;
    hosts->total = (int)hosts->names.count * workers;
}

static bool is_here(struct in_addr wanted)
{
    struct ifaddrs *all, *each;
    if (ntohl(wanted.s_addr) >> 24 == IN_LOOPBACKNET)
        return true;
    if (getifaddrs(&all))
        return false;
    for (each = all; each; each = each->ifa_next) {
        const struct sockaddr_in *address =
            (const struct sockaddr_in *)(const void *)each->ifa_addr;
        if (address && address->sin_family == AF_INET && address->sin_addr.s_addr == wanted.s_addr)
            break;
    }
    freeifaddrs(all);
    return each != NULL;
}

static bool is_own_address(const char *name)
{
    struct in_addr wanted;
    return inet_pton(AF_INET, name, &wanted) == 1 && is_here(wanted);
}

static bool is_own_name(const char *name)
{
    char own[HOST_NAME_MAX + 1] = "";
    gethostname(own, sizeof(own) - 1);
    size_t length = strcspn(own, ".");
    return strcspn(name, ".") == length && strncmp(name, own, length) == 0;
}

bool hosts_is_here(const char *name)
{
    return strcmp(name, "localhost") == 0 || is_own_name(name) || is_own_address(name);
}

/* Connecting this kind of socket sends nothing. */
static char *address_towards(const struct sockaddr *other, socklen_t bytes)
{
    struct sockaddr_in own;
    socklen_t own_bytes = sizeof(own);
    char text[INET_ADDRSTRLEN];
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool known = fd >= 0 && connect(fd, other, bytes) == 0 &&
                 getsockname(fd, (struct sockaddr *)&own, &own_bytes) == 0 &&
                 inet_ntop(AF_INET, &own.sin_addr, text, sizeof(text));
    if (fd >= 0)
        close(fd);
    return known ? text_make("%s", text) : NULL;
}

char *hosts_first_address(void)
{
    struct ifaddrs *all = NULL;
    char text[INET_ADDRSTRLEN];
    bool known = false;
    if (getifaddrs(&all))
        return NULL;
    for (struct ifaddrs *each = all; each && !known; each = each->ifa_next) {
        const struct sockaddr_in *own = (const void *)each->ifa_addr;
        known = own && own->sin_family == AF_INET && (each->ifa_flags & IFF_UP) &&
                !(each->ifa_flags & IFF_LOOPBACK) &&
                inet_ntop(AF_INET, &own->sin_addr, text, sizeof(text));
    }
    freeifaddrs(all);
    return known ? text_make("%s", text) : NULL;
}

char *hosts_own_address(const struct hosts *hosts)
{
    const struct addrinfo wish = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM};
    struct addrinfo *found;
    char *text = NULL;
    for (size_t i = 0; i < hosts->names.count && !text; i++) {
        const char *name = hosts->names.items[i];
        if (hosts_is_here(name) || getaddrinfo(name, "9", &wish, &found))
            continue;
        text = address_towards(found->ai_addr, found->ai_addrlen);
        freeaddrinfo(found);
    }
    return text;
}

/* Whether a name has addresses, and none of them is this host's. What cannot be looked up here may
 * still be this host's name. */
static bool leads_elsewhere(const char *name)
{
    const struct addrinfo wish = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *all;
    char own[HOST_NAME_MAX + 1] = "";
    gethostname(own, sizeof(own) - 1);
    bool here = strcmp(name, own) == 0;
    if (here || getaddrinfo(name, NULL, &wish, &all))
        return false;
    for (struct addrinfo *each = all; each && !here; each = each->ai_next)
        here = is_here(((const struct sockaddr_in *)(const void *)each->ai_addr)->sin_addr);
    freeaddrinfo(all);
    return !here;
}

static bool has_domain(const char *name)
{
    struct in_addr address;
    return strchr(name, '.') && inet_pton(AF_INET, name, &address) != 1;
}

static const char *find_short(const struct hosts *hosts, size_t end, const char *name)
{
    size_t length = strcspn(name, ".");
    for (size_t i = 0; i < end; i++) {
        const char *other = hosts->names.items[i];
        if (has_domain(other) && strcspn(other, ".") == length && strncmp(other, name, length) == 0)
            return other;
    }
    return NULL;
}

const char *hosts_full_name(const struct hosts *hosts, const char *name)
{
    const char *full = strchr(name, '.') ? NULL : find_short(hosts, hosts->names.count, name);
    return full ? full : name;
}

/* Another name that is the same to Open MPI. */
static const char *find_same(const struct hosts *hosts, size_t i)
{
    const char *name = hosts->names.items[i];
    if (has_domain(name))
        return find_short(hosts, i, name);
    return strchr(name, '.') ? NULL : find_short(hosts, hosts->names.count, name);
}

omprma_status_t hosts_check_names(const struct hosts *hosts)
{
    for (size_t i = 0; i < hosts->names.count; i++) {
        const char *name = hosts->names.items[i];
        const char *other = find_same(hosts, i);
        if (other)
            return error_set(OMPRMA_ERR_CONFIG,
                             "%s and %s are one host to Open MPI, which takes names up to the "
                             "first dot; %s",
                             other, name,
                             has_domain(name)
                                 ? "name them by their addresses"
                                 : "name it the same way each time, or two by their addresses");
        if (has_domain(name) && is_own_name(name) && leads_elsewhere(name))
            return error_set(
                OMPRMA_ERR_CONFIG,
                "%s is this host to Open MPI, which takes names up to the first dot, but "
                "has no address of this host; name it by its address, or this host "
                "localhost",
                name);
    }
    return OMPRMA_OK;
}

char *hosts_format(const struct hosts *hosts, int more_here)
{
    char *text = text_make("%s", "");
    for (size_t i = 0; i < hosts->names.count; i++) {
        const char *name = hosts->names.items[i];
        int slots = hosts->slots[i] + (more_here && hosts_is_here(name) ? more_here : 0);
        char *longer = text_make("%s%s%s:%d", text, i ? "," : "", name, slots);
        free(text);
        text = longer;
    }
    return text;
}

char *hosts_in_order(const struct hosts *hosts, int workers, bool in_turns)
{
    char *text = text_make("%s", "");
    for (int turn = 0, count = 0; count < workers;) {
        int before = count;
        for (size_t i = 0; i < hosts->names.count; i++) {
            int more = in_turns ? hosts->slots[i] > turn : hosts->slots[i];
            for (; more > 0 && count < workers; more--, count++) {
                char *longer = text_make("%s%s%s", text, count ? "," : "", hosts->names.items[i]);
                free(text);
                text = longer;
            }
        }
        turn = count > before ? turn + 1 : 0;
    }
    return text;
}

void hosts_clear(struct hosts *hosts)
{
    list_clear(&hosts->names);
    free(hosts->slots);
    *hosts = (struct hosts){0};
}
