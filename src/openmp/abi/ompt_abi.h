/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ompt_abi.h: what OpenMP 5.2 lays down for tools, as far as devices are concerned, in our names.
 * Those of omp-tools.h stand behind them where they differ. Knows nothing of omprma.
 */
#ifndef OMPRMA_OPENMP_ABI_OMPT_ABI_H
#define OMPRMA_OPENMP_ABI_OMPT_ABI_H

#include <stddef.h>
#include <stdint.h>

/* ompt_data_t: the tool's. */
union ompt_data {
    uint64_t value;
    void *pointer;
};

/* ompt_callbacks_t */
enum ompt_event {
    OMPT_TARGET = 8,
    OMPT_DATA_OP = 9,
    OMPT_SUBMIT = 10,
    OMPT_DEVICE_INITIALIZE = 12,
    OMPT_DEVICE_FINALIZE = 13,
    OMPT_DEVICE_LOAD = 14,
    OMPT_DEVICE_UNLOAD = 15,
    OMPT_TARGET_EMI = 33,
    OMPT_DATA_OP_EMI = 34,
    OMPT_SUBMIT_EMI = 35
};

/* ompt_scope_endpoint_t */
enum { OMPT_BEGIN = 1, OMPT_END = 2 };

/* ompt_target_t; with nowait more. */
enum ompt_kind {
    OMPT_KIND_REGION = 1,
    OMPT_KIND_ENTER = 2,
    OMPT_KIND_LEAVE = 3,
    OMPT_KIND_UPDATE = 4
};
enum { OMPT_KIND_NOWAIT = 8 };

/* ompt_target_data_op_t; of what is in flight more. */
enum ompt_op_type {
    OMPT_ALLOC = 1,
    OMPT_TO = 2,   /* transfer_to_device */
    OMPT_FROM = 3, /* transfer_from_device */
    OMPT_DELETE = 4,
    OMPT_ASSOCIATE = 5,
    OMPT_DISASSOCIATE = 6
};
enum { OMPT_ASYNC = 16 };

/* ---- callbacks ---- */

typedef void ompt_function_t(void);
typedef ompt_function_t *ompt_lookup_t(const char *name);

typedef void ompt_target_t(int kind, int endpoint, int device, union ompt_data *task,
                           uint64_t target, const void *code);
typedef void ompt_target_emi_t(int kind, int endpoint, int device, union ompt_data *task,
                               union ompt_data *target_task, union ompt_data *target,
                               const void *code);
typedef void ompt_data_op_t(uint64_t target, uint64_t op, int type, void *from, int from_device,
                            void *to, int to_device, size_t bytes, const void *code);
typedef void ompt_data_op_emi_t(int endpoint, union ompt_data *target_task, union ompt_data *target,
                                uint64_t *op, int type, void *from, int from_device, void *to,
                                int to_device, size_t bytes, const void *code);
typedef void ompt_submit_t(uint64_t target, uint64_t op, unsigned teams);
typedef void ompt_submit_emi_t(int endpoint, union ompt_data *target, uint64_t *op, unsigned teams);
typedef void ompt_device_initialize_t(int device, const char *type, void *handle,
                                      ompt_lookup_t *lookup, const char *documentation);
typedef void ompt_device_finalize_t(int device);
typedef void ompt_device_load_t(int device, const char *file, int64_t offset, void *vma,
                                size_t bytes, void *host, void *there, uint64_t module);
typedef void ompt_device_unload_t(int device, uint64_t module);
typedef void ompt_buffer_request_t(int device, void **buffer, size_t *bytes);
typedef void ompt_buffer_complete_t(int device, void *buffer, size_t bytes, uint64_t begin,
                                    int owned);

/* ompt_start_tool_result_t: libomp calls the functions of the one that it is given. */
struct ompt_result {
    int (*initialize)(ompt_lookup_t *lookup, int initial_device, union ompt_data *data);
    void (*finalize)(union ompt_data *data);
    union ompt_data data;
};

/* ---- records ---- */

/* ompt_record_t, ompt_set_result_t */
enum { OMPT_RECORD_OURS = 1, OMPT_RECORD_INVALID = 3 };
enum { OMPT_SET_ERROR = 0, OMPT_SET_NEVER = 1, OMPT_SET_ALWAYS = 5 };

struct ompt_record_target {
    int kind, endpoint, device;
    uint64_t task, target;
    const void *code;
};

struct ompt_record_data_op {
    uint64_t op;
    int type;
    void *from;
    int from_device;
    void *to;
    int to_device;
    size_t bytes;
    uint64_t end;
    const void *code;
};

struct ompt_record_kernel {
    uint64_t op;
    unsigned teams_requested, teams_granted;
    uint64_t end;
};

/* ompt_record_ompt_t; its union has longer members, which are not for devices. */
struct ompt_record {
    int type; /* enum ompt_event */
    uint64_t time, thread, target;
    union {
        struct ompt_record_target target;
        struct ompt_record_data_op data_op;
        struct ompt_record_kernel kernel;
        char room[72];
    } record;
};

_Static_assert(sizeof(union ompt_data) == 8, "ompt_data_t");
_Static_assert(sizeof(struct ompt_result) == 24, "ompt_start_tool_result_t");
_Static_assert(sizeof(struct ompt_record_target) == 40, "ompt_record_target_t");
_Static_assert(sizeof(struct ompt_record_data_op) == 72, "ompt_record_target_data_op_t");
_Static_assert(sizeof(struct ompt_record_kernel) == 24, "ompt_record_target_kernel_t");
_Static_assert(offsetof(struct ompt_record, record) == 32, "ompt_record_ompt_t");

#endif
