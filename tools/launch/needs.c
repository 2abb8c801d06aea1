/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* needs.c: reads ELF headers and asks the loader. Knows nothing of offloading. */
#include "tools/launch/needs.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "tools/launch/paths.h"

extern char **environ;

/* "Debian clang version 14.0.6" and the like; the strings of .comment are separated by zeros. */
static int clang_in_comment(const char *text, size_t bytes)
{
    static const char mark[] = "clang version ";
    int newest = 0;
    for (size_t at = 0; at < bytes;) {
        size_t length = strnlen(text + at, bytes - at);
        const char *found = memmem(text + at, length, mark, sizeof(mark) - 1);
        int version = 0;
        for (const char *p = found ? found + sizeof(mark) - 1 : text + bytes;
             p < text + bytes && *p >= '0' && *p <= '9' && version < 1000; p++)
            version = version * 10 + (*p - '0');
        if (version > newest)
            newest = version;
        at += length + 1;
    }
    return newest;
}

static int elf_clang(Elf *elf)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names))
        return 0;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
            continue;
        const char *name = elf_strptr(elf, names, header.sh_name);
        Elf_Data *data = name && strcmp(name, ".comment") == 0 ? elf_rawdata(section, NULL) : NULL;
        if (data && data->d_buf)
            return clang_in_comment(data->d_buf, data->d_size);
    }
    return 0;
}

/* The interpreter's name, malloced; NULL for a static program. */
static char *elf_loader(Elf *elf)
{
    size_t count, bytes;
    const char *file = elf_rawfile(elf, &bytes);
    if (!file || elf_getphdrnum(elf, &count))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_INTERP)
            continue;
        if (header.p_offset >= bytes || header.p_filesz > bytes - header.p_offset)
            return NULL;
        return strndup(file + header.p_offset, header.p_filesz);
    }
    return NULL;
}

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names && strcmp(name, *names) != 0)
        names++;
    return *names != NULL;
}

/* By the functions that the program takes from libraries; Fortran's have names of their own. */
static void elf_look_at_calls(Elf *elf, struct needs *needs)
{
    static const char *const starts[] = {
        "MPI_Init",      "MPI_Init_thread",      "mpi_init_", "mpi_init_thread_",
        "mpi_init_f08_", "mpi_init_thread_f08_", NULL};
    static const char *const asks[] = {"MPI_Initialized", "mpi_initialized_",
                                       "mpi_initialized_f08_", NULL};
    static const char *const others[] = {
        "execl",   "execle", "execlp", "execv",    "execve",      "execvp",       "execvpe",
        "fexecve", "popen",  "system", "execveat", "posix_spawn", "posix_spawnp", NULL};
    bool starting = false, asking = false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        GElf_Sym symbol;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (int i = 1; gelf_getsym(data, i, &symbol); i++) {
            const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
            if (symbol.st_shndx != SHN_UNDEF || !name)
                continue;
            starting |= is_one_of(name, starts);
            asking |= is_one_of(name, asks);
            needs->loads_later |= strcmp(name, "dlopen") == 0;
            needs->starts_others |= is_one_of(name, others);
        }
    }
    needs->uses_mpi = starting;
    needs->starts_mpi = starting && !asking;
}

/* Takes "a:b:c" apart. The loader means the folder of the file itself, behind all links. */
static void origins_add(struct needs *needs, const char *program, const char *folders)
{
    static const char *const marks[] = {"$ORIGIN", "${ORIGIN}"};
    char *real = path_real(program), *copy = text_make("%s", folders), *rest = copy, *folder;
    if (real)
        *strrchr(real, '/') = 0;
    while (real && (folder = strsep(&rest, ":")))
        for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
            if (strncmp(folder, marks[i], strlen(marks[i])) == 0)
                list_addf(&needs->origins, "%s%s", real, folder + strlen(marks[i]));
    free(copy);
    free(real);
}

static void elf_look_at_rpath(Elf *elf, struct needs *needs, const char *program)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        GElf_Dyn entry;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (int i = 0; gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
            bool is_path = entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH;
            const char *folders =
                is_path ? elf_strptr(elf, header.sh_link, entry.d_un.d_val) : NULL;
            if (folders)
                origins_add(needs, program, folders);
        }
    }
}

static omprma_status_t needs_read_elf(struct needs *needs, const char *program)
{
    int fd = open(program, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        if (errno == EACCES) /* executable but not readable: let it run as if it were a script */
            return OMPRMA_OK;
        return error_set(OMPRMA_ERR_CONFIG, "cannot read %s: %s", program, strerror(errno));
    }
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF) {
        needs->loader = elf_loader(elf);
        needs->kind = needs->loader ? PROGRAM_DYNAMIC : PROGRAM_STATIC;
        needs->clang = elf_clang(elf);
        elf_look_at_calls(elf, needs);
        elf_look_at_rpath(elf, needs, program);
    }
    if (elf)
        elf_end(elf);
    close(fd);
    return OMPRMA_OK;
}

