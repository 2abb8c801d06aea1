/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* rdma_port.h: whether a device of this host does RDMA. Knows no library that would use it. */
#ifndef OMPRMA_BASE_RDMA_PORT_H
#define OMPRMA_BASE_RDMA_PORT_H

#include <stdbool.h>
#include <stddef.h>

/* A port that is up, as "mlx5_0:1"; false: there is none. Thread: any. Blocks: no. */
bool rdma_find_port(char *port, size_t bytes);

#endif
