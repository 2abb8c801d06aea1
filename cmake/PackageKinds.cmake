# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# PackageKinds.cmake: run by cpack for each kind of package. Packages omprma-llvm-NN are Debian's alone: they name
# Debian's packages of LLVM.

if(CPACK_GENERATOR STREQUAL RPM)
    list(FILTER CPACK_COMPONENTS_ALL EXCLUDE REGEX "^llvm-")
endif()
