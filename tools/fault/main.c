/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * main.c: omprma-fault, started by a worker in which a kernel has crashed: unwinds the stack that
 * it is given, and names functions, files and lines by libdw, from whatever debug information there
 * is. See base/fault.h. With arguments, started by the program: names a member of a structure. Must
 * not know: MPI, the worker.
 */
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/kernel_name.h"
#include "tools/fault/member.h"

enum { FRAMES_MOST = 16, STACK_POINTER = 7, PC = FAULT_REGISTERS - 1 };

static struct {
    struct fault_question question;
    unsigned char *stack;
    Dwfl *dwfl;
    char place[512];
    char name[512]; /* of the frame before */
    char lines[FRAMES_MOST][640];
    int count;
    bool seen_image, seen_exceptions_end;
} fault;

/* ---- names ---------------------------------------------------------------------------------- */

/* The C++ library has it, and is there wherever C++ programs run; else names stay as they are. */
static char *demangled(const char *name)
{
    typedef char *demangle_function(const char *, char *, size_t *, int *);
    demangle_function *demangle = NULL;
    void *library = dlopen("libstdc++.so.6", RTLD_NOW);
    char *words = NULL;
    int status = 0;

    if (library && strncmp(name, "_Z", 2) == 0)
        *(void **)&demangle = dlsym(library, "__cxa_demangle");
    if (demangle)
        words = demangle(name, NULL, NULL, &status);
    if (!words && strcmp(name, "_QQmain") == 0) /* flang's */
        name = "main program";
    return words ? words : strdup(name);
}

/* "main:42", of long ones the beginning; functions that are no target regions as they are called.
 */
static void name_print(const char *symbol, char *out, size_t bytes)
{
    struct kernel_name name;
    bool region = kernel_name_split(symbol, &name);
    char inner[FAULT_NAME_BYTES], shortened[KERNEL_NAME_WORDS], *words;
    const char *shown, *dots;

    if (region)
        snprintf(inner, sizeof(inner), "%.*s", (int)name.bytes, name.function);
    else
        snprintf(inner, sizeof(inner), "%s", symbol);
    words = demangled(inner);
    shown = words ? words : inner;
    dots = strlen(shown) > KERNEL_NAME_SHOWN ? "..." : "";
    if (*dots && strncmp(shown, "_Z", 2) == 0) /* there is a limit */
        snprintf(out, bytes, "%s", kernel_name_words(symbol, shortened));
    else if (region)
        snprintf(out, bytes, "%.*s%s:%d", KERNEL_NAME_SHOWN, shown, dots, name.line);
    else
        snprintf(out, bytes, "%.*s%s", KERNEL_NAME_SHOWN, shown, dots);
    free(words);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* ---- modules -------------------------------------------------------------------------------- */

/* Images have no name in the file system, but the worker still holds them open. */
static int find_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                    char **file_name, Elf **elf)
{
    char path[64];

    (void)elf;
    for (int i = 0; i < fault.question.image_count; i++) {
        if (fault.question.images[i].base != base)
            continue;
        snprintf(path, sizeof(path), "/proc/%d/fd/%d", fault.question.pid,
                 fault.question.images[i].fd);
        *file_name = strdup(path);
        return open(path, O_RDONLY | O_CLOEXEC);
    }
    return dwfl_linux_proc_find_elf(module, user, name, base, file_name, elf);
}

static bool is_image(Dwfl_Module *module)
{
    Dwarf_Addr low = 0;

    dwfl_module_info(module, NULL, &low, NULL, NULL, NULL, NULL, NULL);
    for (int i = 0; i < fault.question.image_count; i++)
        if (fault.question.images[i].base == low)
            return true;
    return false;
}

/* ---- unwinding ------------------------------------------------------------------------------ */

static pid_t next_thread(Dwfl *dwfl, void *argument, void **thread)
{
    (void)dwfl;
    if (*thread)
        return 0;
    *thread = argument;
    return fault.question.pid;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *argument)
{
    uint64_t low = fault.question.registers[STACK_POINTER], value;

    (void)dwfl, (void)argument;
    if (address < low || address - low > fault.question.stack_bytes ||
        fault.question.stack_bytes - (address - low) < sizeof(value))
        return false;
    memcpy(&value, fault.stack + (address - low), sizeof(value));
    *word = value;
    return true;
}

