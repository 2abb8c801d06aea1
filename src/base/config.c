/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * config.c: the settings, made from the table in config.def. An empty variable counts as unset, so
 * that a shell script can switch a setting off again. Knows nothing of what the settings do.
 */
#include "base/config.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/log.h"
#include "base/near.h"

extern char **environ;

enum kind { KIND_CHOICE, KIND_SET, KIND_BOOL, KIND_INT, KIND_BYTES, KIND_TEXT };

struct setting {
    enum kind kind;
    const char *name; /* without OMPRMA_ */
    size_t offset;    /* in struct config */
    int64_t value, low, high;
    const char *text; /* choices, the default of a text, or a word that stands for number 0 */
    const char *help;
};

#define GPU_CHOICE(NAME, name, maker, ...) "|" #name
#define GPU_CHOICES GPU_TABLE(GPU_CHOICE)

static const struct setting settings[] = {
#define ROW(kind_, field_, name_, value_, low_, high_, text_, help_)                               \
    {kind_, name_, offsetof(struct config, field_), value_, low_, high_, text_, help_},
#define CONFIG_CHOICE(field_, name_, value_, choices_, help_)                                      \
    ROW(KIND_CHOICE, field_, name_, value_, 0, 0, choices_, help_)
#define CONFIG_SET(field_, name_, value_, choices_, help_)                                         \
    ROW(KIND_SET, field_, name_, value_, 0, 0, choices_, help_)
#define CONFIG_BOOL(field_, name_, value_, help_)                                                  \
    ROW(KIND_BOOL, field_, name_, value_, 0, 1, "", help_)
#define CONFIG_INT(field_, name_, value_, low_, high_, help_)                                      \
    ROW(KIND_INT, field_, name_, value_, low_, high_, "", help_)
#define CONFIG_INT_OR(field_, name_, value_, low_, high_, word_, help_)                            \
    ROW(KIND_INT, field_, name_, value_, low_, high_, word_, help_)
#define CONFIG_BYTES(field_, name_, value_, low_, high_, help_)                                    \
    ROW(KIND_BYTES, field_, name_, value_, low_, high_, "", help_)
#define CONFIG_TEXT(field_, name_, value_, help_)                                                  \
    ROW(KIND_TEXT, field_, name_, 0, 0, 0, value_, help_)
#include "base/config.def"
};

enum { SETTINGS = sizeof(settings) / sizeof(settings[0]), NUMBER_BYTES = 32 };

/* ---- numbers as text ---------------------------------------------------------------------- */

omprma_status_t config_parse_bytes(const char *text, int64_t *bytes)
{
    static const char units[] = "KkMmGgTt";
    const char *p = text;
    int64_t value = 0;
    bool fits = true;
    for (; *p >= '0' && *p <= '9'; p++) {
        fits = fits && !__builtin_mul_overflow(value, 10, &value) &&
               !__builtin_add_overflow(value, *p - '0', &value);
    }
    bool digits = p != text;
    const char *unit = *p ? strchr(units, *p) : NULL;
    if (unit) {
        fits = fits && !__builtin_mul_overflow(value, INT64_C(1) << (10 * ((unit - units) / 2 + 1)),
                                               &value);
        p++;
        if (strcasecmp(p, "iB") == 0)
            p++;
    }
    if (strcasecmp(p, "B") == 0)
        p++;
    if (!digits || *p || !fits) {
        return error_set(OMPRMA_ERR_CONFIG, "\"%.64s\" is not a size; write 4096, 64K, 256M or 2G",
                         text);
    }
    *bytes = value;
    return OMPRMA_OK;
}

static const char *print_bytes(int64_t value, char text[NUMBER_BYTES])
{
    const char *units = "KMGT";
    char unit[2] = "";
    while (value > 0 && value % 1024 == 0 && *units) {
        value /= 1024;
        unit[0] = *units++;
    }
    snprintf(text, NUMBER_BYTES, "%" PRId64 "%s", value, unit);
    return text;
}

