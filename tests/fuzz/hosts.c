/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* hosts.c: host lists and host files. What is accepted has hosts with workers, and is the same
 * when it is written as a list and read again. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tools/launch/hosts.h"

static void check(omprma_status_t status, struct hosts *hosts)
{
    struct hosts again = {0};
    char *text;
    int total = 0;

    if (status == OMPRMA_OK) {
        for (size_t i = 0; i < hosts->names.count; i++) {
            hold(hosts->slots[i] > 0);
            total += hosts->slots[i];
        }
        hold(total == hosts->total && total > 0);
        text = hosts_format(hosts, 0);
        /* The sum of a host that is named twice may be more than may be written for one. */
        if (hosts_parse(&again, text) == OMPRMA_OK)
            hold(again.total == total && again.names.count == hosts->names.count);
        free(text);
        hosts_clear(&again);
    }
    hosts_clear(hosts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static int fd = -1;
    static char path[40];
    char *text = fuzz_copy(data, bytes, 1);
    struct hosts hosts = {0};

    if (fd < 0) {
        fd = memfd_create("hosts", 0);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    }
    check(hosts_parse(&hosts, text), &hosts);
    hold(ftruncate(fd, 0) == 0 && pwrite(fd, data, bytes, 0) == (ssize_t)bytes);
    check(hosts_read(&hosts, path), &hosts);
    free(text);
    return 0;
}
