/*
 * pulse.h: a thread that lets streams go on while the program does something else. A GPU begins by
 * itself with what it was given; omprma's queues gather small operations until somebody asks, so
 * that a region is one message. What nobody has asked for after PULSE_US microseconds is sent, and
 * as long as no thread of the program waits inside omprma, this one makes progress instead. It
 * sleeps when no stream has anything under way.
 *
 * Thread: any. Blocks: no, but pulse_end().
 */
#ifndef OMPRMA_CUDA_PULSE_H
#define OMPRMA_CUDA_PULSE_H

struct stream;

enum { PULSE_US = 200 };

/* Something was put into the stream. */
void pulse_watch(struct stream *stream);

/* Around calls of omprma that wait and so make progress for all. */
void pulse_rest(void);
void pulse_resume(void);

/* At the end of the process. Blocks: until the thread has ended. */
void pulse_end(void);

#endif