static const char *print_number(const struct setting *setting, int64_t value,
                                char text[NUMBER_BYTES])
{
    if (setting->kind == KIND_BYTES)
        return print_bytes(value, text);
    snprintf(text, NUMBER_BYTES, "%" PRId64, value);
    return text;
}

/* What a setting may be, in words: "auto|ucx|rdma", "0|1", "1 to 64", "text". */
static void print_allowed(const struct setting *setting, char *text, size_t bytes)
{
    char low[NUMBER_BYTES], high[NUMBER_BYTES];
    switch (setting->kind) {
    case KIND_CHOICE:
        snprintf(text, bytes, "%s", setting->text);
        return;
    case KIND_SET:
        snprintf(text, bytes, "%s, some of them with commas between", setting->text);
        return;
    case KIND_BOOL:
        snprintf(text, bytes, "0|1");
        return;
    case KIND_INT:
    case KIND_BYTES:
        snprintf(text, bytes, "%s to %s%s%s", print_number(setting, setting->low, low),
                 print_number(setting, setting->high, high), setting->text[0] ? " or " : "",
                 setting->text);
        return;
    case KIND_TEXT:
        snprintf(text, bytes, "text");
        return;
    }
}

/* ---- one value ---------------------------------------------------------------------------- */

/* Position of the first `length` letters of `value` in "a|b=another name of b|c", -1 if they are
 * not one of them. */
static int64_t find_word(const char *choices, const char *value, size_t length)
{
    for (int64_t index = 0;; choices++) {
        size_t width = strcspn(choices, "|=");
        if (width == length && strncasecmp(choices, value, width) == 0)
            return index;
        choices += width;
        if (!*choices)
            return -1;
        index += *choices == '|';
    }
}

static int64_t find_choice(const char *choices, const char *value)
{
    return find_word(choices, value, strlen(value));
}

/* The bits of "a,c", -1 if a word of it is not one of the choices. */
static int64_t find_set(const char *choices, const char *value)
{
    int64_t set = 0;
    for (;; value++) {
        size_t length = strcspn(value, ",");
        int64_t bit = find_word(choices, value, length);
        if (bit < 0)
            return -1;
        set |= INT64_C(1) << bit;
        value += length;
        if (!*value)
            return set;
    }
}

/* Reads a value that is not a text. False if it cannot be one, or is out of range. */
static bool parse_number(const struct setting *setting, const char *value, int64_t *number)
{
    char *end = NULL;
    switch (setting->kind) {
    case KIND_CHOICE:
        *number = find_choice(setting->text, value);
        return *number >= 0;
    case KIND_SET:
        *number = find_set(setting->text, value);
        return *number >= 0;
    case KIND_BOOL:
        *number = find_choice("0|1|no|yes|off|on|false|true", value);
        if (*number < 0)
            return false;
        *number &= 1;
        return true;
    case KIND_BYTES:
        if (strcmp(value, "-1") == 0)
            *number = -1;
        else if (config_parse_bytes(value, number))
            return false;
        break;
    case KIND_INT:
    case KIND_TEXT:
        if (setting->text[0] && strcasecmp(value, setting->text) == 0) {
            *number = 0;
            return true;
        }
        *number = strtoll(value, &end, 10); /* out of int64_t: saturates, and is out of range */
        if (end == value || *end)
            return false;
        break;
    }
    return *number >= setting->low && *number <= setting->high;
}

