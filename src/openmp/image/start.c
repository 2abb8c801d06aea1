/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * start.c: see start.h.
 *
 * The end: programs and libraries need this library by name, so that all their destructors, which
 * unregister their images, come before the one below. Only libraries that were opened late and
 * never closed end later, and then this one does, too late for MPI: so omprma has ended before
 * (face/ending.h), and the destructors of their devices' variables have run.
 */
#include "openmp/image/start.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <omprma/omprma.h>

#include "face/ending.h"
#include "face/gate.h"
#include "openmp/abi/libomp.h"
#include "openmp/device/devices.h"
#include "openmp/image/registry.h"
#include "openmp/site/loss.h"
#include "openmp/site/origin.h"
#include "openmp/site/report.h"
#include "openmp/tool/ompt.h"

__attribute__((destructor)) static void devices_end(void)
{
    int count = devices_made();
    if (count == 0 || !devices_are_here() || gate_closed() || !gate_close())
        return;
    registry_clear(devices_sites());
    ompt_devices_end();
    omprma_finalize();
}

/* For workers that were started before anybody knew what this program is. A program that was not
 * compiled to lie anywhere has an address of its own for the function. */
static void libomp_tell(void)
{
    Dl_info info;
    if (omp_get_num_threads && dladdr((void *)omp_get_num_threads, &info) &&
        *info.dli_fname == '/' && strstr(info.dli_fname, "/libomp.so"))
        setenv("OMPRMA_INTERNAL_LIBOMP", info.dli_fname, 1);
}

/* A run that goes on after losses has not begun yet: nothing is lost when it ends. */
static void start_failed(omprma_status_t status)
{
    report_start();
    if (status != OMPRMA_ERR_NO_WORKERS && loss_goes_on())
        report_fatal(NULL);
}

static void start_once(void)
{
    static struct ending ending = {.call = devices_end};
    if (!gate_open()) {
        report(NULL, NULL, "no key for data of threads is left in this process");
        return;
    }
    ending_add(&ending);
    ompt_prepare();
    libomp_tell();
    omprma_status_t status = omprma_init();
    if (status != OMPRMA_OK) {
        start_failed(status);
        return;
    }
    origin_open();
    devices_make();
}

int devices_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (gate_closed())
        return 0;
    pthread_once(&once, start_once);
    return devices_made();
}
