/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_config.c: the settings: defaults, every kind of value, refusals, unknown names, help.
 * Covers: config.c */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"

static const struct {
    const char *name, *help;
} known[] = {
#define CONFIG_CHOICE(field, name, value, choices, help) {name, help},
#define CONFIG_BOOL(field, name, value, help) {name, help},
#define CONFIG_INT(field, name, value, low, high, help) {name, help},
#define CONFIG_SET(field, name, value, choices, help) {name, help},
#define CONFIG_INT_OR(field, name, value, low, high, word, help) {name, help},
#define CONFIG_BYTES(field, name, value, low, high, help) {name, help},
#define CONFIG_TEXT(field, name, value, help) {name, help},
#include "base/config.def"
};

enum { NAMES = sizeof(known) / sizeof(known[0]) };

static int clear_environment(void **state)
{
    (void)state;
    clearenv();
    log_open("", LOG_NOTE);
    return 0;
}

static void assert_error(omprma_status_t status, const char *part)
{
    assert_int_equal(status, OMPRMA_ERR_CONFIG);
    if (!strstr(error_text(), part))
        fail_msg("\"%s\" does not hold \"%s\"", error_text(), part);
}

TEST(defaults_without_environment)
{
    struct config config;
    memset(&config, 0x55, sizeof(config));
    assert_int_equal(config_load(&config), OMPRMA_OK);
    assert_int_equal(config.data, DATA_AUTO);
    assert_int_equal(config.stats, 0);
    assert_int_equal(config.bind, 1);
    assert_int_equal(config.lanes, 1);
    assert_int_equal(config.devices, 1);
    assert_int_equal(config.inline_submit, -1);
    assert_int_equal(config.arena, 64 << 20);
    assert_string_equal(config.trace, "");
}

TEST(a_choice_may_have_two_names)
{
    static const char *const names[] = {"rma", "one-sided", "One-Sided"};
    struct config config;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        setenv("OMPRMA_DATA", names[i], 1);
        assert_int_equal(config_load(&config), OMPRMA_OK);
        assert_int_equal(config.data, DATA_RMA);
    }
    setenv("OMPRMA_DATA", "rma=one-sided", 1);
    assert_int_equal(config_load(&config), OMPRMA_ERR_CONFIG);
    unsetenv("OMPRMA_DATA");
}

TEST(values_of_every_kind)
{
    struct config config;
    setenv("OMPRMA_DATA", "two-sided", 1);
    setenv("OMPRMA_OSC", "RDMA", 1);
    setenv("OMPRMA_STATS", "yes", 1);
    setenv("OMPRMA_BIND", "off", 1);
    setenv("OMPRMA_LANES", "64", 1);
    setenv("OMPRMA_DEVICES", "numa", 1);
    setenv("OMPRMA_BACKENDS", "cuda,Native", 1);
    setenv("OMPRMA_ARENA", "2GiB", 1);
    setenv("OMPRMA_INLINE_SUBMIT", "16K", 1);
    setenv("OMPRMA_INLINE_RETRIEVE", "-1", 1);
    setenv("OMPRMA_TRACE", "/tmp/a file.json", 1);
    setenv("OMPRMA_SPIN", "", 1);
    assert_int_equal(config_load(&config), OMPRMA_OK);
    assert_int_equal(config.data, DATA_TWO_SIDED);
    assert_int_equal(config.osc, OSC_RDMA);
    assert_int_equal(config.stats, 1);
    assert_int_equal(config.bind, 0);
    assert_int_equal(config.lanes, 64);
    assert_int_equal(config.devices, 0);
    assert_int_equal(config.backends, 1 << BACKEND_NATIVE | 1 << BACKEND_CUDA);
    assert_true(config.arena == INT64_C(2) << 30);
    assert_int_equal(config.inline_submit, 16384);
    assert_int_equal(config.inline_retrieve, -1);
    assert_string_equal(config.trace, "/tmp/a file.json");
    assert_int_equal(config.spin_us, 5); /* empty counts as unset */
}

