/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * tags.h: MPI's tags, which tell apart what goes over one communicator where application and
 * workers share a single one (see world.h). MPI guarantees tags up to 32767.
 */
#ifndef OMPRMA_CONTROL_MPI_TAGS_H
#define OMPRMA_CONTROL_MPI_TAGS_H

enum {
    DATA_TAGS = 32765, /* two-sided transfers have the tags below */
    START_TAG = 32765,
    CONTROL_TAG = 32766,
    BENCH_TAG = 32767
};

#endif
