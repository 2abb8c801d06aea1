/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * code.c: images of code before they are loaded. A code object is a copy of the image, and its
 * handle the copy's address: plugins of LLVM 14 to 16 read and write it there before they load it.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hsa/driver.h"
#include "hsa/executable.h"
#include "hsa/exports.h"
#include "hsa/gpu.h"

/* A code object or a reader. */
struct code {
    LIST_ENTRY(code) link;
    const void *image;
    size_t bytes;
    void *owned; /* to be freed with it, or NULL */
};

static struct codes {
    pthread_mutex_t lock;
    LIST_HEAD(code_list, code) objects, readers;
} codes = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- lists ---------------------------------------------------------------------------------- */

/* Objects are named by their image, readers by themselves. */
static uint64_t code_handle(const struct code_list *list, const struct code *code)
{
    return (uint64_t)(list == &codes.objects ? (uintptr_t)code->image : (uintptr_t)code);
}

/* Takes over `owned`. The handle of the new one; 0: no memory, and it is freed. */
static uint64_t code_add(struct code_list *list, const void *image, size_t bytes, void *owned)
{
    struct code *made = malloc(sizeof(*made));

    if (!made) {
        free(owned);
        return 0;
    }
    *made = (struct code){.image = image, .bytes = bytes, .owned = owned};
    pthread_mutex_lock(&codes.lock);
    LIST_INSERT_HEAD(list, made, link);
    pthread_mutex_unlock(&codes.lock);
    return code_handle(list, made);
}

/* Under the lock. */
static struct code *code_find(struct code_list *list, uint64_t handle)
{
    struct code *code = NULL;

    LIST_FOREACH(code, list, link)
    {
        if (code_handle(list, code) == handle)
            break;
    }
    return code;
}

static bool code_bytes(struct code_list *list, uint64_t handle, const void **image, size_t *bytes)
{
    pthread_mutex_lock(&codes.lock);
    const struct code *code = code_find(list, handle);
    if (code) {
        *image = code->image;
        *bytes = code->bytes;
    }
    pthread_mutex_unlock(&codes.lock);
    return code != NULL;
}

static bool code_drop(struct code_list *list, uint64_t handle)
{
    pthread_mutex_lock(&codes.lock);
    struct code *code = code_find(list, handle);
    if (code)
        LIST_REMOVE(code, link);
    pthread_mutex_unlock(&codes.lock);
    if (code)
        free(code->owned);
    free(code);
    return code != NULL;
}

bool code_object_bytes(hsa_code_object_t object, const void **image, size_t *bytes)
{
    return code_bytes(&codes.objects, object.handle, image, bytes);
}

bool code_reader_bytes(hsa_code_object_reader_t reader, const void **image, size_t *bytes)
{
    return code_bytes(&codes.readers, reader.handle, image, bytes);
}

/* ---- exported ------------------------------------------------------------------------------- */

hsa_status_t hsa_code_object_deserialize(void *bytes, size_t size, const char *options,
                                         hsa_code_object_t *object)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    (void)options;
    if (status == HSA_STATUS_SUCCESS && (!bytes || size == 0 || !object))
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS) {
        void *copy = malloc(size);
        object->handle = copy ? code_add(&codes.objects, memcpy(copy, bytes, size), size, copy) : 0;
        if (!object->handle)
            status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    return api_end(&call, status);
}

hsa_status_t hsa_code_object_destroy(hsa_code_object_t object)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !code_drop(&codes.objects, object.handle))
        status = HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    return api_end(&call, status);
}

static hsa_status_t reader_add(const void *bytes, size_t size, void *owned,
                               hsa_code_object_reader_t *reader)
{
    reader->handle = code_add(&codes.readers, bytes, size, owned);
    return reader->handle ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

/* The image is the program's as long as there is the reader. */
hsa_status_t hsa_code_object_reader_create_from_memory(const void *bytes, size_t size,
                                                       hsa_code_object_reader_t *reader)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && (!bytes || size == 0 || !reader))
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS)
        status = reader_add(bytes, size, NULL, reader);
    return api_end(&call, status);
}

/* All of the file, malloced; NULL: it cannot be read. */
static void *file_read(hsa_file_t file, size_t *size)
{
    struct stat about;
    size_t done = 0;

    if (fstat(file, &about) != 0 || about.st_size <= 0)
        return NULL;
    char *bytes = malloc((size_t)about.st_size);
    while (bytes && done < (size_t)about.st_size) {
        ssize_t got = pread(file, bytes + done, (size_t)about.st_size - done, (off_t)done);
        if (got <= 0) {
            free(bytes);
            return NULL;
        }
        done += (size_t)got;
    }
    *size = done;
    return bytes;
}

hsa_status_t hsa_code_object_reader_create_from_file(hsa_file_t file,
                                                     hsa_code_object_reader_t *reader)
{
    struct call call;
    hsa_status_t status = api_begin(&call);
    void *bytes = NULL;
    size_t size = 0;

    if (status == HSA_STATUS_SUCCESS && !reader)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS && !(bytes = file_read(file, &size)))
        status = HSA_STATUS_ERROR_INVALID_FILE;
    if (status == HSA_STATUS_SUCCESS)
        status = reader_add(bytes, size, bytes, reader);
    return api_end(&call, status);
}

hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t reader)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !code_drop(&codes.readers, reader.handle))
        status = HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
    return api_end(&call, status);
}
