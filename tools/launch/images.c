/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * images.c: see images.h. Where a compiler keeps images, and under which names, changes from
 * version to version, and names may be stripped; so files are searched for the images themselves.
 */
#include "tools/launch/images.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gpu_library.h"

static bool holds(const char *file, size_t bytes, const void *what, size_t length)
{
    return memmem(file, bytes, what, length) != NULL;
}

/* Whole ELF files inside of the file. */
static struct images images_elf(const char *file, size_t bytes)
{
    struct images found = {0};
    static const unsigned char mark[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
    const char *end = file + bytes, *at = file + sizeof(mark);

    while ((at = memmem(at, (size_t)(end - at), mark, sizeof(mark)))) {
        Elf64_Ehdr header;
        if ((size_t)(end - at) < sizeof(header))
            break;
        memcpy(&header, at, sizeof(header));
        for (int i = 0; i < GPU_LIBRARIES; i++)
            if (header.e_machine == gpu_libraries[i].machine)
                found.gpus |= gpu_bit(&gpu_libraries[i]);
        found.native |= header.e_machine == EM_X86_64 && header.e_type == ET_DYN;
        at += sizeof(mark);
    }
    return found;
}

/* LLVM's own format around an image, which may be bitcode, says for which machine it is. */
static void images_packed(struct images *images, const char *file, size_t bytes)
{
    static const unsigned char mark[] = {0x10, 0xff, 0x10, 0xad};

    if (!holds(file, bytes, mark, sizeof(mark)))
        return;
    for (int i = 0; i < GPU_LIBRARIES; i++) {
        const char *triple = gpu_libraries[i].triple;
        if (holds(file, bytes, triple, strlen(triple)))
            images->gpus |= gpu_bit(&gpu_libraries[i]);
    }
}

/* gcc's own format, and who is told of it. `elf`: kinds of which there are ELF files. */
static void images_gcc(struct images *images, int elf, const char *file, size_t bytes)
{
    static const char call[] = "GOMP_offload_register_ver";

    if (!holds(file, bytes, call, sizeof(call) - 1))
        return;
    for (int i = 0; i < GPU_LIBRARIES; i++) {
        const char *text = gpu_libraries[i].gcc_text;
        if (text ? holds(file, bytes, text, strlen(text)) : elf & gpu_bit(&gpu_libraries[i]))
            images->gcc_gpus |= gpu_bit(&gpu_libraries[i]);
    }
}

static void images_add(struct images *images, const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    size_t bytes = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? (size_t)status.st_size : 0;
    char *file =
        bytes > sizeof(Elf64_Ehdr) ? mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (file == MAP_FAILED)
        return;
    if (memcmp(file, ELFMAG, SELFMAG) == 0) {
        struct images elf = images_elf(file, bytes);
        images->native |= elf.native;
        images->gpus |= elf.gpus;
        images_packed(images, file, bytes);
        images_gcc(images, elf.gpus, file, bytes);
    }
    munmap(file, bytes);
}

static bool is_systems(const char *path)
{
    static const char *const folders[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        if (strncmp(path, folders[i], strlen(folders[i])) == 0)
            return true;
    }
    return false;
}

struct images images_find(const char *program, const struct needs *needs)
{
    struct images images = {0};

    images_add(&images, program);
    for (size_t i = 0; i < needs->paths.count; i++) {
        const char *path = needs->paths.items[i];
        bool runtime = strncmp(needs->libraries.items[i], "libomp", 6) == 0;
        if (*path && !runtime && !is_systems(path))
            images_add(&images, path);
    }
    return images;
}
