#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
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

int child_start(char *const *arguments, int standard_input, int standard_output, bool has_group, pid_t *process) {
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

static const int crashes[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
enum { crash_count = sizeof crashes / sizeof crashes[0] };

static volatile sig_atomic_t note_fd = -1;
static struct sigaction previous[crash_count];
// A stack of its own, for a crash because the ordinary one is full.
static char stack[16384];

static void note(int number) {
    if (note_fd >= 0) {
        char line[] = "signal=00\n";
        line[7] += (char)(number / 10);
        line[8] += (char)(number % 10);
        ssize_t written = write(note_fd, line, sizeof line - 1);
        (void)written;
    }
    // What would have happened without this function happens when it returns.
    for (int index = 0; index < crash_count; index++)
        if (crashes[index] == number) sigaction(number, &previous[index], NULL);
    raise(number);
}

void crash_note_in(int fd) {
    static bool is_installed = false;
    note_fd = fd;
    if (is_installed || fd < 0) return;
    is_installed = true;
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternative, NULL);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    action.sa_flags = SA_ONSTACK;
    for (int index = 0; index < crash_count; index++) sigaction(crashes[index], &action, &previous[index]);
}

void raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}
