// Functions that the compiler calls and that the toolchain lacks for bare ARM. They do not count in the codec's size.
#include <stddef.h>
#include <stdint.h>

void *memset(void *target, int value, size_t count) {
    for (size_t i = 0; i < count; i++) ((volatile uint8_t *)target)[i] = (uint8_t)value;
    return target;
}

void *memcpy(void *target, const void *source, size_t count) {
    for (size_t i = 0; i < count; i++) ((volatile uint8_t *)target)[i] = ((const uint8_t *)source)[i];
    return target;
}

void *memmove(void *target, const void *source, size_t count) {
    if (target <= source) return memcpy(target, source, count);
    while (count--) ((volatile uint8_t *)target)[count] = ((const uint8_t *)source)[count];
    return target;
}

void __aeabi_memcpy(void *target, const void *source, size_t count) { memcpy(target, source, count); }
void __aeabi_memcpy4(void *target, const void *source, size_t count) { memcpy(target, source, count); }
void __aeabi_memcpy8(void *target, const void *source, size_t count) { memcpy(target, source, count); }
void __aeabi_memmove(void *target, const void *source, size_t count) { memmove(target, source, count); }
void __aeabi_memmove4(void *target, const void *source, size_t count) { memmove(target, source, count); }
void __aeabi_memmove8(void *target, const void *source, size_t count) { memmove(target, source, count); }
void __aeabi_memset(void *target, size_t count, int value) { memset(target, value, count); }
void __aeabi_memset4(void *target, size_t count, int value) { memset(target, value, count); }
void __aeabi_memset8(void *target, size_t count, int value) { memset(target, value, count); }
void __aeabi_memclr(void *target, size_t count) { memset(target, 0, count); }
void __aeabi_memclr4(void *target, size_t count) { memset(target, 0, count); }
void __aeabi_memclr8(void *target, size_t count) { memset(target, 0, count); }

uint64_t __aeabi_llsl(uint64_t value, int shift) {
    uint32_t low = (uint32_t)value, high = (uint32_t)(value >> 32);
    if (shift == 0) return value;
    if (shift >= 32) return (uint64_t)(low << (shift - 32)) << 32;
    return (uint64_t)(high << shift | low >> (32 - shift)) << 32 | (low << shift);
}

uint64_t __aeabi_llsr(uint64_t value, int shift) {
    uint32_t low = (uint32_t)value, high = (uint32_t)(value >> 32);
    if (shift == 0) return value;
    if (shift >= 32) return high >> (shift - 32);
    return (uint64_t)(high >> shift) << 32 | (low >> shift | high << (32 - shift));
}

int64_t __aeabi_lasr(int64_t value, int shift) {
    uint64_t sign = value < 0 ? ~__aeabi_llsr(~0ull, shift) : 0;
    return shift == 0 ? value : (int64_t)(__aeabi_llsr((uint64_t)value, shift) | sign);
}

// Divides bit by bit. The assembly below returns the quotient in r0:r1 and the remainder in r2:r3, as the ABI requires.
static uint64_t divide(uint64_t number, uint64_t by, uint64_t *rest) {
    uint64_t quotient = 0, left = 0;
    for (int bit = 0; bit < 64; bit++) {
        left = left + left + (number >> 63);
        number += number;
        quotient += quotient;
        if (left >= by) {
            left -= by;
            quotient |= 1;
        }
    }
    *rest = left;
    return quotient;
}


uint64_t divide_unsigned(uint64_t number, uint64_t by, uint64_t *rest) { return divide(number, by, rest); }

uint64_t divide_signed(int64_t number, int64_t by, uint64_t *rest) {
    uint64_t quotient = divide(number < 0 ? -(uint64_t)number : (uint64_t)number,
                               by < 0 ? -(uint64_t)by : (uint64_t)by, rest);
    if (number < 0) *rest = -*rest;
    return (number < 0) != (by < 0) ? -quotient : quotient;
}

__asm__(
    ".syntax unified\n.thumb\n"
    ".global __aeabi_uldivmod\n.thumb_func\n__aeabi_uldivmod:\n"
    "push {r6, lr}\nsub sp, #16\nadd r6, sp, #8\nstr r6, [sp]\nbl divide_unsigned\n"
    "ldr r2, [sp, #8]\nldr r3, [sp, #12]\nadd sp, #16\npop {r6, pc}\n"
    ".global __aeabi_ldivmod\n.thumb_func\n__aeabi_ldivmod:\n"
    "push {r6, lr}\nsub sp, #16\nadd r6, sp, #8\nstr r6, [sp]\nbl divide_signed\n"
    "ldr r2, [sp, #8]\nldr r3, [sp, #12]\nadd sp, #16\npop {r6, pc}\n");
