#ifndef TERMINAL_H
#define TERMINAL_H

#include <stddef.h>

// The terminal calls that Swift cannot make: `ioctl` is variadic, the pseudo-terminal calls are hidden by Glibc's headers.
// Each function returns 0 (or what its comment says) on success and the negated errno on failure, so that no caller has to
// read errno before something else overwrites it.

/// 1 for a terminal, 0 for anything else, -EIO for a terminal whose other end is gone.
int terminal_is_terminal(int descriptor);

/// Raw mode, 115,200 bit/s, 8 data bits, no parity, 1 stop bit, no flow control, modem control lines ignored, no hang-up
/// on close.
int terminal_set_raw(int descriptor);

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

/// Opens a new pseudo-terminal. Returns the descriptor of its master, non-blocking and closed on exec; the slave is
/// unlocked.
int terminal_open_pseudo_terminal(void);

/// Writes the path of the slave, NUL included, into `path`.
int terminal_slave_path(int master, char *path, size_t capacity);

/// The width and height of a terminal in characters, 0 where it does not say.
int terminal_size(int descriptor, unsigned short *columns, unsigned short *rows);

#endif
