// What Swift has no name for: a processor instruction, and memory that a reset does not clear.
#pragma once
#include <stdint.h>

struct retained_memory {
    // What a fault handler leaves for the next start: the words of Swift's CrashRecord.
    uint32_t crash_words[3];
    // How the last program ended; 0 after power came on. See Board/ResetCause+Board.swift.
    uint32_t start_mark;
    // How many words of the random block are used up since power came on.
    uint32_t random_position;
};

extern struct retained_memory retained;

static inline uint32_t retained_crash_word(uint32_t index) { return retained.crash_words[index]; }
static inline void clear_crash_words(void) { retained.crash_words[0] = retained.crash_words[2] = 0; }
static inline uint32_t retained_start_mark(void) { return retained.start_mark; }
static inline void set_start_mark(uint32_t mark) { retained.start_mark = mark; }
static inline uint32_t next_random_position(void) { return retained.random_position++; }

// Sleeps until an interrupt is pending. Interrupts stay masked: none is ever taken, and the program looks at the devices
// itself when it wakes.
static inline void wait_for_interrupt(void) { __asm__ volatile("dsb\n wfi" ::: "memory"); }
