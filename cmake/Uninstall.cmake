# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Uninstall.cmake: removes the files of LIST, which cmake --install wrote, and the folders that are omprma's alone.

if(NOT EXISTS ${LIST})
    message(FATAL_ERROR "There is no ${LIST}: nothing was installed from this build, or it was removed")
endif()
file(STRINGS ${LIST} files)
foreach(file IN LISTS files)
    file(REMOVE "$ENV{DESTDIR}${file}")
    if(file MATCHES "^(.*)/bin/omprma-run$")
        set(prefix "$ENV{DESTDIR}${CMAKE_MATCH_1}")
    endif()
endforeach()
foreach(folder lib/omprma lib/cmake/omprma include/omprma share/omprma share/doc/omprma)
    file(REMOVE_RECURSE "${prefix}/${folder}")
endforeach()
file(REMOVE ${LIST})
message(STATUS "Removed omprma from ${prefix}")
