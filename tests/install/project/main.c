/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * main.c: a program of a user of the installed library, who has nothing of the source tree. Alone
 * it uses only calls that need no worker; with the argument "devices" it prints their number.
 */
#include <omprma/omprma.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    static const char no_image[] = "not a shared object";
    if (argc > 1 && strcmp(argv[1], "devices") == 0) {
        if (omprma_init() != OMPRMA_OK) {
            fprintf(stderr, "%s\n", omprma_error());
            return 1;
        }
        printf("devices %d\n", omprma_device_count());
        omprma_finalize();
        return 0;
    }
    if (omprma_device_count() != 0)
        return 1;
    if (omprma_image_check(no_image, sizeof no_image) != OMPRMA_ERR_IMAGE)
        return 1;
    printf("%s: %s\n", omprma_status_string(OMPRMA_ERR_IMAGE), omprma_error());
    return 0;
}
