/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
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
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <omprma_private/say.h>

#include "face/gate.h"
#include "plugin/plugin.h"

enum { LINE_BYTES = 2048 };

static struct plugin {
    pthread_once_t once;
    int devices;  /* written inside once */
    int *numbers; /* omprma's, of these */
    pid_t pid;    /* of the process that started omprma: a forked child must not end it */
} plugin = {.once = PTHREAD_ONCE_INIT};

int32_t plugin_fail(int device, const char *text)
{
    char line[LINE_BYTES];

    if (device < 0)
        snprintf(line, sizeof(line), "%s", text);
    else
        snprintf(line, sizeof(line), "device %d: %s", device, text);
    omprma_say(OMPRMA_SAY_ERROR, line);
    omprma_say(OMPRMA_SAY_END, ""); /* libomptarget ends the program by it */
    return RTL_FAIL;
}

int32_t plugin_result(omprma_status_t status)
{
    return status == OMPRMA_OK ? RTL_SUCCESS : plugin_fail(-1, omprma_error());
}

/* Those that can run code for this kind of machine. */
static int find_devices(void)
{
    int all = omprma_device_count(), found = 0;

    plugin.numbers = calloc((size_t)(all > 0 ? all : 1), sizeof(*plugin.numbers));
    for (int i = 0; plugin.numbers && i < all; i++) {
        omprma_device_info_t info;
        if (omprma_device_info(i, &info) == OMPRMA_OK && info.native)
            plugin.numbers[found++] = i;
    }
    return found;
}

int plugin_number(int device)
{
    return plugin.numbers[device];
}

static void start_once(void)
{
    if (!gate_open()) {
        plugin_fail(-1, "no key for data of threads is left in this process");
        return;
    }
    if (omprma_init() != OMPRMA_OK) {
        plugin_fail(-1, omprma_error());
        return;
    }
    plugin.pid = getpid();
    plugin.devices = find_devices();
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
    return gate_closed();
}

bool plugin_enter(int device)
{
    return device >= 0 && device < plugin_start() && gate_enter();
}

void plugin_leave(void)
{
    gate_leave();
}

/* omprma_finalize() allows no other thread inside omprma. If this very thread is inside, omprma
 * cannot be ended in an orderly way; mpirun then ends the workers. */
__attribute__((destructor)) static void plugin_end(void)
{
    if (plugin.devices > 0 && plugin.pid == getpid() && gate_close())
        omprma_finalize();
}