/* A line of the loader's list: "\tlibm.so.6 => /lib/.../libm.so.6 (0x...)", "... => not found", or
 * "\t/path/libx.so (0x...)" for a library that is needed by path. */
static void needs_add_line(struct needs *needs, char *line)
{
    static const char arrow[] = " => ";
    char *name = line + strspn(line, " \t");
    name[strcspn(name, "\n")] = 0;
    char *path = strstr(name, arrow);
    if (path) {
        *path = 0;
        path += sizeof(arrow) - 1;
    } else {
        path = name;
    }
    char *address = strrchr(path, '(');
    if (address && address > path && address[-1] == ' ')
        address[-1] = 0;
    bool found = *path == '/';
    if (path == name && found)
        name = strrchr(path, '/') + 1;
    list_add(&needs->libraries, name);
    list_add(&needs->paths, found ? path : "");
}

/* In the child: becomes the loader, listing the program's libraries. glibc's does so when asked by
 * the environment, also where some are missing; another would run the program then, and only knows
 * the option. */
static void loader_exec(const struct needs *needs, const char *program, int out, char **environment)
{
    bool glibc = strstr(needs->loader, "/ld-linux") != NULL;
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    char *const listing[] = {needs->loader, (char *)"--list", (char *)program, NULL};
    char *const plain[] = {needs->loader, (char *)program, NULL};
    environ = environment;
    if (glibc)
        setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
    execv(needs->loader, glibc ? plain : listing);
    _exit(127);
}

static omprma_status_t needs_ask_loader(struct needs *needs, const char *program,
                                        const struct list *environment)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot make a pipe: %s", strerror(errno));
    /* A name without a slash is looked up like a library by the loader. */
    char *path = text_make("%s%s", strchr(program, '/') ? "" : "./", program);
    pid_t child = fork();
    if (child == 0)
        loader_exec(needs, path, ends[1], environment ? environment->items : environ);
    close(ends[1]);
    free(path);
    FILE *list = child > 0 ? fdopen(ends[0], "r") : NULL;
    if (!list) {
        close(ends[0]);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot start %s: %s", needs->loader,
                         strerror(errno));
    }
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, list) >= 0)
        needs_add_line(needs, line);
    free(line);
    fclose(list);
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    struct rlimit limit;
    if (needs->libraries.count == 0 && getrlimit(RLIMIT_AS, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY)
        return error_set(OMPRMA_ERR_CONFIG,
                         "cannot run %s: its loader %s does not list its libraries; a process may "
                         "have only %llu MiB, raise the limit (ulimit -v)",
                         program, needs->loader, (unsigned long long)limit.rlim_cur >> 20);
    if (needs->libraries.count == 0)
        return error_set(
            OMPRMA_ERR_CONFIG,
            "cannot run %s: its loader %s does not list its libraries; is it a program "
            "for this machine?",
            program, needs->loader);
    return OMPRMA_OK;
}

/* Some are all in a library of theirs, and only that calls dlopen. Other libraries do so for ends
 * of their own. */
static bool is_interpreter(const struct needs *needs)
{
    static const char *const prefixes[] = {
        "libpython", "libR.so", "libjulia",  "libperl.so", "libruby", "liboctinterp", "libtcl",
        "libguile",  "libphp",  "liblua",    "libjvm",     "libjli",  "libmono",      "libnode",
        "libmozjs",  "libgjs",  "libecl.so", "libgauche",  "libgap",  "libscheme",    NULL};
    bool found = false;
    for (const char *const *prefix = prefixes; *prefix && !found; prefix++)
        found = needs_find(needs, *prefix) >= 0;
    return found;
}

omprma_status_t needs_read(struct needs *needs, const char *program, const struct list *environment)
{
    *needs = (struct needs){0};
    omprma_status_t status = needs_read_elf(needs, program);
    if (status == OMPRMA_OK && needs->kind == PROGRAM_DYNAMIC)
        status = needs_ask_loader(needs, program, environment);
    needs->loads_later |= is_interpreter(needs);
    if (status != OMPRMA_OK)
        needs_clear(needs);
    return status;
}

int needs_find(const struct needs *needs, const char *prefix)
{
    for (size_t i = 0; i < needs->libraries.count; i++) {
        if (strncmp(needs->libraries.items[i], prefix, strlen(prefix)) == 0)
            return (int)i;
    }
    return -1;
}

void needs_clear(struct needs *needs)
{
    free(needs->loader);
    list_clear(&needs->libraries);
    list_clear(&needs->paths);
    list_clear(&needs->origins);
    *needs = (struct needs){0};
}
