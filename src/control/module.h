/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * module.h: the transport that speaks MPI is a module, lib/omprma/libomprma-mpi.so, which is opened
 * when MPI is to connect the processes. Nothing else of omprma is linked with MPI, so a process has
 * no MPI library unless it uses one. The module is not linked with the core either, which is in
 * libomprma.so for programs and in the programs of omprma: the core hands it the few functions that
 * belong to the process, and what else it needs is compiled into both.
 */
#ifndef OMPRMA_CONTROL_MODULE_H
#define OMPRMA_CONTROL_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <omprma/omprma.h>

#include "base/log.h"

struct doorbell;
struct transport;

/* Of the core, for the module: there is one last error of each thread, one log, and a doorbell is
 * known only to those who made it. See base/error.h, base/log.h, control/shm/doorbell.h. */
struct module_uses {
    omprma_status_t (*error_set)(omprma_status_t status, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
    void (*log_write)(enum log_level level, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
    bool (*doorbell_owner_died)(struct doorbell *bell);
};

/* What the module exports: its version, a text, which must be that of the core, and is looked at
 * before anything is called; and who hands the transport out. `uses` stays. */
#define MODULE_VERSION_NAME "omprma_module_version"
#define MODULE_ENTRY_NAME "omprma_module_transport"
typedef const struct transport *module_entry_t(const struct module_uses *uses);

/* The transport that speaks MPI, loaded with its MPI library when that is first asked for; both
 * stay until the process ends. NULL: it cannot be had, and error_text() says what, where and what
 * to do. Any thread, one at a time. */
const struct transport *transport_mpi_open(void);

/* The same from this file. */
const struct transport *module_open(const char *path);

/* Name and version of the MPI library, one line, at any time. Errors: as above, CONFIG. */
omprma_status_t module_mpi_library(char *text, size_t bytes);

#endif
