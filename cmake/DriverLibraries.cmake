# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# DriverLibraries.cmake: the libraries through which programs use GPUs: lib/omprma/cuda/libcuda.so and
# libcuda.so.1, lib/omprma/hsa/libhsa-runtime64.so and .so.1. Each has a folder of its own, which
# omprma-run gives to programs and never to workers: these need the real one, which has the same names.

# omprma_driver_library(KIND OUTPUT): libOUTPUT.so and .so.1 from src/KIND, and its sources for unit tests,
# omprma_KIND_core.
function(omprma_driver_library kind output)
    omprma_sources(sources src/${kind} src/face src/face/driver)
    set(map ${PROJECT_SOURCE_DIR}/src/${kind}/exports.map)
    omprma_internal(omprma_${kind}_core ${sources})
    target_link_libraries(omprma_${kind}_core PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
    target_link_libraries(omprma_${kind}_core PRIVATE omprma::bsd)

    add_library(omprma_${kind} SHARED ${sources})
    add_dependencies(omprma_${kind} omprma_end)
    target_link_libraries(omprma_${kind} PRIVATE omprma_flags omprma omprma::bsd Threads::Threads
        ${CMAKE_DL_LIBS})
    # Programs close the library while its threads run. Names mean its own functions inside of it, even
    # where the real library is loaded, too.
    target_link_options(omprma_${kind} PRIVATE -Wl,-z,nodelete -Wl,-Bsymbolic-functions
        -Wl,--version-script=${map})
    omprma_across_files(omprma_${kind})
    set_target_properties(omprma_${kind} PROPERTIES
        OUTPUT_NAME ${output} SOVERSION 1 LINK_DEPENDS ${map}
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/omprma/${kind}
        BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../..")
    install(TARGETS omprma_${kind} LIBRARY DESTINATION lib/omprma/${kind} COMPONENT programs)
endfunction()

omprma_driver_library(cuda cuda)
omprma_driver_library(hsa hsa-runtime64)
