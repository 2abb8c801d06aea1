# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Symbols.cmake: writes the version script of libomprma.so from the headers that declare its
# functions. Those of the public one get the interface's version, those of private ones a node of
# their own; nothing else is exported.

set(include ${PROJECT_SOURCE_DIR}/include)
file(GLOB private_headers CONFIGURE_DEPENDS ${include}/omprma_private/*.h)

# The functions that headers declare, as lines of a version script.
function(omprma_declared result)
    set(text "")
    foreach(header IN LISTS ARGN)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
        file(STRINGS ${header} lines REGEX "^OMPRMA_API ")
        foreach(line IN LISTS lines)
            if(NOT line MATCHES "(omprma_[a-z0-9_]+)\\(")
                message(FATAL_ERROR "${header}: no name in the line \"${line}\"")
            endif()
            string(APPEND text "        ${CMAKE_MATCH_1};\n")
        endforeach()
    endforeach()
    set(${result} "${text}" PARENT_SCOPE)
endfunction()

# Before 1.0 each minor version may change the interface.
set(omprma_interface ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(omprma_map ${PROJECT_BINARY_DIR}/omprma.map)
omprma_declared(public ${include}/omprma/omprma.h)
omprma_declared(private ${private_headers})
file(CONFIGURE OUTPUT ${omprma_map} CONTENT "\
OMPRMA_@omprma_interface@ {
    global:
@public@    local:
        *;
};

OMPRMA_PRIVATE {
    global:
@private@};
" @ONLY)