/* A jump to where no code is has left its return address on the stack. */
static void set_caller(void)
{
    Dwarf_Word caller;

    if (dwfl_addrmodule(fault.dwfl, fault.question.registers[PC]) ||
        !memory_read(NULL, fault.question.registers[STACK_POINTER], &caller, NULL))
        return;
    fault.question.registers[PC] = caller - 1; /* in the call */
    fault.question.registers[STACK_POINTER] += sizeof(caller);
    fault.stack += sizeof(caller);
    fault.question.stack_bytes -= sizeof(caller);
}

static bool set_registers(Dwfl_Thread *thread, void *argument)
{
    Dwarf_Word words[FAULT_REGISTERS];

    (void)argument;
    for (int i = 0; i < FAULT_REGISTERS; i++)
        words[i] = fault.question.registers[i];
    dwfl_thread_state_register_pc(thread, words[PC]);
    return dwfl_thread_state_registers(thread, 0, FAULT_REGISTERS, words);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
    .next_thread = next_thread, .memory_read = memory_read, .set_initial_registers = set_registers};

/* The unit that has the code. libdw's own way needs a table that clang does not make. */
static Dwarf_Die *unit_of(Dwfl_Module *module, Dwarf_Addr pc, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = NULL;

    while ((unit = dwfl_module_nextcu(module, unit, bias)))
        if (dwarf_haspc(unit, pc - *bias) == 1)
            return unit;
    return NULL;
}

/* The function that has the code, the innermost one where functions were put into others. */
static const char *function_of(Dwfl_Module *module, Dwarf_Die *unit, Dwarf_Addr pc, Dwarf_Addr bias)
{
    Dwarf_Die *scopes = NULL;
    int count = unit ? dwarf_getscopes(unit, pc - bias, &scopes) : 0;
    const char *name = NULL;

    for (int i = 0; i < count && !name; i++) {
        int tag = dwarf_tag(&scopes[i]);
        Dwarf_Attribute linkage;

        if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
            continue;
        if (dwarf_attr_integrate(&scopes[i], DW_AT_linkage_name, &linkage))
            name = dwarf_formstring(&linkage);
        if (!name)
            name = dwarf_diename(&scopes[i]);
    }
    free(scopes);
    return name ? name : dwfl_module_addrname(module, pc);
}

/* What lies below it, libc's way of ending the process, tells nobody anything. */
static bool ends_process(const char *name)
{
    static const char *const names[] = {"abort", "__GI_abort", "__assert_fail",
                                        "__GI___assert_fail", "std::terminate()"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Code of clang's in the image, which an exception comes to where it must not go on: it has neither
 * a line nor, in the image's tables, a name. */
static bool is_exceptions_end(Dwfl_Module *module, const Dwarf_Line *line)
{
    return is_image(module) && !line && fault.count > 0 &&
           strcmp(fault.name, "std::terminate()") == 0;
}

static void frame_print(Dwfl_Module *module, Dwarf_Addr pc)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = unit_of(module, pc, &bias);
    const char *name = function_of(module, unit, pc, bias), *file = NULL;
    Dwarf_Line *line = unit ? dwarf_getsrc_die(unit, pc - bias) : NULL;
    char words[512], where[512] = "";
    int number = 0;

    if (is_exceptions_end(module, line) && !fault.seen_exceptions_end) {
        fault.seen_exceptions_end = true;
        return;
    }
    if (name)
        name_print(name, words, sizeof(words));
    else
        snprintf(words, sizeof(words), "a function without a name");
    if (line)
        file = dwarf_linesrc(line, NULL, NULL);
    if (file && dwarf_lineno(line, &number) == 0)
        snprintf(where, sizeof(where), "%s:%d", base_name(file), number);
    if (is_image(module)) {
        if (!fault.seen_image)
            snprintf(fault.place, sizeof(fault.place), "%s", where);
        fault.seen_image = true;
    } else {
        snprintf(where, sizeof(where), "%s",
                 base_name(dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL)));
    }
    if (fault.count > 0 && strcmp(words, fault.name) == 0)
        return; /* clang's function around it, or a recursion */
    if (!fault.seen_image && ends_process(words))
        fault.count = 0;
    snprintf(fault.name, sizeof(fault.name), "%s", words);
    snprintf(fault.lines[fault.count], sizeof(fault.lines[0]), "#%d %.300s%s%.300s", fault.count,
             words, *where ? (is_image(module) ? " at " : " in ") : "", where);
    fault.count++;
}

