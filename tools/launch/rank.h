/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * rank.h: the small jobs that mpirun starts this executable for: standing in for the program as
 * rank 0, and calling the remote shell. Knows nothing of what the results are used for.
 */
#ifndef OMPRMA_LAUNCH_RANK_H
#define OMPRMA_LAUNCH_RANK_H

#include <stddef.h>

/* First byte of a packet to omprma-run. */
enum {
    RANK_ENVIRONMENT = 'R', /* then NAME=VALUE strings, each with its zero */
    RANK_HOST = 'H',        /* then "HOST: WHY" with a zero */
    RANK_ASKED = 'A',       /* then HOST with a zero: its remote shell is called */
    RANK_REACHED = 'U'      /* likewise: the shell runs there */
};

#define RANK_OPTION "--internal-rank" /* then the name of omprma-run's socket */
#define SHELL_NAME "omprma-shell"     /* argv[0] when called as remote shell */
#define SHELL_SOCKET "OMPRMA_INTERNAL_SOCKET"
#define SHELL_HOSTS "OMPRMA_INTERNAL_HOSTS"   /* as the user names them, for hosts_parse() */
#define SHELL_COMMAND "OMPRMA_INTERNAL_SHELL" /* the real remote shell, words between spaces */

/* Takes a connection of one of these processes, which send at once, and its packet: of so many
 * bytes, a zero at the end; 0: it is none of ours. Returns its descriptor; -1: nobody connects. */
int rank_accept(int listener, char *packet, size_t room, size_t *bytes);

/* Sends MPI's environment variables to omprma-run and sleeps until it lets go. */
int rank_main(const char *socket_name);

/* argv: HOST COMMAND...; calls the real remote shell and reports that, and its success or failure.
 */
int shell_main(int argc, char **argv);

#endif
