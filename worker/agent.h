/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * agent.h: the process that gives programs of this host their workers, one process for each program
 * and slot: omprma-worker --agent. It takes requests (join.h), starts sessions, tells programs and
 * omprma-run what becomes of them, and lets none stay. Knows nothing of devices.
 */
#ifndef OMPRMA_WORKER_AGENT_H
#define OMPRMA_WORKER_AGENT_H

/*
 * The arguments behind DIRECT_AGENT_OPTION, as text: the socket on which programs join; a socket
 * (SOCK_SEQPACKET) to whoever has started the agent, for struct direct_event, whose end ends it;
 * how many slots the host has. Its environment is that of its sessions, in which a program's own
 * settings replace those of the same name.
 *
 * Returns when all is at its end: the status to exit with, 2 for arguments that make no sense. Call
 * it from main(), without other threads; it takes signals and all children over.
 *
 * `network` and `more`, or NULL: a listening TCP socket for the agents of other hosts, and how many
 * slots those will have together; FAR_SECRET_VARIABLE (far.h) is set then.
 */
int agent_run(const char *listener, const char *control, const char *slots, const char *network,
              const char *more);

/* DIRECT_FAR_OPTION: as the environment says (far.h), the agent of another host than omprma-run's,
 * which the end of its connection there ends. Where there is one on this host already, that one
 * has one slot more, and this process ends. */
int agent_run_far(void);

#endif
