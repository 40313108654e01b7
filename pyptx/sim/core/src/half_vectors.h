// Vectors of eight 16-bit floats, and their 8 x 8 transpose.
#ifndef PYPTX_HALVES_H
#define PYPTX_HALVES_H
#include "core.h"

typedef float F8 __attribute__((ext_vector_type(8), aligned(4)));
typedef u32 U8 __attribute__((ext_vector_type(8), aligned(4)));
typedef i32 I8 __attribute__((ext_vector_type(8), aligned(4)));
typedef u16 H8 __attribute__((ext_vector_type(8), aligned(1)));

static inline F8 from_f16(U8 h) {
    U8 s = (h & 0x8000) << 16, mag = h & 0x7fff, normal = (mag << 13) + 0x38000000;
    U8 small = (U8)(__builtin_convertvector((I8)mag, F8) * 0x1p-24f);
    U8 r = (I8)(mag < 0x400) ? small : (I8)(mag < 0x7c00) ? normal : (I8)(mag == 0x7c00) ? (U8)0x7f800000 : (U8)0x7fffffff;
    return (F8)(r | s);
}
static inline F8 widen_f16(const u8 *p) { return from_f16(__builtin_convertvector(*(const H8 *)p, U8)); }
static inline F8 widen_bf16(const u8 *p) { return (F8)(__builtin_convertvector(*(const H8 *)p, U8) << 16); }
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define HIGH(a, b) __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define FIRST(a, b) __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define SECOND(a, b) __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define LEFT(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define RIGHT(a, b) __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)

// Store eight rows of eight floats as eight lines `ld` apart.
static inline __attribute__((always_inline)) void transpose8(float *out, u32 ld, const F8 *v) {
    F8 p[8], q[8];
    for (int i = 0; i < 8; i += 4) {
        p[i] = LOW(v[i], v[i + 1]); p[i + 1] = HIGH(v[i], v[i + 1]);
        p[i + 2] = LOW(v[i + 2], v[i + 3]); p[i + 3] = HIGH(v[i + 2], v[i + 3]);
        q[i] = FIRST(p[i], p[i + 2]); q[i + 1] = SECOND(p[i], p[i + 2]);
        q[i + 2] = FIRST(p[i + 1], p[i + 3]); q[i + 3] = SECOND(p[i + 1], p[i + 3]);
    }
    for (int i = 0; i < 4; i++) {
        *(F8 *)(out + i * ld) = LEFT(q[i], q[i + 4]);
        *(F8 *)(out + (i + 4) * ld) = RIGHT(q[i], q[i + 4]);
    }
}
// Transpose four rows of four words; each result holds a column twice.
static inline __attribute__((always_inline)) void transpose4_twice(U8 *out, U8 a, U8 b, U8 c, U8 d) {
    U8 low = LOW(a, b), high = HIGH(a, b), other_low = LOW(c, d), other_high = HIGH(c, d);
    out[0] = FIRST(low, other_low); out[1] = SECOND(low, other_low);
    out[2] = FIRST(high, other_high); out[3] = SECOND(high, other_high);
}
#undef LOW
#undef HIGH
#undef FIRST
#undef SECOND
#undef LEFT
#undef RIGHT
#endif
