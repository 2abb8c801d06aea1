/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * driver.c: the driver's library is opened with dlopen(), and the functions of driver.def are
 * looked up in it by name. One that is missing makes the driver too old, unless it is an optional
 * one.
 */
#include "worker/cuda/driver.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum { OLDEST = 11000 /* of CUDA 11: context_release is of that version */ };

static const struct {
    const char *symbol;
    size_t offset;
    bool optional;
} functions[] = {
#define DRIVER(field, symbol, parameters) {symbol, offsetof(struct driver, field), false},
#define OPTIONAL(field, symbol, parameters) {symbol, offsetof(struct driver, field), true},
#include "worker/cuda/driver.def"
#undef DRIVER
#undef OPTIONAL
};

/* The first function that the library lacks, or NULL. */
static const char *look_up(struct driver *driver)
{
    const char *missing = NULL;

    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *symbol = dlsym(driver->library, functions[i].symbol);

        memcpy((char *)driver + functions[i].offset, &symbol, sizeof(symbol));
        if (!symbol && !functions[i].optional && !missing)
            missing = functions[i].symbol;
    }
    return missing;
}

/* What keeps its GPUs from being used, as an error. */
static omprma_status_t start(struct driver *driver)
{
    const char *missing = look_up(driver);
    int code;

    if (driver->version)
        driver->version(&driver->version_number);
    if (missing || driver->version_number < OLDEST)
        return error_set(OMPRMA_ERR_UNSUPPORTED,
                         "the CUDA driver is of version %d.%d%s%s; it has to be 11.0 or newer",
                         driver->version_number / 1000, driver->version_number % 1000 / 10,
                         missing ? ", without " : "", missing ? missing : "");
    code = driver->init(0);
    if (code == DRIVER_OK)
        code = driver->device_count(&driver->count);
    if (code == DRIVER_OK && driver->count == 0)
        code = DRIVER_NO_DEVICE;
    if (code == DRIVER_OK)
        return OMPRMA_OK;
    driver_error(driver, code, "no GPU can be used");
    return error_note_code(OMPRMA_ERR_UNSUPPORTED, code);
}

omprma_status_t driver_open(struct driver *driver)
{
    omprma_status_t status;

    memset(driver, 0, sizeof(*driver));
    driver->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver->library)
        return error_set(OMPRMA_ERR_UNSUPPORTED, "no CUDA driver: %s", dlerror());
    status = start(driver);
    if (status != OMPRMA_OK)
        driver_close(driver);
    return status;
}

void driver_close(struct driver *driver)
{
    if (driver->library)
        dlclose(driver->library);
    driver->library = NULL;
}

int32_t driver_list_parameters(const struct driver *driver, driver_function function,
                               struct cuda_parameter *parameters)
{
    int32_t count = 0;
    size_t offset, bytes;
    int code = DRIVER_OK;

    if (!driver->function_parameter)
        return CUDA_PARAMETERS_UNKNOWN;
    while (count < CUDA_PARAMETERS_MOST &&
           (code = driver->function_parameter(function, (size_t)count, &offset, &bytes)) ==
               DRIVER_OK)
        parameters[count++] = (struct cuda_parameter){(uint32_t)offset, (uint32_t)bytes};
    return code == DRIVER_OK || code == DRIVER_INVALID_VALUE ? count : CUDA_PARAMETERS_UNKNOWN;
}

bool driver_is_fatal(int code)
{
    return code == DRIVER_UNCORRECTABLE || code == DRIVER_NVLINK ||
           code == DRIVER_ILLEGAL_ADDRESS || code == DRIVER_LAUNCH_TIMEOUT ||
           code == DRIVER_CONTEXT_GONE || code == DRIVER_ASSERT ||
           (code >= DRIVER_STACK && code <= DRIVER_LAUNCH_FAILED) || code == DRIVER_UNKNOWN;
}

static omprma_status_t status_of(int code)
{
    switch (code) {
    case DRIVER_OUT_OF_MEMORY:
        return OMPRMA_ERR_DEVICE_MEMORY;
    case DRIVER_INVALID_IMAGE:
    case DRIVER_NO_BINARY:
    case DRIVER_INVALID_PTX:
    case DRIVER_NO_COMPILER:
    case DRIVER_PTX_TOO_NEW:
        return OMPRMA_ERR_IMAGE;
    case DRIVER_NOT_FOUND:
        return OMPRMA_ERR_SYMBOL;
    case DRIVER_NOT_SUPPORTED:
        return OMPRMA_ERR_UNSUPPORTED;
    default:
        return driver_is_fatal(code) ? OMPRMA_ERR_KERNEL : OMPRMA_ERR_ARGUMENT;
    }
}

const char *driver_words(const struct driver *driver, int code)
{
    static _Thread_local char words[256];
    const char *name = NULL, *text = NULL;

    if (code == DRIVER_STUB) /* and knows no words */
        return "CUDA_ERROR_STUB_LIBRARY (34): this libcuda.so.1 is the one for linking; install "
               "the driver, or take that library's folder out of LD_LIBRARY_PATH";
    if (driver->error_name(code, &name) != DRIVER_OK || !name)
        name = "an unknown error of the CUDA driver";
    if (driver->error_string(code, &text) != DRIVER_OK || !text)
        text = "it has no words for it";
    snprintf(words, sizeof(words), "%s (%d): %s", name, code, text);
    return words;
}

omprma_status_t driver_error(const struct driver *driver, int code, const char *format, ...)
{
    omprma_status_t status = status_of(code);
    char what[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    error_set(status, "%s: %s", what, driver_words(driver, code));
    return error_note_code(status, code);
}
