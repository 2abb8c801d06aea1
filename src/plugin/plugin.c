/*
 * plugin.c: start and end of the plugin, and its error lines. Knows nothing of queues or images.
 *
 * When the end comes (seen with LLVM 14, 15 and 16 on glibc 2.36): omprma must live until the last
 * image is unregistered, because that is when libomptarget runs the destructors of device globals,
 * which are kernels. Images of the program and of the libraries that it is linked with are
 * unregistered before the destructor below runs, whether main returns, calls exit() or another
 * thread does; images of a library that was opened later too if it is closed. A handler of atexit()
 * would run before all of them, and so would deinit_plugin, which LLVM 16 calls when the first
 * image goes. Only the image of a library that was opened after the plugin and is never closed goes
 * after the destructor: objects that do not need each other end in the order in which they were
 * loaded. Its device destructors do not run; MPI's own modules, loaded by then too, would be gone
 * as well. The plugin is linked with -z nodelete, so that no dlclose() can bring the end forward.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "plugin/plugin.h"

enum { LINE_BYTES = 2048, HOLD_BACK_SECONDS = 5 };

static struct plugin {
    pthread_once_t once;
    int devices; /* written inside once */
    pid_t pid;   /* of the process that started omprma: a forked child must not end it */
    struct visitor *_Atomic visitors; /* threads that have ever been inside */
    bool fences;                      /* without membarrier() each entry needs a fence */
    pthread_key_t key;                /* its destructor gives a visitor back */
    atomic_bool ended;
    pthread_t ending; /* the thread that ends the process; valid when ended is true */
    pthread_mutex_t line_lock;
    char line[LINE_BYTES]; /* printed last */
} plugin = {.once = PTHREAD_ONCE_INIT, .line_lock = PTHREAD_MUTEX_INITIALIZER};

int32_t plugin_fail(int device, const char *text)
{
    char line[LINE_BYTES];
    int length = device < 0
                     ? snprintf(line, sizeof(line), "omprma: error: %s\n", text)
                     : snprintf(line, sizeof(line), "omprma: error: device %d: %s\n", device, text);
    if (length >= LINE_BYTES) {
        length = LINE_BYTES - 1;
        line[length - 1] = '\n';
    }
    pthread_mutex_lock(&plugin.line_lock);
    if (strcmp(line, plugin.line) != 0) {
        memcpy(plugin.line, line, (size_t)length + 1);
        ssize_t written;
        do
            written = write(STDERR_FILENO, line, (size_t)length);
        while (written < 0 && errno == EINTR);
    }
    pthread_mutex_unlock(&plugin.line_lock);
    return RTL_FAIL;
}

int32_t plugin_result(omprma_status_t status)
{
    return status == OMPRMA_OK ? RTL_SUCCESS : plugin_fail(-1, omprma_error());
}

/* A thread that uses the plugin. Entering and leaving happen about ten times in a small region, so
 * they are plain stores; the one thread that ends the process pays for the order, by making the
 * kernel run a barrier on all others. Never freed: the end may look at it at any time. */
struct visitor {
    struct visitor *next;
    _Atomic int depth; /* between enter and leave; more than 0 in the destructor's own thread means
                        * that a signal handler called exit() */
    atomic_bool taken; /* by a thread that lives */
};

/* Eight bytes: they fit the room that the loader keeps for libraries opened late. */
static _Thread_local struct visitor *visitor __attribute__((tls_model("initial-exec")));

static void visitor_give(void *data)
{
    atomic_store(&((struct visitor *)data)->taken, false);
}

static struct visitor *visitor_take(void)
{
    struct visitor *found;

    for (found = atomic_load(&plugin.visitors); found; found = found->next)
        if (!atomic_exchange(&found->taken, true))
            break;
    if (!found) {
        found = calloc(1, sizeof(*found));
        if (!found)
            return NULL;
        atomic_store(&found->taken, true);
        found->next = atomic_load(&plugin.visitors);
        while (!atomic_compare_exchange_weak(&plugin.visitors, &found->next, found))
            ;
    }
    pthread_setspecific(plugin.key, found);
    visitor = found;
    return found;
}

static void start_once(void)
{
    if (pthread_key_create(&plugin.key, visitor_give) != 0) {
        plugin_fail(-1, "no key for data of threads is left in this process");
        return;
    }
    if (omprma_init() != OMPRMA_OK) {
        plugin_fail(-1, omprma_error());
        return;
    }
    plugin.pid = getpid();
    plugin.fences = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0;
    plugin.devices = omprma_device_count();
    if (!queue_pool_create(plugin.devices)) {
        plugin_fail(-1, "no host memory for the queues of the devices");
        plugin.devices = 0;
    }
}

int plugin_start(void)
{
    if (plugin_ended())
        return 0;
    pthread_once(&plugin.once, start_once);
    return plugin.devices;
}

bool plugin_ended(void)
{
    return atomic_load(&plugin.ended);
}

/* A thread that is still offloading while another one has called exit() must not go back into
 * libomptarget: that is being taken down too, and would call abort() over a failure. The thread
 * waits for the end of the process instead; not for ever, because a destructor may be waiting for
 * it. */
static void hold_back(void)
{
    if (pthread_equal(plugin.ending, pthread_self()))
        return;
    struct timespec left = {.tv_sec = HOLD_BACK_SECONDS};
    int interrupted;
    do
        interrupted = nanosleep(&left, &left) != 0 && errno == EINTR;
    while (interrupted);
}

bool plugin_enter(int device)
{
    if (device < 0 || device >= plugin_start())
        return false;
    struct visitor *self = visitor ? visitor : visitor_take();
    if (!self)
        return false;
    int depth = atomic_load_explicit(&self->depth, memory_order_relaxed);
    atomic_store_explicit(&self->depth, depth + 1, memory_order_relaxed);
    if (plugin.fences)
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst);
    if (!plugin_ended())
        return true;
    plugin_leave();
    return false;
}

void plugin_leave(void)
{
    int depth = atomic_load_explicit(&visitor->depth, memory_order_relaxed);
    atomic_store_explicit(&visitor->depth, depth - 1, memory_order_release);
    if (plugin_ended())
        hold_back();
}

static bool anybody_inside(void)
{
    for (struct visitor *each = atomic_load(&plugin.visitors); each; each = each->next)
        if (atomic_load(&each->depth) > 0)
            return true;
    return false;
}

/* omprma_finalize() allows no other thread inside omprma. Whoever is inside waits for something
 * that ends by itself or by OMPRMA_TIMEOUT. If it is this very thread, omprma cannot be ended in an
 * orderly way; mpirun then ends the workers. */
__attribute__((destructor)) static void plugin_end(void)
{
    if (plugin.devices == 0 || plugin.pid != getpid())
        return;
    plugin.ending = pthread_self();
    atomic_store(&plugin.ended, true);
    if (visitor && atomic_load(&visitor->depth) > 0)
        return;
    if (!plugin.fences)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    while (anybody_inside())
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    omprma_finalize();
}
