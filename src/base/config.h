/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * config.h: the settings, from the environment (OMPRMA_<NAME>). The table in config.def makes the
 * struct, the parser, the validation and the help text. Command line tools turn their options into
 * environment variables and validate through the same table.
 */
#ifndef OMPRMA_BASE_CONFIG_H
#define OMPRMA_BASE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <omprma/omprma.h>

#include "base/backend_table.h"

enum config_data { DATA_AUTO, DATA_RMA, DATA_TWO_SIDED };
/* Who answers the calls of compiled programs: see tools/launch/llvm.h. */
enum config_runtime { RUNTIME_AUTO, RUNTIME_OMPRMA, RUNTIME_LLVM };

/* Set by omprma-run where no runtime of omprma's serves the program, but LLVM's, if any. */
#define CONFIG_LLVM_VARIABLE "OMPRMA_INTERNAL_LLVM"
/* Who puts nowait regions in order: see openmp/task/task.h. */
enum config_nowait { NOWAIT_AUTO, NOWAIT_LIBOMP };
enum config_check { CHECK_OFF, CHECK_FULL };
enum config_placement { PLACEMENT_PROGRAM, PLACEMENT_AUTO, PLACEMENT_NAMED };
enum config_on_loss { ON_LOSS_END, ON_LOSS_CONTINUE };
/* Bits of the set: this machine, and the kinds of GPU. */
enum config_backend {
    BACKEND_NATIVE,
#define BACKEND_OF(NAME, name, maker, ...) BACKEND_##NAME,
    GPU_TABLE(BACKEND_OF)
#undef BACKEND_OF
};
enum config_map_by { MAP_BY_CORE, MAP_BY_NUMA, MAP_BY_NODE };
enum config_control { CONTROL_AUTO, CONTROL_MPI };
enum config_osc { OSC_AUTO, OSC_UCX, OSC_RDMA };

/* What connects the processes, where omprma-run has the choice. */
enum config_transport { TRANSPORT_AUTO, TRANSPORT_MPI, TRANSPORT_DIRECT };
enum config_network { NETWORK_AUTO, NETWORK_SOCKETS, NETWORK_UCX };
/* As enum direct_share. */
enum config_share { SHARE_AUTO, SHARE_SPLIT, SHARE_ALL };

/* How data gets from device to device, see exchange.h. */
enum config_exchange {
    EXCHANGE_AUTO,
    EXCHANGE_PUT,
    EXCHANGE_GET,
    EXCHANGE_SEND,
    EXCHANGE_APPLICATION,
    EXCHANGE_WAYS
};

enum { CONFIG_TEXT_BYTES = 1024 };

struct config {
#define CONFIG_CHOICE(field, name, default_value, choices, help) int field;
#define CONFIG_BOOL(field, name, default_value, help) int field;
#define CONFIG_INT(field, name, default_value, low, high, help) int64_t field;
#define CONFIG_INT_OR(field, name, default_value, low, high, word, help) int64_t field;
#define CONFIG_SET(field, name, default_bits, choices, help) int field;
#define CONFIG_BYTES(field, name, default_value, low, high, help) int64_t field;
#define CONFIG_TEXT(field, name, default_value, help) char field[CONFIG_TEXT_BYTES];
#include "base/config.def"
#undef CONFIG_CHOICE
#undef CONFIG_BOOL
#undef CONFIG_INT
#undef CONFIG_INT_OR
#undef CONFIG_SET
#undef CONFIG_BYTES
#undef CONFIG_TEXT
};

/* Fills `config` from defaults and the environment. An unknown OMPRMA_* variable is ignored; a
 * value out of range fails with CONFIG and names variable, value and what is allowed. */
omprma_status_t config_load(struct config *config);

/* Warns of OMPRMA_* variables that are no settings, with the nearest setting of each; once per
 * process, and not where CONFIG_WARNED_VARIABLE says that another one has. */
#define CONFIG_WARNED_VARIABLE "OMPRMA_INTERNAL_WARNED"
void config_warn(void);

/* How the user knows a setting: "--trace" where omprma-run has that option, "OMPRMA_TRACE" else.
 * `variable` is "OMPRMA_TRACE". omprma-run tells processes of this host by a variable for each. */
#define CONFIG_OPTION_PREFIX "OMPRMA_INTERNAL_OPTION_"
const char *config_known_as(const char *variable);

/* How the user has asked for GPUs, "--gpus"; set by omprma-run for the program. */
#define CONFIG_GPUS_VARIABLE "OMPRMA_INTERNAL_GPUS"

/* Seconds until all processes of a job must run: OMPRMA_TIMEOUT, which is about silence, but not
 * less than this, because starting takes its time on a busy machine; 0 is for ever. */
enum { CONFIG_START_LEAST_S = 60 };
int64_t config_start_limit_s(const struct config *config);

/* Checks one value as config_load() would; for option parsers. `name` without OMPRMA_. */
omprma_status_t config_check(const char *name, const char *value);

/* The bits of a setting that is a set, "a,c", and the same the other way. False: one of the words
 * is none of its choices. `name` is that of such a setting, without OMPRMA_. */
bool config_read_set(const char *name, const char *value, int *set);
void config_write_set(const char *name, int set, char *text, size_t bytes);

/* Parses "64", "4K", "256M", "1GiB" (powers of two). Errors: CONFIG. */
omprma_status_t config_parse_bytes(const char *text, int64_t *bytes);

/* Writes a line or two per variable: name, default, range, help. */
void config_print_help(FILE *out);

/* Calls `tell` for each setting of users, in the order of the table: its name without OMPRMA_, its
 * value as it is written, and its default. */
typedef void config_teller(void *data, const char *name, const char *value, const char *standard);
void config_tell(config_teller *tell, void *data);

#endif
