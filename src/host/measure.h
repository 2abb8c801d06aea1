/*
 * measure.h: the start-up measurement, and the choice of ways that follows from it (or from force).
 */
#ifndef OMPRMA_HOST_MEASURE_H
#define OMPRMA_HOST_MEASURE_H

#include "host/device.h"

/* Fills device->paths of all devices. One worker of each host is measured; the others of that host
 * have the same transport. Errors: MPI, DEVICE_LOST. */
omprma_status_t measure_all(struct runtime *runtime);

/* Chooses from measured times; for tests. `rma`: one-sided transfers are possible. */
void measure_choose(struct paths *paths, bool rma, enum config_data data);

#endif
