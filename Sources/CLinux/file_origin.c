#define _GNU_SOURCE
#include "file_origin.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

int flag_for_searching(void) { return O_PATH; }

int find_file_origin(int file_descriptor, struct file_origin *origin) {
    struct statx status;
    if (statx(file_descriptor, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &status) != 0) return errno;
    origin->device_major = status.stx_dev_major;
    origin->device_minor = status.stx_dev_minor;
    origin->birth_unix_seconds = status.stx_mask & STATX_BTIME ? status.stx_btime.tv_sec : 0;
    return 0;
}
