/*
 * hip.hip: what HIP programs do with memory, streams and events, on all devices: hip DEVICES.
 * Says "right" when all is.
 */
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum { COUNT = 100000 };

#define OK(call)                                                                                   \
    do {                                                                                           \
        hipError_t code_ = (call);                                                                 \
        if (code_ != hipSuccess) {                                                                 \
            printf("hip.hip:%d: %s: %s\n", __LINE__, #call, hipGetErrorString(code_));             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            printf("hip.hip:%d: not so: %s\n", __LINE__, #what);                                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

extern "C" __global__ void add_number(double *to, const double *from, double value, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        to[i] = from[i] + value;
}

static void add(double *to, const double *from, double value, hipStream_t stream)
{
    add_number<<<(COUNT + 255) / 256, 256, 0, stream>>>(to, from, value, COUNT);
    OK(hipGetLastError());
}

static double *on_device()
{
    void *memory;

    OK(hipMalloc(&memory, COUNT * sizeof(double)));
    return (double *)memory;
}

/* From memory of the program's and back, with copies that are waited for. */
static void plain()
{
    static double x[COUNT], y[COUNT];
    double *a = on_device(), *b = on_device();

    for (int i = 0; i < COUNT; i++)
        x[i] = i;
    OK(hipMemcpy(a, x, sizeof(x), hipMemcpyHostToDevice));
    add(b, a, 0.5, 0);
    OK(hipMemcpy(a, b, sizeof(x), hipMemcpyDeviceToDevice));
    add(b, a, 1, 0);
    OK(hipMemcpy(y, b, sizeof(y), hipMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        CHECK(y[i] == i + 1.5);
    OK(hipMemset(b, 0x11, sizeof(y)));
    OK(hipMemcpy(y, b, sizeof(y), hipMemcpyDeviceToHost));
    CHECK(((unsigned char *)y)[0] == 0x11 && ((unsigned char *)y)[sizeof(y) - 1] == 0x11);
    OK(hipFree(a));
    OK(hipFree(b));
}

/* Pinned memory, two streams, an event between them. */
static void streams()
{
    double *pinned, *a = on_device(), *b = on_device();
    hipStream_t first, second;
    hipEvent_t event;

    OK(hipHostMalloc((void **)&pinned, COUNT * sizeof(double), 0));
    for (int i = 0; i < COUNT; i++)
        pinned[i] = 2.0 * i;
    OK(hipStreamCreate(&first));
    OK(hipStreamCreate(&second));
    OK(hipEventCreate(&event));
    OK(hipMemcpyAsync(a, pinned, COUNT * sizeof(double), hipMemcpyHostToDevice, first));
    for (int i = 0; i < 10; i++)
        add(a, a, 1, first);
    OK(hipEventRecord(event, first));
    OK(hipStreamWaitEvent(second, event, 0));
    add(b, a, 100, second);
    OK(hipMemcpyAsync(pinned, b, COUNT * sizeof(double), hipMemcpyDeviceToHost, second));
    OK(hipStreamSynchronize(second));
    for (int i = 0; i < COUNT; i++)
        CHECK(pinned[i] == 2.0 * i + 110);
    OK(hipEventDestroy(event));
    OK(hipStreamDestroy(first));
    OK(hipStreamDestroy(second));
    OK(hipHostFree(pinned));
    OK(hipFree(a));
    OK(hipFree(b));
}

int main(int words, char **word)
{
    int devices;

    OK(hipGetDeviceCount(&devices));
    CHECK(devices == (words > 1 ? atoi(word[1]) : 1));
    for (int device = 0; device < devices; device++) {
        OK(hipSetDevice(device));
        plain();
        streams();
    }
    puts("right");
    return 0;
}
