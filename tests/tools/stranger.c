/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stranger.c: another user of the same machine, see strangers.sh. Connects to every local socket of
 * ours, says what our own processes would say, opens what a run has in shared memory and in the
 * folders below TMPDIR, looks into its processes and rings their doorbells. Prints what it got in
 * to.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int tried[4];
enum { SOCKETS, FILES, FOLDERS, PROCESSES };

/* A packet that claims a host has failed, and one that claims to be rank 0. */
static void knock(const char *name)
{
    static const char failed[] = "Hhost: broken", rank[] = "RPMIX_NAMESPACE=1";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    char answer[16];

    if (length >= sizeof(address.sun_path))
        return;
    memcpy(address.sun_path + 1, name, length);
    for (int i = 0; i < 2; i++) {
        int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        tried[SOCKETS]++;
        if (connect(fd, (struct sockaddr *)&address,
                    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) == 0) {
            send(fd, i ? rank : failed, i ? sizeof(rank) : sizeof(failed), MSG_NOSIGNAL);
            if (recv(fd, answer, sizeof(answer), 0) > 0)
                printf("socket %s answered\n", name);
        }
        close(fd);
    }
}

static void try_sockets(void)
{
    FILE *file = fopen("/proc/net/unix", "r");
    char line[512];
    while (file && fgets(line, sizeof(line), file)) {
        char *name = strstr(line, "@omprma-");
        if (name) {
            name[strcspn(name, "\n")] = 0;
            knock(name + 1);
        }
    }
    if (file)
        fclose(file);
}

static void try_open(const char *folder, const char *name, int kind)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    tried[kind]++;
    if (access(path, R_OK) == 0 || access(path, W_OK) == 0)
        printf("can open %s\n", path);
}

/* Everything in a folder whose name begins with `prefix`. */
static void try_folder(const char *folder, const char *prefix, int kind)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;
    while (entries && (entry = readdir(entries)))
        if (entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
            try_open(folder, entry->d_name, kind);
    if (entries)
        closedir(entries);
}

static void try_process(const char *pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%s/fd", pid);
    tried[PROCESSES]++;
    DIR *fds = opendir(path);
    if (fds) {
        printf("can see the files of process %s\n", pid);
        closedir(fds);
    }
    snprintf(path, sizeof(path), "/proc/%s", pid);
    try_open(path, "mem", PROCESSES);
    if (ptrace(PTRACE_SEIZE, atoi(pid), NULL, NULL) == 0)
        printf("can trace process %s\n", pid);
    else if (kill(atoi(pid), 0) == 0)
        printf("can signal process %s\n", pid);
}

/* stranger TMPDIR PID... */
int main(int count, char **words)
{
    try_sockets();
    try_folder("/dev/shm", "vader_segment", FILES); /* Open MPI 4 */
    try_folder("/dev/shm", "sm_segment", FILES);    /* 5 */
    try_folder(words[1], "", FOLDERS);
    for (int i = 2; i < count; i++)
        try_process(words[i]);
    printf("tried %d sockets, %d files, %d folders, %d processes\n", tried[SOCKETS] > 0,
           tried[FILES] > 0, tried[FOLDERS] > 0, tried[PROCESSES] > 0);
    return 0;
}
