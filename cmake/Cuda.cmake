# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Cuda.cmake: the CUDA driver library for programs, lib/omprma/cuda/libcuda.so and libcuda.so.1. It
# has a folder of its own, which omprma-run gives to programs and never to workers: these need the
# real driver, which has the same names.

omprma_sources(cuda_sources src/cuda src/face src/face/driver)
set(cuda_map ${PROJECT_SOURCE_DIR}/src/cuda/exports.map)
omprma_internal(omprma_cuda_core ${cuda_sources})
target_link_libraries(omprma_cuda_core PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
target_link_libraries(omprma_cuda_core PRIVATE omprma::bsd)

add_library(omprma_cuda SHARED ${cuda_sources})
add_dependencies(omprma_cuda omprma_end)
target_link_libraries(omprma_cuda PRIVATE omprma_flags omprma omprma::bsd Threads::Threads
    ${CMAKE_DL_LIBS})
# Names mean its own functions inside of it, even where another driver library is loaded, too.
target_link_options(omprma_cuda PRIVATE -Wl,-z,nodelete -Wl,-Bsymbolic-functions
    -Wl,--version-script=${cuda_map})
omprma_across_files(omprma_cuda)
set_target_properties(omprma_cuda PROPERTIES
    OUTPUT_NAME cuda SOVERSION 1 LINK_DEPENDS ${cuda_map}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/omprma/cuda
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../..")
install(TARGETS omprma_cuda LIBRARY DESTINATION lib/omprma/cuda COMPONENT programs)
