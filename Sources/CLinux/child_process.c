#define _GNU_SOURCE
#include "include/child_process.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <unistd.h>

extern char **environ;

int unnamed_file_create(const void *bytes, size_t count) {
    int fd = memfd_create("batch", MFD_CLOEXEC);
    if (fd < 0) return -1;
    for (size_t done = 0; done < count;) {
        ssize_t written = write(fd, (const char *)bytes + done, count - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            int cause = written < 0 ? errno : ENOSPC;
            close(fd);
            errno = cause;
            return -1;
        }
        done += (size_t)written;
    }
    if (lseek(fd, 0, SEEK_SET) == 0) return fd;
    close(fd);
    return -1;
}

int child_start(
    char *const *arguments, int standard_input, int standard_output, bool has_group, pid_t *process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure != 0) return failure;
    failure = posix_spawnattr_init(&attributes);
    if (failure != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return failure;
    }
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    // Each call fails only for want of memory or for a wrong argument.
    failure = posix_spawn_file_actions_adddup2(&actions, standard_input, STDIN_FILENO);
    if (failure == 0) failure = posix_spawn_file_actions_adddup2(&actions, standard_output, STDOUT_FILENO);
    if (failure == 0) failure = posix_spawnattr_setsigmask(&attributes, &none);
    if (failure == 0) failure = posix_spawnattr_setsigdefault(&attributes, &all);
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (has_group ? POSIX_SPAWN_SETPGROUP : 0);
    if (failure == 0) failure = posix_spawnattr_setflags(&attributes, flags);
    if (failure == 0) failure = posix_spawnp(process, arguments[0], &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}
