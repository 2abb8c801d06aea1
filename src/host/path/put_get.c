/*
 * put_get.c: the program puts into a worker's window, or gets from it. The worker takes no part.
 */
#include "host/append.h"
#include "host/path/path.h"

static bool takes(const struct hop *hop)
{
    return hop_is_of_program(hop) && hop_there(hop)->arena &&
           device_is_one_sided(hop_there(hop)->device);
}

static omprma_status_t append(const struct hop *hop, struct operation **operation)
{
    struct transfer transfer = hop_transfer(hop, 0);
    omprma_status_t status = queue_append_transfer(hop->queue, &transfer, operation);

    if (status == OMPRMA_OK)
        (*operation)->is_part = hop->is_part;
    return status;
}

const struct path_ops path_put_get = {.name = "put, get", .takes = takes, .append = append};