/* Stores `value` in `config`; the only place that refuses a value. */
static omprma_status_t set_value(const struct setting *setting, const char *value,
                                 struct config *config)
{
    void *field = (char *)config + setting->offset;
    if (setting->kind == KIND_TEXT) {
        size_t length = strlen(value);
        if (length >= CONFIG_TEXT_BYTES) {
            return error_set(OMPRMA_ERR_CONFIG, "OMPRMA_%s is %zu bytes long; at most %d are kept",
                             setting->name, length, CONFIG_TEXT_BYTES - 1);
        }
        memcpy(field, value, length + 1);
        return OMPRMA_OK;
    }
    int64_t number = setting->value;
    if (value[0] && !parse_number(setting, value, &number)) {
        char allowed[128];
        print_allowed(setting, allowed, sizeof(allowed));
        return error_set(OMPRMA_ERR_CONFIG, "OMPRMA_%s=%.64s cannot be used; allowed: %s",
                         setting->name, value, allowed);
    }
    if (strcmp(setting->name, "PIECE") == 0 && (number & (number - 1)) != 0) {
        return error_set(OMPRMA_ERR_CONFIG,
                         "OMPRMA_%s=%.64s cannot be used; it must be a power "
                         "of two",
                         setting->name, value);
    }
    if (setting->kind == KIND_CHOICE || setting->kind == KIND_SET || setting->kind == KIND_BOOL)
        *(int *)field = (int)number;
    else
        *(int64_t *)field = number;
    return OMPRMA_OK;
}

/* ---- names -------------------------------------------------------------------------------- */

static const struct setting *find_setting(const char *name, size_t length)
{
    for (size_t i = 0; i < SETTINGS; i++) {
        if (strlen(settings[i].name) == length && strncmp(settings[i].name, name, length) == 0)
            return &settings[i];
    }
    return NULL;
}

static const char *nearest_name(const char *name, size_t length)
{
    const char *best = settings[0].name;
    size_t best_distance = SIZE_MAX;
    for (size_t i = 0; i < SETTINGS; i++) {
        size_t distance = near_distance(name, length, settings[i].name);
        if (distance < best_distance) {
            best_distance = distance;
            best = settings[i].name;
        }
    }
    return best;
}

static const char variable_prefix[] = "OMPRMA_";
enum { PREFIX_LENGTH = sizeof(variable_prefix) - 1 };

/* Variables that omprma-run sets for its own purposes, and settings of UCX. */
static bool is_internal(const char *name)
{
    return strncmp(name, "INTERNAL_", 9) == 0 || strncmp(name, "TEST_", 5) == 0 ||
           strncmp(name, "WORKERS=", 8) == 0 || strncmp(name, "JOIN=", 5) == 0 ||
           strncmp(name, "UCX_", 4) == 0;
}

