/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* elf.c: images before they are loaded: what is checked must be inside the image. */
#include "base/elf_check.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    void *image = fuzz_copy(data, bytes, 0);
    omprma_status_t status = elf_check(image, bytes);

    hold(status == OMPRMA_OK || status == OMPRMA_ERR_IMAGE || status == OMPRMA_ERR_ARGUMENT);
    free(image);
    return 0;
}
