/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * exports.h: all functions that programs and libomp call by name, of clang 14 to 23. They are the
 * only symbols that the library exports, with the version VERS1.0, or libomp's or glibc's. OpenMP's
 * specification says what the omp_* functions do; types are written out, because omp.h differs
 * between versions.
 */
#ifndef OMPRMA_OPENMP_ABI_EXPORTS_H
#define OMPRMA_OPENMP_ABI_EXPORTS_H

#include <stdint.h>

#include "openmp/abi/abi.h"
#include "openmp/abi/libomp.h"

struct interop;

/* What an omp_depend_t points to is an array of libomp's; only libomp knows more. */
typedef void *depend_object;

/* NOLINTBEGIN(bugprone-reserved-identifier): LLVM chose the names. */

/* ---- registration (entry.c) ---- */
ABI_EXPORT void __tgt_register_lib(const struct abi_library *library);
ABI_EXPORT void __tgt_unregister_lib(const struct abi_library *library);
ABI_EXPORT void __tgt_register_requires(int64_t clauses);
ABI_EXPORT void __tgt_init_all_rtls(void);

/* ---- what comes before main() (start_main.c): glibc's function is called from there ---- */
typedef int main_routine_t(int count, char **arguments, char **environment);
typedef int start_main_t(main_routine_t *routine, int count, char **arguments, void (*init)(void),
                         void (*fini)(void), void (*loader_fini)(void), void *stack_end);
ABI_EXPORT start_main_t __libc_start_main;

/* ---- constructs (entry.c) ---- */
ABI_EXPORT int __tgt_target_kernel(struct location *where, int64_t device, int32_t teams,
                                   int32_t threads, void *host_id,
                                   struct kernel_arguments *arguments);
ABI_EXPORT int __tgt_target_kernel_nowait(struct location *where, int64_t device, int32_t teams,
                                          int32_t threads, void *host_id,
                                          struct kernel_arguments *arguments, int32_t count,
                                          void *dependences, int32_t alias_free_count,
                                          void *alias_free);
ABI_EXPORT void __tgt_target_data_begin_mapper(struct location *where, int64_t device,
                                               int32_t count, void **bases, void **begins,
                                               int64_t *sizes, int64_t *types, void **names,
                                               void **mappers);
ABI_EXPORT void __tgt_target_data_end_mapper(struct location *where, int64_t device, int32_t count,
                                             void **bases, void **begins, int64_t *sizes,
                                             int64_t *types, void **names, void **mappers);
ABI_EXPORT void __tgt_target_data_update_mapper(struct location *where, int64_t device,
                                                int32_t count, void **bases, void **begins,
                                                int64_t *sizes, int64_t *types, void **names,
                                                void **mappers);
ABI_EXPORT void __tgt_target_data_begin_nowait_mapper(struct location *where, int64_t device,
                                                      int32_t count, void **bases, void **begins,
                                                      int64_t *sizes, int64_t *types, void **names,
                                                      void **mappers, int32_t dependence_count,
                                                      void *dependences, int32_t alias_free_count,
                                                      void *alias_free);
ABI_EXPORT void __tgt_target_data_end_nowait_mapper(struct location *where, int64_t device,
                                                    int32_t count, void **bases, void **begins,
                                                    int64_t *sizes, int64_t *types, void **names,
                                                    void **mappers, int32_t dependence_count,
                                                    void *dependences, int32_t alias_free_count,
                                                    void *alias_free);
ABI_EXPORT void __tgt_target_data_update_nowait_mapper(struct location *where, int64_t device,
                                                       int32_t count, void **bases, void **begins,
                                                       int64_t *sizes, int64_t *types, void **names,
                                                       void **mappers, int32_t dependence_count,
                                                       void *dependences, int32_t alias_free_count,
                                                       void *alias_free);

/* libomp, from 16 on. */
ABI_EXPORT void __tgt_target_nowait_query(void **place);

/* ---- tasks (task.c): libomp's functions of these names are called from there ---- */
typedef struct task *task_alloc_t(void *location, int32_t thread, int32_t flags, size_t task_bytes,
                                  size_t shared_bytes, task_routine_t *routine, int64_t device);
ABI_EXPORT task_alloc_t __kmpc_omp_target_task_alloc;
ABI_EXPORT int32_t __kmpc_omp_task(void *location, int32_t thread, struct task *task);
ABI_EXPORT int32_t __kmpc_omp_task_with_deps(void *location, int32_t thread, struct task *task,
                                             int32_t count, struct dependence *dependences,
                                             int32_t alias_free_count,
                                             struct dependence *alias_free);
