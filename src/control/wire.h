/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * wire.h: the format of control messages; the only file pair that encodes and decodes them. See
 * docs/protocol.md. Little endian, 8-byte aligned. Nothing is trusted: a decoder gives back only
 * records whose lengths were checked against the message and against the limits below.
 * Knows nothing of MPI, queues or devices.
 *
 * Thread: no shared state. Blocks: never.
 */
#ifndef OMPRMA_CONTROL_WIRE_H
#define OMPRMA_CONTROL_WIRE_H

#include <stdbool.h>
#include <omprma/omprma.h>

#include "base/shape.h"

enum {
    WIRE_MAGIC = 0x4d52,
    WIRE_VERSION = 22,
    WIRE_MESSAGE_BYTES = 64 << 10, /* largest message */
    WIRE_ARENAS_MOST = 64,         /* of a device at a time: what the application can hold */
    WIRE_HEADER_BYTES = 16,
    WIRE_RECORD_BYTES = 16,
    WIRE_WORDS = 4,             /* most words of a record */
    WIRE_NO_DEVICE = UINT16_MAX /* in a record's device: it is about the worker as a whole */
};

enum wire_kind { WIRE_COMMANDS = 1, WIRE_RESULTS = 2 };

enum wire_code {
    /* commands, application to worker */
    WIRE_WRITE = 1, /* store the tail: address | tail: data */
    WIRE_READ,      /* send memory back: address, bytes */
    WIRE_LAUNCH,    /* call a kernel: entry | tail: 64-bit arguments, see WIRE_GEOMETRY, WIRE_PACKED
                     * and WIRE_CONTEXT */
    WIRE_RECV,      /* take data of the two-sided path: address, bytes, tag, peer */
    WIRE_SEND,      /* give data to the two-sided path: address, bytes, tag, peer */
    WIRE_PUT,       /* put to a peer's window: local address, remote address, bytes, peer */
    WIRE_GET,       /* get from a peer's window: local address, remote address, bytes, peer */
    WIRE_COPY,      /* copy inside this worker: to, from, bytes, device of `to` */
    WIRE_FENCE,     /* nothing; its result says that all before it is done: the worker's clock */
    WIRE_WAIT,    /* hold this queue until another of this worker has passed an operation: queue as
                   * wire_queue() makes it, operation */
    WIRE_RESET,   /* forget the queue's failure */
    WIRE_GROW,    /* attach an arena: bytes, where it is to begin or 0, addresses that it is not to
                   * have: where they begin, how many; result: address | tail: struct shm_address of
                   * the file behind it, if the program can map that */
    WIRE_RELEASE, /* detach an arena: address, bytes */
    WIRE_LOAD,    /* load an image that lies in an arena: address, image bytes, names bytes,
                   * symbol count; names follow the image, addresses are written over them */
    WIRE_AWAKE,   /* of no device: do not sleep for some microseconds: us */
    WIRE_BENCH, /* take part in a bare MPI measurement: kind, bytes, repetitions, address or peer */
    WIRE_EXIT,  /* of no device: end */
    WIRE_LOST,  /* of no device: a peer gives no answers any more: peer | tail: text */
    WIRE_STORE, /* copy from staging memory into the device: address, staging address, bytes */
    WIRE_FETCH, /* copy out of the device into staging memory: the same words */
    WIRE_FILL,  /* write a pattern over and over: address, pattern, its bytes, how often */
    WIRE_ASK,   /* ask the device's backend: what | tail: the question; result: the answer */
    WIRE_TURN,  /* of no device: which worker this is of those that divide the host's cores now, and
                 * how many they are */
    WIRE_NUMBER,  /* of no device: what number the worker's first device is for the program */
    WIRE_REGION,  /* write, launch and read, all small, as one: entry, address to write, address to
                   * read, bytes written << 32 | bytes read | tail: as a launch's, then what is
                   * written; see wire_open_region() */
    WIRE_SCATTER, /* copy packed runs to where a shape has them: address, packed address, number
                   * of the first run, runs | tail: shape, then the runs if they come in it; see
                   * wire_open_runs() */
    WIRE_GATHER,  /* the other way: the same words | tail: shape */
    WIRE_SHARE,   /* open memory of the program in which runs lie packed: bytes | tail: struct
                   * shm_address; result: address */
    WIRE_MAP,   /* of no device: an arena of another worker of the host, to copy to by oneself: its
                 * rank, where the arena begins, bytes | tail: struct shm_address */
    WIRE_UNMAP, /* of no device: that arena goes: rank, where it begins */
    WIRE_BELL,  /* of no device: by this another worker of the host shows that it has died: its rank
                 * | tail: struct shm_address of its doorbell */
    WIRE_COMMAND_END,
    /* results, worker to application */
    WIRE_DONE = 64, /* an operation that wanted a result is done: value | tail: data */
    WIRE_FAILED,    /* it failed, or an earlier one of its queue did: status, operation that failed,
                     * code of the device's driver, address that a kernel crashed with, or 0 |
                     * WIRE_CRASHED | tail: text */
    WIRE_OUTPUT,    /* text printed by target regions: stream (1, 2) | WIRE_FLUSHED | tail: text */
    WIRE_ALIVE,     /* acknowledges messages: how much goes on at the worker, see protocol.md */
    WIRE_STALLED,   /* no data has moved to or from another worker: peer, for how many seconds, how
                     * often this was said since data moved */
    WIRE_SPAN,      /* for --trace: when a command was run, by the worker's clock: begin, end */
    WIRE_RESULT_END
};

