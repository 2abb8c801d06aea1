/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_available.c: tests available.c: which of four devices a text names, in which order, and what
 * is said of texts that cannot be read. Random expressions are compared with what they mean.
 * Covers: available.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "tests/unit/test.h"
#include "openmp/device/available.h"

enum { DEVICES = 4, TEXT_BYTES = 4096 };

static const struct traits devices[DEVICES] = {{"node-a-0.0", "Intel(R) Xeon(R) 1"},
                                               {"node-a-1.0", "Intel(R) Xeon(R) 1"},
                                               {"node-b-0.0", "AMD EPYC 2"},
                                               {"node-b-1.0", "AMD EPYC 2"}};

/* "2 0" for devices 2 and 0; else why there is none. */
static const char *chosen_by(const char *text)
{
    static char words[512];
    int chosen[DEVICES];
    int count = available_choose(text, devices, DEVICES, chosen, words, sizeof(words));
    for (int i = 0, used = 0; i < count; i++)
        used +=
            snprintf(words + used, sizeof(words) - (size_t)used, "%s%d", i ? " " : "", chosen[i]);
    return words;
}

static int default_by(const char *text)
{
    char why[512] = "";
    int number = available_default(text, devices, DEVICES, why, sizeof(why));
    assert_int_equal(number < 0, why[0] != '\0');
    return number;
}

TEST(items_name_devices)
{
    static const char *const right[][2] = {
        {"*", "0 1 2 3"},
        {" uid(node-b-0.0) , * ", "2 0 1 3"},
        {"uid( node-b-0.0 ),UID(node-a-0.0)", "2 0"},
        {"vendor(amd),vendor(Intel)", "2 3 0 1"},
        {"vendor(amd)[1],*[0]", "3 0"},
        {"*[1:2]", "1 2"},
        {"*[:2]", "0 1"},
        {"*[2:]", "2 3"},
        {"*[0::2],*", "0 2 1 3"},
        {"*[1:9:2]", "1 3"},
        {"*[7],*[3]", "3"},
        {"kind(gpu),kind(cpu)[3]", "3"},
        {"kind(nohost)&&!vendor(amd)", "0 1"},
        {"!(uid(node-a-0.0)||uid(node-b-1.0))", "1 2"},
        {"!!kind(any)&&(uid(node-a-1.0) || vendor(amd))", "1 2 3"},
        {"*,*", "0 1 2 3"},
    };
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
        assert_string_equal(chosen_by(right[i][0]), right[i][1]);
}

TEST(the_machines_kind_is_an_arch)
{
    char text[256];
    struct utsname system;
    assert_int_equal(uname(&system), 0);
    snprintf(text, sizeof(text), "arch(%s)[1]", system.machine);
    assert_string_equal(chosen_by(text), "1");
}

TEST(what_names_none_is_said)
{
    static const char *const none[] = {"kind(gpu)",       "kind(host)", "uid(HOST)",
                                       "uid(node-c-0.0)", "*[4]",       "!kind(any)"};
    static const char *const wrong[][2] = {
        {"node-a-0.0", "at \"node-a-0.0\": no trait"},
        {"*,isa(avx2)", "at \"isa(avx2)\": no trait"},
        {"uid", "at its end: a trait has an argument"},
        {"uid()", "a trait has an argument"},
        {"uid(a", "at \"a\": a trait has an argument"},
        {"*,", "at its end: no trait"},
        {"* *", "at \"*\": a comma"},
        {"*[x]", "at \"x]\": a subscript"},
        {"*[0:2:0]", "a subscript"},
        {"(kind(cpu)", "at its end: a parenthesis"},
        {"kind(cpu)&&kind(any)||kind(gpu)", "need parentheses"},
    };
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_string_equal(chosen_by(none[i]), "no device is so");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (!strstr(chosen_by(wrong[i][0]), wrong[i][1]))
            fail_msg("%s: %s", wrong[i][0], chosen_by(wrong[i][0]));
}

TEST(the_first_that_there_is_is_the_default)
{
    assert_int_equal(default_by("uid(node-b-0.0)"), 2);
    assert_int_equal(default_by("uid(node-c-0.0), vendor(amd)[1], 0"), 3);
    assert_int_equal(default_by("7,2"), 2);
    assert_int_equal(default_by("Initial"), DEVICES);
    assert_int_equal(default_by("uid(HOST)"), DEVICES);
    assert_int_equal(default_by("kind(host)"), DEVICES);
    assert_int_equal(default_by("!vendor(intel)"), 2);
    assert_int_equal(default_by("kind(gpu),default"), 0);
    assert_int_equal(default_by("kind(gpu)"), -1);
    assert_int_equal(default_by("invalid"), -1);
    assert_int_equal(default_by("1,"), -1);
    assert_int_equal(default_by("1 2"), -1);
}

/* Writes a random level into `text`, and returns which devices it names, a bit each. */
static unsigned level_draw(char *text, int depth);

static unsigned term_draw(char *text, int depth)
{
    bool turned = rand() % 3 == 0;
    unsigned is;
    strcat(text, turned ? "!" : "");
    if (depth > 0 && rand() % 2) {
        strcat(text, "(");
        is = level_draw(text, depth - 1);
        strcat(text, ")");
    } else {
        int which = rand() % DEVICES;
        sprintf(text + strlen(text), "uid(%s)", devices[which].uid);
        is = 1U << which;
    }
    return turned ? ~is & ((1U << DEVICES) - 1) : is;
}

static unsigned level_draw(char *text, int depth)
{
    unsigned is = term_draw(text, depth);
    bool all = rand() % 2 == 0;
    for (int more = rand() % 3; more > 0; more--) {
        strcat(text, all ? " && " : "||");
        unsigned other = term_draw(text, depth);
        is = all ? is & other : is | other;
    }
    return is;
}

TEST(random_expressions_mean_what_they_say)
{
    srand(7);
    for (int i = 0; i < 2000; i++) {
        char text[TEXT_BYTES] = "", why[128];
        int chosen[DEVICES];
        unsigned is = level_draw(text, 3), named = 0;
        int count = available_choose(text, devices, DEVICES, chosen, why, sizeof(why));
        for (int k = 0; k < count; k++)
            named |= 1U << chosen[k];
        if (named != is)
            fail_msg("%s: %x, not %x", text, named, is);
    }
}
