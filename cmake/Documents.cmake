# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Documents.cmake: run by cmake --install with FOLDER, where the documents for users lie now. What they refer to that is not
# installed, pages for developers and sources, is no link there: its words stay.

file(GLOB_RECURSE pages RELATIVE ${FOLDER} ${FOLDER}/*.md)
foreach(page IN LISTS pages)
    file(READ ${FOLDER}/${page} text)
    # Square brackets would bind elements of the list.
    string(REPLACE "](" "\t(" marked "${text}")
    string(REGEX MATCHALL "\t\\([^() ]+\\)" links "${marked}")
    list(REMOVE_DUPLICATES links)
    get_filename_component(place ${FOLDER}/${page} DIRECTORY)
    set(new "${text}")
    foreach(link IN LISTS links)
        string(REGEX REPLACE "^\t\\(|\\)$" "" target "${link}")
        string(REGEX REPLACE "#.*" "" file "${target}")
        if(file STREQUAL "" OR target MATCHES "^[a-z]+:" OR EXISTS ${place}/${file})
            continue()
        endif()
        string(REGEX REPLACE "([][+.*()^$?|\\\\])" "\\\\\\1" pattern "${target}")
        string(REGEX REPLACE "\\[([^][]*)\\]\\(${pattern}\\)" "\\1" new "${new}")
    endforeach()
    if(NOT new STREQUAL text)
        file(WRITE ${FOLDER}/${page} "${new}")
    endif()
endforeach()
