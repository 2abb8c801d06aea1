# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# PackageFiles.cmake: run by cpack before it makes packages. Compresses manual pages. The loader finds Debian's MPI by
# itself, so packaged files look only beside themselves ($ORIGIN); other folders, which matter
# where MPI or hwloc lie elsewhere, are taken out of their runpath.

find_program(readelf readelf REQUIRED)
file(GLOB_RECURSE files ${CPACK_TEMPORARY_DIRECTORY}/*/usr/bin/omprma-*
    ${CPACK_TEMPORARY_DIRECTORY}/*/usr/libexec/*
    ${CPACK_TEMPORARY_DIRECTORY}/*/usr/lib/*.so*)
foreach(file IN LISTS files)
    if(IS_SYMLINK ${file})
        continue()
    endif()
    execute_process(COMMAND ${readelf} -d ${file} OUTPUT_VARIABLE dynamic)
    if(dynamic MATCHES "RUNPATH[^[]*\\[([^]\n]+)\\]")
        set(old "${CMAKE_MATCH_1}")
        string(REPLACE ":" ";" kept "${old}")
        list(FILTER kept INCLUDE REGEX "^\\$ORIGIN")
        list(JOIN kept ":" kept)
        file(RPATH_CHANGE FILE ${file} OLD_RPATH "${old}" NEW_RPATH "${kept}")
    endif()
endforeach()

find_program(gzip gzip REQUIRED)
file(GLOB_RECURSE pages ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/*.[137])
if(pages)
    execute_process(COMMAND ${gzip} -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()

# Debian's zsh looks for functions of packages elsewhere.
if(CPACK_GENERATOR STREQUAL DEB)
    file(GLOB folders ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/zsh/site-functions)
    foreach(folder IN LISTS folders)
        get_filename_component(above ${folder} DIRECTORY)
        file(RENAME ${folder} ${above}/vendor-completions)
    endforeach()
endif()

# RPMs do without the files that only Debian's policy asks for.
if(CPACK_GENERATOR STREQUAL RPM)
    file(GLOB_RECURSE debian ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/*/changelog.Debian.gz)
    file(GLOB overrides ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/lintian)
    file(REMOVE_RECURSE ${debian} ${overrides})
endif()
