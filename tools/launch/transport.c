/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * transport.c: UCX is told to write its log to a file in memory, which is read line by line at the
 * end; transports and devices stand behind "tag(" and "rma(". Which parts of Open MPI are loaded,
 * the loader tells; where they are in its library, the functions that it has chosen do.
 */
#define _GNU_SOURCE
#include "tools/launch/transport.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/peek.h"

/* ---- what UCX says ------------------------------------------------------------------------- */

void transport_watch(struct transport *transport)
{
    const char *file = getenv("UCX_LOG_FILE");

    *transport = (struct transport){0};
    transport->ucx_unknown = getenv("UCX_LOG_LEVEL") || (file && strcmp(file, "stderr") != 0);
    if (transport->ucx_unknown)
        return;
    transport->file = memfd_create("ucx", MFD_CLOEXEC);
    transport->ucx_unknown = transport->file < 0;
    if (transport->ucx_unknown)
        return;
    transport->log = text_make("/proc/self/fd/%d", transport->file);
    setenv("UCX_LOG_LEVEL", "info", 1);
    setenv("UCX_LOG_FILE", transport->log, 1);
}

static void add_words(struct list *list, const char *words, size_t length)
{
    while (length > 0) {
        size_t blanks = strspn(words, " "), end;
        if (blanks >= length)
            return;
        words += blanks;
        length -= blanks;
        end = strcspn(words, " )");
        end = end < length ? end : length;
        char *word = text_make("%.*s", (int)end, words);
        if (!list_contains(list, word))
            list_add(list, word);
        free(word);
        words += end;
        length -= end;
    }
}

/* UCX 1.13: "UCX  INFO  ep_cfg[1]: tag(sysv/memory cma/memory)"; later "inter-node cfg#1 tag(...)".
 * tag and am are messages, rma is one-sided, amo belongs to it. */
bool transport_line(struct transport *transport, const char *line)
{
    const char *said = strstr(line, "ep_cfg[");
    bool any = false;

    if (!said)
        said = strstr(line, " cfg#");
    if (!said)
        return false;
    for (const char *open = strchr(said, '('); open; open = strchr(open, '(')) {
        const char *word = open, *close = strchr(open, ')');
        if (!close)
            break;
        while (word > said && word[-1] >= 'a' && word[-1] <= 'z')
            word--;
        size_t length = (size_t)(open - word);
        bool one_sided = (length == 3 && strncmp(word, "rma", 3) == 0) ||
                         (length == 3 && strncmp(word, "amo", 3) == 0);
        add_words(one_sided ? &transport->one_sided : &transport->messages, open + 1,
                  (size_t)(close - open - 1));
        any = true;
        open = close;
    }
    return any;
}

static void read_log(struct transport *transport)
{
    fflush(NULL); /* UCX writes by stdio */
    FILE *file = fopen(transport->log, "r");
    char *line = NULL;
    size_t bytes = 0;

    while (file && getline(&line, &bytes, file) > 0) {
        if (strstr(line, "UCX  WARN") || strstr(line, "UCX  ERROR"))
            fputs(line, stderr);
        else
            transport_line(transport, line);
    }
    free(line);
    if (file)
        fclose(file);
}

/* ---- what Open MPI has loaded -------------------------------------------------------------- */

/* "/usr/lib/.../mca_pml_ob1.so" is part "ob1" of kind "pml". What was looked at and not chosen has
 * been unloaded again. */
static int look_at(struct dl_phdr_info *info, size_t bytes, void *data)
{
    static const char *const kinds[] = {"mca_pml_", "mca_mtl_", "mca_btl_"};
    struct transport *transport = data;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *name = slash ? slash + 1 : info->dlpi_name;

    (void)bytes;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t length = strlen(kinds[i]);
        if (strncmp(name, kinds[i], length) == 0)
            list_addf(i == 0 ? &transport->layers : &transport->networks, "%.*s",
                      (int)strcspn(name + length, "."), name + length);
    }
    return 0;
}

/* Adds the NAME of the first of these functions that is called <prefix>NAME_.... */
static void name_of(struct list *names, const char *prefix, void *const *functions, size_t count)
{
    size_t length = strlen(prefix);
    Dl_info info;

    for (size_t i = 0; i < count; i++)
        if (functions[i] && dladdr(functions[i], &info) && info.dli_sname &&
            strncmp(info.dli_sname, prefix, length) == 0) {
            list_addf(names, "%.*s", (int)strcspn(info.dli_sname + length, "_"),
                      info.dli_sname + length);
            return;
        }
}

