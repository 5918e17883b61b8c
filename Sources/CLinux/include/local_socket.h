/// Stream sockets of the local machine, without sockaddr_un and ucred, which Swift sees as unsafe tuples or not at all.
/// Every descriptor is non-blocking and closed on exec. A call that fails returns -1 with errno; a path longer than 107
/// bytes gives ENAMETOOLONG.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Makes the socket file, which only its owner may use, and listens. EADDRINUSE if a file is already there.
int local_socket_listen(const char *path);

/// Connects. EAGAIN while too many connections wait to be accepted: try again.
int local_socket_connect(const char *path);

/// Accepts the next connection. EAGAIN if none waits.
int local_socket_connect_datagrams(const char *path);

int local_socket_accept(int listener);

/// The user id that the other end had when it connected, or UINT32_MAX on failure.
uint32_t local_socket_peer(int fd);

/// Writes some of the bytes and returns how many. A peer that is gone gives EPIPE and no signal.
long local_socket_send(int fd, const void *bytes, size_t count);
