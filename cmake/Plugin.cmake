# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Plugin.cmake: the plugin for LLVM's libomptarget, and the folders through which each LLVM version
# finds it. lib/omprma/llvm-NN holds the plugin under the names that this version looks for and a
# link to that version's own libomptarget, because from 15 on plugins may be looked for beside it.

omprma_sources(plugin_sources src/plugin src/face)
if(NOT plugin_sources)
    return()
endif()

add_library(omprma_plugin MODULE ${plugin_sources})
target_link_libraries(omprma_plugin PRIVATE omprma_flags omprma Threads::Threads)
target_link_options(omprma_plugin PRIVATE -Wl,-z,nodelete)
omprma_across_files(omprma_plugin)
# $ORIGIN is the folder of the link through which the plugin was opened, not that of the file.
set_target_properties(omprma_plugin PROPERTIES
    PREFIX "" OUTPUT_NAME libomprma-plugin
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/omprma
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../..:$ORIGIN/..")
install(TARGETS omprma_plugin LIBRARY DESTINATION lib/omprma COMPONENT programs)

set(plugin_folders ${CMAKE_CURRENT_LIST_DIR}/PluginFolders.cmake)
add_custom_target(omprma_plugin_folders ALL
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_BINARY_DIR}/lib/omprma
            -DTOOLCHAINS=${PROJECT_SOURCE_DIR}/build/toolchains -P ${plugin_folders}
    DEPENDS omprma_plugin COMMENT "Linking the plugin folders" VERBATIM)
# An installed tree must not point back into a build tree, so only the system's LLVM is linked.
install(CODE "
    execute_process(COMMAND \"${CMAKE_COMMAND}\"
        -DFOLDER=\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/omprma -P \"${plugin_folders}\"
        COMMAND_ERROR_IS_FATAL ANY)" COMPONENT plugin-folders)
