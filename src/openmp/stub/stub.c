/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stub.c: stands in for libomptarget on a worker. Images ask for it by name and mostly use nothing
 * of it; but an image may need a library of the program that has target regions itself (linked
 * since clang 19), and then the loader wants its functions and the library registers its own
 * images. To a worker there are no devices: regions run where they are, registrations are
 * forgotten.
 */
#define STUB __attribute__((visibility("default")))

#define ANSWERS(name, value)                                                                       \
    STUB long name(void);                                                                          \
    long name(void)                                                                                \
    {                                                                                              \
        return value;                                                                              \
    }
#define NOTHING(name) ANSWERS(name, 0)
#define RUN_IT_HERE(name) ANSWERS(name, 1)

/* NOLINTBEGIN(bugprone-reserved-identifier): LLVM chose the names. */
RUN_IT_HERE(__tgt_target_kernel)
RUN_IT_HERE(__tgt_target_kernel_nowait)
RUN_IT_HERE(__tgt_target_mapper)
RUN_IT_HERE(__tgt_target_nowait_mapper)
RUN_IT_HERE(__tgt_target_teams_mapper)
RUN_IT_HERE(__tgt_target_teams_nowait_mapper)
NOTHING(__tgt_register_lib)
NOTHING(__tgt_unregister_lib)
NOTHING(__tgt_register_requires)
NOTHING(__tgt_init_all_rtls)
NOTHING(__tgt_target_data_begin_mapper)
NOTHING(__tgt_target_data_end_mapper)
NOTHING(__tgt_target_data_update_mapper)
NOTHING(__tgt_target_data_begin_nowait_mapper)
NOTHING(__tgt_target_data_end_nowait_mapper)
NOTHING(__tgt_target_data_update_nowait_mapper)
NOTHING(__tgt_mapper_num_components)
NOTHING(__tgt_push_mapper_component)
NOTHING(__tgt_interop_init)
NOTHING(__tgt_interop_use)
NOTHING(__tgt_interop_destroy)
NOTHING(__tgt_interop_get)
NOTHING(__tgt_interop_release)
NOTHING(__tgt_interop_use60)
NOTHING(__kmpc_push_target_tripcount)
NOTHING(__kmpc_push_target_tripcount_mapper)
NOTHING(omp_get_num_devices)
NOTHING(omp_get_device_num)
NOTHING(omp_get_initial_device)
NOTHING(omp_target_alloc)
NOTHING(omp_target_free)
NOTHING(omp_target_is_present)
NOTHING(omp_get_mapped_ptr)
RUN_IT_HERE(omp_target_memcpy)
RUN_IT_HERE(omp_target_memcpy_rect)
RUN_IT_HERE(omp_target_associate_ptr)
RUN_IT_HERE(omp_target_disassociate_ptr)
/* NOLINTEND(bugprone-reserved-identifier) */
