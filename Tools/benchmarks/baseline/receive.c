/* A minimal receiver in C. It reads a terminal, decodes frames and checks their CRCs. For each fix it writes a line of
   JSON, and a record to a file that is made durable once per round. It knows its collars beforehand, sends no answers,
   and does not keep track of the fixes that it has.

     receive TERMINAL FILE    fixes to FILE, lines to stdout; at the end: fixes and seconds to stderr
     receive TERMINAL         only reads: bytes and seconds
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { LARGEST_FRAME = 253, LOG_COUNT = 200, SLICES = 4 };

static uint32_t crc_table[SLICES][256];
static uint32_t log_check[LOG_COUNT];

/* Section 3 of PROTOCOL.md, the register in the upper 24 bits. */
static void make_table(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t value = byte << 24;
        for (int bit = 0; bit < 8; bit++) value = value & 0x80000000 ? value << 1 ^ 0x7B01BD00 : value << 1;
        crc_table[0][byte] = value;
    }
    for (uint32_t byte = 0; byte < 256; byte++)
        for (int slice = 1; slice < SLICES; slice++) {
            uint32_t before = crc_table[slice - 1][byte];
            crc_table[slice][byte] = before << 8 ^ crc_table[0][before >> 24];
        }
}

static uint32_t crc(uint32_t check, const uint8_t *bytes, size_t count) {
    while (count >= 4) {
        uint32_t word = check ^ ((uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3]);
        check = crc_table[3][word >> 24] ^ crc_table[2][word >> 16 & 255] ^ crc_table[1][word >> 8 & 255]
            ^ crc_table[0][word & 255];
        bytes += 4;
        count -= 4;
    }
    while (count--) check = check << 8 ^ crc_table[0][check >> 24 ^ *bytes++];
    return check;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void write_all(int file, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(file, bytes, count);
        if (written < 0) exit(1);
        bytes += written;
        count -= (size_t)written;
    }
}

struct bits { const uint8_t *bytes; unsigned position; };

static uint32_t take(struct bits *bits, unsigned count) {
    uint64_t value = 0;
    unsigned first = bits->position / 8, skipped = bits->position % 8;
    for (int index = 0; index < 5; index++) value = value << 8 | bits->bytes[first + index];
    bits->position += count;
    return (uint32_t)(value >> (40 - skipped - count)) & (count == 32 ? 0xFFFFFFFF : (1u << count) - 1);
}

static char records[1 << 20], lines[1 << 20];
static size_t record_bytes, line_bytes;
static long fixes;

/* Takes a frame. Only absolute fixes as the flood sends them are decoded: with a 16-bit sequence, position step 0 and
   no escapes, in time form 0, 1 or 2. */
