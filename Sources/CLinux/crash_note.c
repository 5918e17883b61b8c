#define _GNU_SOURCE
#include "crash_note.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static const int crashes[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
enum { crash_count = sizeof crashes / sizeof crashes[0] };

static volatile sig_atomic_t note_fd = -1;
static struct sigaction previous[crash_count];
// A stack of its own, for a crash because the ordinary one is full.
static char stack[16384];

static void note(int number) {
    if (note_fd >= 0) {
        char line[] = "signal=00\n";
        line[7] += (char)(number / 10);
        line[8] += (char)(number % 10);
        ssize_t written = write(note_fd, line, sizeof line - 1);
        (void)written;
    }
    // What would have happened without this function happens when it returns.
    for (int index = 0; index < crash_count; index++)
        if (crashes[index] == number) sigaction(number, &previous[index], NULL);
    raise(number);
}

void crash_note_in(int fd) {
    static bool is_installed = false;
    note_fd = fd;
    if (is_installed || fd < 0) return;
    is_installed = true;
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternative, NULL);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    action.sa_flags = SA_ONSTACK;
    for (int index = 0; index < crash_count; index++) sigaction(crashes[index], &action, &previous[index]);
}
