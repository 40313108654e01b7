// Eight 16-bit floats at a time.
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
#endif
