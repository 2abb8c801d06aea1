/* launcher.c: see launcher.h. */
#include "host/launcher.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"

static void report(void)
{
    const char *text = getenv("OMPRMA_INTERNAL_FD");
    int fd = text ? atoi(text) : -1;

    if (fd < 3)
        return;
    if (write(fd, "c", 1) != 1)
        log_write(LOG_DETAIL, "omprma-run does not listen any more");
    close(fd);
    unsetenv("OMPRMA_INTERNAL_FD");
}

/* `saved` holds the user's value; empty: it was not set. */
static void restore(const char *name, const char *saved)
{
    const char *value = getenv(saved);

    if (!value)
        return;
    if (*value)
        setenv(name, value, 1);
    else
        unsetenv(name);
    unsetenv(saved);
}

void launcher_connected(void)
{
    report();
    restore("LD_LIBRARY_PATH", "OMPRMA_INTERNAL_LD_LIBRARY_PATH");
    restore("LD_PRELOAD", "OMPRMA_INTERNAL_LD_PRELOAD");
}
