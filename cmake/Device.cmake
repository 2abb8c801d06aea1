# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Device.cmake: libomprma-device.a, which users link into the device images of Fortran programs. It
# is never instrumented, because those images are linked without the libraries of sanitizers.

omprma_sources(device_sources src/device)
add_library(omprma_device STATIC ${device_sources})
target_include_directories(omprma_device PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(omprma_device PRIVATE _GNU_SOURCE=)
target_compile_options(omprma_device PRIVATE
    -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes
    $<$<BOOL:${OMPRMA_WERROR}>:-Werror>)
set_target_properties(omprma_device PROPERTIES
    OUTPUT_NAME omprma-device ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
install(TARGETS omprma_device ARCHIVE DESTINATION lib COMPONENT development)
