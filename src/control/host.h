/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * host.h: which host this process runs on: its name, which is for people, and what tells it from
 * others of the same name.
 */
#ifndef OMPRMA_CONTROL_HOST_H
#define OMPRMA_CONTROL_HOST_H

enum { HOST_TEXT_BYTES = 64 };

/* The host's name, cut where it is too long. */
void host_name(char text[HOST_TEXT_BYTES]);

/* The same text in all processes of one host, and another one on each other host: machines that
 * were cloned have one name, and containers of one machine have one kernel. */
void host_identity(char text[HOST_TEXT_BYTES]);

#endif
