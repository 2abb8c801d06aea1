/* test: needs=own flags=-rdynamic
 * The program is a tool of OpenMP's, of MPI's and of libc's: what it puts in the place of their
 * functions needs its constructors to have run, so nothing may call it before. What main() sets in
 * the environment is what libomp finds when it starts. */
#include "check.h"

#include <atomic>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <iostream>
#include <map>
#include <mutex>
#include <omp-tools.h>
#include <pthread.h>
#include <string>

static bool ready, begun; /* the constructors have run; main() has begun */
static int early;         /* calls before the first */
static std::mutex lock;
static std::map<std::string, int> *calls = new std::map<std::string, int>; /* to the very end */

/* Other libraries may open files and start threads as they like, as UCX does when it is loaded. */
static bool is_omprma(const void *caller)
{
    Dl_info library;
    return !caller || (dladdr(caller, &library) && (strstr(library.dli_fname, "/libomprma") ||
                                                    strstr(library.dli_fname, "lib/omprma/")));
}

/* The function whose place this program's takes; NULL for the caller: whoever it is counts. */
template <class Function>
static Function next_of(const char *name, Function, const void *caller = NULL)
{
    std::lock_guard<std::mutex> alone(lock);
    if (ready)
        (*calls)[name]++;
    else
        early += is_omprma(caller);
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

extern "C" int MPI_Init_thread(int *count, char ***words, int wanted, int *given)
{
    return next_of("MPI_Init_thread", MPI_Init_thread)(count, words, wanted, given);
}

extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                              void *data) noexcept
{
    return next_of("pthread_create", pthread_create, __builtin_return_address(0))(thread, how, run, data);
}

extern "C" FILE *fopen(const char *path, const char *mode)
{
    return next_of("fopen", fopen, __builtin_return_address(0))(path, mode);
}

extern "C" int open(const char *path, int flags, ...)
{
    return next_of("open", open, __builtin_return_address(0))(path, flags, 0600);
}

static std::atomic<int> regions, starts, starts_before_main;

static void on_parallel(ompt_data_t *, const ompt_frame_t *, ompt_data_t *, unsigned, int,
                        const void *)
{
    regions++;
}

static int start(ompt_function_lookup_t lookup, int, ompt_data_t *)
{
    auto set = (ompt_set_callback_t)lookup("ompt_set_callback");
    set(ompt_callback_parallel_begin, (ompt_callback_t)on_parallel);
    return 1;
}

static void end(ompt_data_t *)
{
}

extern "C" ompt_start_tool_result_t *ompt_start_tool(unsigned, const char *version)
{
    static ompt_start_tool_result_t result = {start, end, {0}};
    starts++;
    starts_before_main += !begun;
    (*calls)[version]++;
    std::cerr << "tool of " << version << std::endl;
    return &result;
}

static bool make_ready(void)
{
    return true;
}

/* Not inlined: the compiler begins such a function with a call of libomp. */
static void __attribute__((noinline)) use(void)
{
    int x[100] = {0}, sum = 0, devices = check_devices();
#pragma omp parallel num_threads(2)
    {
    }
    for (int k = 0; k < 10; k++) {
#pragma omp target nowait map(tofrom : sum) depend(inout : sum) device(k % devices)
        sum++;
    }
#pragma omp taskwait
#pragma omp target teams distribute parallel for map(tofrom : x)
    for (int i = 0; i < 100; i++)
        x[i] = i;
    CHECK_EQUAL(sum, 10);
    CHECK_EQUAL(x[99], 99);
}

int main(void)
{
    begun = true;
    setenv("OMP_THREAD_LIMIT", "7", 1);
    CHECK_EQUAL(omp_get_thread_limit(), 7);
    use();
    CHECK_EQUAL(early, 0);
    CHECK_EQUAL(starts, 1);
    CHECK_EQUAL(starts_before_main, 0);
    CHECK(regions >= 1);
    return finish("tool");
}

static bool last = ready = make_ready(); /* the last constructor */
