/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * refused.c: functions that HIP's library links and that the stand-in cannot do, and those of newer
 * runtimes: each gives an error, and is counted. They take whatever they are given, so this file
 * does not see the headers that declare them. There are no engines to choose from, which HIP takes
 * as an answer: it copies by hsa_amd_memory_async_copy().
 */
#include "tests/standin/calls.h"

#include <stdint.h>

enum { STATUS_ERROR = 0x1000 };

#define REFUSE(name)                                                                               \
    __attribute__((visibility("default"))) int name(void);                                         \
    int name(void)                                                                                 \
    {                                                                                              \
        int code = call_begin(#name);                                                              \
                                                                                                   \
        return code ? code : STATUS_ERROR;                                                         \
    }

REFUSE(hsa_amd_agent_set_async_scratch_limit)
REFUSE(hsa_amd_ais_file_read)
REFUSE(hsa_amd_ais_file_write)
REFUSE(hsa_amd_coherency_set_type)
REFUSE(hsa_amd_enable_logging)
REFUSE(hsa_amd_image_create)
REFUSE(hsa_amd_interop_map_buffer)
REFUSE(hsa_amd_interop_unmap_buffer)
REFUSE(hsa_amd_ipc_memory_attach)
REFUSE(hsa_amd_ipc_memory_create)
REFUSE(hsa_amd_ipc_memory_detach)
REFUSE(hsa_amd_memory_async_copy_on_engine)
REFUSE(hsa_amd_portable_export_dmabuf)
REFUSE(hsa_amd_svm_attributes_get)
REFUSE(hsa_amd_svm_attributes_set)
REFUSE(hsa_amd_svm_prefetch_async)
REFUSE(hsa_amd_vmem_address_free)
REFUSE(hsa_amd_vmem_address_reserve)
REFUSE(hsa_amd_vmem_address_reserve_align)
REFUSE(hsa_amd_vmem_export_shareable_handle)
REFUSE(hsa_amd_vmem_get_access)
REFUSE(hsa_amd_vmem_handle_create)
REFUSE(hsa_amd_vmem_handle_release)
REFUSE(hsa_amd_vmem_import_shareable_handle)
REFUSE(hsa_amd_vmem_map)
REFUSE(hsa_amd_vmem_retain_alloc_handle)
REFUSE(hsa_amd_vmem_set_access)
REFUSE(hsa_amd_vmem_unmap)
REFUSE(hsa_ext_image_create)
REFUSE(hsa_ext_image_create_with_layout)
REFUSE(hsa_ext_image_data_get_info)
REFUSE(hsa_ext_image_destroy)
REFUSE(hsa_ext_image_export)
REFUSE(hsa_ext_image_import)
REFUSE(hsa_ext_sampler_create)
REFUSE(hsa_ext_sampler_create_v2)
REFUSE(hsa_ext_sampler_destroy)

#define NO_ENGINE(name)                                                                            \
    __attribute__((visibility("default"))) int name(uint64_t to, uint64_t from, uint32_t *mask);   \
    int name(uint64_t to, uint64_t from, uint32_t *mask)                                           \
    {                                                                                              \
        int code = call_begin(#name);                                                              \
                                                                                                   \
        (void)to, (void)from;                                                                      \
        if (!code)                                                                                 \
            *mask = 0;                                                                             \
        return code;                                                                               \
    }

NO_ENGINE(hsa_amd_memory_copy_engine_status)
NO_ENGINE(hsa_amd_memory_get_preferred_copy_engine)
