/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * quick.c: All of it is settings in the environment, made before Open MPI reads them, and only
 * where the user has said nothing: neither in the environment nor in Open MPI's files, which are
 * read here, too. The names are those of Open MPI 4 and PMIx 4; others ignore them.
 */
#define _GNU_SOURCE
#include "control/library/quick.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"

extern char **environ;

enum { VALUE_BYTES = 256, PATH_BYTES = 4096, ANSWER_MS = 1000 };

static const char no_plugins[] = "/dev/null"; /* a value that nobody else gives */

/* ---- environments ---- */

static const char *own_get(void *data, const char *name)
{
    (void)data;
    return getenv(name);
}

static void own_set(void *data, const char *name, const char *value)
{
    (void)data;
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

const struct quick_environment quick_own = {own_get, own_set, NULL};

static bool is_set(const struct quick_environment *environment, const char *name)
{
    const char *value = environment->get(environment->data, name);

    return value && *value;
}

void quick_default(const struct quick_environment *environment, const char *name, const char *value)
{
    if (!is_set(environment, name))
        environment->set(environment->data, name, value);
}

/* ---- settings in files ---- */

static char *trim(char *text)
{
    char *end = text + strlen(text);

    while (end > text && isspace((unsigned char)end[-1]))
        *--end = 0;
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

/* What a file says about choosing components that send messages. */
struct choice {
    char mtl[VALUE_BYTES];
    bool named; /* some are asked for by name */
};

static void take_choice(void *data, const char *name, const char *value)
{
    struct choice *choice = data;

    if (strcmp(name, "mtl") != 0 && strcmp(name, "pml") != 0)
        return;
    if (*value != '^' || strlen(value) >= sizeof(choice->mtl) - sizeof(",psm,psm2"))
        choice->named = true;
    else if (*name == 'm')
        strcpy(choice->mtl, value);
}

/* One setting, and how it is searched for. */
struct wanted {
    const char *name;
    char *value;
    size_t room;
};

static void take_wanted(void *data, const char *name, const char *value)
{
    const struct wanted *wanted = data;

    if (strcmp(name, wanted->name) == 0)
        snprintf(wanted->value, wanted->room, "%s", value);
}

typedef void take_setting(void *data, const char *name, const char *value);

static void read_line(char *line, take_setting *take, void *data)
{
    char *name = line, *value = strchr(line, '=');

    if (!value)
        return;
    *value++ = 0;
    take(data, trim(name), trim(value));
}

static void read_file(const char *path, take_setting *take, void *data)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;

    while (file && getline(&line, &room, file) > 0)
        if (*line != '#')
            read_line(line, take, data);
    free(line);
    if (file)
        fclose(file);
}

bool quick_mtl(const char *const *files, char *value, size_t room)
{
    struct choice choice = {.mtl = ""};

    for (; *files; files++)
        read_file(*files, take_choice, &choice);
    if (choice.named)
        return false;
    return snprintf(value, room, "%s%spsm,psm2", *choice.mtl ? choice.mtl : "^",
                    choice.mtl[0] && choice.mtl[1] ? "," : "") < (int)room;
}

static bool exists(const char *pattern)
{
    glob_t found;
    bool any = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;

    globfree(&found);
    return any;
}

/* The user's file, which wins over the site's. False: Open MPI may read others. */
static bool find_users(const struct quick_environment *environment, char *path, size_t room)
{
    static const char *const elsewhere[] = {"OMPI_MCA_mca_base_param_files", "OPAL_PREFIX",
                                            "OPAL_SYSCONFDIR"};
    const char *home = environment->get(environment->data, "HOME");

    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
        if (is_set(environment, elsewhere[i]))
            return false;
    return snprintf(path, room, "%s/.openmpi/mca-params.conf", home ? home : "") < (int)room;
}

bool quick_setting(const struct quick_environment *environment, const char *name, char *value,
                   size_t room)
{
    struct wanted wanted = {name, value, room};
    char users[PATH_BYTES];

    *value = 0;
    if (!find_users(environment, users, sizeof(users)))
        return false;
    read_file(OMPRMA_MPI_SETTINGS, take_wanted, &wanted);
    read_file(users, take_wanted, &wanted);
    return true;
}

/* The libraries of PSM and PSM2 spend 0.1 s each on measuring the processor's clock as soon as they
 * are loaded, which Open MPI does to ask them for their hardware. */
static void spare_psm(const struct quick_environment *environment)
{
    char users[PATH_BYTES], value[VALUE_BYTES];

    if (is_set(environment, "OMPI_MCA_mtl") || is_set(environment, "OMPI_MCA_pml"))
        return;
    if (exists("/dev/hfi1*") || exists("/dev/ipath*"))
        return;
    if (find_users(environment, users, sizeof(users)) &&
        quick_mtl((const char *const[]){OMPRMA_MPI_SETTINGS, users, NULL}, value, sizeof(value)))
        environment->set(environment->data, "OMPI_MCA_mtl", value);
}

void quick_rank(const struct quick_environment *environment)
{
    spare_psm(environment);
    /* "Started by mpirun, bound or not": without it, a process that mpirun has not bound looks for
     * all devices of the machine before it does not bind itself. */
    if (is_set(environment, "OMPI_COMM_WORLD_SIZE"))
        quick_default(environment, "OMPI_MCA_orte_bound_at_launch", "1");
}

void quick_hwloc(const struct quick_environment *environment)
{
    if (is_set(environment, "HWLOC_COMPONENTS") || is_set(environment, "HWLOC_PLUGINS_PATH"))
        return;
    environment->set(environment->data, "HWLOC_COMPONENTS", "-linuxio,-pci");
    environment->set(environment->data, "HWLOC_PLUGINS_PATH", no_plugins);
}

void quick_forget_hwloc(void)
{
    const char *path = getenv("HWLOC_PLUGINS_PATH");

    if (!path || strcmp(path, no_plugins) != 0)
        return;
    unsetenv("HWLOC_PLUGINS_PATH");
    unsetenv("HWLOC_COMPONENTS");
}

/* ---- the connection to mpirun ---- */

/* The port in NAME=JOB.RANK;tcp4://127.0.0.1:PORT; 0 if there is none. */
static unsigned port_of(const char *variable)
{
    const char *place = strstr(variable, ";tcp4://127.0.0.1:");
    const char *colon = place ? strrchr(place, ':') : NULL;
    unsigned long port = colon ? strtoul(colon + 1, NULL, 10) : 0;

    return port < 65536 ? (unsigned)port : 0;
}

static unsigned find_port(void)
{
    unsigned port = 0;

    for (char **variable = environ; *variable && !port; variable++)
        if (strncmp(*variable, "PMIX_SERVER_URI", 15) == 0)
            port = port_of(*variable);
    return port;
}

static bool leads_to(int fd, unsigned port)
{
    struct sockaddr_in peer;
    socklen_t bytes = sizeof(peer);

    return getpeername(fd, (struct sockaddr *)&peer, &bytes) == 0 && peer.sin_family == AF_INET &&
           ntohs(peer.sin_port) == port;
}

/* The descriptor of this process that leads to that port; -1: none does. */
static int find_connection(unsigned port)
{
    DIR *folder = port ? opendir("/proc/self/fd") : NULL;
    struct dirent *entry;
    int found = -1;

    while (folder && found < 0 && (entry = readdir(folder)))
        if (*entry->d_name != '.' && leads_to(atoi(entry->d_name), port))
            found = atoi(entry->d_name);
    if (folder)
        closedir(folder);
    return found;
}

void quick_connection(void)
{
    int fd = find_connection(find_port()), one = 1;

    if (fd >= 0 && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
        log_write(LOG_DETAIL, "the connection to mpirun stays slow");
}

/* Whoever says the same again on this descriptor finds an answer, and nobody else hears of it.
 * MPICH 4.2 crashes where it finds none because hydra has ended. */
static void answer_again(int fd)
{
    static const char words[] = "cmd=finalize_ack\n";
    int ends[2]; /* the second one stays open: what is said goes there */

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return;
    if (send(ends[1], words, sizeof(words) - 1, MSG_NOSIGNAL) == (ssize_t)sizeof(words) - 1)
        dup3(ends[0], fd, O_CLOEXEC);
    close(ends[0]);
}

/* The words are those of PMI 1, which hydra speaks. It answers with a line, which must be read:
 * hydra's proxy ends when it cannot send it. */
void quick_end(void)
{
    static const char words[] = "cmd=finalize\n";
    const char *place = getenv("PMI_PORT"), *colon = place ? strrchr(place, ':') : NULL;
    int fd = find_connection(colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0);
    struct pollfd answer = {.fd = fd, .events = POLLIN};
    char line[256];

    if (fd >= 0 && send(fd, words, sizeof(words) - 1, MSG_NOSIGNAL) > 0 &&
        (poll(&answer, 1, ANSWER_MS) != 1 || read(fd, line, sizeof(line)) <= 0))
        log_write(LOG_DETAIL, "the launcher has not answered that this process may end");
    if (fd >= 0)
        answer_again(fd);
}
