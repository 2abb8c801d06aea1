/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_module.c: which modules are taken, and what is said of those that are not. The modules are
 * made here.
 * Covers: control/module.c
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "control/module.h"
#include "tests/unit/test.h"

static const char version_right[] = OMPRMA_VERSION_STRING;

/* In a folder of its own: what the loader has seen once it does not look at again. */
static void name_file(char *path, size_t bytes, const char *name)
{
    char folder[] = "/tmp/omprma-module-XXXXXX";

    assert_non_null(mkdtemp(folder));
    snprintf(path, bytes, "%s/%s.so", folder, name);
}

static void remove_file(const char *path)
{
    char folder[256];

    unlink(path);
    snprintf(folder, sizeof(folder), "%s", path);
    *strrchr(folder, '/') = 0;
    assert_int_equal(rmdir(folder), 0);
}

/* A shared object of this source. */
__attribute__((format(printf, 2, 3))) static void compile(const char *path, const char *format, ...)
{
    char command[1024];
    va_list arguments;
    FILE *compiler;

    snprintf(command, sizeof(command), "cc -shared -fPIC -xc - -o '%s'", path);
    compiler = popen(command, "w");
    assert_non_null(compiler);
    va_start(arguments, format);
    vfprintf(compiler, format, arguments);
    va_end(arguments);
    assert_int_equal(pclose(compiler), 0);
}

static void assert_refused(const char *path, const char *first, const char *second)
{
    assert_null(module_open(path));
    assert_non_null(strstr(error_text(), path));
    if (!strstr(error_text(), first) || !strstr(error_text(), second))
        fail_msg("no \"%s\", or no \"%s\", in: %s", first, second, error_text());
    assert_null(strchr(error_text(), '\n'));
}

TEST(one_of_this_version_is_taken_and_gets_functions_of_ours)
{
    char path[128];
    const struct transport *transport;

    name_file(path, sizeof(path), "right");
    compile(path,
            "const char omprma_module_version[] = \"%s\";\n"
            "const void *omprma_module_transport(int (**uses)(int, const char *, ...))\n"
            "{ uses[0](%d, \"says %%d\", 7); return omprma_module_version; }\n",
            version_right, OMPRMA_ERR_CLOSED);
    error_set(OMPRMA_ERR_CONFIG, "nothing yet");
    transport = module_open(path);
    remove_file(path);
    assert_non_null(transport);
    assert_string_equal((const char *)transport, version_right);
    assert_string_equal(error_text(), "says 7");
}

TEST(another_version_is_refused_and_not_called)
{
    char path[128];

    name_file(path, sizeof(path), "other");
    compile(path, "const char omprma_module_version[] = \"0.0.9\";\n"
                  "const void *omprma_module_transport(void *uses) { __builtin_trap(); }\n");
    assert_refused(path, "is of omprma 0.0.9", version_right);
    remove_file(path);
    name_file(path, sizeof(path), "without");
    compile(path, "int something_else;\n");
    assert_refused(path, "does not say", version_right);
    remove_file(path);
}

TEST(what_cannot_be_loaded_is_named)
{
    char path[128];
    FILE *file;

    name_file(path, sizeof(path), "missing");
    assert_refused(path, "cannot be read", "install omprma completely");
    remove_file(path);
    name_file(path, sizeof(path), "needs");
    compile(path, "void of_no_library(void);\nvoid call(void) { of_no_library(); }\n");
    assert_refused(path, "of_no_library", "LD_LIBRARY_PATH");
    remove_file(path);
    name_file(path, sizeof(path), "damaged");
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("no shared object", file);
    fclose(file);
    assert_refused(path, "cannot be loaded", "LD_LIBRARY_PATH");
    remove_file(path);
}