/* In the word of WIRE_OUTPUT: the region flushed the stream after this text. */
enum { WIRE_FLUSHED = 256 };

enum wire_flag {
    WIRE_REPLY = 1,    /* the sender of this command waits for a result */
    WIRE_CRASHED = 2,  /* failed: a kernel has crashed, and the device runs nothing any more */
    WIRE_GEOMETRY = 4, /* launch: the tail begins with an omprma_geometry_t */
    WIRE_PACKED = 8,   /* launch: a word with their bytes, then parameters as the kernel has them */
    WIRE_MODULE = 16,  /* load: as a module of its own; result: the module */
    WIRE_MAPPED = 16,  /* put: copied, where the worker has mapped that memory, see WIRE_MAP */
    WIRE_STAGED = 32,  /* recv, send, put: the (local) address is one of the staging memory */
    WIRE_SPIN = 64,    /* awake: nor yield */
    WIRE_CONTEXT = 128 /* launch: the kernel takes an array of where the arguments are */
};

enum { WIRE_GEOMETRY_WORDS = 5 };

/* One record. `tail` points into the caller's data (encoding) or the message (decoding). */
struct wire_record {
    uint16_t code;   /* enum wire_code */
    uint16_t flags;  /* enum wire_flag */
    uint16_t device; /* of the worker, from 0, or WIRE_NO_DEVICE */
    uint32_t queue;  /* queue number on the device */
    uint32_t op;     /* number of the operation in its queue; wraps around */
    uint32_t tail_bytes;
    uint64_t word[WIRE_WORDS];
    const void *tail;
};

/* A queue of any device of a worker in one word. */
static inline uint64_t wire_queue(uint16_t device, uint32_t queue)
{
    return (uint64_t)device << 32 | queue;
}

/* Memory for a message under construction. `data` is 8-byte aligned. */
struct wire_buffer {
    uint8_t *data;
    uint32_t used, capacity;
};

struct wire_header {
    uint8_t kind;       /* enum wire_kind */
    uint32_t bytes;     /* of the whole message */
    uint32_t serial;    /* number of the message in its direction, from 1, wraps around */
    uint32_t ack;       /* serial of the last message that the sender has taken from the receiver */
    uint16_t wants_ack; /* the receiver should answer soon, if only with WIRE_ALIVE */
};

/* A message being read. */
struct wire_reader {
    struct wire_header header;
    const uint8_t *next, *end;
};

/* Name of a code, "unknown" if it is none. */
const char *wire_code_name(unsigned code);

