/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_image_file.c: images that are kept in a folder: the same name for the same bytes, what is
 * there already is used or replaced, and a debugger can open what lies in memory.
 * Covers: image_file.c */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "base/error.h"
#include "worker/native/image_file.h"

static char folder[64];

static void begin(void)
{
    strcpy(folder, "/tmp/omprma-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
}

static void end(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
    image_file_keep("");
}

static ino_t inode(const char *path, off_t bytes)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, bytes);
    return info.st_ino;
}

TEST(in_a_folder)
{
    static char place[96];
    struct image_file first, again, other;
    begin();
    snprintf(place, sizeof(place), "%s/made", folder);
    image_file_keep(place);
    assert_int_equal(image_file_make(&first, "image", "one", "12345", 5), OMPRMA_OK);
    ino_t kept = inode(first.path, 5);
    assert_int_equal(image_file_make(&again, "image", "one", "12345", 5), OMPRMA_OK);
    assert_string_equal(first.path, again.path);
    assert_int_equal(inode(again.path, 5), kept);
    image_file_drop(&again);
    assert_int_equal(image_file_make(&again, "image", "one", "12346", 5), OMPRMA_OK);
    assert_true(inode(again.path, 5) != kept); /* who has the old one keeps it */
    assert_int_equal(image_file_make(&other, "image", "two", "1", 1), OMPRMA_OK);
    assert_string_not_equal(other.path, first.path);
    image_file_drop(&first);
    image_file_drop(&again);
    image_file_drop(&other);
    end();
}

TEST(where_none_can_be)
{
    struct image_file file;
    image_file_keep("/proc/nowhere");
    assert_int_equal(image_file_make(&file, "image", "one", "1", 1), OMPRMA_ERR_CONFIG);
    assert_non_null(
        strstr(error_text(), "OMPRMA_KEEP_IMAGES: images cannot be kept in /proc/nowhere: "));
    image_file_keep("");
}

TEST(in_memory_for_other_processes)
{
    struct image_file file;
    char command[128];
    assert_int_equal(image_file_make(&file, "image", "one", "12345", 5), OMPRMA_OK);
    snprintf(command, sizeof(command), "test \"$(cat %s)\" = 12345", file.path);
    assert_int_equal(system(command), 0);
    image_file_drop(&file);
}
