# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Packages.cmake: packages of Debian by cpack, of Fedora and its relatives by cpack -G RPM. Each component of the
# installed tree is one package; what only packages have (packaging/debian) is left out by cmake --install. Packages
# are made from any build: everything is found relative to the programs.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME omprma)
set(CPACK_PACKAGE_VENDOR omprma)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # else cpack puts it before each package's own
set(OMPRMA_CONTACT "omprma developers <omprma@example.org>" CACHE STRING
    "Who is responsible for packages that are made here: NAME <ADDRESS>")
set(CPACK_PACKAGE_CONTACT ${OMPRMA_CONTACT})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/PackageFiles.cmake)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(deb_version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
set(debian ${PROJECT_SOURCE_DIR}/packaging/debian)

find_program(OMPRMA_GZIP gzip)
set(made ${PROJECT_BINARY_DIR}/packaging)
string(TIMESTAMP deb_date "%a, %d %b %Y %H:%M:%S +0000" UTC) # SOURCE_DATE_EPOCH, where that is set
configure_file(${debian}/changelog.in ${made}/changelog @ONLY)
if(OMPRMA_GZIP)
    execute_process(COMMAND ${OMPRMA_GZIP} -9nc ${made}/changelog
        OUTPUT_FILE ${made}/changelog.Debian.gz COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${OMPRMA_GZIP} -9nc ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        OUTPUT_FILE ${made}/changelog.gz COMMAND_ERROR_IS_FATAL ANY)
endif()

# deb(COMPONENT PACKAGE SECTION DEPENDS SUMMARY DESCRIPTION): the component's package. Overrides of
# lintian are those in packaging/debian/lintian-overrides and, by the name without its version,
# PACKAGE.lintian-overrides.
function(deb component package section depends summary description)
    string(TOUPPER ${component} upper)
    foreach(pair "PACKAGE_NAME=${package}" "PACKAGE_SECTION=${section}"
            "PACKAGE_DEPENDS=${depends}" "DESCRIPTION=${summary}\n${description}")
        string(REGEX MATCH "^([A-Z_]+)=(.*)$" pair "${pair}")
        set(CPACK_DEBIAN_${upper}_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}" PARENT_SCOPE)
    endforeach()
    set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
    install(FILES ${debian}/copyright ${made}/changelog.Debian.gz ${made}/changelog.gz
        DESTINATION share/doc/${package} COMPONENT ${component} EXCLUDE_FROM_ALL)
    set(overrides ${debian}/lintian-overrides)
    string(REGEX REPLACE "[0-9.]+$" "" own ${debian}/${package})
    if(EXISTS ${own}.lintian-overrides)
        list(APPEND overrides ${own}.lintian-overrides)
    endif()
    foreach(file IN LISTS overrides)
        file(READ ${file} text)
        list(APPEND texts "${text}")
    endforeach()
    list(JOIN texts "" text)
    file(CONFIGURE OUTPUT ${made}/overrides/${package} CONTENT "${text}" @ONLY)
    install(FILES ${made}/overrides/${package} DESTINATION share/lintian/overrides
        COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

set(soname ${omprma_interface})
set(library_package libomprma${soname})
set(deb_mpi openmpi-bin)
if(OMPRMA_MPI_IS_ABI)
    set(deb_mpi "openmpi-bin (>= 6) | mpich (>= 5)")
endif()
deb(programs omprma utils
    "${library_package} (= ${deb_version}), ${deb_mpi}"
    "OpenMP offloading to other hosts over one-sided MPI"
    "The target regions of an OpenMP program run in worker processes, on the same\n\
host or on others. Each worker is one device, or several. Programs are compiled\n\
with an ordinary clang and are not changed.\n\
.\n\
This package has the programs omprma-run, omprma-info and omprma-perf, the\n\
worker, omprma's OpenMP runtime, and its CUDA driver and HSA runtime libraries\n\
for programs.\n\
The package omprma-llvm-NN brings what programs of clang NN need beside it.")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_RECOMMENDS "openssh-client")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SUGGESTS "gnuplot-nox, libomprma-dev")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)

