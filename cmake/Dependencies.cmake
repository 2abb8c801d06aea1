# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Dependencies.cmake: finds what omprma is built from, and names the Debian package of what is
# missing. Gives the imported targets MPI::MPI_C, omprma::ffi, omprma::elf, omprma::hwloc,
# omprma::nettle, omprma::xxhash, omprma::zlib, omprma::cjson, omprma::bsd and, with tests,
# omprma::cmocka.

find_package(PkgConfig)
if(NOT PkgConfig_FOUND)
    message(FATAL_ERROR "pkg-config not found: install the Debian package pkg-config")
endif()
find_package(Threads REQUIRED)

include(${CMAKE_CURRENT_LIST_DIR}/Mpi.cmake)

# Where Open MPI's own settings for the whole machine are, see src/control/library/quick.c. Empty: nowhere.
find_program(OMPRMA_OMPI_INFO ompi_info)
set(OMPRMA_MPI_SETTINGS "")
if(OMPRMA_OMPI_INFO)
    execute_process(COMMAND ${OMPRMA_OMPI_INFO} --parsable --path sysconfdir
        OUTPUT_VARIABLE mpi_folder ERROR_QUIET)
    if(mpi_folder MATCHES "path:sysconfdir:([^\n]+)")
        set(OMPRMA_MPI_SETTINGS "${CMAKE_MATCH_1}/openmpi-mca-params.conf")
    endif()
endif()

function(omprma_find name module minimum package)
    pkg_check_modules(${name} QUIET IMPORTED_TARGET GLOBAL ${module}>=${minimum})
    if(NOT ${name}_FOUND)
        message(FATAL_ERROR "${module} ${minimum} or newer not found by pkg-config: install the "
                            "Debian package ${package}")
    endif()
    add_library(omprma::${name} ALIAS PkgConfig::${name})
endfunction()

omprma_find(ffi libffi 3.3 libffi-dev)
omprma_find(elf libelf 0.180 libelf-dev)
omprma_find(dw libdw 0.180 libdw-dev)
omprma_find(hwloc hwloc 2.0 libhwloc-dev)
omprma_find(nettle nettle 3.4 nettle-dev)
omprma_find(xxhash libxxhash 0.8 libxxhash-dev)
omprma_find(zlib zlib 1.2.11 zlib1g-dev)
omprma_find(cjson libcjson 1.7 libcjson-dev)
omprma_find(bsd libbsd 0.11 libbsd-dev)

# Only UCX's headers: src/rma/ucx_library.c opens the library where it is used.
pkg_check_modules(ucx QUIET ucx>=1.11)
if(NOT ucx_FOUND)
    message(STATUS "ucx 1.11 or newer not found by pkg-config (Debian package libucx-dev): without MPI, data "
                   "between hosts goes by sockets only")
endif()
if(OMPRMA_TESTS)
    omprma_find(cmocka cmocka 1.1 libcmocka-dev)
endif()
