/// What Swift cannot call or would count as unsafe memory: epoll, signalfd, child processes, sockets, terminals.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/signalfd.h>

#include "child_process.h"
#include "crash_note.h"
#include "file_origin.h"
#include "local_socket.h"
#include "network_socket.h"
#include "output_relay.h"
#include "terminal.h"

/// A descriptor that is ready.
struct ready_descriptor {
    int fd;
    bool is_readable;
    bool is_writable;
};

/// Creates an epoll descriptor; -1 with errno on failure.
int event_poll_create(void);

/// Adds or changes a descriptor. Returns 0, or -1 with errno.
int event_poll_watch(int poll_fd, int fd, bool for_reading, bool for_writing);

/// Removes a descriptor.
void event_poll_forget(int poll_fd, int fd);

/// Waits. A hang-up counts as readable and writable. Returns how many descriptors are ready, or -1 with errno.
int event_poll_wait(int poll_fd, struct ready_descriptor *ready, int capacity, int timeout_ms);

/// Lets the process have as many descriptors as it may allow itself. The usual limit of 1024 is there for select, which nothing
/// here uses.
void raise_descriptor_limit(void);
