/*
 * driver.c: a plain program for the CUDA driver interface, with declarations of its own. Its
 * kernels are those of the stand-in driver. Wants two GPUs; the second one is lost on the way. With
 * "owners": any number, whose addresses tell whose they are.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/exports.h"

static int failed;

static void expect(int line, const char *what, long got, long wanted)
{
    if (got == wanted)
        return;
    printf("driver.c:%d: %s is %ld, not %ld\n", line, what, got, wanted);
    failed = 1;
}
#define IS(what, wanted) expect(__LINE__, #what, (long)(what), (long)(wanted))
#define OK(call) IS(call, CUDA_SUCCESS)

enum { BYTES = 3 << 20 };

static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                          ".visible .global .align 4 .b8 variable[64];\n"
                          ".visible .entry standin_add(.param .u64 at, .param .u64 bytes, "
                          ".param .u64 value)\n{ ret; }\n"
                          ".visible .entry standin_geometry(.param .u64 at)\n{ ret; }\n"
                          ".visible .entry standin_nap(.param .u64 us)\n{ ret; }\n"
                          ".visible .entry standin_fault(.param .u64 code)\n{ ret; }\n"
                          ".visible .entry standin_mixed(.param .u8 a, .param .u16 b, "
                          ".param .align 8 .b8 c[24], .param .u32 d, .param .u64 at)\n{ ret; }\n";

static CUmodule module;
static CUfunction add, nap;
static unsigned char *host;
static CUdeviceptr memory;

/* By pointers, whose count the function knows. */
static CUresult add_to(CUdeviceptr at, uint64_t bytes, uint64_t value, CUstream stream)
{
    void *parameters[] = {&at, &bytes, &value};
    return cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL);
}

/* As one block. */
static CUresult nap_for(uint64_t us, CUstream stream)
{
    size_t bytes = sizeof(us);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &us, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    return cuLaunchKernel(nap, 1, 1, 1, 1, 1, 1, 0, stream, NULL, extra);
}

/* One that is forked after the start has no GPUs. */
static void children(void)
{
    int count, status = 0;
    pid_t child = fork();

    if (child == 0)
        _exit(cuInit(0) != CUDA_ERROR_NOT_INITIALIZED ||
              cuDeviceGetCount(&count) != CUDA_ERROR_NOT_INITIALIZED);
    IS(waitpid(child, &status, 0) == child, 1);
    IS(status, 0);
}

