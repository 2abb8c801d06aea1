# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Install.cmake: what else belongs to an installed tree. Everything in it refers to the rest by
# relative paths, so that the tree can be moved.

include(CMakePackageConfigHelpers)

install(TARGETS omprma EXPORT omprmaTargets
    LIBRARY DESTINATION lib COMPONENT library NAMELINK_COMPONENT development)
install(DIRECTORY include/omprma DESTINATION include COMPONENT development
    FILES_MATCHING PATTERN "*.h")
install(EXPORT omprmaTargets NAMESPACE omprma:: DESTINATION lib/cmake/omprma
    COMPONENT development)

configure_package_config_file(cmake/omprmaConfig.cmake.in omprmaConfig.cmake
    INSTALL_DESTINATION lib/cmake/omprma NO_SET_AND_CHECK_MACRO
    NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(omprmaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/omprmaOffload.cmake ${PROJECT_BINARY_DIR}/omprmaConfig.cmake
              ${PROJECT_BINARY_DIR}/omprmaConfigVersion.cmake DESTINATION lib/cmake/omprma
    COMPONENT development)

configure_file(cmake/omprma.pc.in omprma.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/omprma.pc DESTINATION lib/pkgconfig
    COMPONENT development)
install(FILES LICENSE DESTINATION share/doc/omprma COMPONENT license)

set(OMPRMA_MODULE_NEEDS "" CACHE STRING "Modules that the environment module loads, with blanks between: \"openmpi/4.1 llvm/19\"")
configure_file(packaging/module/omprma.in modulefile @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/modulefile
    DESTINATION share/omprma/modulefiles/omprma RENAME ${PROJECT_VERSION} COMPONENT modulefile)
# Pages for users; those for developers are in the repository.
install(FILES README.md CHANGELOG.md SECURITY.md CITATION.cff DESTINATION share/doc/omprma COMPONENT documents)
install(FILES perf/README.md DESTINATION share/doc/omprma/perf COMPONENT documents)
foreach(folder docs/tutorial docs/how-to docs/reference docs/explanation docs/pictures examples)
    get_filename_component(above ${folder} DIRECTORY)
    install(DIRECTORY ${folder} DESTINATION share/doc/omprma/${above} COMPONENT documents
        FILES_MATCHING PATTERN "*.md" PATTERN "*.c" PATTERN "*.svg")
endforeach()
install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\"
    -DFOLDER=\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/doc/omprma
    -P \"${PROJECT_SOURCE_DIR}/cmake/Documents.cmake\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT documents)

# cmake --build FOLDER --target uninstall removes what the last cmake --install of it wrote.
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DLIST=${PROJECT_BINARY_DIR}/install_manifest.txt
    -P ${PROJECT_SOURCE_DIR}/cmake/Uninstall.cmake VERBATIM)
