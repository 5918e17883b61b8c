#include "include/directory_watch.h"

#include <errno.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <unistd.h>

int directory_watch_create(void) { return inotify_init1(IN_NONBLOCK | IN_CLOEXEC); }

int directory_watch_add(int watch_fd, const char *path, bool for_writes) {
    uint32_t mask = IN_CREATE | IN_MOVED_TO | IN_ONLYDIR | IN_ATTRIB;
    if (for_writes) mask |= IN_MODIFY;
    return inotify_add_watch(watch_fd, path, mask);
}

int directory_watch_read(int watch_fd, int *watches, int capacity) {
    // Room for at least one event with the longest name, aligned for the record.
    _Alignas(struct inotify_event) char buffer[4096];
    ssize_t size;
    do { size = read(watch_fd, buffer, sizeof buffer); } while (size < 0 && errno == EINTR);
    int count = 0;
    for (ssize_t at = 0; at + (ssize_t)sizeof(struct inotify_event) <= size;) {
        const struct inotify_event *event = (const struct inotify_event *)(buffer + at);
        if (event->mask & IN_Q_OVERFLOW || count == capacity) return -1;
        watches[count++] = event->wd;
        at += (ssize_t)sizeof(struct inotify_event) + event->len;
    }
    return count;
}
