/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * measure.h: the start-up measurement, and the choice of ways that follows from it (or from force).
 */
#ifndef OMPRMA_HOST_START_MEASURE_H
#define OMPRMA_HOST_START_MEASURE_H

#include "host/core/device.h"

/* Fills device->paths of all devices and runtime->exchange. One worker of each kind of host is
 * measured: for 6 ms those of this host, for at most 15 ms with what waking the worker and other
 * programs took of it; for 80 ms all others (survey.h). What an operation that has begun takes
 * comes to that, and so do trials: those that are made whatever they take (trial.h) leave a share
 * of the time for samples. Errors: MPI, DEVICE_LOST, HOST_MEMORY, CONFIG. */
omprma_status_t measure_all(struct runtime *runtime);

/* Chooses from measured times; for tests. `rma`: one-sided transfers are possible. */
void measure_choose(struct paths *paths, bool rma, enum config_data data);

/* Fills runtime->exchange, from times between a pair of devices of one host and a pair of different
 * hosts; near_ns: what the longest measurement of a device of this host took. What there is no time
 * for is put. Errors: as above. */
omprma_status_t measure_exchange(struct runtime *runtime, int64_t near_ns);

/* One-sided transfers have delivered wrong data somewhere, `what` says how: nothing goes one-sided
 * any more, and a line says so. Errors: MPI (they are what was asked for). */
omprma_status_t measure_refuse_one_sided(struct runtime *runtime, const char *what);

/* The same of two-sided ones, or of messages, without which nothing works: MPI. */
omprma_status_t measure_refuse_messages(const char *what);

/* Chooses from measured times. `rma`: as above. */
void measure_choose_exchange(struct exchange_paths *paths, bool rma, enum config_data data);

#endif
