/// Writing where nobody may read, without waiting for it.
#pragma once

/// Bytes in a pipe, or at an end of a socket, that nobody has read yet; 0 where that cannot be known.
int unread_byte_count(int fd);

/// Both ends of what a thread hands on to a descriptor: what may not take anything for ever keeps only the thread waiting.
struct output_relay {
    /// A socket that never blocks, for who writes. Once the descriptor fails, writing to it is EPIPE.
    int input;
    /// Where bytes stay until the descriptor has taken them.
    int unread;
};

/// Starts the thread, which ends with the process. Returns 0, or -1.
int output_relay_start(int fd, struct output_relay *relay);
