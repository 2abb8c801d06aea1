/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ucx_library.c: Loading UCX installs handlers for signals, to print where a program has crashed.
 * Those belong to the program, or to the worker, so what was there before is put back. Threads that
 * UCX makes get no signals.
 */
#define _GNU_SOURCE
#include "rma/ucx_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { SIGNALS = 65 };

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define UCX(name) {#name, offsetof(struct ucx_library, name)},
#include "rma/ucx_library.def"
#undef UCX
};

/* ---- loading ---- */

static void put_back(int number, const struct sigaction *before)
{
    struct sigaction now;

    if (sigaction(number, NULL, &now) == 0 && now.sa_sigaction != before->sa_sigaction)
        sigaction(number, before, NULL);
}

static void *load(void)
{
    struct sigaction before[SIGNALS];
    bool known[SIGNALS];
    void *library;

    for (int i = 1; i < SIGNALS; i++)
        known[i] = sigaction(i, NULL, &before[i]) == 0;
    library = dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL);
    for (int i = 1; i < SIGNALS; i++)
        if (known[i])
            put_back(i, &before[i]);
    return library;
}

static omprma_status_t look_up(struct ucx_library *ucx, void *library)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *symbol = dlsym(library, functions[i].name);

        if (!symbol)
            return error_set(OMPRMA_ERR_UNSUPPORTED,
                             "this UCX (libucp.so.0) is too old: it has no %s()",
                             functions[i].name);
        memcpy((char *)ucx + functions[i].offset, &symbol, sizeof(symbol));
    }
    return OMPRMA_OK;
}

/* ---- settings ---- */

/* Unless the user has said otherwise to omprma. What this UCX does not know is left out. */
static void prefer(const struct ucx_library *ucx, ucp_config_t *config, const char *name,
                   const char *value)
{
    char variable[64];

    snprintf(variable, sizeof(variable), "OMPRMA_UCX_%s", name);
    if (!getenv(variable))
        ucx->ucp_config_modify(config, name, value);
}

static ucs_status_t make_context(struct ucx_library *ucx, bool any_network)
{
    const ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features = UCP_FEATURE_RMA | UCP_FEATURE_AM | UCP_FEATURE_WAKEUP,
    };
    ucp_config_t *config;
    ucs_status_t status = ucx->ucp_config_read("OMPRMA", NULL, &config);

    if (status != UCS_OK)
        return status;
    if (!any_network)
        prefer(ucx, config, "TLS", "ib");
    prefer(ucx, config, "KEEPALIVE_INTERVAL", "1s"); /* a silent peer is noticed after 20 else */
    status = ucx->ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &ucx->context);
    ucx->ucp_config_release(config);
    return status;
}

static ucs_status_t make_worker(struct ucx_library *ucx)
{
    const ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SERIALIZED,
    };

    return ucx->ucp_worker_create(ucx->context, &params, &ucx->worker);
}

omprma_status_t ucx_library_open(struct ucx_library *ucx, bool any_network)
{
    omprma_status_t status;
    sigset_t all, before;
    ucs_status_t code;
    void *library;

    memset(ucx, 0, sizeof(*ucx));
    library = load();
    if (!library)
        return error_set(OMPRMA_ERR_UNSUPPORTED, "UCX cannot be loaded: %s", dlerror());
    status = look_up(ucx, library);
    if (status != OMPRMA_OK)
        return status;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = make_context(ucx, any_network);
    if (code == UCS_OK)
        code = make_worker(ucx);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code == UCS_OK)
        return OMPRMA_OK;
    ucx_library_close(ucx);
    return error_set(OMPRMA_ERR_UNSUPPORTED, "UCX %s cannot be used: %s",
                     ucx->ucp_get_version_string(), ucx->ucs_status_string(code));
}

void ucx_library_close(struct ucx_library *ucx)
{
    if (ucx->worker)
        ucx->ucp_worker_destroy(ucx->worker);
    if (ucx->context)
        ucx->ucp_cleanup(ucx->context);
    ucx->worker = NULL;
    ucx->context = NULL;
}
