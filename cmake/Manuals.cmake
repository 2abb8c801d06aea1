# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Manuals.cmake: manual pages, completion for shells and pages of reference (which docs/reference has, too),
# all made by scripts/manuals from what the programs and the public header say. A build without Python has none.

find_program(OMPRMA_PYTHON python3)
set(manuals ${PROJECT_BINARY_DIR}/share)
if(NOT OMPRMA_PYTHON)
    message(STATUS "python3 not found: no manual pages and no completion are made")
    return()
endif()
set(header ${PROJECT_SOURCE_DIR}/include/omprma/omprma.h)
set(programs omprma-run omprma-info omprma-perf omprma-worker)
add_custom_command(OUTPUT ${manuals}/made
    COMMAND ${OMPRMA_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/manuals
            ${PROJECT_BINARY_DIR}/bin ${header} ${manuals}
    COMMAND ${CMAKE_COMMAND} -E touch ${manuals}/made
    DEPENDS ${PROJECT_SOURCE_DIR}/scripts/manuals ${PROJECT_SOURCE_DIR}/scripts/completion.py ${header} ${programs}
    COMMENT "Writing manual pages and completion" VERBATIM)
add_custom_target(omprma_manuals ALL DEPENDS ${manuals}/made)

install(DIRECTORY ${manuals}/man/man1 ${manuals}/man/man7 DESTINATION share/man
    COMPONENT programs)
install(DIRECTORY ${manuals}/man/man3 DESTINATION share/man COMPONENT development)
install(DIRECTORY ${manuals}/bash-completion ${manuals}/zsh ${manuals}/fish DESTINATION share COMPONENT programs)
