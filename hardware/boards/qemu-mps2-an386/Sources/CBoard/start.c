// Start-up of an image, and its end by a fault.
#include <stdint.h>

#include "CBoard.h"

extern uint32_t stack_bottom[], stack_top[], data_start[], data_end[], data_source[], bss_start[], bss_end[];
int main(void);

__attribute__((section(".retained"), used)) struct retained_memory retained;

static volatile uint32_t *const application_interrupt_and_reset = (volatile uint32_t *)0xE000ED0C;

void reset(void) {
    __asm__ volatile("cpsid i" ::: "memory");
    for (uint32_t *to = data_start, *from = data_source; to < data_end;) *to++ = *from++;
    for (uint32_t *word = bss_start; word < bss_end;) *word++ = 0;
    // What remains of the pattern shows how deep the stack was. The part that this function uses is not filled.
    uint32_t *here = (uint32_t *)__builtin_frame_address(0) - 16;
    for (uint32_t *word = stack_bottom; word < here; word++) *word = 0x5AA55AA5;
    main();
    for (;;) {}
}

// Notes the address at which the program ended, and resets. The words are those of Swift's CrashRecord. The processor has put the
// address onto the stack; a stack that is outside its memory does not have it, and the address is 0.
__attribute__((used, noreturn)) static void end_program(const uint32_t *frame, uint32_t is_watchdog) {
    uint32_t program_counter = frame >= stack_bottom && frame + 8 <= stack_top ? frame[6] : 0;
    retained.crash_words[0] = 0x43525348 ^ is_watchdog;
    retained.crash_words[1] = program_counter;
    retained.crash_words[2] = ~(retained.crash_words[0] + program_counter);
    *application_interrupt_and_reset = 0x05FA0004;
    for (;;) {}
}

// The stack begins again: its overflow may be the fault, and a second fault in the handler would stop the processor.
#define HANDLER(name, is_watchdog)                                                                                   \
    __attribute__((naked)) static void name(void) {                                                                 \
        __asm__ volatile("mrs r0, msp\n movs r1, #" #is_watchdog "\n"                                               \
                         "movw r2, #:lower16:stack_top\n movt r2, #:upper16:stack_top\n msr msp, r2\n b end_program"); \
    }

// A trap of Swift's (an overflow, a precondition) ends here too.
HANDLER(fault, 0)

// The watchdog warns by this interrupt before it resets.
HANDLER(watchdog, 1)

__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    // After the reset: NMI, hard fault, memory, bus, usage.
    stack_top, (void *)reset, (void *)watchdog, (void *)fault, (void *)fault, (void *)fault, (void *)fault,
};
