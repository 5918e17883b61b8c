/// What Swift cannot call or would count as unsafe memory: epoll, signalfd, child processes, sockets, terminals. A call that fails
/// returns -1 with errno, unless its comment says otherwise.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <sys/types.h>

// Processes.

/// Makes a file without a name that holds the bytes and is read from its start. Returns its descriptor, closed on exec.
int unnamed_file_create(const void *bytes, size_t count);

/// Starts a program, which is looked for in PATH. No signal is blocked or ignored in it.
/// - `standard_input`, `standard_output`: descriptors that it gets as its own.
/// - `has_group`: whether it begins a process group of its own.
/// Returns 0 and its process id, or errno.
int child_start(char *const *arguments, int standard_input, int standard_output, bool has_group, pid_t *process);

/// From now on a crash writes its signal into a file as `signal=NN`; -1 for no file.
void crash_note_in(int fd);

/// Lets the process have as many descriptors as it may allow itself. The usual limit of 1024 is there for select, which nothing
/// here uses.
void raise_descriptor_limit(void);

// Descriptors.

/// A descriptor that is ready.
struct ready_descriptor {
    int fd;
    bool is_readable;
    bool is_writable;
};

/// Creates an epoll descriptor.
int event_poll_create(void);

/// Creates an eventfd, with which another thread wakes a call of poll.
/// Returns -1 and sets errno if that fails.
int event_descriptor_create(void);

/// Adds or changes a descriptor. Returns 0 on success.
int event_poll_watch(int poll_fd, int fd, bool for_reading, bool for_writing);

/// Removes a descriptor.
void event_poll_forget(int poll_fd, int fd);

/// Waits. A hang-up counts as readable and writable. Returns how many descriptors are ready.
int event_poll_wait(int poll_fd, struct ready_descriptor *ready, int capacity, int timeout_ms);

/// The device that holds a file, and when the file was made.
struct file_origin {
    /// Numbers of the block device that holds the file system.
    uint32_t device_major;
    uint32_t device_minor;
    /// When the file was made, in whole seconds since 1970; 0 where the file system does not keep it.
    int64_t birth_unix_seconds;
};

/// Calls `statx`, which Swift does not see, for an open file. Returns 0, or the `errno`.
int find_file_origin(int file_descriptor, struct file_origin *origin);

/// `O_PATH`, which Swift does not see: a directory opened with it can be searched, not read.
int flag_for_searching(void);

/// Bytes in a pipe, or at an end of a socket, that were not read yet; 0 where that cannot be known.
int unread_byte_count(int fd);

/// Whether bytes that were written to a socket were not read by the other end, or not acknowledged by its machine.
bool has_unsent_bytes(int fd);

/// Both ends of a socket pair whose bytes a thread passes on to a descriptor. If that takes nothing, only the thread waits.
struct output_relay {
    /// The socket to write to with local_socket_send, which never blocks. Once the descriptor fails, writing gives EPIPE.
    int input;
    /// The socket that holds the bytes until the descriptor has taken them.
    int unread;
};

/// Starts the thread, which ends with the process at the latest. Returns 0 on success.
int output_relay_start(int fd, struct output_relay *relay);

// Stream sockets of the local machine, without sockaddr_un and ucred, which Swift sees as unsafe tuples or not at all. Every
// descriptor is non-blocking and closed on exec. A path longer than 107 bytes gives ENAMETOOLONG.

/// Makes the socket file, which only its owner may use, and listens. EADDRINUSE if a file is already there.
int local_socket_listen(const char *path);

/// Connects. EAGAIN while too many connections wait to be accepted: try again.
int local_socket_connect(const char *path);

/// Connects to a socket that takes datagrams. A path that begins with @ is an abstract name.
int local_socket_connect_datagrams(const char *path);

/// Accepts the next connection. EAGAIN if none waits.
int local_socket_accept(int listener);

/// The user id that the other end had when it connected, or UINT32_MAX on failure.
uint32_t local_socket_peer(int fd);

/// Writes some of the bytes and returns how many. A peer that is gone gives EPIPE and no signal.
long local_socket_send(int fd, const void *bytes, size_t count);

// Connections to machines in a network. Resolving a name and connecting block, so a thread of its own does both.

/// How an attempt to connect ended.
struct network_result {
    /// The connected socket, non-blocking and closed on exec; -1 on failure.
    int32_t fd;
    /// The errno of the last address that was tried; 0 if the name could not be resolved, or on success.
    int32_t error_number;
    /// The EAI_ code of getaddrinfo; 0 if the name was resolved.
    int32_t resolution_error;
};

/// Begins to connect. Returns a descriptor that becomes readable when the attempt has ended, for `network_connect_end`.
int network_connect_begin(const char *host, const char *port);

/// Takes the result of the attempt and closes its descriptor.
struct network_result network_connect_end(int attempt);

/// Gives the attempt up and closes its descriptor.
void network_connect_abandon(int attempt);

/// The words for a `resolution_error`.
const char *network_resolution_text(int resolution_error);

/// The round-trip time that the kernel has measured for a connection, in microseconds; 0 if it has measured none.
int64_t network_round_trip_microseconds(int fd);

// The terminal calls that Swift cannot make: `ioctl` is variadic, the pseudo-terminal calls are hidden by Glibc's headers. Each
// function returns 0 (or what its comment says) on success and the negated errno on failure, so that no caller has to read errno
// before something else overwrites it.

/// 1 for a terminal, 0 for anything else, -EIO for a terminal whose other end is gone.
int terminal_is_terminal(int descriptor);

/// Raw mode, 8 data bits, no parity, 1 stop bit, no flow control, modem control lines ignored, no hang-up on close. A speed that is not
/// one of `LineSpeed` counts as 115,200 bit/s.
int terminal_set_raw(int descriptor, uint32_t bits_per_second);

/// Asks the driver to hand over bytes at once instead of collecting them (16 ms on FTDI).
int terminal_set_low_latency(int descriptor);

/// Keeps other processes (except root's) from opening the terminal until it is closed or `exclusive` is 0.
int terminal_set_exclusive(int descriptor, int exclusive);

/// 1 when a process has asked for exclusive use, otherwise 0.
int terminal_is_exclusive(int descriptor);

/// Asserts DTR and RTS together. -ENOTTY on a pseudo-terminal.
int terminal_assert_modem_lines(int descriptor);

/// 1 for either end of a pseudo-terminal, otherwise 0.
int terminal_is_pseudo_terminal(int descriptor);

/// Opens a new pseudo-terminal. Returns the descriptor of its master, non-blocking and closed on exec; the slave is unlocked.
int terminal_open_pseudo_terminal(void);

/// Writes the path of the slave, NUL included, into `path`.
int terminal_slave_path(int master, char *path, size_t capacity);

/// The width and height of a terminal in characters, 0 where it does not say.
int terminal_size(int descriptor, unsigned short *columns, unsigned short *rows);
