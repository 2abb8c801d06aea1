/* stub.h: the one symbol of the stub library, which says what it is. */
#ifndef OMPRMA_OPENMP_STUB_STUB_H
#define OMPRMA_OPENMP_STUB_STUB_H

extern const char omprma_stub[] __attribute__((visibility("default")));

#endif
