/*
 * ptxas.c: stands in for CUDA's assembler, and under the name nvlink for its linker, so that clang
 * makes programs with images for NVIDIA GPUs where CUDA is not installed. What it makes of PTX is
 * an ELF file for such GPUs with all names, sizes and contents of variables in it, but without
 * code: the stand-in for the driver calls the same region's x86-64 code. See standin.h.
 *
 * Only as and ld are needed. Options as clang gives them: -o or --output-file FILE, --gpu-name or
 * -arch sm_NN, inputs; all others are left.
 */
#define _GNU_SOURCE
#include "standin.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INPUTS_MOST = 64, MACHINE_CUDA = 190 };

struct settings settings; /* of the stand-in, which this is no part of */

static const char *output, *inputs[INPUTS_MOST];
static int input_count;
static unsigned capability = 70;

static void stop(const char *what, const char *name)
{
    fprintf(stderr, "stand-in for ptxas: %s %s\n", what, name);
    exit(1);
}

static void parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";

        if (strcmp(word, "-o") == 0 || strcmp(word, "--output-file") == 0) {
            output = value;
            i++;
        } else if (strcmp(word, "-arch") == 0 || strcmp(word, "--gpu-name") == 0) {
            capability = (unsigned)atoi(value + strcspn(value, "0123456789"));
            i++;
        } else if (strcmp(word, "-L") == 0 || strcmp(word, "-l") == 0) {
            i++;
        } else if (word[0] != '-' && input_count < INPUTS_MOST) {
            inputs[input_count++] = word;
        }
    }
    if (!output || input_count == 0)
        stop("needs", "an input and -o OUTPUT");
}

static void run(const char *const *command)
{
    pid_t child = fork();
    int status = 1;

    if (child == 0) {
        execvp(command[0], (char *const *)(uintptr_t)command);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        stop("cannot run", command[0]);
}

/* Makes an ELF file one for another machine. */
static void stamp(const char *name, uint16_t machine, uint32_t flags)
{
    FILE *file = fopen(name, "r+be");

    if (!file || fseek(file, offsetof(Elf64_Ehdr, e_machine), SEEK_SET) != 0 ||
        fwrite(&machine, sizeof(machine), 1, file) != 1 ||
        fseek(file, offsetof(Elf64_Ehdr, e_flags), SEEK_SET) != 0 ||
        fwrite(&flags, sizeof(flags), 1, file) != 1 || fclose(file) != 0)
        stop("cannot write", name);
}

/* ---- ptxas ---- */

static char *read_text(const char *name)
{
    FILE *file = fopen(name, "re");
    char *text = NULL;
    size_t room = 0;

    if (!file || getdelim(&text, &room, 0, file) < 0)
        stop("cannot read", name);
    fclose(file);
    return text;
}

static void write_kernel(FILE *file, const struct image_symbol *kernel)
{
    fprintf(file, ".section \".text.%s\",\"ax\"\n.globl \"%s\"\n.type \"%s\",@function\n\"%s\":\n",
            kernel->name, kernel->name, kernel->name, kernel->name);
    fprintf(file, ".quad 0\n.size \"%s\",8\n.section \".nv.info.%s\"\n", kernel->name,
            kernel->name);
    for (uint32_t i = 0; i < kernel->count; i++) /* as EIATTR_KPARAM_INFO */
        fprintf(file, ".byte 4,23\n.short 12\n.long 0\n.short %u,%u\n.long %u\n", i,
                kernel->parameters[i].offset, kernel->parameters[i].bytes << 18);
}

static void write_variable(FILE *file, const struct image_symbol *variable)
{
    const unsigned char *contents = variable->contents;

    fprintf(file, ".section .nv.global.init,\"aw\"\n.balign 16\n.weak \"%s\"\n", variable->name);
    fprintf(file, ".type \"%s\",@object\n.size \"%s\",%zu\n\"%s\":\n", variable->name,
            variable->name, variable->bytes, variable->name);
    if (!contents)
        fprintf(file, ".zero %zu\n", variable->bytes);
    for (size_t i = 0; contents && i < variable->bytes; i++)
        fprintf(file, ".byte %u\n", contents[i]);
}

static void assemble(const char *input)
{
    char *text = read_text(input), name[] = "/tmp/standin-ptxas-XXXXXX";
    struct image image = {0};
    int fd = mkstemp(name);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "we");

    if (!file)
        stop("cannot make", name);
    if (image_read(&image, text, SIZE_MAX) != 0)
        stop("this is no PTX:", input);
    for (size_t i = 0; i < image.count; i++) {
        if (image.symbols[i].kernel)
            write_kernel(file, &image.symbols[i]);
        else
            write_variable(file, &image.symbols[i]);
    }
    if (fclose(file) != 0)
        stop("cannot write", name);
    run((const char *[]){"as", "--64", "-o", output, name, NULL});
    unlink(name);
    stamp(output, MACHINE_CUDA, capability);
    image_free(&image);
    free(text);
}

/* ---- nvlink ---- */

static void link_all(void)
{
    const char *command[INPUTS_MOST + 5] = {"ld", "-r", "-o", output};

    for (int i = 0; i < input_count; i++) {
        stamp(inputs[i], EM_X86_64, 0);
        command[4 + i] = inputs[i];
    }
    run(command);
    stamp(output, MACHINE_CUDA, capability);
    for (int i = 0; i < input_count; i++)
        stamp(inputs[i], MACHINE_CUDA, capability);
}

int main(int argc, char **argv)
{
    const char *name = strrchr(argv[0], '/');

    parse(argc, argv);
    if (strcmp(name ? name + 1 : argv[0], "nvlink") == 0)
        link_all();
    else
        assemble(inputs[0]);
    return 0;
}
