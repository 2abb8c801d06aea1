# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Mpi.cmake: finds the MPI library that the module is linked with. Gives MPI::MPI_C, MPI_C_INCLUDE_DIRS
# and MPI_C_COMPILER. With OMPRMA_MPI=abi that is the standard mpi.h of MPI 5 with libmpi_abi, which
# Open MPI 6 and MPICH 5 both have: one build runs with either.

set(OMPRMA_MPI mpicc CACHE STRING "mpicc: the MPI library of MPI_C_COMPILER; abi: any that has the \
standard interface of MPI 5; auto: abi where its mpi.h and libmpi_abi.so are and no MPI_C_COMPILER is named, else mpicc")
set_property(CACHE OMPRMA_MPI PROPERTY STRINGS mpicc abi auto)
if(NOT OMPRMA_MPI MATCHES "^(mpicc|abi|auto)$")
    message(FATAL_ERROR "OMPRMA_MPI=${OMPRMA_MPI} cannot be used; allowed: mpicc, abi, auto")
endif()

# The folder of the standard mpi.h: all others have that name, too.
function(omprma_find_standard_header)
    set(places ${ARGN})
    foreach(prefix IN LISTS CMAKE_PREFIX_PATH CMAKE_SYSTEM_PREFIX_PATH)
        list(APPEND places ${prefix}/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi/include/standard_abi
            ${prefix}/lib/${CMAKE_LIBRARY_ARCHITECTURE}/mpi_abi_mpich/include
            ${prefix}/include/standard_abi ${prefix}/include/mpi_abi ${prefix}/include)
    endforeach()
    foreach(place IN LISTS places)
        set(lines "")
        if(EXISTS ${place}/mpi.h)
            file(STRINGS ${place}/mpi.h lines REGEX "define[ \t]+MPI_ABI_VERSION[ \t]+[1-9]")
        endif()
        if(lines)
            set(OMPRMA_MPI_ABI_INCLUDE ${place} CACHE PATH "Folder of the standard mpi.h" FORCE)
            return()
        endif()
    endforeach()
endfunction()

# Tests compile programs of their own by a command.
function(omprma_write_mpicc path)
    file(CONFIGURE OUTPUT ${path} @ONLY CONTENT
        "#!/bin/sh\nexec \"@CMAKE_C_COMPILER@\" \"-I@OMPRMA_MPI_ABI_INCLUDE@\" \"$@\" \"@OMPRMA_MPI_ABI_LIBRARY@\"\n")
    file(CHMOD ${path} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
        WORLD_READ WORLD_EXECUTE)
endfunction()

set(OMPRMA_MPI_IS_ABI FALSE)
if(OMPRMA_MPI STREQUAL abi OR (OMPRMA_MPI STREQUAL auto AND NOT MPI_C_COMPILER))
    pkg_check_modules(ompi_abi QUIET ompi-abi-c)
    if(NOT OMPRMA_MPI_ABI_INCLUDE)
        omprma_find_standard_header(${ompi_abi_INCLUDE_DIRS})
    endif()
    find_library(OMPRMA_MPI_ABI_LIBRARY mpi_abi HINTS ${ompi_abi_LIBRARY_DIRS}
        PATH_SUFFIXES openmpi/lib mpich/lib)
    if(OMPRMA_MPI_ABI_INCLUDE AND OMPRMA_MPI_ABI_LIBRARY)
        set(OMPRMA_MPI_IS_ABI TRUE)
    elseif(OMPRMA_MPI STREQUAL abi)
        message(FATAL_ERROR "OMPRMA_MPI=abi needs the standard mpi.h of MPI 5, in which MPI_ABI_VERSION "
            "is defined, and libmpi_abi.so, as of Open MPI 6 or MPICH 5. Found: mpi.h "
            "'${OMPRMA_MPI_ABI_INCLUDE}', library '${OMPRMA_MPI_ABI_LIBRARY}'. Install them (Debian: "
            "libopenmpi-dev or libmpich-dev of these versions), or name the folder by "
            "-DOMPRMA_MPI_ABI_INCLUDE=FOLDER and the library by -DOMPRMA_MPI_ABI_LIBRARY=FILE, or leave "
            "out OMPRMA_MPI to take the MPI library of mpicc")
    endif()
endif()

if(OMPRMA_MPI_IS_ABI)
    message(STATUS "MPI: the standard interface, ${OMPRMA_MPI_ABI_INCLUDE}/mpi.h, ${OMPRMA_MPI_ABI_LIBRARY}")
    add_library(MPI::MPI_C UNKNOWN IMPORTED GLOBAL)
    set_target_properties(MPI::MPI_C PROPERTIES IMPORTED_LOCATION ${OMPRMA_MPI_ABI_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${OMPRMA_MPI_ABI_INCLUDE})
    set(MPI_C_INCLUDE_DIRS ${OMPRMA_MPI_ABI_INCLUDE})
    set(MPI_C_COMPILER ${PROJECT_BINARY_DIR}/tests/mpicc-abi)
    omprma_write_mpicc(${MPI_C_COMPILER})
else()
    find_package(MPI COMPONENTS C)
    if(NOT MPI_C_FOUND)
        message(FATAL_ERROR "MPI for C not found: install the Debian packages libopenmpi-dev and "
                            "openmpi-bin, or set MPI_C_COMPILER to the mpicc to use")
    endif()
endif()