deb(library ${library_package} libs ""
    "OpenMP offloading to other hosts - library"
    "The devices of omprma, worker processes on this host or on others, from C\n\
without OpenMP: memory, images, queues and events.\n\
.\n\
This package has the library that programs and omprma's plugins use.")
# One version at a time: libomprma-end.so has no version in its name.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_PROVIDES libomprma)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONFLICTS libomprma)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_REPLACES libomprma)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_GENERATE_SHLIBS ON)
# The worker must be of the same version.
file(WRITE ${made}/shlibs "libomprma ${soname} ${library_package} (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${debian}/triggers ${made}/shlibs)

deb(development libomprma-dev libdevel
    "${library_package} (= ${deb_version})"
    "OpenMP offloading to other hosts - development files"
    "The devices of omprma, worker processes on this host or on others, from C\n\
without OpenMP: memory, images, queues and events.\n\
.\n\
This package has the header, the pages of its functions, the CMake package,\n\
the pkg-config file, and the library for device code of Fortran programs.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "omprma")

deb(documents omprma-doc doc ""
    "OpenMP offloading to other hosts - documents and examples"
    "The target regions of an OpenMP program run in worker processes, on the same\n\
host or on others.\n\
.\n\
This package has tutorials, how-to pages, reference and examples.")
set(CPACK_DEBIAN_DOCUMENTS_PACKAGE_ARCHITECTURE all)

# What programs of each LLVM in Debian 12 need: libomp. Up to 18 LLVM's libomptarget can be taken in
# place of omprma's runtime (in package omprma), and loads the plugin.
set(OMPRMA_DEB_LLVM 13 14 15 16 19 CACHE STRING "LLVM versions that get a package omprma-llvm-NN")
foreach(version IN LISTS OMPRMA_DEB_LLVM)
    if(version LESS 19)
        set(needs "libomp-${version}-dev")
        set(how "the links by which LLVM's libomptarget loads omprma's plugin")
    else()
        set(needs "libomp5-${version}")
        set(how "nothing itself. It is a metapackage: omprma's runtime replaces libomptarget")
    endif()
    deb(llvm-${version} omprma-llvm-${version} utils
        "omprma (= ${deb_version}), ${needs}"
        "OpenMP offloading to other hosts - programs of clang ${version}"
        "The target regions of an OpenMP program run in worker processes, on the same\n\
host or on others.\n\
.\n\
This package has what omprma-run needs for programs that clang ${version} compiled:\n\
LLVM's OpenMP runtime, by a dependency, and\n\
${how}.")
    if(version LESS 19)
        install(CODE "
            execute_process(COMMAND \"${CMAKE_COMMAND}\"
                -DFOLDER=\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/omprma
                -DVERSIONS=${version} -DPLACE=../.. -P \"${plugin_folders}\"
                COMMAND_ERROR_IS_FATAL ANY)" COMPONENT llvm-${version} EXCLUDE_FROM_ALL)
        set(CPACK_DEBIAN_LLVM-${version}_PACKAGE_ARCHITECTURE amd64)
    endif()
endforeach()

# RPMs: made on the system that they are for, whose rpm finds out which libraries they need.
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE "Apache-2.0 WITH LLVM-exception")
set(CPACK_RPM_PACKAGE_RELOCATABLE ON)
function(rpm component package requires)
    string(TOUPPER ${component} upper)
    string(REGEX REPLACE "\n.*" "" summary "${CPACK_DEBIAN_${upper}_DESCRIPTION}")
    string(REGEX REPLACE "^[^\n]*\n" "" description "${CPACK_DEBIAN_${upper}_DESCRIPTION}")
    set(CPACK_RPM_${upper}_PACKAGE_NAME ${package} PARENT_SCOPE)
    set(CPACK_RPM_${upper}_PACKAGE_SUMMARY "${summary}" PARENT_SCOPE)
    set(CPACK_RPM_${upper}_PACKAGE_DESCRIPTION "${description}" PARENT_SCOPE)
    set(CPACK_RPM_${upper}_PACKAGE_REQUIRES "${requires}" PARENT_SCOPE)
endfunction()
rpm(programs omprma "omprma-libs = ${PROJECT_VERSION}, (openmpi or mpich)")
rpm(library omprma-libs "")
rpm(development omprma-devel "omprma-libs = ${PROJECT_VERSION}")
rpm(documents omprma-doc "")
set(CPACK_RPM_DOCUMENTS_PACKAGE_ARCHITECTURE noarch)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/PackageKinds.cmake)

include(CPack)