/* Open MPI copies the module that it has chosen for messages to mca_pml; that one may go by the
 * module to which ompi_mtl points. Both begin with functions, among a few numbers. */
static void look_inside(struct transport *transport)
{
    void *words[8] = {NULL};
    const void *layer = dlsym(RTLD_DEFAULT, "mca_pml"), *const *below =
                                                            dlsym(RTLD_DEFAULT, "ompi_mtl");

    if (transport->layers.count || !layer)
        return;
    name_of(&transport->layers, "mca_pml_", words,
            peek(layer, words, sizeof(words)) / sizeof(*words));
    if (list_contains(&transport->layers, "cm") && below && *below)
        name_of(&transport->networks, "ompi_mtl_", words,
                peek(*below, words, sizeof(words)) / sizeof(*words));
}

void transport_read(struct transport *transport)
{
    dl_iterate_phdr(look_at, transport);
    look_inside(transport);
    if (!transport->log)
        return;
    read_log(transport);
    close(transport->file);
    unsetenv("UCX_LOG_LEVEL"); /* else a UCX that is loaded later looks for the file */
    setenv("UCX_LOG_FILE", "stderr", 1);
}

/* ---- what follows -------------------------------------------------------------------------- */

bool transport_is_rdma(const char *name)
{
    static const char *const prefixes[] = {"rc_", "dc_", "ud_", "rc/", "dc/", "ud/"};
    static const char *const networks[] = {"openib", "psm2"};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++)
        if (strcmp(name, networks[i]) == 0)
            return true;
    return false;
}

static void print_list(FILE *out, const struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        fprintf(out, "%s%s", i ? ", " : "", list->items[i]);
}

static void print_rdma(const struct transport *transport, FILE *out)
{
    const struct list *lists[] = {&transport->networks, &transport->messages,
                                  &transport->one_sided};
    struct list found = {0};

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        for (size_t k = 0; k < lists[i]->count; k++)
            if (transport_is_rdma(lists[i]->items[k]) && !list_contains(&found, lists[i]->items[k]))
                list_add(&found, lists[i]->items[k]);
    fprintf(out, "RDMA       %s", found.count ? "used: " : "not used");
    print_list(out, &found);
    list_clear(&found);

    /* Hardware that lies idle is what somebody who reads this looks for. */
    DIR *folder = opendir("/sys/class/infiniband");
    fputs("; InfiniBand devices of this host:", out);
    bool any = false;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        fprintf(out, " %s", entry->d_name);
        any = true;
    }
    fputs(any ? "\n" : " none\n", out);
    if (folder)
        closedir(folder);
}

void transport_print(const struct transport *transport, FILE *out)
{
    bool ucx = list_contains(&transport->layers, "ucx");

    fputs("messages   ", out);
    if (transport->without_mpi)
        fputs("through shared memory, between hosts by sockets, without MPI", out);
    else if (transport->layers.count ==
             0) /* as with MPICH, which has no parts by which it is known */
        fputs(transport->messages.count ? "ucx" : "not known: the MPI library does not tell", out);
    print_list(out, &transport->layers);
    if (!ucx && transport->networks.count) {
        fputs(" over ", out);
        print_list(out, &transport->networks);
    }
    fputc('\n', out);
    if (transport->messages.count) {
        fputs("UCX        messages over ", out);
        print_list(out, &transport->messages);
        if (transport->one_sided.count) {
            fputs("; one-sided over ", out);
            print_list(out, &transport->one_sided);
        }
        fputc('\n', out);
    } else if (ucx) {
        fprintf(out, "UCX        transports not known: %s\n",
                transport->ucx_unknown ? "UCX_LOG_LEVEL or UCX_LOG_FILE is set, so its log is yours"
                                       : "its log does not name them");
    }
    print_rdma(transport, out);
}

void transport_clear(struct transport *transport)
{
    list_clear(&transport->layers);
    list_clear(&transport->networks);
    list_clear(&transport->messages);
    list_clear(&transport->one_sided);
    free(transport->log);
    *transport = (struct transport){0};
}
