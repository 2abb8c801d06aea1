# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# omprmaOffload.cmake: for programs with target regions, by find_package(omprma).
#
#   omprma_offload(TARGET)
#       The target's C, C++ and Fortran sources are compiled, and it is linked, so that omprma-run
#       can run its target regions on workers. Libraries with target regions are named, too.
#
#   omprma_add_test(NAME name COMMAND command [ARG...] [WORKERS n] [OPTIONS option...])
#       A test that runs the command, a target or a program, by omprma-run on n workers (1). It is
#       taken to need a processor for each, and one more.

set(OMPRMA_TARGETS x86_64-pc-linux-gnu CACHE STRING
    "What -fopenmp-targets= names in programs of omprma_offload()")

function(omprma_offload target)
    foreach(language C CXX)
        if(CMAKE_${language}_COMPILER_LOADED AND NOT CMAKE_${language}_COMPILER_ID MATCHES "Clang")
            message(FATAL_ERROR "omprma_offload(${target}): target regions for workers need clang, and "
                "CMAKE_${language}_COMPILER is ${CMAKE_${language}_COMPILER_ID}: give "
                "-DCMAKE_${language}_COMPILER=clang++ or clang, in a fresh build folder")
        endif()
    endforeach()
    set(options -fopenmp -fopenmp-targets=${OMPRMA_TARGETS})
    target_compile_options(${target} PRIVATE ${options})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "STATIC_LIBRARY" OR type STREQUAL "OBJECT_LIBRARY")
        target_link_options(${target} INTERFACE ${options}) # of what takes it in
    else()
        target_link_options(${target} PRIVATE ${options})
    endif()
endfunction()

function(omprma_add_test)
    cmake_parse_arguments(PARSE_ARGV 0 test "" "NAME;WORKERS" "COMMAND;OPTIONS")
    if(NOT test_NAME OR NOT test_COMMAND)
        message(FATAL_ERROR "omprma_add_test(): NAME and COMMAND are needed")
    endif()
    if(NOT test_WORKERS)
        set(test_WORKERS 1)
    endif()
    list(POP_FRONT test_COMMAND program)
    if(TARGET ${program})
        set(program $<TARGET_FILE:${program}>)
    endif()
    add_test(NAME ${test_NAME} COMMAND ${omprma_RUN} -n ${test_WORKERS} ${test_OPTIONS} --
        ${program} ${test_COMMAND})
    math(EXPR processors "${test_WORKERS} + 1")
    set_tests_properties(${test_NAME} PROPERTIES PROCESSORS ${processors})
endfunction()
