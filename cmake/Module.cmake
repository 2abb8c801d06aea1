# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Module.cmake: lib/omprma/libomprma-mpi.so, the only thing of ours that is linked with MPI. libomprma.so
# and the worker open it when MPI connects the processes (src/control/module.c).

omprma_sources(mpi_sources src/control/mpi src/rma src/twosided)
list(FILTER mpi_sources EXCLUDE REGEX "/src/rma/ucx[^/]*$")
add_library(omprma_mpi_objects OBJECT ${mpi_sources})
target_link_libraries(omprma_mpi_objects PRIVATE omprma_flags MPI::MPI_C)

# For tests, which have it beside the core.
add_library(omprma_mpi_core STATIC $<TARGET_OBJECTS:omprma_mpi_objects>)
target_link_libraries(omprma_mpi_core PUBLIC omprma_core MPI::MPI_C)

# What it shares with the core keeps no state there; functions with state it gets from the core (entry.c).
omprma_sources(module_sources src/control/mpi/module src/control/library)
foreach(shared base/check base/peek base/shape control/channel control/wire control/shm/room
        control/shm/single_copy)
    list(APPEND module_sources ${PROJECT_SOURCE_DIR}/src/${shared}.c)
endforeach()
add_library(omprma_mpi MODULE $<TARGET_OBJECTS:omprma_mpi_objects> ${module_sources})
target_link_libraries(omprma_mpi PRIVATE omprma_flags MPI::MPI_C Threads::Threads ${CMAKE_DL_LIBS})
omprma_across_files(omprma_mpi_objects omprma_mpi)
set_target_properties(omprma_mpi PROPERTIES
    PREFIX "" OUTPUT_NAME libomprma-mpi LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/omprma
    BUILD_WITH_INSTALL_RPATH ON)
install(TARGETS omprma_mpi LIBRARY DESTINATION lib/omprma COMPONENT library)
add_dependencies(omprma omprma_mpi)
