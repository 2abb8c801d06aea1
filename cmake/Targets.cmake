# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Targets.cmake: how omprma's own targets are compiled and how their sources are found.

set(OMPRMA_SANITIZE "" CACHE STRING "Value for -fsanitize=, empty for none")

set(warnings all extra shadow pointer-arith strict-prototypes missing-prototypes)
list(TRANSFORM warnings PREPEND -W OUTPUT_VARIABLE warn)

add_library(omprma_flags INTERFACE)
target_compile_options(omprma_flags INTERFACE ${warn}
    $<$<BOOL:${OMPRMA_WERROR}>:-Werror>)
# Empty, as in the files that define it themselves, so that both may stand.
target_compile_definitions(omprma_flags INTERFACE _GNU_SOURCE=
    OMPRMA_MPI_SETTINGS="${OMPRMA_MPI_SETTINGS}") # see Dependencies.cmake
target_include_directories(omprma_flags INTERFACE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
target_link_options(omprma_flags INTERFACE -Wl,--as-needed -Wl,-z,relro -Wl,-z,now)
if(NOT OMPRMA_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL Debug)
    target_compile_options(omprma_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()

# A small region is some thousand instructions in a hundred small functions: optimized across files
# it takes a sixth less time, and by -O3, which lays functions out in one another, another 4 %. Objects that tests link, too, hold ordinary code beside that for the
# linker's optimizer: tests replace functions, and are to be linked fast.
option(OMPRMA_LTO "Optimize libraries and workers across files, with gcc and without sanitizers" ON)
if(OMPRMA_LTO AND CMAKE_C_COMPILER_ID STREQUAL GNU AND NOT OMPRMA_SANITIZE
   AND NOT CMAKE_BUILD_TYPE STREQUAL Debug)
    include(CheckIPOSupported)
    check_ipo_supported(RESULT can_optimize_across_files LANGUAGES C)
endif()
if(can_optimize_across_files)
    set(across_files $<BOOL:$<TARGET_PROPERTY:OMPRMA_ACROSS_FILES>>)
    target_compile_options(omprma_flags INTERFACE
        $<IF:${across_files},-flto=auto,-fno-lto> $<${across_files}:-ffat-lto-objects>
        $<${across_files}:-O3>)
    target_link_options(omprma_flags INTERFACE $<IF:${across_files},-flto=auto,-fno-lto>)
endif()

# Small regions miss the processor's cache of instructions a hundred times; laid out by what runs, four times
# fewer. scripts/record builds what records that, and lets it run; later builds find it by the names of their
# objects, in whatever folder they are.
set(OMPRMA_PROFILE "" CACHE PATH "Folder of what was recorded, to lay code out by")
option(OMPRMA_RECORD "Build libraries and workers that record into OMPRMA_PROFILE" OFF)
if(OMPRMA_PROFILE)
    if(EXISTS ${OMPRMA_PROFILE}/compiler) # written last
        file(READ ${OMPRMA_PROFILE}/compiler recorded_by)
        string(STRIP "${recorded_by}" recorded_by)
    endif()
    set(names -fprofile-prefix-path=${PROJECT_BINARY_DIR})
    include(CheckCCompilerFlag)
    check_c_compiler_flag(${names} can_name_profile)
endif()
if(OMPRMA_RECORD AND NOT (OMPRMA_PROFILE AND can_optimize_across_files AND can_name_profile))
    message(FATAL_ERROR "OMPRMA_RECORD needs gcc from 12 on, OMPRMA_LTO, and a folder OMPRMA_PROFILE")
elseif(OMPRMA_RECORD)
    set(profile -fprofile-generate=${OMPRMA_PROFILE} -fprofile-update=atomic ${names})
elseif(recorded_by STREQUAL CMAKE_C_COMPILER_VERSION AND can_optimize_across_files AND can_name_profile)
    # A function whose shape has changed since, or that never ran, is compiled as if nothing were recorded.
    set(profile -fprofile-use=${OMPRMA_PROFILE} -fprofile-partial-training ${names}
        -Wno-missing-profile -Wno-coverage-mismatch)
    # gcc warns of functions changed since, by a warning without a name: those with one are errors.
    if(OMPRMA_WERROR)
        set(by_default incompatible-pointer-types int-conversion discarded-qualifiers overflow attributes)
        list(TRANSFORM warnings PREPEND -Werror= OUTPUT_VARIABLE errors)
        list(TRANSFORM by_default PREPEND -Werror=)
        set(profile_errors -Wno-error ${errors} ${by_default})
    endif()
    message(STATUS "Code is laid out by what was recorded in ${OMPRMA_PROFILE}")
elseif(OMPRMA_PROFILE)
    message(STATUS "Code is not laid out by what runs: ${OMPRMA_PROFILE} has nothing of this compiler's; "
        "scripts/record makes it, with gcc from 12 on, and small regions take a fifth less time")
endif()
if(profile)
    target_compile_options(omprma_flags INTERFACE "$<${across_files}:${profile};${profile_errors}>")
    target_link_options(omprma_flags INTERFACE ${profile}) # programs link some of their objects, too
endif()

# omprma_across_files(TARGET...): these are optimized so.
function(omprma_across_files)
    set_target_properties(${ARGN} PROPERTIES OMPRMA_ACROSS_FILES ON)
endfunction()

if(OMPRMA_SANITIZE)
    target_compile_options(omprma_flags INTERFACE
        -fsanitize=${OMPRMA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(omprma_flags INTERFACE -fsanitize=${OMPRMA_SANITIZE})
    foreach(kind address thread) # gcc says by itself what sources ask for
        if(CMAKE_C_COMPILER_ID MATCHES Clang AND OMPRMA_SANITIZE MATCHES ${kind})
            string(TOUPPER __sanitize_${kind}__ macro)
            target_compile_definitions(omprma_flags INTERFACE ${macro}=1)
        endif()
    endforeach()
else()
    # Sanitizer runtimes are resolved in the program, so only plain builds can insist on this.
    target_link_options(omprma_flags INTERFACE -Wl,--no-undefined)
endif()

# omprma_sources(VARIABLE FOLDER...): all C files of the folders; a new file needs no edit here.
function(omprma_sources variable)
    set(all "")
    foreach(folder IN LISTS ARGN)
        file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.c)
        list(APPEND all ${found})
    endforeach()
    set(${variable} ${all} PARENT_SCOPE)
endfunction()

# omprma_program(NAME FOLDER LIBRARY...): a program in bin that finds its library beside it.
function(omprma_program name folder)
    omprma_sources(sources ${folder})
    if(NOT sources)
        return()
    endif()
    add_executable(${name} ${sources})
    omprma_program_properties(${name} ${ARGN})
endfunction()

function(omprma_program_properties name)
    target_link_libraries(${name} PRIVATE omprma_flags ${ARGN})
    set_target_properties(${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin
        BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../lib")
    install(TARGETS ${name} RUNTIME DESTINATION bin COMPONENT programs)
endfunction()

# omprma_internal(NAME SOURCE...): a static library for our own programs and tests; never installed.
function(omprma_internal name)
    if(ARGN)
        add_library(${name} STATIC ${ARGN})
        target_link_libraries(${name} PRIVATE omprma_flags)
    else()
        add_library(${name} INTERFACE)
    endif()
endfunction()
