# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Site.cmake: cmake --build FOLDER --target site makes FOLDER/site/index.html, all documents, to be
# read without a network. Warnings, and so dead links, are errors.

find_program(OMPRMA_SPHINX sphinx-build)
if(NOT OMPRMA_SPHINX OR NOT TARGET omprma_manuals)
    return()
endif()
set(site ${PROJECT_BINARY_DIR}/site-source)
file(MAKE_DIRECTORY ${site})
foreach(entry README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md CITATION.cff LICENSE CMakePresets.json docs examples perf
        tests scripts src include worker tools cmake packaging)
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${entry} ${site}/${entry} SYMBOLIC)
endforeach()
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/docs/site/index.md ${site}/index.md SYMBOLIC)
add_custom_target(site
    COMMAND ${OMPRMA_SPHINX} -q -W --keep-going -b html -c ${PROJECT_SOURCE_DIR}/docs/site
            -d ${PROJECT_BINARY_DIR}/site-made ${site} ${PROJECT_BINARY_DIR}/site
    COMMENT "Making ${PROJECT_BINARY_DIR}/site/index.html" VERBATIM)
add_dependencies(site omprma_manuals)
