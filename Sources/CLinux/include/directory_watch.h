/// inotify without its record of variable length.
#pragma once
#include <stdbool.h>

/// Creates a non-blocking inotify descriptor, closed on exec; -1 with errno on failure.
int directory_watch_create(void);

/// Watches a directory: names that are added to it, and, if wanted, writes to its files. Returns the number of the watch, or -1 with
/// errno.
int directory_watch_add(int watch_fd, const char *path, bool for_writes);

/// Takes the waiting events. Puts the numbers of the watches with events into `watches`, each perhaps several times. Returns how many;
/// 0 if no event waits; -1 if events were lost, so that every directory may have changed.
int directory_watch_read(int watch_fd, int *watches, int capacity);
