// Start-up of the image on QEMU's Cortex-M4 board (mps2-an386): fills the stack with a pattern, runs the codec, and
// prints by semihosting how deep the pattern was overwritten.
#include <stdint.h>

extern uint32_t stack_bottom[], stack_top[];
void use_codec(void);

static volatile uint32_t word_count;

// Enough plausible words for every frame to be sent, then a serial line without a frame, then silence.
uint32_t input_word(void) {
    uint32_t count = word_count++;
    if (count == 0 || count == 2) return 1234567;
    return count < 60 ? 100 + count : count < 1000 ? count : 0xFFFFFFFF;
}

static uint8_t frame[253], serial[256];

uint8_t *frame_buffer(void) { return frame; }

uint8_t *serial_buffer(void) { return serial; }

static volatile uint8_t last_byte;

void output_byte(uint8_t byte) { last_byte = byte; }

static void semihost(uint32_t operation, const void *argument) {
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void print_number(uint32_t value) {
    char text[12];
    char *start = text + sizeof text - 1;
    *start = 0;
    *--start = '\n';
    do *--start = '0' + value % 10;
    while (value /= 10);
    semihost(4, start);
}

void reset(void) {
    // The part of the stack that this function uses itself is not filled.
    uint32_t *here = (uint32_t *)__builtin_frame_address(0) - 16;
    for (uint32_t *word = stack_bottom; word < here; word++) *word = 0x5AA55AA5;
    use_codec();
    uint32_t *word = stack_bottom;
    while (*word == 0x5AA55AA5) word++;
    print_number((uint32_t)(here - word) * 4);
    semihost(0x18, (void *)0x20026);
    for (;;) {}
}

__attribute__((section(".vectors"), used)) static const void *const vectors[] = {stack_top, (void *)reset};
