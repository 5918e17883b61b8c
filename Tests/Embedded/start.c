// Start-up of the image on QEMU's Cortex-M boards, and its output and end by semihosting.
#include <stdint.h>

extern uint32_t stack_top[];
extern const uint8_t vector_table[];
void check_codec(void);

// The file lies in a folder that the assembler is given.
__asm__(
    ".section .rodata.vector_table, \"a\"\n"
    ".global vector_table\nvector_table:\n.incbin \"vectors.bin\"\n"
    ".text\n");

const uint8_t *table_start(void) { return vector_table; }

static uint8_t output[256];

uint8_t *output_buffer(void) { return output; }

static void semihost(uint32_t operation, const void *argument) {
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void print_bytes(const uint8_t *bytes, uint32_t count) {
    for (uint32_t index = 0; index < count; index++) semihost(3, bytes + index);
}

// QEMU ends with 0 where the image says that it is done, else with 1.
void finish(uint32_t all_agree) {
    semihost(0x18, (void *)(all_agree ? 0x20026 : 0x20023));
    for (;;) {}
}

void reset(void) {
    check_codec();
    finish(0);
}

// SysTick, which counts down at 25 MHz. With -icount shift=0 the emulator counts a nanosecond for each instruction.
static volatile uint32_t *const systick = (volatile uint32_t *)0xE000E010;

void start_timer(void) {
    systick[1] = 0xFFFFFF;
    systick[2] = 0;
    systick[0] = 5;
}

uint32_t timer_value(void) { return systick[2]; }

static const uint8_t *name;
static uint32_t name_length;

// What is checked from now on, should the processor stop.
void begin(const uint8_t *bytes, uint32_t count) {
    name = bytes;
    name_length = count;
}

// A trap of Swift's (an overflow, a precondition) ends here too.
static void fault(void) {
    static const uint8_t label[] = "FAILED  ", text[] = ": the processor stopped\n";
    print_bytes(label, sizeof label - 1);
    print_bytes(name, name_length);
    print_bytes(text, sizeof text - 1);
    finish(0);
}

__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    // Behind the reset: NMI, hard fault, memory, bus, usage.
    stack_top, (void *)reset, (void *)fault, (void *)fault, (void *)fault, (void *)fault, (void *)fault,
};