ABI_EXPORT int32_t __kmpc_omp_taskwait(void *location, int32_t thread);
ABI_EXPORT void __kmpc_omp_wait_deps(void *location, int32_t thread, int32_t count,
                                     struct dependence *dependences, int32_t alias_free_count,
                                     struct dependence *alias_free);
ABI_EXPORT void __kmpc_omp_taskwait_deps_51(void *location, int32_t thread, int32_t count,
                                            struct dependence *dependences,
                                            int32_t alias_free_count, struct dependence *alias_free,
                                            int32_t nowait);
ABI_EXPORT void __kmpc_taskgroup(void *location, int32_t thread);
ABI_EXPORT void __kmpc_end_taskgroup(void *location, int32_t thread);
ABI_EXPORT void __kmpc_barrier(void *location, int32_t thread);
ABI_EXPORT void __kmpc_fork_call(void *location, int32_t count, microtask_t *body, ...);
ABI_EXPORT void __kmpc_fork_call_if(void *location, int32_t count, microtask_t *body,
                                    int32_t condition, void *argument);
ABI_EXPORT void *__kmpc_taskred_init(int32_t thread, int32_t count, void *data);
ABI_EXPORT void *__kmpc_taskred_modifier_init(void *location, int32_t thread, int32_t shares,
                                              int32_t count, void *data);
ABI_EXPORT void __kmpc_task_reduction_modifier_fini(void *location, int32_t thread, int32_t shares);
ABI_EXPORT void *__kmpc_task_reduction_get_th_data(int32_t thread, void *group, void *data);

/* ---- mappers (mapper.c) ---- */
ABI_EXPORT int64_t __tgt_mapper_num_components(void *handle);
ABI_EXPORT void __tgt_push_mapper_component(void *handle, void *base, void *begin, int64_t size,
                                            int64_t type, void *name);

/* ---- constructs of clang 14 (entry_14.c) ---- */
ABI_EXPORT int __tgt_target_mapper(struct location *where, int64_t device, void *host_id,
                                   int32_t count, void **bases, void **begins, int64_t *sizes,
                                   int64_t *types, void **names, void **mappers);
ABI_EXPORT int __tgt_target_nowait_mapper(struct location *where, int64_t device, void *host_id,
                                          int32_t count, void **bases, void **begins,
                                          int64_t *sizes, int64_t *types, void **names,
                                          void **mappers, int32_t dependence_count,
                                          void *dependences, int32_t alias_free_count,
                                          void *alias_free);
ABI_EXPORT int __tgt_target_teams_mapper(struct location *where, int64_t device, void *host_id,
                                         int32_t count, void **bases, void **begins, int64_t *sizes,
                                         int64_t *types, void **names, void **mappers,
                                         int32_t teams, int32_t threads);
ABI_EXPORT int __tgt_target_teams_nowait_mapper(struct location *where, int64_t device,
                                                void *host_id, int32_t count, void **bases,
                                                void **begins, int64_t *sizes, int64_t *types,
                                                void **names, void **mappers, int32_t teams,
                                                int32_t threads, int32_t dependence_count,
                                                void *dependences, int32_t alias_free_count,
                                                void *alias_free);
ABI_EXPORT void __kmpc_push_target_tripcount(int64_t device, uint64_t count);
ABI_EXPORT void __kmpc_push_target_tripcount_mapper(struct location *where, int64_t device,
                                                    uint64_t count);

/* ---- devices (api_device.c) ---- */
ABI_EXPORT int omp_get_num_devices(void);
ABI_EXPORT int __tgt_get_num_devices(void);
ABI_EXPORT int omp_get_device_num(void);
ABI_EXPORT int omp_get_initial_device(void);
ABI_EXPORT const char *omp_get_uid_from_device(int device);
ABI_EXPORT int omp_get_device_from_uid(const char *uid);
ABI_EXPORT void __tgt_set_info_flag(uint32_t flags);
ABI_EXPORT int __tgt_print_device_info(int64_t device);
ABI_EXPORT void ompx_dump_mapping_tables(void);

/* ---- memory (api_memory.c, api_copy.c, api_async.c) ---- */
ABI_EXPORT void *omp_target_alloc(size_t bytes, int device);
ABI_EXPORT void omp_target_free(void *address, int device);
ABI_EXPORT int omp_target_is_present(const void *host, int device);
ABI_EXPORT int omp_target_is_accessible(const void *host, size_t bytes, int device);
ABI_EXPORT int omp_target_associate_ptr(const void *host, const void *address, size_t bytes,
                                        size_t offset, int device);
