#ifndef FILE_ORIGIN_H
#define FILE_ORIGIN_H

#include <stdint.h>

/// The device that holds a file, and when the file was made.
struct file_origin {
    /// Numbers of the block device that holds the file system.
    uint32_t device_major;
    uint32_t device_minor;
    /// When the file was made, in whole seconds since 1970; 0 where the file system does not keep it.
    int64_t birth_unix_seconds;
};

/// Calls `statx`, which Swift does not see, for an open file.
/// Returns 0, or the `errno`.
int find_file_origin(int file_descriptor, struct file_origin *origin);

/// `O_PATH`, which Swift does not see: a directory opened with it can be searched, not read.
int flag_for_searching(void);

#endif