static void devices(void)
{
    int count = 0, value = -1, version = 0;
    char name[256] = "";
    size_t bytes = 0;
    const char *text = NULL;
    CUcontext context = NULL;

    OK(cuDriverGetVersion(&version)); /* a question, which starts nothing */
    IS(version, 13000);
    IS(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    IS(cuGraphCreate(), CUDA_ERROR_NOT_INITIALIZED);
    OK(cuInit(0));
    children();
    OK(cuDeviceGetCount(&count));
    IS(count, 2);
    OK(cuDriverGetVersion(&version));
    IS(version, 12040);
    OK(cuDeviceGetName(name, sizeof(name), 0));
    IS(strncmp(name, "Stand-in", 8), 0);
    OK(cuDeviceTotalMem_v2(&bytes, 0));
    IS(bytes > 0, 1);
    OK(cuDeviceGetAttribute(&value, CU_ATTRIBUTE_WARP_SIZE, 0));
    IS(value, 32);
    OK(cuDeviceGetAttribute(&value, CU_ATTRIBUTE_MANAGED_MEMORY, 0));
    IS(value, 0);
    OK(cuDeviceGetAttribute(&value, CU_ATTRIBUTE_VIRTUAL_MEMORY, 0));
    IS(value, 0);
    IS(cuDeviceGetAttribute(&value, CU_ATTRIBUTE_WARP_SIZE, 2), CUDA_ERROR_INVALID_DEVICE);
    OK(cuDeviceCanAccessPeer(&value, 0, 1));
    IS(value, 0);
    OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    IS(strcmp(text, "CUDA_ERROR_ILLEGAL_ADDRESS"), 0);
    OK(cuCtxGetCurrent(&context));
    IS(context == NULL, 1);
    IS(cuMemAlloc_v2(&memory, 1), CUDA_ERROR_INVALID_CONTEXT);
}

static void contexts(CUcontext *context)
{
    CUcontext other = NULL, now = NULL;
    CUdevice device = -1;
    unsigned flags;
    int active;

    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    IS(active, 0);
    OK(cuDevicePrimaryCtxRetain(context, 0));
    OK(cuCtxSetCurrent(*context));
    OK(cuCtxCreate_v2(&other, 0, 1));
    OK(cuCtxGetDevice(&device));
    IS(device, 1);
    OK(cuCtxPopCurrent_v2(&now));
    IS(now == other, 1);
    OK(cuCtxGetCurrent(&now));
    IS(now == *context, 1);
    OK(cuCtxDestroy_v2(other));
    OK(cuCtxPushCurrent_v2(other));
    IS(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    OK(cuCtxPopCurrent_v2(NULL));
}

static void modules(void)
{
    CUfunction none;
    CUdeviceptr variable = 0;
    size_t bytes = 0, offset = 0;
    int value;
    uint64_t numbers[16] = {0};

    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&add, module, "standin_add"));
    OK(cuModuleGetFunction(&nap, module, "standin_nap"));
    IS(cuModuleGetFunction(&none, module, "no_such_kernel"), CUDA_ERROR_NOT_FOUND);
    OK(cuModuleGetGlobal_v2(&variable, &bytes, module, "variable"));
    IS(bytes, 64);
    OK(cuMemcpyHtoD_v2(variable, "global", 7));
    OK(cuMemcpyDtoH_v2(numbers, variable, 7));
    IS(strcmp((char *)numbers, "global"), 0);
    OK(cuFuncGetParamInfo(add, 2, &offset, &bytes));
    IS(offset, 16);
    IS(cuFuncGetParamInfo(add, 3, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);
    OK(cuFuncGetAttribute(&value, CU_FUNCTION_MAX_THREADS_PER_BLOCK, add));
    IS(value, 1024);
    IS(cuModuleLoadData(&module, "\177ELF, but no cubin at all, and long enough to be looked at, "
                                 "and to be refused"),
       CUDA_ERROR_INVALID_IMAGE);
}

static void parameters(void)
{
    CUfunction mixed, geometry;
    CUdeviceptr at;
    char a = 7;
    short b = 1234;
    uint64_t c[3] = {11, 22, 33}, numbers[6] = {0};
    int d = 99;
    unsigned shape[7] = {0};

    OK(cuMemAlloc_v2(&at, sizeof(numbers)));
    IS(at % 256, 0);
    OK(cuModuleGetFunction(&mixed, module, "standin_mixed"));
    OK(cuModuleGetFunction(&geometry, module, "standin_geometry"));
    void *pointers[] = {&a, &b, c, &d, &at}, *one[] = {&at};
    OK(cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, NULL, pointers, NULL));
    OK(cuMemcpyDtoH_v2(numbers, at, sizeof(numbers)));
    IS(numbers[0] & 0xff, 7);
    IS(numbers[1] & 0xffff, 1234);
    IS(numbers[3], 22);
    IS(numbers[5] & 0xffffffff, 99);
    OK(cuLaunchKernel(geometry, 3, 2, 1, 64, 2, 1, 512, NULL, one, NULL));
    OK(cuMemcpyDtoH_v2(shape, at, sizeof(shape)));
    IS(shape[0], 3);
    IS(shape[4], 2);
    IS(shape[6], 512);
    IS(cuLaunchKernel(geometry, 0, 1, 1, 1, 1, 1, 0, NULL, one, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(geometry, 1, 1, 1, 2048, 1, 1, 0, NULL, one, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(at));
    IS(cuMemFree_v2(at), CUDA_ERROR_INVALID_VALUE);
}

/* All bytes, compared. */
static void bytes_are(int line, const unsigned char *bytes, size_t count, int wanted)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != wanted) {
            expect(line, "a byte", bytes[i], wanted);
            return;
        }
    }
}

