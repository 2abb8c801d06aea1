/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * fault_address.h: what an address is that a kernel crashed with, in words for the line about the
 * crash: memory of the program, which the device does not have; memory that was given back.
 *
 * Thread: with the runtime's lock held. Blocks: no.
 */
#ifndef OMPRMA_HOST_CORE_FAULT_ADDRESS_H
#define OMPRMA_HOST_CORE_FAULT_ADDRESS_H

#include "host/core/device.h"

/* Notes an arena that the device gives back; the last few are known. */
void fault_address_note_release(struct device *device, omprma_addr_t base, uint64_t bytes);

/* Notes the address, and appends to `text` what it is, if anything is known. */
void fault_address_explain(struct device *device, uint64_t address, char *text, size_t room);

#endif
