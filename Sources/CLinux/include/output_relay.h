/// Writing to a descriptor that may have no reader, without waiting for one.
#pragma once
#include <stdbool.h>

/// Bytes in a pipe, or at an end of a socket, that were not read yet; 0 where that cannot be known.
int unread_byte_count(int fd);

/// Whether bytes that were written to a socket were not read by the other end, or not acknowledged by its machine.
bool has_unsent_bytes(int fd);

/// Both ends of a socket pair whose bytes a thread passes on to a descriptor. If that takes nothing, only the thread
/// waits.
struct output_relay {
    /// The socket to write to with local_socket_send, which never blocks. Once the descriptor fails, writing gives EPIPE.
    int input;
    /// The socket that holds the bytes until the descriptor has taken them.
    int unread;
};

/// Starts the thread, which ends with the process at the latest. Returns 0, or -1 on failure.
int output_relay_start(int fd, struct output_relay *relay);
