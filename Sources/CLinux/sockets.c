#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
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

static int connect_locally(const char *path, int type) {
    struct sockaddr_un address;
    if (fill(&address, path) != 0) return -1;
    socklen_t size = sizeof address;
    // An abstract name, as systemd writes it.
    if (path[0] == '@') {
        address.sun_path[0] = 0;
        size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    }
    int fd = socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    if (connect(fd, (struct sockaddr *)&address, size) != 0) return close_keeping_errno(fd);
    return fd;
}

int local_socket_connect(const char *path) { return connect_locally(path, SOCK_STREAM); }

int local_socket_connect_datagrams(const char *path) { return connect_locally(path, SOCK_DGRAM); }

int local_socket_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC); }

uint32_t local_socket_peer(int fd) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return UINT32_MAX;
    return peer.uid;
}

long local_socket_send(int fd, const void *bytes, size_t count) { return send(fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT); }

// Time for one address, in milliseconds.
enum { connect_time = 10000 };

struct attempt {
    int report;
    char *host;
    char *port;
};

static void set(int fd, int level, int option, int value) {
    (void)setsockopt(fd, level, option, &value, sizeof value);
}

static int connect_to_address(const struct addrinfo *address) {
    int fd = socket(address->ai_family, address->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, address->ai_protocol);
    if (fd < 0) return -1;
    // An answer must not wait for more bytes, and a peer that is gone must be noticed although nothing is sent to it.
    set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 10);
    set(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
    set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 25000);
    if (connect(fd, address->ai_addr, address->ai_addrlen) == 0) return fd;
    if (errno == EINPROGRESS) {
        struct pollfd ready = {.fd = fd, .events = POLLOUT};
        int count;
        do count = poll(&ready, 1, connect_time);
        while (count < 0 && errno == EINTR);
        int cause = count == 0 ? ETIMEDOUT : errno;
        socklen_t size = sizeof cause;
        if (count > 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &cause, &size) == 0 && cause == 0) return fd;
        errno = cause;
    }
    return close_keeping_errno(fd);
}

static void *run(void *argument) {
    struct attempt *attempt = argument;
    struct network_result result = {.fd = -1};
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    struct addrinfo *addresses = NULL;
    result.resolution_error = getaddrinfo(attempt->host, attempt->port, &hints, &addresses);
    for (struct addrinfo *next = addresses; result.resolution_error == 0 && next != NULL && result.fd < 0; next = next->ai_next) {
        result.fd = connect_to_address(next);
        result.error_number = result.fd < 0 ? errno : 0;
    }
    if (addresses != NULL) freeaddrinfo(addresses);
    if (send(attempt->report, &result, sizeof result, MSG_NOSIGNAL) != sizeof result && result.fd >= 0) close(result.fd);
    close(attempt->report);
    free(attempt->host);
    free(attempt->port);
    free(attempt);
    return NULL;
}

int network_connect_begin(const char *host, const char *port) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return -1;
    struct attempt *attempt = calloc(1, sizeof *attempt);
    pthread_attr_t attributes;
    pthread_t thread;
    int cause = ENOMEM;
    if (attempt != NULL && pthread_attr_init(&attributes) == 0) {
        *attempt = (struct attempt){.report = ends[1], .host = strdup(host), .port = strdup(port)};
        (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        (void)pthread_attr_setstacksize(&attributes, 256 * 1024);
        if (attempt->host != NULL && attempt->port != NULL) cause = pthread_create(&thread, &attributes, run, attempt);
        pthread_attr_destroy(&attributes);
        if (cause == 0) return ends[0];
        free(attempt->host);
        free(attempt->port);
    }
    free(attempt);
    close(ends[0]);
    close(ends[1]);
    errno = cause;
    return -1;
}

struct network_result network_connect_end(int attempt) {
    struct network_result result;
    ssize_t count;
    do count = recv(attempt, &result, sizeof result, MSG_WAITALL);
    while (count < 0 && errno == EINTR);
    close(attempt);
    if (count != sizeof result) result = (struct network_result){.fd = -1, .error_number = ECONNABORTED};
    return result;
}

void network_connect_abandon(int attempt) {
    // From now on the thread cannot report a result any more, and closes its socket itself.
    (void)shutdown(attempt, SHUT_RD);
    struct network_result result;
    if (recv(attempt, &result, sizeof result, MSG_DONTWAIT) == sizeof result && result.fd >= 0) close(result.fd);
    close(attempt);
}

const char *network_resolution_text(int resolution_error) { return gai_strerror(resolution_error); }

int64_t network_round_trip_microseconds(int fd) {
    struct tcp_info info;
    socklen_t size = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || size < offsetof(struct tcp_info, tcpi_rttvar)) return 0;
    return info.tcpi_rtt;
}
