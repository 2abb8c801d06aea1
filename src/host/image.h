/*
 * image.h: images on devices: what is loaded where, and the names of kernels.
 */
#ifndef OMPRMA_HOST_IMAGE_H
#define OMPRMA_HOST_IMAGE_H

#include "host/device.h"

/* Name of a kernel of the device, "?" if it is none that was looked up. */
const char *image_kernel_of(const struct device *device, omprma_addr_t kernel);

/* Frees the records of a device. */
void image_forget_all(struct device *device);

#endif
