/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* phase.c: each step is one call of a deadline of its own. */
#include "host/start/phase.h"

#include "base/config.h"
#include "base/log.h"
#include "base/progress_line.h"
#include "host/start/supervisor.h"

static void say(const void *data, int peer)
{
    const struct phase *phase = data;
    double limit_s = (double)phase->limit_ns / 1e9;

    (void)peer;
    progress_line_allow(false);
    log_write(LOG_ERROR, "%s did not get past %s within %g s; %s; OMPRMA_TIMEOUT %s", phase->name,
              phase->step, limit_s, phase->advice,
              limit_s == CONFIG_START_LEAST_S ? "above that gives it more time" : "sets the limit");
    supervisor_tell_said();
}

void phase_begin(struct phase *phase, const char *name, const char *advice, const char *step,
                 int64_t limit_ns)
{
    *phase = (struct phase){.name = name, .advice = advice, .step = step, .limit_ns = limit_ns};
    if (limit_ns == 0)
        return;
    deadline_enter(&phase->deadline, 0);
    if (!deadline_begin(&phase->deadline, limit_ns, say, phase))
        log_write(LOG_DETAIL, "%s is not watched: no thread can be made", name);
}

void phase_next(struct phase *phase, const char *step, int64_t limit_ns)
{
    phase_end(phase);
    phase_begin(phase, phase->name, phase->advice, step, limit_ns);
}

void phase_end(struct phase *phase)
{
    deadline_end(&phase->deadline);
}
