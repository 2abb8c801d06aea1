/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* agent_parts.h: what the files of the agent share: the programs that have come, their sessions. */
#ifndef OMPRMA_WORKER_AGENT_PARTS_H
#define OMPRMA_WORKER_AGENT_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>

#include <omprma/omprma.h>

#include "base/config.h"
#include "control/agent/far.h"
#include "control/agent/join.h"
#include "control/agent/prove.h"
#include "worker/quota.h"

/* The agent of another host. */
struct agent_host {
    struct agent_host *next;
    char name[DIRECT_HOST_BYTES];
    uint32_t address, port; /* as on the network */
    int slots;
    int place;               /* in the order of all, at omprma-run's host */
    struct agent_line *line; /* omprma-run's host: its; else NULL */
};

enum agent_line_phase {
    LINE_CONNECTING, /* the caller's */
    LINE_OPENING,    /* the answerer waits for the opening */
    LINE_ANSWER,     /* the caller for the answer */
    LINE_CALL,       /* the answerer for the call */
    LINE_OPEN,       /* both have proved that they know the secret */
    LINE_GIVEN,      /* its descriptor is others' */
    LINE_CLOSED      /* both are forgotten at the next occasion */
};

struct agent_call {
    uint8_t proof[PROVE_PROOF_BYTES];
    struct far_wish wish;
};

/* What is done with a line when both sides have proved themselves; when something has come on it,
 * or it has ended; and when it is closed, or could not be made. */
struct agent;
struct agent_line;
struct line_steps {
    void (*opened)(struct agent *agent, struct agent_line *line);
    void (*readable)(struct agent *agent, struct agent_line *line);
    void (*lost)(struct agent *agent, struct agent_line *line);
};

/* A connection between agents. */
struct agent_line {
    struct agent_line *next;
    int fd;
    enum agent_line_phase phase;
    bool calls;                     /* this agent has made it */
    bool was_open;                  /* it has been LINE_OPEN */
    const struct line_steps *steps; /* those of its wish; NULL: nobody has called for one yet */
    struct prove_opening opening;
    struct prove_answer answer;
    struct agent_call call;
    struct far_note note; /* that comes */
    size_t come;          /* bytes of what is awaited that are here */
    char *out;            /* what is to be sent */
    size_t out_bytes, sent;
    int64_t until_ns; /* it is given up; 0: it stays */
    struct agent_host *host;
    struct agent_program *program;
    struct agent_session *session;
    char door[DIRECT_DOOR_BYTES]; /* WAY, the caller's: of the session that has asked */
    int32_t rank;                 /* likewise: of the other session */
};

/* A process that serves one program as one slot. */
struct agent_session {
    struct agent_session *next;
    struct agent_program *program; /* NULL: it has left */
    struct agent_host *host;       /* it runs there; NULL: here */
    pid_t pid;                     /* 0: not started yet */
    int slot, rank, size;
    int entry;                            /* of the quota; -1: it does not run here */
    bool is_sent;                         /* the program knows it */
    int ends[DIRECT_SESSION_DESCRIPTORS]; /* the program's, until it has them, of one that runs
                                           * here for another host its own, until it starts; -1 */
    int processes, alone;                 /* of one that runs elsewhere: as in direct_session */
    int64_t kill_ns;                      /* when it is killed; 0: not */
};

enum agent_phase {
    AGENT_ASKING,  /* its request is to come */
    AGENT_TELLING, /* its environment is */
    AGENT_WAITING, /* sessions of other hosts are to start */
    AGENT_SENDING, /* sessions are to be sent to it */
    AGENT_SERVED,
    AGENT_REFUSED, /* it may still read why */
    AGENT_ENDING,  /* its workers are gone with the run; it may still end */
    AGENT_LEFT     /* forgotten at the next occasion */
};

struct agent_program {
    struct agent_program *next;
    enum agent_phase phase;
    struct agent_line *line; /* to the agent of its host; NULL: it runs here */
    uint64_t number;         /* for agents of other hosts */
    int processes;           /* that were told to it */
    int fd;                  /* its end is the program's; -1: it runs on another host */
    int process; /* as descriptor; -1: not to be had. Its children may hold the other end of fd. */
    pid_t pid;
    struct direct_request request;
    int outputs[DIRECT_REQUEST_DESCRIPTORS], folder; /* -1: not there */
    char *environment;                               /* NAME=VALUE, each with its zero */
    int64_t until_ns; /* when it is tried again, or a refusal has been read; 0: not */
};

struct agent {
    int listener, control, signals; /* -1: closed */
    int spare; /* closed to turn somebody away where no more files may be open */
    int slots;
    char join[DIRECT_DIGITS + 1]; /* digits of the listener's name; empty: not known */
    int network;                  /* a listening TCP socket; -1: there are no other hosts */
    uint32_t address, port;       /* of that, as on the network */
    int more; /* slots that other hosts are to have, of omprma-run's host; -1: elsewhere, or
               * all are there */
    uint8_t secret[PROVE_SECRET_BYTES];
    struct agent_host *hosts;
    struct agent_line *lines, *home; /* home: to the agent of omprma-run's host; NULL: it is this */
    struct config config;
    struct rlimit files; /* those of sessions */
    time_t since;
    bool ending;
    bool in_order; /* omprma-run has said so */
    bool orphaned; /* it was killed */
    bool has_told; /* of a stranger */
    struct agent_program *programs;
    struct agent_session *sessions;
    struct quota *quota;             /* of the slots' memory */
    struct direct_measured measured; /* by the last program that has told */
};

/* ---- agent.c ---- */

/* Tells whoever has started the agent. What it does not read in time is lost. */
void agent_say(const struct agent *agent, enum direct_event_kind what, pid_t pid, int status,
               int slot);

