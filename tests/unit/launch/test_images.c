/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_images.c: which device code is found in a program, and workers' paths without our
 * libraries for GPUs.
 * Covers: images.c gpu_folder.c launch/paths.c */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "tools/launch/gpu_folder.h"
#include "tools/launch/images.h"
#include "tools/launch/paths.h"

static Elf64_Ehdr elf(unsigned machine, unsigned type)
{
    return (Elf64_Ehdr){
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = (uint16_t)type,
        .e_machine = (uint16_t)machine};
}

/* Of a program with these bytes in it. */
static struct images found(const void *inside, size_t bytes)
{
    static const char gap[37];
    char path[] = "/tmp/images-XXXXXX";
    Elf64_Ehdr program = elf(EM_X86_64, ET_DYN);
    struct needs needs = {0};
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, &program, sizeof(program)), sizeof(program));
    assert_int_equal(write(fd, gap, sizeof(gap)), sizeof(gap));
    assert_int_equal(write(fd, inside, bytes), bytes);
    assert_int_equal(write(fd, gap, sizeof(gap)), sizeof(gap));
    close(fd);
    struct images images = images_find(path, &needs);
    unlink(path);
    return images;
}

TEST(test_bare_images)
{
    Elf64_Ehdr cubin = elf(190, ET_EXEC), native = elf(EM_X86_64, ET_DYN);
    Elf64_Ehdr amd = elf(224, ET_DYN);
    Elf64_Ehdr other = elf(EM_AARCH64, ET_DYN), object = elf(EM_X86_64, ET_REL);
    struct images images = found("", 0);

    assert_false(images.native || images.gpus || images.gcc_gpus);
    images = found(&cubin, sizeof(cubin));
    assert_true(images.gpus == 1 << BACKEND_CUDA && !images.native && !images.gcc_gpus);
    images = found(&amd, sizeof(amd));
    assert_true(images.gpus == 1 << BACKEND_HSA && !images.native && !images.gcc_gpus);
    images = found(&native, sizeof(native));
    assert_true(images.native && !images.gpus);
    images = found(&other, sizeof(other));
    assert_false(images.native || images.gpus);
    images = found(&object, sizeof(object));
    assert_false(images.native || images.gpus);
    images = found(&cubin, 7); /* cut off by the end of the file */
    assert_false(images.native);
}

TEST(test_packed_image)
{
    static const char packed[] = "\x10\xff\x10\xad....triple\0nvptx64-nvidia-cuda";
    static const char name[] = "nvptx64-nvidia-cuda";

    static const char amd[] = "\x10\xff\x10\xad....triple\0amdgcn-amd-amdhsa\0arch\0gfx90a";

    assert_int_equal(found(packed, sizeof(packed)).gpus, 1 << BACKEND_CUDA);
    assert_int_equal(found(amd, sizeof(amd)).gpus, 1 << BACKEND_HSA);
    assert_false(found(name, sizeof(name)).gpus);
}

/* gcc's own code: text, or a file of that machine; a program of gcc's calls a function of libgomp.
 */
TEST(test_gcc)
{
    struct {
        char call[32];
        Elf64_Ehdr image;
    } amd = {"GOMP_offload_register_ver", elf(224, ET_DYN)};
    static const char both[] = "GOMP_offload_register_ver\0// BEGIN PREAMBLE\n.version";
    static const char text[] = "// BEGIN PREAMBLE\n.version";

    assert_int_equal(found(both, sizeof(both)).gcc_gpus, 1 << BACKEND_CUDA);
    assert_int_equal(found(&amd, sizeof(amd)).gcc_gpus, 1 << BACKEND_HSA);
    assert_false(found(text, sizeof(text)).gcc_gpus);
}

TEST(test_no_program)
{
    struct needs needs = {0};

    assert_false(images_find("/no/such/file", &needs).gpus);
    assert_false(images_find("/dev/null", &needs).gpus);
}

/* This test lies beside lib, as omprma-run does in its bin. */
TEST(test_paths)
{
    char *path = gpu_folder_without("/one:/two");

    assert_string_equal(path, "/one:/two");
    free(path);
    path = gpu_folder_without(NULL);
    assert_string_equal(path, "");
    free(path);
    char *root = path_root(), *ours = text_make("%s/lib/omprma/cuda", root);
    char *all = text_make("/one:%s:/two", ours);
    path = gpu_folder_without(all);
    assert_string_equal(path, path_holds(ours, ".") ? "/one:/two" : all);
    free(path);
    free(all);
    free(ours);
    free(root);
}
