/// Stream sockets of the local machine, without sockaddr_un and ucred, which Swift sees as unsafe tuples or not at all.
/// Every descriptor is non-blocking and closed on exec. What fails gives -1 with errno; a path that does not fit
/// (107 bytes) is ENAMETOOLONG.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Makes the socket file, which only its owner may use, and listens. A file that is there is EADDRINUSE.
int local_socket_listen(const char *path);

/// Connects. EAGAIN: so many wait to be accepted that it must be tried again.
int local_socket_connect(const char *path);

/// Takes the next connection. EAGAIN where none waits.
int local_socket_accept(int listener);

/// The user at the other end when it connected, or UINT32_MAX.
uint32_t local_socket_peer(int fd);

/// Writes some bytes; a peer that is gone is EPIPE and no signal. Returns how many.
long local_socket_send(int fd, const void *bytes, size_t count);
