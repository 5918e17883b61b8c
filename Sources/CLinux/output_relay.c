#define _GNU_SOURCE
#include "output_relay.h"

#include <errno.h>
#include <poll.h>
#include <linux/sockios.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int unread_byte_count(int fd) {
    int count = 0;
    return ioctl(fd, FIONREAD, &count) == 0 ? count : 0;
}

bool has_unsent_bytes(int fd) {
    int count = 0;
    return ioctl(fd, SIOCOUTQ, &count) == 0 && count > 0;
}

static void *hand_on(void *ends) {
    int from = (int)((uintptr_t)ends >> 32), to = (int)(uint32_t)(uintptr_t)ends;
    char bytes[4096];
    ssize_t count;
    while ((count = recv(from, bytes, sizeof bytes, MSG_PEEK)) > 0) {
        ssize_t written = write(to, bytes, (size_t)count);
        if (written > 0) {
            recv(from, bytes, (size_t)written, 0);
        } else if (errno == EAGAIN) {
            // Another process that has the descriptor open has made it non-blocking.
            struct pollfd room = {.fd = to, .events = POLLOUT};
            poll(&room, 1, -1);
        } else if (errno != EINTR) {
            break;
        }
    }
    shutdown(from, SHUT_RDWR);
    return NULL;
}

int output_relay_start(int fd, struct output_relay *relay) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    // The new thread inherits this mask, so signals go to the thread that waits for them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_t thread;
    int failure = pthread_create(&thread, NULL, hand_on, (void *)((uintptr_t)ends[1] << 32 | (uint32_t)fd));
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure != 0) {
        close(ends[0]);
        close(ends[1]);
        return -1;
    }
    pthread_detach(thread);
    *relay = (struct output_relay){.input = ends[0], .unread = ends[1]};
    return 0;
}