/* The same, with all that there is to it. */
void agent_say_event(const struct agent *agent, const struct direct_event *event);

/* After a call that has failed: frees the descriptor that is kept for the case that no more files
 * may be open, so that the call can be made again. False: this is not the case. */
bool agent_spare_use(struct agent *agent);

/* It is kept for the next time. Nothing where it was not used. */
void agent_spare_keep(struct agent *agent);

/* Nobody joins any more, and who has joined is told by the end of the connection. */
void agent_begin_end(struct agent *agent);

/* ---- agent_line.c ---- */

/* A socket that listens at `address`, and its port; -1 with errno. */
int line_listen(uint32_t address, uint32_t *port);

/* A connection to another agent is begun. NULL: there is no memory, or no descriptor. */
struct agent_line *line_call(struct agent *agent, uint32_t address, uint32_t port,
                             const struct far_wish *wish);

/* Somebody has connected. */
void line_accept(struct agent *agent);

/* Something has come, there is room for what goes there, or it is late. */
void line_go_on(struct agent *agent, struct agent_line *line, bool readable);

/* Sends, now or when there is room. */
void line_send(struct agent_line *line, const void *data, size_t bytes);

/* More of what is awaited, `bytes` at `to`. True: all of it is here. The end closes the line. */
bool line_collect(struct agent_line *line, void *to, size_t bytes);

/* Takes the descriptor out, which then waits in each call as new ones do. */
int line_take(struct agent_line *line);

void line_close(struct agent_line *line);

/* Frees those that are closed. */
void lines_forget(struct agent *agent);

/* ---- agent_far.c ---- */

/* What is done with a line for that wish, which this agent has made or not; NULL: there is no such
 * wish. */
const struct line_steps *far_steps(uint32_t kind, bool calls);

/* The slots of all other hosts. */
int far_slots(const struct agent *agent);

/* Has the program sessions there? */
bool far_uses(const struct agent *agent, const struct agent_program *program);

/* Asks the agents of all hosts on which `program` has sessions to start them. */
omprma_status_t far_begin(struct agent *agent, struct agent_program *program);

/* The program, which has left, is told to them. */
void far_end(struct agent *agent, const struct agent_program *program);

/* A session that runs here for a program of another host has ended. */
void far_session_ended(const struct agent_session *session, int status);

/* A session asks for a way for its data. False: it makes no sense. */
bool far_way(struct agent *agent, pid_t pid, const struct direct_way *way);

/* So many slots more here. */
void far_more_slots(struct agent *agent);

/* All slots of all hosts are there: tells the other agents, and omprma-run. */
void far_ready(struct agent *agent);

/* ---- agent_join.c ---- */

/* Its sessions all run: it gets them. */
void agent_program_answer(struct agent *agent, struct agent_program *program);

/* It gets no workers. */
void agent_program_refuse(struct agent *agent, struct agent_program *program, const char *format,
                          ...) __attribute__((format(printf, 3, 4)));

/* A request that makes sense, and its environment. */
bool agent_request_makes_sense(const struct direct_request *request);
bool agent_is_environment(const char *text, size_t bytes);

/* How many programs and workers there are here now. */
int agent_count_processes(const struct agent *agent);

/* A new one, in the list; NULL: no memory. */
struct agent_program *agent_program_make(struct agent *agent, int fd);

/* A program has connected. */
void agent_accept(struct agent *agent);

/* Something has come from it, or there is room for what goes there, or it has ended. */
void agent_program_go_on(struct agent *agent, struct agent_program *program);

/* It has left, or is to be seen so: its sessions have some seconds to end. */
void agent_program_leave(struct agent *agent, struct agent_program *program);

/* Frees what belongs to it. */
void agent_program_free(struct agent_program *program);

/* ---- agent_session.c ---- */

/* Starts a session of `program` as `slot`, which is number `rank` of `size` of its processes,
 * itself included. Errors: HOST_MEMORY. */
omprma_status_t agent_session_start(struct agent *agent, struct agent_program *program, int slot,
                                    int rank, int size);

/* Puts one into the list that does not run here, or not yet. NULL: no memory. */
struct agent_session *agent_session_add(struct agent *agent, struct agent_program *program,
                                        int slot, int rank, int size);

/* Starts such a one, when it has its ends. Errors: HOST_MEMORY. */
omprma_status_t agent_session_run(struct agent *agent, struct agent_session *session);

/* Takes one out of the list that does not run here. */
void agent_session_drop(struct agent *agent, struct agent_session *session);

/* The program's rank; NULL: there is none. */
struct agent_session *agent_session_find(struct agent *agent, const struct agent_program *program,
                                         int rank);

/* Has no other program workers on this host? */
bool agent_is_alone(const struct agent *agent, const struct agent_program *program);

/* One has ended, with a status as of waitpid() or DIRECT_GONE: forgets it, and tells the program,
 * and omprma-run if it is a loss. A program that does not have all of its workers yet gets none. */
void agent_session_ended(struct agent *agent, struct agent_session *session, int status);

/* Takes note of sessions that have ended. */
void agent_sessions_reap(struct agent *agent);

/* Those of `program` have `grace_ns` to end. With `signal`, they get that one now. */
void agent_sessions_end(struct agent *agent, struct agent_program *program, int64_t grace_ns,
                        int signal);

/* Kills those whose time is over. Returns when the next one's is; 0: no session has to end. */
int64_t agent_sessions_late(struct agent *agent);

/* The next session whose ends `program` does not have yet; NULL: it has all. */
struct agent_session *agent_session_unsent(struct agent *agent,
                                           const struct agent_program *program);

#endif