/* Ends where the worker's own code begins. */
static int frame_take(Dwfl_Frame *frame, void *argument)
{
    Dwarf_Addr pc;
    bool exact;
    Dwfl_Module *module;
    const char *name;

    (void)argument;
    if (fault.count == FRAMES_MOST || !dwfl_frame_pc(frame, &pc, &exact))
        return DWARF_CB_ABORT;
    if (!exact && fault.count > 0)
        pc--;
    module = dwfl_addrmodule(fault.dwfl, pc);
    if (!module)
        return DWARF_CB_ABORT;
    name = base_name(dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    if (fault.seen_image && !is_image(module) &&
        (strncmp(name, "omprma-", 7) == 0 || strncmp(name, "libffi", 6) == 0))
        return DWARF_CB_ABORT;
    frame_print(module, pc);
    return DWARF_CB_OK;
}

/* ---- main ----------------------------------------------------------------------------------- */

static bool read_question(void)
{
    struct fault_question *question = &fault.question;
    struct stat file;

    if (fstat(STDIN_FILENO, &file) != 0 ||
        pread(STDIN_FILENO, question, sizeof(*question), 0) != (ssize_t)sizeof(*question) ||
        question->image_count < 0 || question->image_count > FAULT_IMAGES ||
        question->stack_bytes > (uint64_t)file.st_size - sizeof(*question))
        return false;
    question->kernel[FAULT_NAME_BYTES - 1] = 0;
    fault.stack = malloc(question->stack_bytes + 1);
    return fault.stack && pread(STDIN_FILENO, fault.stack, question->stack_bytes,
                                sizeof(*question)) == (ssize_t)question->stack_bytes;
}

/* PROCESS VARIABLE BYTES OFFSET FILE LINE: see member.h. */
static int say_member(char **arguments)
{
    const struct member_question question = {.process = atoi(arguments[1]),
                                             .variable = arguments[2],
                                             .bytes = strtoull(arguments[3], NULL, 10),
                                             .offset = strtoull(arguments[4], NULL, 10),
                                             .file = arguments[5],
                                             .line = atoi(arguments[6])};
    char name[512];

    if (!member_name(&question, name, sizeof(name)))
        return EXIT_FAILURE;
    puts(name);
    return EXIT_SUCCESS;
}

int main(int count, char **arguments)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo};
    char kernel[KERNEL_NAME_WORDS];
    sigset_t none;

    unsetenv("DEBUGINFOD_URLS"); /* nothing is fetched from anywhere */
    /* The worker waits 10 s, and may be killed meanwhile; its thread had all signals blocked. */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    alarm(15);
    if (count == 7)
        return say_member(arguments);
    if (!read_question())
        return EXIT_FAILURE;
    name_print(fault.question.kernel, kernel, sizeof(kernel));
    fault.dwfl = dwfl_begin(&callbacks);
    if (fault.dwfl && dwfl_linux_proc_report(fault.dwfl, fault.question.pid) == 0 &&
        dwfl_report_end(fault.dwfl, NULL, NULL) == 0) {
        set_caller();
        if (dwfl_attach_state(fault.dwfl, NULL, fault.question.pid, &thread_callbacks, &fault))
            dwfl_getthread_frames(fault.dwfl, fault.question.pid, frame_take, NULL);
    }
    printf("%s\n%s\n", kernel, fault.place);
    for (int i = 0; i < fault.count; i++)
        puts(fault.lines[i]);
    return EXIT_SUCCESS;
}
