# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# OpenMP.cmake: our own OpenMP runtime for devices, in place of LLVM's libomptarget, and the folders
# through which programs and images of every LLVM version find it. lib/omprma/runtime holds a link to
# it under each name that programs ask for; lib/omprma/images the same links to a stub,
# because images ask for the name, too, and mostly use nothing of it.

omprma_sources(runtime_sources src/openmp/* src/face)
list(FILTER runtime_sources EXCLUDE REGEX "/openmp/(preload|stub)/") # libraries of their own
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/openmp/abi/libomp_names.c
    PROPERTIES COMPILE_OPTIONS -fno-lto)
set(runtime_map ${PROJECT_SOURCE_DIR}/src/openmp/exports.map)
set(runtime_test_sources ${runtime_sources}) # what tests link, who have a main() of their own
list(REMOVE_ITEM runtime_test_sources ${PROJECT_SOURCE_DIR}/src/openmp/entry/start_main.c)
omprma_internal(omprma_runtime_core ${runtime_test_sources})
target_link_libraries(omprma_runtime_core PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
target_link_libraries(omprma_runtime_core PRIVATE omprma::bsd)

# Beside libomprma.so, so that whoever finds that finds it, too.
add_library(omprma_end SHARED ${PROJECT_SOURCE_DIR}/src/face/end/end.c)
target_link_libraries(omprma_end PRIVATE omprma_flags)
set_target_properties(omprma_end PROPERTIES
    PREFIX "" OUTPUT_NAME libomprma-end LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
install(TARGETS omprma_end LIBRARY DESTINATION lib COMPONENT library)

add_library(omprma_runtime SHARED ${runtime_sources})
target_link_libraries(omprma_runtime PRIVATE omprma_flags omprma omprma::bsd Threads::Threads
    ${CMAKE_DL_LIBS})
target_link_options(omprma_runtime PRIVATE -Wl,-z,nodelete -Wl,--version-script=${runtime_map})
omprma_across_files(omprma_runtime)
set_target_properties(omprma_runtime PROPERTIES
    OUTPUT_NAME omprma-runtime LINK_DEPENDS ${runtime_map}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/omprma
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../..:$ORIGIN/..")

add_library(omprma_stub SHARED ${PROJECT_SOURCE_DIR}/src/openmp/stub/stub.c)
target_link_libraries(omprma_stub PRIVATE omprma_flags)
# Images may rely on functions of the compiler (complex arithmetic) that came with libomptarget.
target_link_options(omprma_stub PRIVATE -Wl,--version-script=${runtime_map}
    -Wl,--no-as-needed -lgcc_s)
set_target_properties(omprma_stub PROPERTIES
    OUTPUT_NAME omprma-stub LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/omprma)

# For what starts programs, see its head.
add_library(omprma_preload SHARED ${PROJECT_SOURCE_DIR}/src/openmp/preload/preload.c)
target_link_libraries(omprma_preload PRIVATE omprma_flags)
set_target_properties(omprma_preload PROPERTIES
    OUTPUT_NAME omprma-preload LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/omprma)
install(TARGETS omprma_runtime omprma_stub omprma_preload
    LIBRARY DESTINATION lib/omprma COMPONENT programs)

set(runtime_folders ${CMAKE_CURRENT_LIST_DIR}/RuntimeFolders.cmake)
add_custom_target(omprma_runtime_folders ALL
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_BINARY_DIR}/lib/omprma -P ${runtime_folders}
    DEPENDS omprma_runtime omprma_stub omprma_preload omprma_end COMMENT "Linking the runtime folders" VERBATIM)
install(CODE "
    execute_process(COMMAND \"${CMAKE_COMMAND}\"
        -DFOLDER=\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/omprma -P \"${runtime_folders}\"
        COMMAND_ERROR_IS_FATAL ANY)" COMPONENT programs)
