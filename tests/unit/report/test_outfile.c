/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_outfile.c: a file is whole, or what was there before stays.
 * Covers: outfile.c */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "base/error.h"
#include "report/outfile.h"

static char folder[64], path[128];

static void begin(const char *name)
{
    FILE *file;

    strcpy(folder, "/tmp/omprma-outfile-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("older", file);
    fclose(file);
}

/* Of a command with the file. */
static void assert_prints(const char *command, const char *wanted)
{
    char line[256], got[256] = "";
    FILE *pipe;

    snprintf(line, sizeof(line), "%s %s 2>&1", command, path);
    pipe = popen(line, "r"); /* NOLINT(cert-env33-c) */
    assert_non_null(pipe);
    got[fread(got, 1, sizeof(got) - 1, pipe)] = '\0';
    assert_int_equal(pclose(pipe), 0);
    assert_string_equal(got, wanted);
}

/* Nothing else was left there. */
static void end(void)
{
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

TEST(the_older_file_stays_until_all_is_written)
{
    struct outfile out;

    begin("a.json");
    assert_int_equal(outfile_try("NAME", path), OMPRMA_OK);
    assert_prints("cat", "older");
    assert_int_equal(outfile_open(&out, "NAME", path), OMPRMA_OK);
    fputs("newer", out.file);
    fflush(out.file);
    assert_prints("cat", "older");
    assert_int_equal(outfile_close(&out, "NAME"), OMPRMA_OK);
    assert_prints("cat", "newer");
    end();
}

TEST(the_older_file_stays_when_writing_fails)
{
    struct rlimit old, small;
    struct outfile out;

    begin("a.json");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small = (struct rlimit){4096, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    assert_int_equal(outfile_open(&out, "NAME", path), OMPRMA_OK);
    for (int i = 0; i < 10000; i++)
        fputs("newer", out.file);
    assert_int_equal(outfile_close(&out, "NAME"), OMPRMA_ERR_CONFIG);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_non_null(strstr(error_text(), "NAME: cannot write /tmp/omprma-outfile-"));
    assert_prints("cat", "older");
    end();
}

TEST(gz_is_compressed)
{
    struct outfile out;

    begin("a.json.gz");
    assert_int_equal(outfile_open(&out, "NAME", path), OMPRMA_OK);
    fputs("packed", out.file);
    assert_int_equal(outfile_close(&out, "NAME"), OMPRMA_OK);
    assert_prints("gzip -dc", "packed");
    end();
}

TEST(a_link_stays_a_link)
{
    char name[192];
    struct outfile out;
    struct stat status;

    begin("a.json");
    snprintf(name, sizeof(name), "%s/link", folder);
    assert_int_equal(symlink("a.json", name), 0);
    assert_int_equal(outfile_open(&out, "NAME", name), OMPRMA_OK);
    fputs("newer", out.file);
    assert_int_equal(outfile_close(&out, "NAME"), OMPRMA_OK);
    assert_int_equal(lstat(name, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_prints("cat", "newer");
    unlink(name);
    end();
}

TEST(what_cannot_be_written_is_said)
{
    struct outfile out;

    assert_int_equal(outfile_try("NAME", "/no/folder/x"), OMPRMA_ERR_CONFIG);
    assert_int_equal(outfile_try("NAME", "/tmp"), OMPRMA_ERR_CONFIG);
    assert_int_equal(outfile_open(&out, "NAME", "/no/folder/x"), OMPRMA_ERR_CONFIG);
    assert_string_equal(error_text(), "NAME: cannot write /no/folder/x: No such file or directory");
    assert_int_equal(outfile_try("NAME", "/dev/null"), OMPRMA_OK);
    assert_int_equal(outfile_open(&out, "NAME", "/dev/full"), OMPRMA_OK);
    fputs("x", out.file);
    assert_int_equal(outfile_close(&out, "NAME"), OMPRMA_ERR_CONFIG);
    assert_int_equal(access("/dev/full", F_OK), 0);
}
