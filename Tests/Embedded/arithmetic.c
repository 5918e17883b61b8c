// What the compiler calls on a Cortex-M0, which neither divides nor counts zeros, and multiplies to 32 bits.
#include <stdint.h>

int __clzsi2(uint32_t value) {
    int count = value == 0;
    for (int step = 16; step > 0; step >>= 1) {
        if (value >> (32 - step)) continue;
        count += step;
        value <<= step;
    }
    return count;
}

// The quotient in the low half, the remainder in the high one: in r0 and r1, as the ABI has it.
uint64_t __aeabi_uidivmod(uint32_t number, uint32_t by) {
    uint32_t quotient = 0, rest = 0;
    for (int bit = 31; bit >= 0; bit--) {
        uint32_t carry = rest >> 31;
        rest = rest << 1 | (number >> bit & 1);
        quotient <<= 1;
        if (carry || rest >= by) {
            rest -= by;
            quotient |= 1;
        }
    }
    return (uint64_t)rest << 32 | quotient;
}

uint32_t __aeabi_uidiv(uint32_t number, uint32_t by) { return (uint32_t)__aeabi_uidivmod(number, by); }

uint64_t __aeabi_idivmod(int32_t number, int32_t by) {
    uint64_t result = __aeabi_uidivmod(number < 0 ? -(uint32_t)number : (uint32_t)number,
                                       by < 0 ? -(uint32_t)by : (uint32_t)by);
    uint32_t quotient = (uint32_t)result, rest = (uint32_t)(result >> 32);
    if ((number < 0) != (by < 0)) quotient = -quotient;
    if (number < 0) rest = -rest;
    return (uint64_t)rest << 32 | quotient;
}

int32_t __aeabi_idiv(int32_t number, int32_t by) { return (int32_t)__aeabi_idivmod(number, by); }

uint64_t __aeabi_lmul(uint64_t left, uint64_t right) {
    uint32_t a = (uint32_t)left, b = (uint32_t)right;
    uint32_t low = (a & 0xFFFF) * (b & 0xFFFF), high = (a >> 16) * (b >> 16);
    uint32_t middle = (a >> 16) * (b & 0xFFFF), other = (a & 0xFFFF) * (b >> 16);
    uint32_t sum = middle + (low >> 16);
    uint32_t inner = (sum & 0xFFFF) + other;
    high += (sum >> 16) + (inner >> 16) + (uint32_t)(left >> 32) * b + a * (uint32_t)(right >> 32);
    return (uint64_t)high << 32 | (inner << 16 | (low & 0xFFFF));
}
