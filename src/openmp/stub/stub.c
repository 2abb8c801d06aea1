/*
 * stub.c: an empty library. Images for workers ask for libomptarget by name and use nothing of it;
 * on a worker this one answers to the name.
 */
#include "openmp/stub/stub.h"

const char omprma_stub[] = "stands in for libomptarget in device images";
