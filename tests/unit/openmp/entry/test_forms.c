/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_forms.c: regions of all versions of the arguments that compilers pass, with kernels
 * of the form that belongs to each, in one image and one process.
 * Covers: entry/region.c entry/entry.c image/image.c registry.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "device/launch.h"
#include "tests/unit/image_fixture.h"
#include "tests/unit/openmp/maps_fixture.h"

/* As compilers make kernels of `x += d; p += 1` with d a double, p a private pointer into x: each
 * says which of them ran, and what its dyn_ptr was. The trailing one is flang 23's. */
static const char source[] =
    "#include <stdint.h>\n"
    "__asm__(\".ident \\\"flang version 23\\\"\");\n"
    "struct seen { uint64_t form, dyn_ptr; double sum; };\n"
    "static double real(uint64_t w) { union { uint64_t w; double d; } u = {w}; return u.d; }\n"
    "void plain(struct seen *x, uint64_t d, double *p)\n"
    "{ x->form = 1; x->dyn_ptr = 0; x->sum += real(d); }\n"
    "void leading(uint64_t dyn_ptr, struct seen *x, uint64_t d, double *p)\n"
    "{ x->form = 3; x->dyn_ptr = dyn_ptr; x->sum += real(d); }\n"
    "char trailing_kernel_environment;\n"
    "void trailing(struct seen *x, uint64_t d, double *p, uint64_t dyn_ptr)\n"
    "{ x->form = 4; x->dyn_ptr = dyn_ptr; x->sum += real(d); }\n"
    "void context(void **c)\n"
    "{ struct seen *x = *(struct seen **)c[0]; x->form = 5; x->dyn_ptr = *(uint64_t *)c[3];\n"
    "  x->sum += *(double *)c[1]; (*(double **)c[2])++; }\n";

/* Clang 18 says version 2, as 16 and 17 do. */
static const char source_18[] =
    "#include <stdint.h>\n"
    "__asm__(\".ident \\\"clang version 18.1.8\\\"\");\n"
    "struct seen { uint64_t form, dyn_ptr; double sum; };\n"
    "void leading_18(uint64_t dyn_ptr, struct seen *x, uint64_t w, double *p)\n"
    "{ union { uint64_t w; double d; } d = {w}; x->form = 18; x->dyn_ptr = dyn_ptr; x->sum += d.d; "
    "}\n";

struct seen {
    uint64_t form, dyn_ptr;
    double sum;
};

enum { PLAIN, LEADING, TRAILING, CONTEXT, LEADING_18, KERNELS };
static char *const names[KERNELS] = {"plain", "leading", "trailing", "context", "leading_18"};
static char ids[KERNELS];

static bool register_one(struct abi_library *library, struct abi_image *image, const char *text,
                         int first, int end)
{
    static struct abi_entry_new entries[KERNELS];
    size_t bytes = 0;
    image->start = fixture_image(text, &bytes);
    if (!image->start)
        return false;
    image->end = image->start + bytes;
    for (int i = first; i < end; i++)
        entries[i] = (struct abi_entry_new){
            .version = 1, .kind = ENTRY_KIND_OPENMP, .address = &ids[i], .name = names[i]};
    image->entries_begin = library->entries_begin = (char *)(entries + first);
    image->entries_end = library->entries_end = (char *)(entries + end);
    __tgt_register_lib(library);
    return true;
}

static int register_image(void **state)
{
    static struct abi_image images[2];
    static struct abi_library libraries[] = {{.count = 1, .images = &images[0]},
                                             {.count = 1, .images = &images[1]}};
    if (!register_one(&libraries[0], &images[0], source, 0, LEADING_18) ||
        !register_one(&libraries[1], &images[1], source_18, LEADING_18, KERNELS))
        return -1;
    return set_up(state);
}
TEST_GROUP(register_image, tear_down)

/* Maps x, and passes d and a pointer by value. From version 5 on dyn_ptr is the last item. */
static int run_region(uint32_t version, int kernel, struct seen *x, double d, int threads)
{
    struct list list = list_of(x, sizeof(*x), MAP_TO | MAP_FROM | MAP_TARGET_PARAM);
    void *word;
    memcpy(&word, &d, sizeof(word));
    add(&list, word, word, sizeof(d), MAP_LITERAL | MAP_TARGET_PARAM);
    add(&list, &x->sum, &x->sum, 0, MAP_LITERAL | MAP_TARGET_PARAM | MAP_IMPLICIT);
    if (version >= ARGUMENTS_VERSION_CONTEXT)
        add(&list, NULL, NULL, 0, MAP_LITERAL | MAP_TARGET_PARAM);
    struct kernel_arguments arguments = {.version = version,
                                         .count = (uint32_t)list.count,
                                         .bases = list.bases,
                                         .begins = list.begins,
                                         .sizes = list.sizes,
                                         .types = list.types,
                                         .teams = {(uint32_t)-1},
                                         .thread_limit = {(uint32_t)threads}};
    return __tgt_target_kernel(NULL, 0, -1, threads, &ids[kernel], &arguments);
}

TEST(each_call_has_its_form)
{
    static const struct {
        uint32_t version;
        int kernel;
        uint64_t form;
    } calls[] = {{1, PLAIN, 1},       {2, PLAIN, 1},   {3, LEADING, 3}, {5, CONTEXT, 5},
                 {5, TRAILING, 4},    {3, LEADING, 3}, {5, CONTEXT, 5}, {1, PLAIN, 1},
                 {2, LEADING_18, 18}, {2, PLAIN, 1}};
    struct seen x = {.sum = 0.5};
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        double before = x.sum;
        assert_int_equal(run_region(calls[i].version, calls[i].kernel, &x, 0.25 + (double)i, 0),
                         ABI_OK);
        assert_int_equal(x.form, calls[i].form);
        assert_int_equal(x.dyn_ptr, 0);
        assert_true(x.sum == before + 0.25 + (double)i);
    }
}

TEST(the_word_for_limits_is_where_the_form_has_it)
{
    struct seen x = {0};
    assert_int_equal(run_region(3, LEADING, &x, 1, 7), ABI_OK);
    assert_int_equal(x.dyn_ptr, launch_word(7));
    assert_int_equal(run_region(5, CONTEXT, &x, 1, 8), ABI_OK);
    assert_int_equal(x.dyn_ptr, launch_word(8));
    assert_int_equal(run_region(5, TRAILING, &x, 1, 9), ABI_OK);
    assert_int_equal(x.dyn_ptr, launch_word(9));
    assert_int_equal(run_region(2, LEADING_18, &x, 1, 10), ABI_OK);
    assert_int_equal(x.dyn_ptr, launch_word(10));
}

/* It ends the program, as offloading is mandatory, after a line about the version. */
static void check_refused(uint32_t version)
{
    char text[1000] = "", wanted[64];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct seen x = {0};
        dup2(ends[1], STDERR_FILENO);
        run_region(version, PLAIN, &x, 1, 0);
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got = 1; got > 0 && used < sizeof(text) - 1; used += (size_t)got)
        got = read(ends[0], text + used, sizeof(text) - 1 - used);
    close(ends[0]);
    snprintf(wanted, sizeof(wanted), "passes version %u of the arguments", version);
    assert_non_null(strstr(text, wanted));
    assert_non_null(strstr(text, "omprma knows 1 to 3 and 5"));
    assert_non_null(strstr(text, "clang 14 to 23"));
}

TEST(unknown_versions_are_named)
{
    check_refused(0);
    check_refused(4);
    check_refused(6);
    check_refused(UINT32_MAX);
}