/* Number of words that records of this code carry, -1 if the code is unknown. */
int wire_words(unsigned code);

/* Bytes that a record of this code with this tail takes in a message. */
uint32_t wire_record_bytes(unsigned code, uint32_t tail_bytes);

/* Starts a message: reserves the header. capacity >= WIRE_HEADER_BYTES. */
void wire_begin(struct wire_buffer *buffer);

/* Appends a record; the tail is copied, or left for the caller to fill when record->tail is NULL
 * and tail_bytes > 0. Returns where the tail lies in the message, or NULL if there is no room (the
 * buffer is then unchanged). */
void *wire_append(struct wire_buffer *buffer, const struct wire_record *record);

/* Sets WIRE_REPLY on the record that was appended last. `last` is its offset as wire_append's
 * buffer->used had it before the call. */
void wire_want_reply(struct wire_buffer *buffer, uint32_t last);

/* Finishes the message: writes the header. */
void wire_seal(struct wire_buffer *buffer, enum wire_kind kind, uint32_t serial, uint32_t ack,
               bool wants_ack);

/* The serial of a message that was not checked yet; 0 if it is too short to have one. */
uint32_t wire_serial(const void *message, size_t bytes);

/* Checks the header of a message of `bytes` bytes (8-byte aligned memory) and every record in it.
 * All records of a WIRE_COMMANDS message must name the same queue of the same device.
 * Errors: PROTOCOL (what is wrong and at which offset), VERSION. */
omprma_status_t wire_open(struct wire_reader *reader, const void *message, size_t bytes);

/* Whether an opened message is of this kind and follows the one with serial `last` in its
 * direction. Errors: PROTOCOL. */
omprma_status_t wire_check_next(const struct wire_reader *reader, enum wire_kind kind,
                                uint32_t last);

/* What a launch is to be called with. */
struct wire_launch {
    omprma_geometry_t geometry; /* all 0: left to the device */
    const uint64_t *arguments;  /* in the record */
    uint32_t count;
    bool context;          /* the kernel takes them by omprma_launch_context() */
    bool packed;           /* they are no words but parameters as the kernel has them, */
    uint32_t packed_bytes; /* so many bytes */
};

/* Takes a launch apart. Errors: PROTOCOL (it is shorter than it says). */
omprma_status_t wire_open_launch(const struct wire_record *record, struct wire_launch *launch);

/* The word of a region with its sizes, and how many bytes its result brings by that. */
static inline uint64_t wire_region_bytes(uint32_t written, uint32_t read)
{
    return (uint64_t)written << 32 | read;
}

static inline uint32_t wire_region_brings(const struct wire_record *record)
{
    return (uint32_t)record->word[3];
}

/* It runs a kernel. */
static inline bool wire_is_launch(unsigned code)
{
    return code == WIRE_LAUNCH || code == WIRE_REGION;
}

/* What a region is made of. No bytes: there is nothing to write, or to read. */
struct wire_region {
    uint64_t to, from; /* what is written where, what is read */
    const void *data;
    uint32_t bytes, back_bytes;
    struct wire_record launch; /* as one of its own */
};

/* Takes a region apart. Errors: PROTOCOL (it is shorter than it says). */
omprma_status_t wire_open_region(const struct wire_record *record, struct wire_region *region);

enum { WIRE_RUNS_BYTES = 1 << 20 }; /* of the runs of one command at most */

/* Runs of a shape, some or all of them, and where they lie packed. */
struct wire_runs {
    uint64_t at, packed;
    const void *data; /* they come in the tail, in place of `packed`; NULL: they do not */
    struct shape shape;
    uint64_t first, runs;
};

/* Takes a scatter or gather apart. Errors: PROTOCOL (an impossible shape, runs that it does not
 * have or too many of them, a tail that is not all of them). */
omprma_status_t wire_open_runs(const struct wire_record *record, struct wire_runs *runs);

/* Gives the next record; false at the end. Only after wire_open() said OK. */
bool wire_next(struct wire_reader *reader, struct wire_record *record);

#endif
