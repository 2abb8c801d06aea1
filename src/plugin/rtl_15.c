/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * rtl_15.c: entry points that came with LLVM 15. No logic here: see plugin.h.
 */
#include "plugin/plugin.h"
#include "plugin/rtl.h"

/* A failure here makes LLVM 18 say no more than "no devices", which is what it is told next. */
int32_t __tgt_rtl_init_plugin(void)
{
    operate_from_15();
    plugin_start();
    return RTL_SUCCESS;
}

/* Images may still be unregistered after this call: the end is elsewhere, see plugin.c. */
int32_t __tgt_rtl_deinit_plugin(void)
{
    return RTL_SUCCESS;
}

int32_t __tgt_rtl_deinit_device(int32_t device)
{
    (void)device;
    return RTL_SUCCESS;
}

/* The architecture in the information is a processor model, empty for x86-64. */
int32_t __tgt_rtl_is_valid_binary_info(struct tgt_image *image, struct tgt_image_info *info)
{
    (void)info;
    return image_accept(image);
}
