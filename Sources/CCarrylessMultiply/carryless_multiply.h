#ifndef CARRYLESS_MULTIPLY_H
#define CARRYLESS_MULTIPLY_H

// Multiplies polynomials over GF(2). x86-64 has an instruction for it, for which Swift has no name.

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

/// Whether this processor has the instruction.
static inline bool carryless_multiply_is_supported(void) {
    return __builtin_cpu_supports("pclmul");
}

/// The remainder of (first·x^128 + second·x^64 + third)·x^24 divided by x^24 + 0x7B01BD, in the upper 24 bits.
///
/// V. Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009. The first
/// two words are folded onto the third: each is multiplied by the remainder of its power of x, and added. The part of the
/// sum above 64 bits is folded once more. The rest is divided by Barrett's method, with the quotient of x^88.
///
/// Call it only where carryless_multiply_is_supported() is true.
__attribute__((target("pclmul"))) static inline uint32_t carryless_remainder(
    uint64_t first, uint64_t second, uint64_t third) {
    const __m128i remainders = _mm_set_epi64x(0x2980D0 /* of x^64 */, 0x98761F /* of x^128 */);
    const __m128i quotient_and_divisor = _mm_set_epi64x(0x7B01BD, 0x69021B4F1027B528 /* without its x^64 */);
    __m128i upper = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)first), remainders, 0x00);
    __m128i middle = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)second), remainders, 0x10);
    __m128i sum = _mm_xor_si128(_mm_xor_si128(upper, middle), _mm_cvtsi64_si128((long long)third));
    __m128i rest = _mm_xor_si128(sum, _mm_clmulepi64_si128(sum, remainders, 0x11));
    __m128i product = _mm_clmulepi64_si128(rest, quotient_and_divisor, 0x00);
    __m128i quotient = _mm_xor_si128(_mm_unpackhi_epi64(product, product), rest);
    __m128i multiple = _mm_clmulepi64_si128(quotient, quotient_and_divisor, 0x10);
    return (uint32_t)_mm_cvtsi128_si32(multiple) << 8;
}

#endif

#endif
