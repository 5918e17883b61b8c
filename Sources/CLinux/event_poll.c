#include "CLinux.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

enum { max_ready = 16 };

int event_poll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

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

void raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}
