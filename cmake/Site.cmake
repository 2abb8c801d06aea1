# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Site.cmake: cmake --build FOLDER --target site makes FOLDER/site/index.html, all documents, to be
# read without a network. Warnings, and so dead links, are errors.

find_program(OMPRMA_SPHINX sphinx-build)
if(NOT OMPRMA_SPHINX OR NOT TARGET omprma_manuals)
    return()
endif()
# Copies, because Sphinx 9 looks for what pages refer to beside the file that a link leads to.
set(site ${PROJECT_BINARY_DIR}/site-source)
set(files README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md CITATION.cff LICENSE CMakePresets.json docs/site/index.md)
list(TRANSFORM files PREPEND ${PROJECT_SOURCE_DIR}/)
set(copies COMMAND ${CMAKE_COMMAND} -E rm -rf ${site} COMMAND ${CMAKE_COMMAND} -E make_directory ${site}
    COMMAND ${CMAKE_COMMAND} -E copy ${files} ${site})
foreach(folder docs examples perf tests scripts src include worker tools cmake packaging)
    list(APPEND copies COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/${folder} ${site}/${folder})
endforeach()
add_custom_target(site ${copies}
    COMMAND ${OMPRMA_SPHINX} -q -W --keep-going -b html -c ${PROJECT_SOURCE_DIR}/docs/site
            -d ${PROJECT_BINARY_DIR}/site-made ${site} ${PROJECT_BINARY_DIR}/site
    COMMENT "Making ${PROJECT_BINARY_DIR}/site/index.html" VERBATIM)
add_dependencies(site omprma_manuals)
