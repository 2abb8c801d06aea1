/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* loss.c: Whether the run goes on is read once from the environment. */
#include "openmp/site/loss.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>

#include <omprma/omprma.h>

#include "openmp/site/policy.h"
#include "openmp/site/report.h"
#include "openmp/site/site.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool goes_on;

static void goes_on_read(void)
{
    const char *wish = getenv("OMPRMA_ON_LOSS");
    goes_on = wish && strcasecmp(wish, "continue") == 0 && !policy_is_mandatory();
}

bool loss_goes_on(void)
{
    pthread_once(&once, goes_on_read);
    return goes_on;
}

static bool plainly_told(void *where, int status)
{
    return report_status(where, status);
}

bool loss_status_told(const struct location *where, struct site *site, int status,
                      bool (*tell)(void *context, int status), void *context)
{
    bool lost = status == OMPRMA_ERR_DEVICE_LOST || status == OMPRMA_ERR_KERNEL;
    if (status == OMPRMA_OK)
        return true;
    if (!lost || !loss_goes_on())
        return tell(context, status);
    if (!atomic_exchange(&site->lost, true)) {
        tell(context, status);
        report(where, site,
               site->shares ? "it is lost; its regions go to other workers from here on"
                            : "it is lost; its regions are computed on the host from here on");
    }
    return false;
}

bool loss_status(const struct location *where, struct site *site, int status)
{
    return loss_status_told(where, site, status, plainly_told, (void *)(uintptr_t)where);
}

bool loss_refuses(const char *function, struct site *site)
{
    if (!site_is_lost(site))
        return false;
    if (!atomic_exchange(&site->refused, true))
        report(NULL, site, "%s: the device is lost, and so is what it had", function);
    return true;
}
