# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# turns.cmake: with which commits a longer test runs. scripts/test leaves those with the label `later` to other
# commits; scripts/test --all leaves none.

option(OMPRMA_TEST_ALL "Each test has its turn with each commit" ON)

# omprma_take_turns(COMMITS NAME...): each of these tests, which are registered, has its turn with one commit in
# COMMITS, or with none where that is 0. Those of one call, and of calls that follow each other, have it one
# after the other. ${has_turn}: whether the last one has.
set(turn ${OMPRMA_TEST_SEED})
macro(omprma_take_turns commits)
    foreach(name_in_turn ${ARGN})
        set(has_turn ${OMPRMA_TEST_ALL})
        if(NOT has_turn AND ${commits})
            math(EXPR turn "${turn} + 1")
            math(EXPR place "${turn} % ${commits}")
            if(place EQUAL 0)
                set(has_turn ON)
            endif()
        endif()
        if(NOT has_turn)
            set_property(TEST ${name_in_turn} APPEND PROPERTY LABELS later)
        endif()
    endforeach()
endmacro()
