#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Data between hosts (network namespaces) by UCX, over TCP, because there is no device here that does RDMA: a
# program with target regions, ends of workers, UCX that is not there. Between network namespaces UCX's shared
# memory wakes nobody; unit.test_rma_ucx tries that.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
for file in /usr/lib/*/libucp.so.0; do [ -e "$file" ] && library=$(realpath "$file"); done
[ -n "$library" ] || { echo "UCX is not installed"; exit 77; }
find_llvm || exit 77
hosts_up 2 || { echo "network namespaces cannot be made here"; exit 77; }
remote_shell "$HOSTS_AGENT"
export OMPRMA_TRANSPORT=direct OMPRMA_MEMORY=320M OMPRMA_ARENA=4M
a=${HOSTS[0]} b=${HOSTS[1]}

# What a program's process does in the first host, where it has one network, as it has in the second.
here() { # COMMAND
    timeout -k 5 100 "$HOSTS_AGENT" "$a" "$@"
}

by_ucx() { # COMMAND
    OMPRMA_NETWORK=ucx OMPRMA_UCX_TLS=${tls:-tcp,self} OMPRMA_UCX_NET_DEVICES=eth0 \
        OMPRMA_DATA=rma OMPRMA_EXCHANGE=${exchange:-put} here "$@"
}

# Regions of every device, data from device to device, and memory that comes and goes.
cat >"$folder/data.c" <<'C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { SIZES = 6, LARGE = 6 << 20 /* more than an arena */, ROUNDS = 6 };
static const size_t sizes[SIZES] = {1, 1000, 40000, 300001, 1 << 20, (3 << 20) + 5};
static unsigned char *at_first(size_t bytes, int seed)
{
    unsigned char *data = malloc(bytes);
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)(i * 7 + i / 255 + (size_t)seed);
    return data;
}
static int is_wrong(const unsigned char *data, size_t bytes, int seed, int more)
{
    for (size_t i = 0; i < bytes; i++)
        if (data[i] != (unsigned char)(i * 7 + i / 255 + (size_t)seed + (size_t)more))
            return 1;
    return 0;
}
static int region(int device, size_t bytes)
{
    unsigned char *data = at_first(bytes, device);
    int wrong;
#pragma omp target teams distribute parallel for map(tofrom : data[:bytes]) device(device)
    for (size_t i = 0; i < bytes; i++)
        data[i]++;
    wrong = is_wrong(data, bytes, device, 1);
    free(data);
    return wrong;
}
/* Out to one, from there to the other, and back. */
static int pass_on(int from, int to, size_t bytes)
{
    int host = omp_get_initial_device(), wrong;
    unsigned char *data = at_first(bytes, from), *back = calloc(bytes, 1);
    void *first = omp_target_alloc(bytes, from), *second = omp_target_alloc(bytes, to);
    wrong = !first || !second || omp_target_memcpy(first, data, bytes, 0, 0, from, host) ||
            omp_target_memcpy(second, first, bytes, 0, 0, to, from) ||
            omp_target_memcpy(back, second, bytes, 0, 0, host, to) ||
            is_wrong(back, bytes, from, 0);
    omp_target_free(first, from);
    omp_target_free(second, to);
    free(data);
    free(back);
    return wrong;
}
int main(void)
{
    int devices = omp_get_num_devices(), wrong = 0;
    for (int d = 0; d < devices; d++)
        for (int i = 0; i < SIZES; i++)
            wrong += region(d, sizes[i]);
    for (int d = 0; d < devices; d++)
        for (int i = 0; i < SIZES; i++)
            wrong += pass_on(d, (d + 1) % devices, sizes[i]);
    for (int round = 0; round < ROUNDS; round++)
        wrong += pass_on(round % devices, (round + 1) % devices, LARGE);
    printf("%d devices, %d wrong\n", devices, wrong);
    return wrong != 0;
}
C
LD_LIBRARY_PATH=$llvm/lib "$llvm/bin/clang" -O1 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu \
    "$folder/data.c" -o "$folder/data" || exit 1