static void copies(void)
{
    CUstream stream;
    void *locked = NULL;
    CUdeviceptr begin = 0, second;
    size_t bytes = 0, left = 0, all = 0;
    static const size_t sizes[] = {1, 8000, 100000, BYTES};

    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc_v2(&memory, BYTES));
    OK(cuMemAlloc_v2(&second, BYTES));
    OK(cuMemGetAddressRange_v2(&begin, &bytes, memory + 100));
    IS(begin == memory && bytes == BYTES, 1);
    OK(cuMemGetInfo_v2(&left, &all));
    IS(left > 0 && left < all, 1);
    for (int i = 0; i < 4; i++) { /* the source may be overwritten when the call returns */
        memset(host, 10 + i, BYTES);
        OK(cuMemcpyHtoDAsync_v2(memory, host, sizes[i], stream));
        memset(host, 0, BYTES);
        OK(add_to(memory, sizes[i], 5, stream));
        OK(cuMemcpyDtoDAsync_v2(second, memory, sizes[i], stream));
        OK(cuMemcpyDtoHAsync_v2(host, second, sizes[i], stream)); /* the data is there */
        bytes_are(__LINE__, host, sizes[i], 15 + i);
    }
    OK(cuMemAllocHost_v2(&locked, BYTES));
    memset(locked, 40, BYTES);
    OK(cuMemcpyHtoDAsync_v2(memory, locked, BYTES, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(host, memory, BYTES));
    bytes_are(__LINE__, host, BYTES, 40);
    OK(cuMemFreeHost(locked));
    OK(cuMemHostRegister_v2(host, BYTES, 0));
    IS(cuMemHostRegister_v2(host + 10, 10, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    OK(cuMemHostUnregister(host));
    IS(cuMemcpyHtoD_v2(memory + BYTES - 1, host, 4096), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(second));
    OK(cuStreamDestroy_v2(stream));
}

static void fills(void)
{
    unsigned words[4] = {0};
    unsigned short halves[2] = {0};
    CUDA_MEMCPY2D rectangle = {.from_type = CU_MEMORY_DEVICE,
                               .from_device = memory,
                               .from_pitch = 64,
                               .from_x = 4,
                               .from_y = 1,
                               .to_type = CU_MEMORY_HOST,
                               .to_host = host,
                               .to_pitch = 8,
                               .width_bytes = 8,
                               .height = 3};

    OK(cuMemsetD8_v2(memory, 0, 4096));
    OK(cuMemsetD32_v2(memory, 0x01020304, 3));
    OK(cuMemcpyDtoH_v2(words, memory, sizeof(words)));
    IS(words[2], 0x01020304);
    IS(words[3], 0);
    OK(cuMemsetD16_v2(memory + 2, 0x0506, 1));
    OK(cuMemcpyDtoH_v2(halves, memory, sizeof(halves)));
    IS(halves[1], 0x0506);
    IS(cuMemsetD32_v2(memory + 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemsetD2D8_v2(memory, 64, 9, 32, 8));
    OK(cuMemcpyDtoH_v2(host, memory, 4096));
    IS(host[64 * 7 + 31], 9);
    IS(host[64 * 7 + 32], 0);
    memset(host, 0, 4096);
    OK(cuMemcpy2D_v2(&rectangle));
    bytes_are(__LINE__, host, 24, 9);
    IS(host[24], 0);
}

/* Layers of 5 rows of 16 bytes on the device, of 4 rows of 8 bytes on the host; 2 by 3 by 4 of
 * them. */
static void boxes(void)
{
    enum { WIDTH = 4, ROWS = 3, LAYERS = 2 };
    CUDA_MEMCPY3D box = {.from_type = CU_MEMORY_DEVICE,
                         .from_device = memory,
                         .from_pitch = 16,
                         .from_height = 5,
                         .from_xyz = {3, 1, 2},
                         .to_type = CU_MEMORY_HOST,
                         .to_pitch = 8,
                         .to_height = 4,
                         .to_xyz = {2, 1, 0},
                         .width_bytes = WIDTH,
                         .height = ROWS,
                         .depth = LAYERS};
    unsigned char there[512], back[512] = {0}, wanted[512] = {0};

    for (size_t i = 0; i < sizeof(there); i++)
        there[i] = (unsigned char)(i * 7 + i / 256);
    for (size_t z = 0; z < LAYERS; z++)
        for (size_t y = 0; y < ROWS; y++)
            memcpy(wanted + z * 32 + (y + 1) * 8 + 2, there + (z + 2) * 80 + (y + 1) * 16 + 3,
                   WIDTH);
    OK(cuMemcpyHtoD_v2(memory, there, sizeof(there)));
    box.to_host = back;
    OK(cuMemcpy3D_v2(&box));
    IS(memcmp(back, wanted, sizeof(back)), 0);
    box.from_pitch = WIDTH - 1;
    IS(cuMemcpy3D_v2(&box), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpy3D_v2(NULL), CUDA_ERROR_INVALID_VALUE);
}

/* The null stream and blocking streams wait for each other, others do not. */
static void default_streams(void)
{
    CUstream blocking, other;
    unsigned char byte = 0;

    OK(cuStreamCreate(&blocking, 0));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 20; i++) {
        OK(cuMemsetD8_v2(memory, 1, 1));
        OK(nap_for(500, blocking));
        OK(add_to(memory, 1, 2, blocking)); /* 3 */
        OK(add_to(memory, 1, 4, NULL));     /* 7 */
        OK(nap_for(500, NULL));
        OK(cuMemsetD8Async(memory, 0, 1, NULL));
        OK(add_to(memory, 1, 8, blocking)); /* 8 */
        OK(cuMemcpyDtoH_v2(&byte, memory, 1));
        IS(byte, 8);
    }
    OK(nap_for(20000, NULL));
    IS(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
    OK(cuStreamQuery(other));
    OK(nap_for(1000, CU_STREAM_PER_THREAD));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    OK(cuStreamQuery(NULL)); /* which the thread's stream has waited for */
    OK(cuStreamDestroy_v2(blocking));
    OK(cuStreamDestroy_v2(other));
}

static void events(void)
{
    CUstream one, two;
    CUevent start, middle, end, untimed;
    float ms = -1;
    unsigned char byte = 0;

    OK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&start, 0));
    OK(cuEventCreate(&middle, 0));
    OK(cuEventCreate(&end, 0));
    OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    OK(cuEventQuery(start)); /* never recorded */
    IS(cuEventElapsedTime(&ms, start, end), CUDA_ERROR_INVALID_HANDLE);
    OK(cuMemsetD8Async(memory, 1, 1, one));
    OK(cuEventRecord(start, one));
    OK(nap_for(30000, one));
    OK(add_to(memory, 1, 1, one)); /* 2 */
    OK(cuEventRecord(untimed, one));
    IS(cuEventQuery(untimed), CUDA_ERROR_NOT_READY);
    OK(cuStreamWaitEvent(two, untimed, 0));
    OK(add_to(memory, 1, 10, two)); /* 12 */
    OK(cuEventRecord(middle, two));
    OK(nap_for(10000, two));
    OK(cuEventRecord(end, two));
    OK(cuMemcpyDtoHAsync_v2(&byte, memory, 1, two));
    OK(cuEventSynchronize(end));
    OK(cuEventElapsedTime(&ms, start, middle));
    IS(ms >= 0, 1);
    OK(cuEventElapsedTime(&ms, middle, end));
    IS(ms >= 0, 1);
    IS(cuEventElapsedTime(&ms, start, untimed), CUDA_ERROR_INVALID_HANDLE);
    OK(cuStreamSynchronize(two));
    IS(byte, 12);
    OK(cuEventDestroy_v2(start));
    OK(cuEventDestroy_v2(middle));
    OK(cuEventDestroy_v2(end));
    OK(cuEventDestroy_v2(untimed));
    OK(cuStreamDestroy_v2(one));
    OK(cuStreamDestroy_v2(two));
}

static CUstream calls_stream;
static CUresult inside = CUDA_SUCCESS;
static int order[2], order_count;

static void from_stream(void *data)
{
    inside = cuMemFree_v2(memory); /* not allowed here */
    order[order_count++] = *(int *)data;
}

static void from_callback(CUstream stream, CUresult status, void *data)
{
    IS(stream == calls_stream, 1);
    IS(status, CUDA_SUCCESS);
    order[order_count++] = *(int *)data;
}

static sem_t gate;

static void wait_at_gate(void *data)
{
    sem_wait(data);
}

/* Nothing that is put behind a function waits for it in the call, and all of it waits in the
 * stream. (A copy to memory that is not page-locked does.) */
static void behind_host_function(void)
{
    static unsigned char byte;

    sem_init(&gate, 0, 0);
    OK(cuMemHostRegister_v2(&byte, 1, 0));
    OK(cuMemsetD8Async(memory, 7, 1, calls_stream));
    OK(cuLaunchHostFunc(calls_stream, wait_at_gate, &gate));
    OK(add_to(memory, 1, 1, calls_stream));
    OK(cuMemcpyDtoHAsync_v2(&byte, memory, 1, calls_stream));
    OK(cuLaunchHostFunc(calls_stream, wait_at_gate, &gate));
    IS(cuStreamQuery(calls_stream), CUDA_ERROR_NOT_READY);
    IS(byte, 0);
    sem_post(&gate);
    sem_post(&gate);
    OK(cuStreamSynchronize(calls_stream));
    IS(byte, 8);
    OK(cuMemHostUnregister(&byte));
    sem_destroy(&gate);
}

static void host_functions(void)
{
    static int first = 1, second = 2;
    unsigned char byte = 0;

    OK(cuStreamCreate(&calls_stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemsetD8Async(memory, 50, 1, calls_stream));
    OK(nap_for(2000, calls_stream));
    OK(cuLaunchHostFunc(calls_stream, from_stream, &first));
    OK(cuStreamAddCallback(calls_stream, from_callback, &second, 0));
    OK(add_to(memory, 1, 1, calls_stream));
    OK(cuMemcpyDtoHAsync_v2(&byte, memory, 1, calls_stream));
    OK(cuStreamSynchronize(calls_stream));
    IS(byte, 51);
    IS(order_count, 2);
    IS(order[0], 1);
    IS(order[1], 2);
    IS(inside, CUDA_ERROR_NOT_PERMITTED);
    behind_host_function();
    OK(cuStreamDestroy_v2(calls_stream));
}

static void *without_context(void *unused)
{
    CUdeviceptr address;
    IS(cuMemAlloc_v2(&address, 16), CUDA_ERROR_INVALID_CONTEXT);
    return unused;
}

static void refusals(void)
{
    void *function = NULL;
    const void *table;
    int status = -1;
    CUuuid id = {{0}};
    pthread_t thread;

    IS(cuMemAllocManaged(), CUDA_ERROR_NOT_SUPPORTED);
    IS(cuMemAddressReserve(), CUDA_ERROR_NOT_SUPPORTED);
    IS(cuMemGetAllocationGranularity(), CUDA_ERROR_NOT_SUPPORTED);
    IS(cuGraphCreate(), CUDA_ERROR_NOT_SUPPORTED);
    OK(cuProfilerStart());
    OK(cuGetProcAddress_v2("cuMemAlloc", &function, 12000, 0, &status));
    IS(function == (void *)cuMemAlloc_v2, 1);
    OK(cuGetProcAddress_v2("cuMemcpyHtoD", &function, 12000, 2, &status));
    IS(function == (void *)cuMemcpyHtoD_v2_ptds, 1);
    OK(cuGetProcAddress_v2("cuOfTomorrow", &function, 12000, 0, &status));
    IS(function == NULL && status == 1, 1);
    IS(cuGetProcAddress("cuOfTomorrow", &function, 11030, 0), CUDA_ERROR_NOT_FOUND);
    IS(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_FOUND);
    if (pthread_create(&thread, NULL, without_context, NULL) == 0)
        pthread_join(thread, NULL);
}

/* A fault costs the second GPU, which says so from then on; the first one goes on. */
static void two_gpus(CUcontext first)
{
    CUcontext second;
    CUdeviceptr there;
    CUmodule its_module;
    CUfunction fault;
    CUstream stream;
    uint64_t code = CUDA_ERROR_ILLEGAL_ADDRESS;
    void *parameters[] = {&code};

    OK(cuCtxCreate_v2(&second, 0, 1));
    OK(cuMemAlloc_v2(&there, BYTES));
    OK(cuMemsetD8_v2(there, 77, BYTES));
    OK(cuMemcpyPeer(memory, first, there, second, BYTES));
    OK(cuCtxSynchronize());
    OK(cuModuleLoadData(&its_module, ptx));
    OK(cuModuleGetFunction(&fault, its_module, "standin_fault"));
    OK(cuStreamCreate(&stream, 0));
    OK(cuLaunchKernel(fault, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    IS(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    IS(cuMemsetD8_v2(there, 0, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
    IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    OK(cuCtxPopCurrent_v2(NULL));
    memset(host, 0, BYTES);
    OK(cuMemcpyDtoH_v2(host, memory, BYTES));
    bytes_are(__LINE__, host, BYTES, 77);
}

/* Every block is one GPU's, whichever context asks. */
static void owners(void)
{
    enum { GPUS_MOST = 16, BLOCKS = 24, BLOCK_BYTES = 5 << 20 };
    static CUdeviceptr blocks[GPUS_MOST][BLOCKS];
    CUcontext all[GPUS_MOST];
    int count = 0;

    OK(cuDeviceGetCount(&count));
    for (int i = 0; i < count; i++) {
        OK(cuDevicePrimaryCtxRetain(&all[i], i));
        OK(cuCtxSetCurrent(all[i]));
        for (int k = 0; k < BLOCKS; k++) {
            OK(cuMemAlloc_v2(&blocks[i][k], BLOCK_BYTES));
            OK(cuMemsetD8_v2(blocks[i][k], (unsigned char)(i * BLOCKS + k), BLOCK_BYTES));
        }
    }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < BLOCKS; k++) {
            unsigned char last = 0;
            int owner = -1;

            OK(cuPointerGetAttribute(&owner, CU_POINTER_DEVICE_ORDINAL, blocks[i][k] + 77));
            IS(owner, i);
            OK(cuCtxSetCurrent(all[i]));
            OK(cuMemcpyDtoH_v2(&last, blocks[i][k] + BLOCK_BYTES - 1, 1));
            OK(cuCtxSetCurrent(all[count - 1 - i]));
            IS(last, (unsigned char)(i * BLOCKS + k));
            OK(cuMemFree_v2(blocks[i][k]));
        }
    for (int i = 0; i < count; i++)
        OK(cuDevicePrimaryCtxRelease_v2(i));
}

int main(int words, char **word)
{
    CUcontext context = NULL;

    if (words > 1 && strcmp(word[1], "owners") == 0) {
        OK(cuInit(0));
        owners();
        puts(failed ? "wrong" : "right");
        return failed;
    }
    devices();
    if (failed)
        return 1;
    host = malloc(BYTES);
    contexts(&context);
    modules();
    parameters();
    copies();
    fills();
    boxes();
    default_streams();
    events();
    host_functions();
    refusals();
    two_gpus(context);
    OK(cuModuleUnload(module));
    OK(cuMemFree_v2(memory));
    OK(cuDevicePrimaryCtxRelease_v2(0));
    free(host);
    puts(failed ? "wrong" : "right");
    return failed;
}
