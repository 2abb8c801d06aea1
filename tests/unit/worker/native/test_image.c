/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_image.c: images are loaded once, searched by name, and refused with a useful line.
 * Covers: native/image.c */
#include <pthread.h>
#include <string.h>

#include "tests/unit/test.h"
#include "base/error.h"
#include "tests/unit/image_fixture.h"
#include "worker/native/image.h"

static const char two_symbols[] = "int value = %d; long long wide[4];"
                                  "void kernel(int *out) { *out = value++; }";

static struct image *open_source(const char *source)
{
    size_t bytes;
    struct image *image = NULL;
    void *content = fixture_image(source, &bytes);
    assert_non_null(content);
    omprma_status_t status = image_open(content, bytes, NULL, &image);
    free(content);
    if (status)
        print_error("%s\n", error_text());
    assert_int_equal(status, OMPRMA_OK);
    return image;
}

static struct image *open_numbered(int number)
{
    char source[256];
    snprintf(source, sizeof(source), two_symbols, number);
    return open_source(source);
}

static int call(uint64_t entry)
{
    int result = -1;
    ((void (*)(int *))(uintptr_t)entry)(&result);
    return result;
}

TEST(finds_symbols)
{
    uint64_t kernel = 0, value = 0, wide = 0, offset = 0;
    struct image *image = open_numbered(7);
    assert_int_equal(image_symbol(image, "kernel", 0, &kernel), OMPRMA_OK);
    assert_int_equal(image_symbol(image, "value", 4, &value), OMPRMA_OK);
    assert_int_equal(image_symbol(image, "wide", 32, &wide), OMPRMA_OK);
    assert_int_equal(call(kernel), 7);
    assert_int_equal(*(int *)(uintptr_t)value, 8);

    assert_true(image_is_kernel(NULL, kernel));
    assert_false(image_is_kernel(NULL, kernel + 1));
    assert_false(image_is_kernel(NULL, value));
    assert_false(image_is_kernel(NULL, 0));
    assert_string_equal(image_kernel_name(kernel), "kernel");
    assert_string_equal(image_kernel_name(value), "?");
    assert_true(image_offset(kernel, &offset));
    assert_true(offset > 0 && offset < 1 << 20);
    assert_true(image_offset(value, &offset));
    assert_false(image_offset((uint64_t)(uintptr_t)&two_symbols, &offset));
    assert_false(image_offset(0, &offset));
}

TEST(refuses_symbols)
{
    uint64_t address = 42;
    struct image *image = open_numbered(7);
    assert_int_equal(image_symbol(image, "nothing", 0, &address), OMPRMA_ERR_SYMBOL);
    assert_non_null(strstr(error_text(), "nothing"));
    assert_non_null(strstr(error_text(), "image "));
    assert_null(strstr(error_text(), "archive"));
    assert_int_equal(image_symbol(image, "__omp_offloading_1_2_f_l3", 0, &address),
                     OMPRMA_ERR_SYMBOL);
    assert_non_null(strstr(error_text(), "static archive"));
    assert_int_equal(image_symbol(image, "value", 8, &address), OMPRMA_ERR_SYMBOL);
    assert_non_null(strstr(error_text(), "value has 4 bytes there, 8"));
    assert_int_equal(image_symbol(image, "value", 0, &address), OMPRMA_ERR_SYMBOL);
    /* of a library that the image needs, not of the image */
    image = open_source("#include <stdlib.h>\nvoid *get(void) { return malloc(9); }");
    assert_int_equal(image_symbol(image, "malloc", 0, &address), OMPRMA_ERR_SYMBOL);
    assert_int_equal(address, 42);
}

TEST(loads_the_same_content_once)
{
    struct image *first = open_numbered(1);
    size_t count = image_count();
    assert_ptr_equal(open_numbered(1), first);
    assert_int_equal(image_count(), count);
    assert_ptr_not_equal(open_numbered(2), first);
    assert_int_equal(image_count(), count + 1);
}

