/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * indirect.c: clang 23 has device code ask where the virtual functions of an object are, by the
 * pointer that the object has. Objects of a region have the device's own: it is right as it is.
 */
void *__llvm_omp_indirect_call_lookup(void *pointer);

void *__llvm_omp_indirect_call_lookup(void *pointer)
{
    return pointer;
}
