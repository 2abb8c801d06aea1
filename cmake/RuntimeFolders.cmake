# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RuntimeFolders.cmake: run by cmake -P. Fills FOLDER/runtime and FOLDER/images with links under all
# names that libomptarget has had and, as things are, will have: libomptarget.so up to LLVM 14,
# libomptarget.so.NN since, libomptarget.so.NN.1 since 18. For others omprma-run makes links itself.
# FOLDER/preload has the name of src/openmp/preload/preload.h.

set(names libomptarget.so)
foreach(version RANGE 15 30)
    list(APPEND names libomptarget.so.${version})
    if(version GREATER_EQUAL 18)
        list(APPEND names libomptarget.so.${version}.1)
    endif()
endforeach()

function(fill kind library)
    file(MAKE_DIRECTORY ${FOLDER}/${kind})
    foreach(name IN LISTS ARGN)
        if(NOT IS_SYMLINK ${FOLDER}/${kind}/${name})
            file(CREATE_LINK ../${library} ${FOLDER}/${kind}/${name} SYMBOLIC)
        endif()
    endforeach()
endfunction()
fill(runtime libomprma-runtime.so ${names})
fill(images libomprma-stub.so ${names})
fill(preload libomprma-preload.so omprma-before-libasan.so)
