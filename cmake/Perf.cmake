# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Perf.cmake: the device image with the kernels that omprma-perf measures, built as a shared object
# and embedded in the program.

if(TARGET omprma-perf)
    set(perf_kernels ${PROJECT_BINARY_DIR}/perf/kernels.so)
    add_library(omprma_perf_kernels MODULE tools/perf/kernels/empty.c)
    set_target_properties(omprma_perf_kernels PROPERTIES
        PREFIX "" OUTPUT_NAME kernels LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/perf)
    # The object holds the file, so it is compiled again when that changes.
    add_custom_command(OUTPUT ${perf_kernels}.made DEPENDS omprma_perf_kernels
        COMMAND ${CMAKE_COMMAND} -E touch ${perf_kernels}.made VERBATIM)
    set_source_files_properties(tools/perf/kernels.c PROPERTIES
        COMPILE_DEFINITIONS "PERF_KERNELS=\"${perf_kernels}\"" OBJECT_DEPENDS ${perf_kernels}.made)
    # It calls the CUDA driver directly, too, to compare with.
    target_sources(omprma-perf PRIVATE ${perf_kernels}.made
        ${PROJECT_SOURCE_DIR}/worker/cuda/driver.c)
    target_link_libraries(omprma-perf PRIVATE ${CMAKE_DL_LIBS})
endif()
