# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Version.cmake: reads the version from the public header, the only place that states it.

file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../include/omprma/omprma.h lines
     REGEX "^#define OMPRMA_VERSION_(MAJOR|MINOR|PATCH|STRING) ")
foreach(line IN LISTS lines)
    if(line MATCHES "OMPRMA_VERSION_([A-Z]+) +\"?([0-9.]+)\"?$")
        set(OMPRMA_VERSION_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    endif()
endforeach()
set(OMPRMA_VERSION ${OMPRMA_VERSION_MAJOR}.${OMPRMA_VERSION_MINOR}.${OMPRMA_VERSION_PATCH})
if(NOT OMPRMA_VERSION STREQUAL "${OMPRMA_VERSION_STRING}")
    message(FATAL_ERROR "include/omprma/omprma.h: OMPRMA_VERSION_STRING is "
                        "\"${OMPRMA_VERSION_STRING}\", the numbers say ${OMPRMA_VERSION}")
endif()