ABI_EXPORT int omp_target_disassociate_ptr(const void *host, int device);
ABI_EXPORT void *omp_get_mapped_ptr(const void *host, int device);
ABI_EXPORT int omp_target_memcpy(void *to, const void *from, size_t bytes, size_t to_offset,
                                 size_t from_offset, int to_device, int from_device);
ABI_EXPORT int omp_target_memcpy_rect(void *to, const void *from, size_t element_bytes,
                                      int dimensions, const size_t *volume,
                                      const size_t *to_offsets, const size_t *from_offsets,
                                      const size_t *to_dimensions, const size_t *from_dimensions,
                                      int to_device, int from_device);
ABI_EXPORT void *omp_target_memset(void *address, int value, size_t bytes, int device);
ABI_EXPORT int omp_target_memcpy_async(void *to, const void *from, size_t bytes, size_t to_offset,
                                       size_t from_offset, int to_device, int from_device,
                                       int depend_count, depend_object *depends);
ABI_EXPORT int omp_target_memcpy_rect_async(void *to, const void *from, size_t element_bytes,
                                            int dimensions, const size_t *volume,
                                            const size_t *to_offsets, const size_t *from_offsets,
                                            const size_t *to_dimensions,
                                            const size_t *from_dimensions, int to_device,
                                            int from_device, int depend_count,
                                            depend_object *depends);
ABI_EXPORT void *omp_target_memset_async(void *address, int value, size_t bytes, int device,
                                         int depend_count, depend_object *depends);

/* ---- for libomp's allocators (api_allocator.c) ---- */
ABI_EXPORT void *llvm_omp_target_alloc_device(size_t bytes, int device);
ABI_EXPORT void *llvm_omp_target_alloc_host(size_t bytes, int device);
ABI_EXPORT void *llvm_omp_target_alloc_shared(size_t bytes, int device);
ABI_EXPORT void llvm_omp_target_free_device(void *address, int device);
ABI_EXPORT void llvm_omp_target_free_host(void *address, int device);
ABI_EXPORT void llvm_omp_target_free_shared(void *address, int device);
ABI_EXPORT void *llvm_omp_target_lock_mem(void *address, size_t bytes, int device);
ABI_EXPORT void llvm_omp_target_unlock_mem(void *address, int device);
ABI_EXPORT void *llvm_omp_target_dynamic_shared_alloc(void);
ABI_EXPORT void *llvm_omp_get_dynamic_shared(void);

/* ---- interop (interop.c) ---- */
ABI_EXPORT int omp_get_num_interop_properties(const struct interop *interop);
ABI_EXPORT intptr_t omp_get_interop_int(const struct interop *interop, int property, int *result);
ABI_EXPORT void *omp_get_interop_ptr(const struct interop *interop, int property, int *result);
ABI_EXPORT const char *omp_get_interop_str(const struct interop *interop, int property,
                                           int *result);
ABI_EXPORT const char *omp_get_interop_name(const struct interop *interop, int property);
ABI_EXPORT const char *omp_get_interop_type_desc(const struct interop *interop, int property);
ABI_EXPORT const char *omp_get_interop_rc_desc(const struct interop *interop, int result);
/* libomp answers for the one above and asks for it by this name. */
ABI_EXPORT const char *omp_get_interop_rec_desc(const struct interop *interop, int result);
ABI_EXPORT struct interop *__tgt_interop_get(struct location *where, int32_t type, int64_t device,
                                             int32_t preference_count, void *preferences,
                                             struct interop_context *context,
                                             struct dependence_pack *pack);
ABI_EXPORT int __tgt_interop_use60(struct location *where, struct interop *interop,
                                   struct interop_context *context, struct dependence_pack *pack);
ABI_EXPORT int __tgt_interop_release(struct location *where, struct interop *interop,
                                     struct interop_context *context, struct dependence_pack *pack);
ABI_EXPORT void __tgt_target_sync(struct location *where, int32_t thread, void *task, void *event);
ABI_EXPORT void __tgt_interop_init(struct location *where, int32_t thread, struct interop **interop,
                                   int32_t type, int32_t device, int32_t count, void *dependences,
                                   int32_t nowait);
ABI_EXPORT void __tgt_interop_use(struct location *where, int32_t thread, struct interop **interop,
                                  int32_t device, int32_t count, void *dependences, int32_t nowait);
ABI_EXPORT void __tgt_interop_destroy(struct location *where, int32_t thread,
                                      struct interop **interop, int32_t device, int32_t count,
                                      void *dependences, int32_t nowait);

/* NOLINTEND(bugprone-reserved-identifier) */

#endif
