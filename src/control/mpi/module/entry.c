/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * entry.c: what libomprma-mpi.so exports, and the functions of the core that it calls. Where MPI's
 * part is linked with the core itself, as in tests, this file is left out.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "control/module.h"
#include "control/mpi/transport.h"
#include "control/shm/doorbell.h"

/* The core cuts what is longer, and marks it. */
enum { TEXT_BYTES = 4096 };

static struct module_uses core;

omprma_status_t error_set(omprma_status_t status, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return core.error_set(status, "%s", text);
}

void log_write(enum log_level level, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    core.log_write(level, "%s", text);
}

bool doorbell_owner_died(struct doorbell *bell)
{
    return core.doorbell_owner_died(bell);
}

/* ---- exported ---- */

/* The names are those of control/module.h. */
extern const char omprma_module_version[];
const struct transport *omprma_module_transport(const struct module_uses *uses);

__attribute__((visibility("default"))) const char omprma_module_version[] = OMPRMA_VERSION_STRING;

__attribute__((visibility("default"))) const struct transport *
omprma_module_transport(const struct module_uses *uses)
{
    core = *uses;
    return &transport_mpi;
}
