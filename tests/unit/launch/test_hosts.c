/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_hosts.c: host lists from options and files.
 * Covers: hosts.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "base/error.h"
#include "tools/launch/hosts.h"

static void assert_parses(const char *text, const char *expected, int total)
{
    struct hosts hosts = {0};
    assert_int_equal(hosts_parse(&hosts, text), OMPRMA_OK);
    char *back = hosts_format(&hosts, 0);
    assert_string_equal(back, expected);
    assert_int_equal(hosts.total, total);
    free(back);
    hosts_clear(&hosts);
    assert_int_equal(hosts.total, 0);
}

TEST(parses)
{
    assert_parses("h1", "h1:1", 1);
    assert_parses("h1:2,h2:4", "h1:2,h2:4", 6);
    assert_parses("node-7.example_org:3", "node-7.example_org:3", 3);
    assert_parses("h1:2,h2,h1", "h1:3,h2:1", 4);
    assert_parses("h:1024", "h:1024", 1024);
    assert_parses("n[1-2,4]:2,h", "n1:2,n2:2,n4:2,h:1", 7);
}

TEST(refuses)
{
    static const char *const bad[] = {
        "",      ",",    "h1,",   "h:0",   "h:1025", "h:-1", "h:",    "h: 1",
        "h:1x",  "-x:1", "a b",   "h:1:2", ":1",     "h;rm", "h$(x)", "h:99999999999999999999",
        "h[1-2", "u@h",  "-[1-2]"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct hosts hosts = {0};
        assert_int_equal(hosts_parse(&hosts, bad[i]), OMPRMA_ERR_CONFIG);
        assert_non_null(strstr(error_text(), "is not a host"));
        hosts_clear(&hosts);
    }
}

static void assert_divides(const char *text, int workers, bool in_turns, int here,
                           const char *expected)
{
    struct hosts all = {0}, others = {0};
    assert_int_equal(hosts_parse(&all, text), OMPRMA_OK);
    assert_int_equal(hosts_divide(&all, workers, in_turns, &others), here);
    assert_int_equal(others.total, workers - here);
    char *back = hosts_format(&others, 0);
    assert_string_equal(back, expected);
    free(back);
    hosts_clear(&others);
    hosts_clear(&all);
}

TEST(divides_workers)
{
    assert_divides("h1:3,h2:3", 5, false, 0, "h1:3,h2:2");
    assert_divides("h1:3,h2:3", 2, false, 0, "h1:2");
    assert_divides("h1:3,h2:3", 2, true, 0, "h1:1,h2:1");
    assert_divides("h1:1,h2:3", 4, true, 0, "h1:1,h2:3");
    assert_divides("h1,h2", 5, false, 0, "h1:3,h2:2");
    assert_divides("localhost:2,h2:2", 3, false, 2, "h2:1");
    assert_divides("h1:2,localhost:2", 4, true, 2, "h1:2");
    assert_divides("localhost:4,h2", 3, false, 3, "");
}

TEST(knows_this_host)
{
    char own[256] = "", text[600], expected[600];
    struct hosts hosts = {0};

    gethostname(own, sizeof(own) - 1);
    snprintf(text, sizeof(text), "localhost,h1:2,%s:3,127.0.0.1,192.0.2.1,%sx", own, own);
    snprintf(expected, sizeof(expected), "localhost:2,h1:2,%s:4,127.0.0.1:2,192.0.2.1:1,%sx:1", own,
             own);
    assert_int_equal(hosts_parse(&hosts, text), OMPRMA_OK);
    char *back = hosts_format(&hosts, 1);
    assert_string_equal(back, expected);
    free(back);
    hosts_clear(&hosts);
}

/* Open MPI cuts names at the first dot. */
TEST(full_names)
{
    char own[256] = "", text[600];
    struct hosts hosts = {0};

    assert_int_equal(hosts_parse(&hosts, "a.x.example:2,b,192.0.2.1,192.0.2.2"), OMPRMA_OK);
    assert_int_equal(hosts_check_names(&hosts), OMPRMA_OK);
    assert_string_equal(hosts_full_name(&hosts, "a"), "a.x.example");
    assert_string_equal(hosts_full_name(&hosts, "a.x.example"), "a.x.example");
    assert_string_equal(hosts_full_name(&hosts, "b"), "b");
    assert_string_equal(hosts_full_name(&hosts, "192"), "192");
    hosts_clear(&hosts);
    assert_int_equal(hosts_parse(&hosts, "a.x.example,b,a.y.example"), OMPRMA_OK);
    assert_int_equal(hosts_check_names(&hosts), OMPRMA_ERR_CONFIG);
    assert_non_null(strstr(error_text(), "a.x.example and a.y.example are one host"));
    hosts_clear(&hosts);
    gethostname(own, sizeof(own) - 1);
    snprintf(text, sizeof(text), "%.*s.nowhere.invalid", (int)strcspn(own, "."), own);
    assert_int_equal(hosts_parse(&hosts, text), OMPRMA_OK);
    assert_int_equal(hosts_check_names(&hosts), OMPRMA_OK); /* it cannot be looked up */
    hosts_clear(&hosts);
    assert_int_equal(hosts_parse(&hosts, own), OMPRMA_OK);
    assert_int_equal(hosts_check_names(&hosts), OMPRMA_OK);
    hosts_clear(&hosts);
}

TEST(short_beside_full_names)
{
    static const char *const bad[] = {"a,a.x.example", "a.x.example:2,b,a"};
    struct hosts hosts = {0};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(hosts_parse(&hosts, bad[i]), OMPRMA_OK);
        assert_int_equal(hosts_check_names(&hosts), OMPRMA_ERR_CONFIG);
        assert_non_null(strstr(error_text(), "a.x.example and a are one host"));
        hosts_clear(&hosts);
    }
    assert_int_equal(hosts_parse(&hosts, "a,ab.x.example,192,192.0.2.1"), OMPRMA_OK);
    assert_int_equal(hosts_check_names(&hosts), OMPRMA_OK);
    hosts_clear(&hosts);
}

static omprma_status_t read_text(struct hosts *hosts, const char *text)
{
    char path[] = "/tmp/omprma-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    omprma_status_t status = hosts_read(hosts, path);
    unlink(path);
    return status;
}

TEST(reads_files)
{
    struct hosts hosts = {0};
    assert_int_equal(
        read_text(&hosts, "# all\nh1 slots=2\n\n  h2\tslots=4 max_slots=8 # big\r\nh3"), OMPRMA_OK);
    char *back = hosts_format(&hosts, 0);
    assert_string_equal(back, "h1:2,h2:4,h3:1");
    free(back);
    hosts_clear(&hosts);
}

TEST(refuses_files)
{
    static const struct {
        const char *text, *says;
    } bad[] = {{"", "names no host"},
               {"# nothing\n", "names no host"},
               {"h1\nh2 slots=0\n", "line 2: \"slots=0\""},
               {"h1 gpus=1\n", "line 1: \"gpus=1\""},
               {"h1\n\n;x\n", "line 3: \";x\""}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct hosts hosts = {0};
        assert_int_equal(read_text(&hosts, bad[i].text), OMPRMA_ERR_CONFIG);
        assert_non_null(strstr(error_text(), bad[i].says));
        hosts_clear(&hosts);
    }
    struct hosts hosts = {0};
    assert_int_equal(hosts_read(&hosts, "/nonexistent/file"), OMPRMA_ERR_CONFIG);
    assert_non_null(strstr(error_text(), "/nonexistent/file"));
}
