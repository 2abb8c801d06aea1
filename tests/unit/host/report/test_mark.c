/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_mark.c: names of files of several programs.
 * Covers: mark.c */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "host/report/mark.h"

static void expect(const char *given, const char *wanted)
{
    static struct config config;

    snprintf(config.trace, sizeof(config.trace), "%s", given);
    snprintf(config.stats_file, sizeof(config.stats_file), "%s", given);
    mark_files(&config);
    assert_string_equal(config.trace, wanted);
    assert_string_equal(config.stats_file, wanted);
}

TEST(a_mark_goes_in_front_of_the_endings)
{
    setenv("OMPI_COMM_WORLD_RANK", "2", 1);
    expect("run.json", "run.2.json");
    expect("run.json.gz", "run.2.json.gz");
    expect("/a.b/run", "/a.b/run.2");
    expect("run.txt", "run.txt.2");
    expect(".json", ".json.2");
    expect("", "");
}

TEST(a_name_that_would_be_too_long_stays)
{
    char name[CONFIG_TEXT_BYTES];

    memset(name, 'x', sizeof(name));
    name[sizeof(name) - 1] = 0;
    expect(name, name);
}