void config_warn(void)
{
    static atomic_bool warned;
    if (getenv(CONFIG_WARNED_VARIABLE) || atomic_exchange(&warned, true))
        return;
    for (char **variable = environ; variable && *variable; variable++) {
        if (strncmp(*variable, variable_prefix, PREFIX_LENGTH) != 0)
            continue;
        const char *name = *variable + PREFIX_LENGTH;
        size_t length = strcspn(name, "=");
        if (!is_internal(name) && (length > 64 || !find_setting(name, length))) {
            log_write(LOG_WARNING, "%.*s is not a setting and is ignored; did you mean OMPRMA_%s?",
                      (int)(PREFIX_LENGTH + length), *variable,
                      nearest_name(name, length < 64 ? length : 64));
        }
    }
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* As LLVM's runtime is asked for a timeline. Where that serves the program it answers itself;
 * omprma-run says where it does although no setting asks for it. */
static void take_profile(struct config *config)
{
    const char *file = getenv("LIBOMPTARGET_PROFILE");

    if (file && !config->trace[0] && config->runtime != RUNTIME_LLVM &&
        !getenv(CONFIG_LLVM_VARIABLE))
        snprintf(config->trace, sizeof(config->trace), "%s", file);
}

omprma_status_t config_load(struct config *config)
{
    struct config loaded = {0};
    for (size_t i = 0; i < SETTINGS; i++) {
        char variable[64];
        snprintf(variable, sizeof(variable), "%s%s", variable_prefix, settings[i].name);
        const char *value = getenv(variable);
        if (!value)
            value = "";
        if (!value[0] && settings[i].kind == KIND_TEXT)
            value = settings[i].text;
        omprma_status_t status = set_value(&settings[i], value, &loaded);
        if (status)
            return status;
    }
    if (log_level() < loaded.verbose)
        log_set_level((int)loaded.verbose);
    take_profile(&loaded);
    *config = loaded;
    return OMPRMA_OK;
}

int64_t config_start_limit_s(const struct config *config)
{
    bool short_one = config->timeout_s > 0 && config->timeout_s < CONFIG_START_LEAST_S;
    return short_one ? CONFIG_START_LEAST_S : config->timeout_s;
}

omprma_status_t config_check(const char *name, const char *value)
{
    size_t length = strlen(name);
    const struct setting *setting = find_setting(name, length);
    if (!setting) {
        return error_set(OMPRMA_ERR_CONFIG,
                         "OMPRMA_%.64s is not a setting; did you mean OMPRMA_%s?", name,
                         nearest_name(name, length < 64 ? length : 64));
    }
    struct config scratch;
    return set_value(setting, value, &scratch);
}

const char *config_known_as(const char *variable)
{
    char name[96];
    const char *option;
    snprintf(name, sizeof(name), CONFIG_OPTION_PREFIX "%s", variable + strlen("OMPRMA_"));
    option = getenv(name);
    return option && *option ? option : variable;
}

/* The names of the bits, with commas between. */
static void print_set(const char *choices, int64_t set, char *text, size_t room)
{
    size_t used = 0;
    for (*text = 0; set; set >>= 1) {
        int width = (int)strcspn(choices, "|");
        if (set & 1)
            used += (size_t)snprintf(text + used, room - used, "%s%.*s", used ? "," : "", width,
                                     choices);
        choices += width + (choices[width] == '|');
    }
}

bool config_read_set(const char *name, const char *value, int *set)
{
    int64_t bits = find_set(find_setting(name, strlen(name))->text, value);
    *set = bits < 0 ? 0 : (int)bits;
    return bits >= 0;
}

void config_write_set(const char *name, int set, char *text, size_t bytes)
{
    print_set(find_setting(name, strlen(name))->text, set, text, bytes);
}

/* The default in words, "" where it is to set nothing. */
static void print_standard(const struct setting *setting, char *text, size_t room)
{
    char number[NUMBER_BYTES];
    const char *choice = setting->text;
    switch (setting->kind) {
    case KIND_SET:
        print_set(setting->text, setting->value, text, room);
        return;
    case KIND_CHOICE:
        for (int64_t skip = setting->value; skip > 0; skip--)
            choice = strchr(choice, '|') + 1;
        snprintf(text, room, "%.*s", (int)strcspn(choice, "|"), choice);
        return;
    case KIND_TEXT:
        snprintf(text, room, "%s", setting->text);
        return;
    default:
        snprintf(text, room, "%s", print_number(setting, setting->value, number));
    }
}

void config_print_help(FILE *out)
{
    for (size_t i = 0; i < SETTINGS; i++) {
        const struct setting *setting = &settings[i];
        char allowed[128], standard[128];
        if (!setting->help[0]) /* for tests */
            continue;
        print_allowed(setting, allowed, sizeof(allowed));
        print_standard(setting, standard, sizeof(standard));
        fprintf(out, "  %s%s=%s", variable_prefix, setting->name, allowed);
        if (*standard)
            fprintf(out, " (default %s)", standard);
        fprintf(out, "\n      %s\n", setting->help);
    }
}

void config_tell(config_teller *tell, void *data)
{
    for (size_t i = 0; i < SETTINGS; i++) {
        char variable[64], standard[128];
        if (!settings[i].help[0]) /* for tests */
            continue;
        snprintf(variable, sizeof(variable), "%s%s", variable_prefix, settings[i].name);
        print_standard(&settings[i], standard, sizeof(standard));
        const char *value = getenv(variable);
        tell(data, settings[i].name, value && *value ? value : standard, standard);
    }
}
