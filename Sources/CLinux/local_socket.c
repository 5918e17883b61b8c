#define _GNU_SOURCE
#include "local_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int fill(struct sockaddr_un *address, const char *path) {
    size_t length = strlen(path);
    memset(address, 0, sizeof *address);
    if (length == 0 || length >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, length);
    return 0;
}

static int close_keeping_errno(int fd) {
    int cause = errno;
    close(fd);
    errno = cause;
    return -1;
}

int local_socket_listen(const char *path) {
    struct sockaddr_un address;
    if (fill(&address, path) != 0) return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    // The file gets the mode of the socket, so that no other user can connect at any moment.
    if (fchmod(fd, 0600) != 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 64) != 0)
        return close_keeping_errno(fd);
    return fd;
}

static int connect_to(const char *path, int type) {
    struct sockaddr_un address;
    if (fill(&address, path) != 0) return -1;
    int fd = socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) return close_keeping_errno(fd);
    return fd;
}

int local_socket_connect(const char *path) { return connect_to(path, SOCK_STREAM); }

int local_socket_connect_datagrams(const char *path) { return connect_to(path, SOCK_DGRAM); }

int local_socket_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC); }

uint32_t local_socket_peer(int fd) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return UINT32_MAX;
    return peer.uid;
}

long local_socket_send(int fd, const void *bytes, size_t count) { return send(fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT); }
