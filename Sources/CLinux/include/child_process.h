/// Starting a program with bytes on its stdin.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/// Makes a file without a name that holds the bytes and is read from its start. Returns its descriptor, closed on exec; -1 with errno.
int unnamed_file_create(const void *bytes, size_t count);

/// Starts a program, which is looked for in PATH. No signal is blocked or ignored in it.
/// - `standard_input`, `standard_output`: descriptors that it gets as its own.
/// - `has_group`: whether it begins a process group of its own.
/// Returns 0 and its process id, or errno.
int child_start(
    char *const *arguments, int standard_input, int standard_output, bool has_group, pid_t *process);
