/// Connections to machines in a network. Resolving a name and connecting block, so a thread of its own does both.
#pragma once
#include <stdint.h>

/// How an attempt to connect ended.
struct network_result {
    /// The connected socket, non-blocking and closed on exec; -1 on failure.
    int32_t fd;
    /// The errno of the last address that was tried; 0 if the name could not be resolved, or on success.
    int32_t error_number;
    /// The EAI_ code of getaddrinfo; 0 if the name was resolved.
    int32_t resolution_error;
};

/// Begins to connect. Returns a descriptor that becomes readable when the attempt has ended, for `network_connect_end`; -1 with
/// errno on failure.
int network_connect_begin(const char *host, const char *port);

/// Takes the result of the attempt and closes its descriptor.
struct network_result network_connect_end(int attempt);

/// Gives the attempt up and closes its descriptor.
void network_connect_abandon(int attempt);

/// The words for a `resolution_error`.
const char *network_resolution_text(int resolution_error);

/// The round-trip time that the kernel has measured for a connection, in microseconds; 0 if it has measured none.
int64_t network_round_trip_microseconds(int fd);
