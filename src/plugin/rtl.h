/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * rtl.h: the functions that libomptarget looks up by name, of all LLVM generations, and the only
 * symbols that the plugin exports.
 */
#ifndef OMPRMA_PLUGIN_RTL_H
#define OMPRMA_PLUGIN_RTL_H

#include "plugin/types.h"

/* NOLINTBEGIN(bugprone-reserved-identifier): libomptarget chose the names. */
PLUGIN_EXPORT int32_t __tgt_rtl_number_of_devices(void);
PLUGIN_EXPORT int32_t __tgt_rtl_is_valid_binary(struct tgt_image *image);
PLUGIN_EXPORT int64_t __tgt_rtl_init_requires(int64_t flags);
PLUGIN_EXPORT int32_t __tgt_rtl_init_device(int32_t device);
PLUGIN_EXPORT void *__tgt_rtl_data_alloc(int32_t device, int64_t bytes, void *host, int32_t kind);
PLUGIN_EXPORT int32_t __tgt_rtl_data_delete(int32_t device, void *address, int32_t kind);
PLUGIN_EXPORT int32_t __tgt_rtl_data_submit(int32_t device, void *to, void *from, int64_t bytes);
PLUGIN_EXPORT int32_t __tgt_rtl_data_submit_async(int32_t device, void *to, void *from,
                                                  int64_t bytes, struct tgt_async *async);
PLUGIN_EXPORT int32_t __tgt_rtl_data_retrieve(int32_t device, void *to, void *from, int64_t bytes);
PLUGIN_EXPORT int32_t __tgt_rtl_data_retrieve_async(int32_t device, void *to, void *from,
                                                    int64_t bytes, struct tgt_async *async);
PLUGIN_EXPORT int32_t __tgt_rtl_is_data_exchangable(int32_t from, int32_t to);
PLUGIN_EXPORT int32_t __tgt_rtl_data_exchange(int32_t from_device, void *from, int32_t to_device,
                                              void *to, int64_t bytes);
PLUGIN_EXPORT int32_t __tgt_rtl_data_exchange_async(int32_t from_device, void *from,
                                                    int32_t to_device, void *to, int64_t bytes,
                                                    struct tgt_async *async);
PLUGIN_EXPORT int32_t __tgt_rtl_synchronize(int32_t device, struct tgt_async *async);
PLUGIN_EXPORT int32_t __tgt_rtl_supports_empty_images(void);
PLUGIN_EXPORT void __tgt_rtl_set_info_flag(uint32_t flags);
PLUGIN_EXPORT void __tgt_rtl_print_device_info(int32_t device);
PLUGIN_EXPORT int32_t __tgt_rtl_create_event(int32_t device, void **event);
PLUGIN_EXPORT int32_t __tgt_rtl_record_event(int32_t device, void *event, struct tgt_async *async);
PLUGIN_EXPORT int32_t __tgt_rtl_wait_event(int32_t device, void *event, struct tgt_async *async);
PLUGIN_EXPORT int32_t __tgt_rtl_sync_event(int32_t device, void *event);
PLUGIN_EXPORT int32_t __tgt_rtl_destroy_event(int32_t device, void *event);
PLUGIN_EXPORT int32_t __tgt_rtl_run_target_region(int32_t device, void *kernel, void **arguments,
                                                  ptrdiff_t *offsets, int32_t count);
PLUGIN_EXPORT int32_t __tgt_rtl_run_target_region_async(int32_t device, void *kernel,
                                                        void **arguments, ptrdiff_t *offsets,
                                                        int32_t count, struct tgt_async *async);
PLUGIN_EXPORT int32_t __tgt_rtl_run_target_team_region(int32_t device, void *kernel,
                                                       void **arguments, ptrdiff_t *offsets,
                                                       int32_t count, int32_t teams,
                                                       int32_t thread_limit, uint64_t trip_count);
PLUGIN_EXPORT int32_t __tgt_rtl_run_target_team_region_async(
    int32_t device, void *kernel, void **arguments, ptrdiff_t *offsets, int32_t count,
    int32_t teams, int32_t thread_limit, uint64_t trip_count, struct tgt_async *async);
PLUGIN_EXPORT int32_t __tgt_rtl_register_lib(void *description);
PLUGIN_EXPORT int32_t __tgt_rtl_unregister_lib(void *description);
PLUGIN_EXPORT int32_t __tgt_rtl_init_device_info(int32_t device, struct tgt_device_info *info,
                                                 const char **error);
PLUGIN_EXPORT int32_t __tgt_rtl_init_async_info(int32_t device, struct tgt_async **async);
PLUGIN_EXPORT int32_t __tgt_rtl_release_async_info(int32_t device, struct tgt_async *async);
PLUGIN_EXPORT int32_t __tgt_rtl_init_plugin(void);
PLUGIN_EXPORT int32_t __tgt_rtl_deinit_plugin(void);
PLUGIN_EXPORT int32_t __tgt_rtl_deinit_device(int32_t device);
PLUGIN_EXPORT int32_t __tgt_rtl_is_valid_binary_info(struct tgt_image *image,
                                                     struct tgt_image_info *info);
PLUGIN_EXPORT int32_t __tgt_rtl_launch_kernel(int32_t device, void *kernel, void **arguments,
                                              ptrdiff_t *offsets,
                                              struct kernel_arguments *kernel_args,
                                              struct tgt_async *async);
PLUGIN_EXPORT int32_t __tgt_rtl_data_lock(int32_t device, void *host, int64_t bytes, void **locked);
PLUGIN_EXPORT int32_t __tgt_rtl_data_unlock(int32_t device, void *host);
PLUGIN_EXPORT int32_t __tgt_rtl_data_notify_mapped(int32_t device, void *host, int64_t bytes);
PLUGIN_EXPORT int32_t __tgt_rtl_data_notify_unmapped(int32_t device, void *host);
PLUGIN_EXPORT intptr_t __tgt_rtl_load_binary(int32_t device, struct tgt_image *image,
                                             struct tgt_binary *binary);
PLUGIN_EXPORT int32_t __tgt_rtl_get_global(struct tgt_binary binary, uint64_t bytes,
                                           const char *name, void **address);
PLUGIN_EXPORT int32_t __tgt_rtl_get_function(struct tgt_binary binary, const char *name,
                                             void **address);
PLUGIN_EXPORT int32_t __tgt_rtl_use_auto_zero_copy(int32_t device);
/* NOLINTEND(bugprone-reserved-identifier) */

#endif