static void received(const uint8_t *frame, size_t count) {
    if (count < 7 || (frame[0] & 0x1F) != 2) return;
    unsigned collar = frame[2] - 1u;
    if (collar >= LOG_COUNT) return;
    static uint32_t sequences[LOG_COUNT];
    struct bits bits = { frame + 4, 0 };
    uint32_t form = take(&bits, 8), partial = form >> 7, presence = 0;
    if (take(&bits, 1)) return;
    if (partial) presence = take(&bits, 7);
    uint32_t low = take(&bits, 8) << 8 | frame[3];
    uint32_t sequence = (sequences[collar] & 0xFFFF0000) | low;
    if (sequence + 0x8000 < sequences[collar]) sequence += 0x10000;
    uint8_t length = (uint8_t)count, upper[2] = { (uint8_t)(sequence >> 24), (uint8_t)(sequence >> 16) };
    uint32_t state = crc(crc(log_check[collar], &length, 1), frame, count - 3);
    if (sequence >> 16) state = crc(state, upper, 2);
    if ((state >> 8 ^ 0xFFFFFF) != ((uint32_t)frame[count - 3] << 16 | frame[count - 2] << 8 | frame[count - 1])) return;
    sequences[collar] = sequence;
    uint64_t milliseconds = (uint64_t)take(&bits, 32) * 1000;
    switch (form >> 5 & 3) {
    case 1: milliseconds += 100 * take(&bits, 4); break;
    case 2: milliseconds += take(&bits, 10); break;
    default: break;
    }
    int32_t latitude = (int32_t)take(&bits, 25) - 9000000, longitude = (int32_t)take(&bits, 26) - 18000000;
    uint32_t values[7] = { 0 };
    static const unsigned widths[7] = { 14, 7, 7, 9, 8, 8, 7 };
    for (int field = 0; field < 7; field++)
        if (!partial || presence >> (6 - field) & 1) values[field] = take(&bits, widths[field]);
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    int64_t received_at = (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
    memcpy(records + record_bytes, &received_at, 8);
    memcpy(records + record_bytes + 8, frame, count);
    record_bytes += 8 + count;
    line_bytes += (size_t)snprintf(lines + line_bytes, 600,
        "{\"type\":\"fix\",\"id\":\"%08x-ee00-8000-8%03x-%04x%08x\",\"ts_unix_ms\":%lld,\"source\":\"collar\","
        "\"coordinate\":{\"latitude\":%d.%05d,\"longitude\":%d.%05d},\"alt_m\":%d,\"h_accuracy_m\":%u.%03u,"
        "\"v_accuracy_m\":%u.%03u,\"speed_mps\":%u.%u,\"course_deg\":%u,\"heading_deg\":null,\"battery_pct\":%u,\"seq\":%u,"
        "\"collar\":\"c0ffee00%08x\",\"log\":%u,\"rx_unix_ms\":%lld}\n",
        0xC0FFEE00u, collar, collar, sequence, (long long)milliseconds, latitude / 100000, abs(latitude) % 100000,
        longitude / 100000, abs(longitude) % 100000, (int)values[0] - 1000, values[1], values[1], values[2], values[2],
        values[3] / 10, values[3] % 10, 2 * values[4], values[6], sequence, collar, 1000 + collar, (long long)received_at);
    fixes++;
}

int main(int count, char **words) {
    if (count < 2) return 64;
    make_table();
    for (uint32_t collar = 0; collar < LOG_COUNT; collar++) {
        uint64_t device = 0xC0FFEE0000000000 + collar;
        uint32_t log = 1000 + collar;
        uint8_t bound[12];
        for (int index = 0; index < 8; index++) bound[index] = (uint8_t)(device >> (56 - 8 * index));
        for (int index = 0; index < 4; index++) bound[8 + index] = (uint8_t)(log >> (24 - 8 * index));
        log_check[collar] = crc(0xB704CE00, bound, 12);
    }
    int terminal = open(words[1], O_RDWR | O_NOCTTY);
    struct termios settings;
    if (terminal < 0 || tcgetattr(terminal, &settings)) return 69;
    cfmakeraw(&settings);
    tcsetattr(terminal, TCSANOW, &settings);
    int file = count > 2 ? open(words[2], O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    static uint8_t bytes[65536], frame[LARGEST_FRAME + 1];
    size_t filled = 0, left = 0;
    int is_zero_due = 0, is_bad = 0;
    long total = 0;
    double start = 0;
    for (;;) {
        ssize_t got = read(terminal, bytes, sizeof bytes);
        if (got <= 0) break;
        if (start == 0) start = now();
        total += got;
        if (file < 0) continue;
        /* One round reads the bytes that wait, in at most 16 reads. */
        for (int turn = 0; ; turn++) {
            for (ssize_t index = 0; index < got; index++) {
                uint8_t byte = bytes[index];
                if (byte == 0) {
                    if (filled > 0 && left == 0 && !is_bad) received(frame, filled);
                    filled = left = 0;
                    is_zero_due = is_bad = 0;
                } else if (left == 0) {
                    if (is_zero_due && filled < LARGEST_FRAME) frame[filled++] = 0;
                    left = byte - 1u;
                    is_zero_due = byte < 255;
                } else {
                    left--;
                    if (filled < LARGEST_FRAME) frame[filled++] = byte; else is_bad = 1;
                }
            }
            struct pollfd state = { terminal, POLLIN, 0 };
            if (turn == 15 || record_bytes > sizeof records / 2 || line_bytes > sizeof lines / 2) break;
            if (poll(&state, 1, 0) <= 0 || (got = read(terminal, bytes, sizeof bytes)) <= 0) break;
        }
        write_all(1, lines, line_bytes);
        write_all(file, records, record_bytes);
        if (record_bytes > 0 && fdatasync(file)) return 74;
        line_bytes = record_bytes = 0;
    }
    fprintf(stderr, "%ld %.3f\n", file < 0 ? total : fixes, now() - start);
    return 0;
}
