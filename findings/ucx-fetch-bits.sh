#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# UCX 1.13.1, Debian 12, x86-64. Two workers of one process, of two contexts. One of them changes a word of the other's
# memory, 12, by ucp_atomic_op_nbx() and 10, and flushes: with add, and, or and xor, with and without a reply buffer,
# which brings what the word was before.
# Guess: the word becomes 22, 8, 14 and 6, with the reply or without it, whichever transport carries it, and the reply
# is 12.
# Seen: so it is by TCP. By shared memory, which is what processes of one host get unless told otherwise, and, or and
# xor with a reply take the old value in place of the operand: the word stays 12, stays 12, and becomes 0. The reply is
# right, each status is success, and without a reply they are right, as add is with one. It is so for 4 and for 8
# bytes. So what sets a bit by a fetching "or", as a lock in shared flags would, sets none, and finds it unset each
# time.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
command -v gcc >/dev/null || exit 77
unpack libucx0=1.13.1-1 libucx-dev=1.13.1-1 libnuma1=2.0.16-1

cat >"$folder/try.c" <<'C'
#include <stdint.h>
#include <stdio.h>
#include <ucp/api/ucp.h>

static ucp_context_h contexts[2];
static ucp_worker_h workers[2];

static ucs_status_t finish(void *request)
{
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request))
        return UCS_PTR_STATUS(request);
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        ucp_worker_progress(workers[0]);
        ucp_worker_progress(workers[1]);
    }
    ucp_request_free(request);
    return status;
}

static void try(const char *name, ucp_atomic_op_t operation, ucp_ep_h ep, ucp_rkey_h key, volatile uint64_t *word,
                size_t size, int with_reply)
{
    uint64_t operand = 10, reply = 0;
    ucp_request_param_t parameters = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | (with_reply ? UCP_OP_ATTR_FIELD_REPLY_BUFFER : 0),
        .datatype = ucp_dt_make_contig(size),
        .reply_buffer = &reply,
    };
    ucp_request_param_t none = {0};
    ucs_status_t status;

    *word = 12;
    status = finish(ucp_atomic_op_nbx(ep, operation, &operand, 1, (uintptr_t)word, key, &parameters));
    if (status == UCS_OK)
        status = finish(ucp_ep_flush_nbx(ep, &none));
    printf("%s, %d bytes, ", name, (int)size);
    if (with_reply)
        printf("reply %d: ", (int)reply);
    else
        printf("no reply: ");
    printf("%d, %s\n", (int)*word, ucs_status_string(status));
}

int main(void)
{
    static const char *names[] = {"add", "and", "or", "xor"};
    static const ucp_atomic_op_t operations[] = {UCP_ATOMIC_OP_ADD, UCP_ATOMIC_OP_AND, UCP_ATOMIC_OP_OR,
                                                 UCP_ATOMIC_OP_XOR};
    ucp_params_t features = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                             .features = UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64};
    ucp_worker_params_t single = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                  .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucp_mem_map_params_t page = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                 .length = 4096,
                                 .flags = UCP_MEM_MAP_ALLOCATE};
    ucp_mem_attr_t attributes = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t peer = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_address_t *address;
    ucp_mem_h memory;
    ucp_rkey_h key;
    ucp_ep_h ep;
    size_t length;
    void *packed;

    for (int i = 0; i < 2; i++)
        if (ucp_init(&features, NULL, &contexts[i]) || ucp_worker_create(contexts[i], &single, &workers[i]))
            return 1;
    if (ucp_worker_get_address(workers[1], &address, &length))
        return 1;
    peer.address = address;
    if (ucp_ep_create(workers[0], &peer, &ep) || ucp_mem_map(contexts[1], &page, &memory) ||
        ucp_mem_query(memory, &attributes) || ucp_rkey_pack(contexts[1], memory, &packed, &length) ||
        ucp_ep_rkey_unpack(ep, packed, &key))
        return 1;
    for (int i = 0; i < 16; i++)
        try(names[i % 4], operations[i % 4], ep, key, attributes.address, i & 4 ? 4 : 8, i & 8);
    return 0;
}
C
system=$folder/usr/lib/x86_64-linux-gnu
gcc -w -I"$folder/usr/include" "$folder/try.c" "$system/libucp.so.0" "$system/libucs.so.0" -Wl,--allow-shlib-undefined \
    -o "$folder/try" || exit 77
export LD_LIBRARY_PATH=$system UCX_LOG_LEVEL=error
ldd "$folder/try" | grep -q 'not found' && exit 77
for transports in tcp posix; do
    echo "$transports"
    saw env UCX_TLS=$transports,self UCX_NET_DEVICES=lo timeout 60 "$folder/try"
    for size in 4 8; do
        expect "^add, $size bytes, no reply: 22, Success\$"
        expect "^and, $size bytes, no reply: 8, Success\$"
        expect "^or, $size bytes, no reply: 14, Success\$"
        expect "^xor, $size bytes, no reply: 6, Success\$"
        expect "^add, $size bytes, reply 12: 22, Success\$"
        if [ $transports = tcp ]; then
            expect "^and, $size bytes, reply 12: 8, Success\$"
            expect "^or, $size bytes, reply 12: 14, Success\$"
            expect "^xor, $size bytes, reply 12: 6, Success\$"
        else
            expect "^and, $size bytes, reply 12: 12, Success\$"
            expect "^or, $size bytes, reply 12: 12, Success\$"
            expect "^xor, $size bytes, reply 12: 0, Success\$"
        fi
    done
done
exit "$changed"
