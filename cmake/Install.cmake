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

configure_file(packaging/module/omprma.in modulefile @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/modulefile
    DESTINATION share/omprma/modulefiles/omprma RENAME ${PROJECT_VERSION} COMPONENT modulefile)
install(FILES README.md DESTINATION share/doc/omprma COMPONENT documents)
install(DIRECTORY docs examples DESTINATION share/doc/omprma COMPONENT documents
    FILES_MATCHING PATTERN "*.md" PATTERN "*.c" PATTERN "site" EXCLUDE)

# cmake --build FOLDER --target uninstall removes what the last cmake --install of it wrote.
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DLIST=${PROJECT_BINARY_DIR}/install_manifest.txt
    -P ${PROJECT_SOURCE_DIR}/cmake/Uninstall.cmake VERBATIM)