TEST(refused_values_leave_config_alone)
{
    static const struct {
        const char *name, *value, *says;
    } cases[] = {
        {"DATA", "rm", "OMPRMA_DATA=rm cannot be used; allowed: auto|rma=one-sided|two-sided"},
        {"DATA", "auto|rma", "cannot be used"},
        {"DATA", "autox", "cannot be used"},
        {"STATS", "2", "OMPRMA_STATS=2 cannot be used; allowed: 0|1"},
        {"LANES", "0", "OMPRMA_LANES=0 cannot be used; allowed: 1 to 64"},
        {"LANES", "65", "1 to 64"},
        {"LANES", "4x", "1 to 64"},
        {"LANES", "99999999999999999999", "1 to 64"},
        {"ARENA", "1", "OMPRMA_ARENA=1 cannot be used; allowed: 1M to 1T"},
        {"ARENA", "-1", "1M to 1T"},
        {"ARENA", "12Q", "1M to 1T"},
        {"ARENA", "2T", "1M to 1T"},
        {"INLINE_SUBMIT", "-2", "-1 to 16K"},
        {"PIECE", "3M", "power of two"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char variable[64];
        snprintf(variable, sizeof(variable), "OMPRMA_%s", cases[i].name);
        assert_error(config_check(cases[i].name, cases[i].value), cases[i].says);
        setenv(variable, cases[i].value, 1);
        struct config config = {.lanes = 77};
        assert_error(config_load(&config), cases[i].says);
        assert_int_equal(config.lanes, 77);
        unsetenv(variable);
    }
}

TEST(sets_hold_known_words_only)
{
    static const char *const bad[] = {"cuda,", ",cuda", "native cuda", "cuda,hip", ",", "cud"};
    struct config config;

    assert_int_equal(config_load(&config), OMPRMA_OK);
    assert_int_equal(config.backends, 1 << BACKEND_NATIVE);
    setenv("OMPRMA_BACKENDS", "cuda", 1);
    assert_int_equal(config_load(&config), OMPRMA_OK);
    assert_int_equal(config.backends, 1 << BACKEND_CUDA);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_error(config_check("BACKENDS", bad[i]), "allowed: native|cuda|hsa, some of them");
}

TEST(long_text_is_refused)
{
    char text[CONFIG_TEXT_BYTES + 1];
    memset(text, 'x', sizeof(text));
    text[CONFIG_TEXT_BYTES] = '\0';
    assert_error(config_check("TRACE", text), "OMPRMA_TRACE is 1024 bytes long");
    text[CONFIG_TEXT_BYTES - 1] = '\0';
    assert_int_equal(config_check("TRACE", text), OMPRMA_OK);
}

TEST(check_knows_every_name)
{
    for (size_t i = 0; i < NAMES; i++)
        assert_int_equal(config_check(known[i].name, ""), OMPRMA_OK);
    assert_int_equal(config_check("DATA", "rma"), OMPRMA_OK);
    assert_error(config_check("DAT", "rma"),
                 "OMPRMA_DAT is not a setting; did you mean OMPRMA_DATA?");
    assert_error(config_check("", "1"), "is not a setting");
    char longest[300];
    memset(longest, 'A', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    assert_error(config_check(longest, "1"), "is not a setting");
}

TEST(sizes)
{
    static const struct {
        const char *text;
        int64_t bytes; /* -1: refused */
    } cases[] = {
        {"0", 0},
        {"64", 64},
        {"64B", 64},
        {"4K", 4096},
        {"4k", 4096},
        {"256M", 256 << 20},
        {"1GiB", 1 << 30},
        {"3gb", INT64_C(3) << 30},
        {"2T", INT64_C(2) << 40},
        {"9223372036854775807", INT64_MAX},
        {"8388607T", INT64_C(8388607) << 40},
        {"9223372036854775808", -1},
        {"8388608T", -1},
        {"", -1},
        {"K", -1},
        {"-1", -1},
        {" 1", -1},
        {"1 ", -1},
        {"1 K", -1},
        {"1KK", -1},
        {"1Ki", -1},
        {"1iB", -1},
        {"1.5G", -1},
        {"0x10", -1},
        {"1P", -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t bytes = -7;
        omprma_status_t status = config_parse_bytes(cases[i].text, &bytes);
        if ((cases[i].bytes < 0) != (status == OMPRMA_ERR_CONFIG))
            fail_msg("\"%s\" gives status %d", cases[i].text, status);
        assert_true(bytes == (cases[i].bytes < 0 ? -7 : cases[i].bytes));
    }
}

/* What the log wrote while config_load() ran. */
static const char *load_and_read(void)
{
    static char text[8192];
    int ends[2];
    struct config config;
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    log_to(ends[1]);
    assert_int_equal(config_load(&config), OMPRMA_OK);
    config_warn();
    log_to(STDERR_FILENO);
    ssize_t bytes = read(ends[0], text, sizeof(text) - 1);
    text[bytes > 0 ? bytes : 0] = '\0';
    close(ends[0]);
    close(ends[1]);
    return text;
}

TEST(settings_are_known_by_their_options)
{
    unsetenv("OMPRMA_INTERNAL_OPTION_TRACE");
    assert_string_equal(config_known_as("OMPRMA_TRACE"), "OMPRMA_TRACE");
    setenv("OMPRMA_INTERNAL_OPTION_TRACE", "--trace", 1);
    assert_string_equal(config_known_as("OMPRMA_TRACE"), "--trace");
    assert_string_equal(config_known_as("OMPRMA_STATS_FILE"), "OMPRMA_STATS_FILE");
    unsetenv("OMPRMA_INTERNAL_OPTION_TRACE");
}

TEST(unknown_variables_are_reported_once)
{
    setenv("OMPRMA_LANE", "3", 1);
    setenv("OMPRMA_INLINE_SUBMITS", "3", 1);
    setenv("OMPRMA_DATA", "auto", 1);
    setenv("OMPRMAX", "3", 1);
    setenv(CONFIG_WARNED_VARIABLE, "1", 1);
    assert_string_equal(load_and_read(), "");
    unsetenv(CONFIG_WARNED_VARIABLE);
    setenv("OMPRMA_VERBOSE", "1", 1);
    const char *text = load_and_read();
    assert_non_null(strstr(text, "omprma: warning: OMPRMA_LANE is not a setting and is ignored; "
                                 "did you mean OMPRMA_LANES?\n"));
    assert_non_null(strstr(text, "did you mean OMPRMA_INLINE_SUBMIT?\n"));
    assert_null(strstr(text, "OMPRMA_DATA"));
    assert_null(strstr(text, "OMPRMAX"));
    assert_int_equal(log_level(), LOG_CHOICE);
    assert_string_equal(load_and_read(), "");
}

TEST(help_names_everything)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    config_print_help(out);
    fclose(out);
    for (size_t i = 0; i < NAMES; i++) {
        char variable[64];
        snprintf(variable, sizeof(variable), "  OMPRMA_%s=", known[i].name);
        assert_int_equal(strstr(text, variable) != NULL, known[i].help[0] != 0); /* or for tests */
    }
    assert_non_null(strstr(text, "OMPRMA_DATA=auto|rma=one-sided|two-sided (default auto)\n"));
    assert_non_null(strstr(text, "OMPRMA_ARENA=1M to 1T (default 64M)\n"));
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 100);
    free(text);
}

TEST_EACH(clear_environment, NULL)
