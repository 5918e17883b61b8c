#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { max_ready = 16 };

int event_poll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int event_descriptor_create(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

int event_poll_watch(int poll_fd, int fd, bool for_reading, bool for_writing) {
    struct epoll_event event = {
        .events = (for_reading ? EPOLLIN : 0) | (for_writing ? EPOLLOUT : 0),
        .data.fd = fd,
    };
    int result = epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &event);
    if (result != 0 && errno == EEXIST) result = epoll_ctl(poll_fd, EPOLL_CTL_MOD, fd, &event);
    return result;
}

void event_poll_forget(int poll_fd, int fd) { epoll_ctl(poll_fd, EPOLL_CTL_DEL, fd, 0); }

int event_poll_wait(int poll_fd, struct ready_descriptor *ready, int capacity, int timeout_ms) {
    struct epoll_event events[max_ready];
    int count = epoll_wait(poll_fd, events, capacity < max_ready ? capacity : max_ready, timeout_ms);
    for (int i = 0; i < count; i++) {
        bool is_broken = events[i].events & (EPOLLHUP | EPOLLERR);
        ready[i].fd = events[i].data.fd;
        ready[i].is_readable = is_broken || (events[i].events & EPOLLIN);
        ready[i].is_writable = is_broken || (events[i].events & EPOLLOUT);
    }
    return count;
}

int flag_for_searching(void) { return O_PATH; }

int find_file_origin(int file_descriptor, struct file_origin *origin) {
    struct statx status;
    if (statx(file_descriptor, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &status) != 0) return errno;
    origin->device_major = status.stx_dev_major;
    origin->device_minor = status.stx_dev_minor;
    origin->birth_unix_seconds = status.stx_mask & STATX_BTIME ? status.stx_btime.tv_sec : 0;
    return 0;
}

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