TEST(keeps_images_apart)
{
    uint64_t kernels[12];
    for (int i = 0; i < 12; i++) {
        /* a failed load in between gives its file descriptor back */
        size_t bytes;
        struct image *none = NULL;
        void *bad = fixture_image("void gone(void); void f(void) { gone(); }", &bytes);
        assert_int_equal(image_open(bad, bytes, NULL, &none), OMPRMA_ERR_SYMBOL);
        assert_null(none);
        free(bad);
        assert_int_equal(image_symbol(open_numbered(100 + i), "kernel", 0, &kernels[i]), OMPRMA_OK);
    }
    for (int i = 0; i < 12; i++)
        assert_int_equal(call(kernels[i]), 100 + i);
}

TEST(names_what_is_missing)
{
    size_t bytes;
    struct image *image = NULL;
    void *content =
        fixture_image("void gone_fishing(void); void f(void) { gone_fishing(); }", &bytes);
    size_t count = image_count();
    assert_int_equal(image_open(content, bytes, NULL, &image), OMPRMA_ERR_SYMBOL);
    assert_non_null(strstr(error_text(), "gone_fishing"));
    assert_null(strstr(error_text(), "/proc/self"));
    free(content);
    content = fixture_image("void __msan_init(void); void f(void) { __msan_init(); }", &bytes);
    assert_int_equal(image_open(content, bytes, NULL, &image), OMPRMA_ERR_SYMBOL);
    assert_non_null(strstr(error_text(), "-Xopenmp-target -fno-sanitize=all"));
    free(content);

    content = fixture_compile(
        "cc", "c", "void dependency(void); void f(void) { dependency(); }",
        "echo 'void dependency(void) {}' | cc -shared -fPIC -xc - -o libomprma_gone.so",
        "-L%s -lomprma_gone", &bytes);
    assert_non_null(content);
    setenv("LD_LIBRARY_PATH", "/some/folder", 1);
    assert_int_equal(image_open(content, bytes, NULL, &image), OMPRMA_ERR_SYMBOL);
    assert_non_null(strstr(error_text(), "libomprma_gone.so"));
    assert_non_null(strstr(error_text(), "LD_LIBRARY_PATH=/some/folder"));
    assert_null(image);
    assert_int_equal(image_count(), count);
    free(content);
}

TEST(refuses_damaged_images)
{
    size_t bytes;
    struct image *image = NULL;
    char *content = fixture_image("void f(void) {}", &bytes);
    assert_int_equal(image_open(content, bytes / 2, NULL, &image), OMPRMA_ERR_IMAGE);
    memset(content, 'x', 16);
    assert_int_equal(image_open(content, bytes, NULL, &image), OMPRMA_ERR_IMAGE);
    assert_null(image);
    free(content);
}

TEST(remembers_many_kernels)
{
    enum { COUNT = 500 };
    static char source[COUNT * 40];
    static uint64_t kernels[COUNT];
    char name[16];
    size_t at = 0;
    for (int i = 0; i < COUNT; i++)
        at += (size_t)snprintf(source + at, sizeof(source) - at,
                               "void many%d(int *p) { *p = 1; }\n", i);
    struct image *image = open_source(source);
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "many%d", i);
        assert_int_equal(image_symbol(image, name, 0, &kernels[i]), OMPRMA_OK);
        assert_int_equal(image_symbol(image, name, 0, &kernels[i]), OMPRMA_OK);
    }
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "many%d", i);
        assert_string_equal(image_kernel_name(kernels[i]), name);
    }
}

struct content {
    void *bytes;
    size_t size;
    struct image *image[4];
    pthread_barrier_t start;
};

static void *open_at_once(void *argument)
{
    struct content *content = argument;
    static _Atomic int next;
    int index = next++;
    pthread_barrier_wait(&content->start);
    if (image_open(content->bytes, content->size, NULL, &content->image[index]))
        content->image[index] = NULL;
    return NULL;
}

TEST(is_thread_safe)
{
    struct content content = {0};
    pthread_t threads[4];
    size_t count = image_count();
    content.bytes = fixture_image("void parallel(void) {}", &content.size);
    pthread_barrier_init(&content.start, NULL, 4);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, open_at_once, &content);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_non_null(content.image[0]);
    for (int i = 1; i < 4; i++)
        assert_ptr_equal(content.image[i], content.image[0]);
    assert_int_equal(image_count(), count + 1);
    pthread_barrier_destroy(&content.start);
    free(content.bytes);
}