out=$(by_ucx "$RUN" --hosts "localhost,$b:2" "$folder/data" 2>&1)
check 'here and there' "$? $out" '0 3 devices, 0 wrong'
out=$(exchange="get" by_ucx "$RUN" --hosts "$b:2" "$folder/data" 2>&1)
check 'there' "$? $out" '0 2 devices, 0 wrong'
out=$(by_ucx "$BUILD_DIR/bin/omprma-info" --hosts "localhost,$b" | grep '^data between hosts: ' | sed 's/ [0-9.]*,/ N,/')
check 'what is said of it' "$out" 'data between hosts: UCX N, any network'
out=$(here "$BUILD_DIR/bin/omprma-info" --hosts "localhost,$b" | grep '^data between hosts: ')
[ -e /sys/class/infiniband ] ||
    check 'without a device' "$out" "data between hosts: sockets; host $a: no device does RDMA"

# Says that it is ready, reads a line, and moves data to each device and back, which may be gone by then.
cat >"$folder/writes.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include "there_and_back.h"
int main(void)
{
    char *data = calloc(BYTES, 1);
    int failed = 0;
    if (omprma_init() != OMPRMA_OK) {
        fprintf(stderr, "init: %s\n", omprma_error());
        return 3;
    }
    puts("ready");
    fflush(stdout);
    getchar();
    for (int device = omprma_device_count(); device-- > 0;)
        if (there_and_back(device, data, data) != OMPRMA_OK) {
            fprintf(stderr, "device %d: %s\n", device, omprma_error());
            failed++;
        }
    omprma_finalize();
    return failed;
}
C
"$CC" -I"$SOURCE_DIR/include" -I"$SOURCE_DIR/tests/tools" "$folder/writes.c" -L"$BUILD_DIR/lib" -lomprma \
    -Wl,-rpath,"$BUILD_DIR/lib" -o "$folder/writes" || exit 1

end_workers() { # SIGNAL
    named "$b" omprma-worker | xargs -r kill "-$1"
}

# With one worker in each host, of which that of the second gets a signal.
hurt() { # SIGNAL PATTERN: the status, and how many lines name device 0, and device 1 with the pattern
    OMPRMA_ON_LOSS=continue OMPRMA_TIMEOUT=4 at_ready "end_workers $1" by_ucx "$RUN" --hosts "localhost,$b" \
        "$folder/writes"
    echo "$? $(grep -c '^device 0: ' "$folder/err") $(grep -cE "^device 1: .*$2" "$folder/err")"
}
check 'a worker that was killed' "$(hurt KILL 'signal 9|has died')" '1 0 1'
check 'a worker that was stopped' "$(hurt STOP 'has not answered')" '1 0 1'

# UCX that has no network, or is not there.
out=$(tls=ib by_ucx "$RUN" --hosts "$b" "$folder/data" 2>&1 | grep ^omprma | sed 's/ [0-9.]* cannot/ N cannot/')
[ -e /sys/class/infiniband ] ||
    check 'no network' "$out" "omprma: error: OMPRMA_NETWORK=ucx: host $a: UCX N cannot be used: No such device"
: >"$folder/empty"
without() { # COMMAND
    # shellcheck disable=SC2016 # the inner shell expands it
    unshare --mount bash -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' without "$folder/empty" "$library" "$@"
}
out=$(without "$(command -v env)" "OMPRMA_NETWORK=ucx" "$HOSTS_AGENT" "$a" "$RUN" --hosts "$b" "$folder/data" 2>&1)
check 'no UCX: status' "$?" 125
check 'no UCX: line' "$(grep -cE '^omprma: error: OMPRMA_NETWORK=ucx: host .*: UCX cannot be loaded: ' <<<"$out") $(wc -l <<<"$out")" '1 1'
out=$(without "$HOSTS_AGENT" "$a" "$RUN" --hosts "$b" "$folder/data" 2>&1)
check 'no UCX, which nobody asked for' "$? $out" '0 1 devices, 0 wrong'
finish
