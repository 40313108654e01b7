// f32: exact rounding in four directions, explicit flushing, canonical NaN.
#include "approximations.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
void set_rounding(u32 mode) {
    static const u32 bits[4] = {0x0000, 0x6000, 0x2000, 0x4000};
    _mm_setcsr((_mm_getcsr() & ~0x6000u) | bits[mode & 3]);
}
u64 plain_arithmetic(void) { u32 before = _mm_getcsr(); _mm_setcsr(0x1f80); return before; }
void restore_arithmetic(u64 before) { _mm_setcsr((u32)before); }
#elif defined(__aarch64__)
void set_rounding(u32 mode) {
    static const u64 bits[4] = {0, 3ull << 22, 2ull << 22, 1ull << 22};
    u64 v;
    __asm__ volatile("mrs %0, fpcr" : "=r"(v));
    v = (v & ~(3ull << 22)) | bits[mode & 3];
    __asm__ volatile("msr fpcr, %0" : : "r"(v));
}
u64 plain_arithmetic(void) {
    u64 before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" : : "r"(0ull));
    return before;
}
void restore_arithmetic(u64 before) { __asm__ volatile("msr fpcr, %0" : : "r"(before)); }
#else
#error "rounding control is not written for this processor"
#endif

#define KEEP(v) __asm__ volatile("" : "+m"(v) : : "memory")

static inline F32 canonical(F32 r) { return r == r ? r : (F32)(V32)0x7fffffff; }
static inline F32 flush(F32 r) {
    V32 u = (V32)r;
    return (F32)((u & 0x7f800000) == 0 ? u & 0x80000000 : u);
}
static inline F32 finish(F32 r, u32 mod) {
    r = canonical(r);
    if (mod & M_FTZ) r = flush(r);
    if (mod & M_SAT) r = r > 0.0f ? (r < 1.0f ? r : (F32)1.0f) : (F32)0.0f;
    return r;
}

#define ROUNDED(NAME, EXPR) static __attribute__((noinline)) F32 slow_##NAME(F32 a, F32 b, F32 c, u32 mod) { \
    F32 r; (void)b; (void)c; \
    if (mod & M_FTZ) { a = flush(a); b = flush(b); c = flush(c); } \
    if (mod & RND_MASK) { set_rounding(mod & RND_MASK); KEEP(a); KEEP(b); KEEP(c); r = (EXPR); KEEP(r); set_rounding(RN); } \
    else r = (EXPR); \
    return finish(r, mod); }
#define OP2(NAME, EXPR) ROUNDED(NAME, EXPR) static void f_##NAME(Ctx *x, const Op *o, u32 m) { \
    F32 a = ROW(F32, x, o->a), b = ROW(F32, x, o->b); \
    if (LIKELY(o->mod == 0)) { put32(x, o->d, (V32)canonical(EXPR), m); return; } \
    put32(x, o->d, (V32)slow_##NAME(a, b, a, o->mod), m); }

OP2(add_f32, a + b)
OP2(sub_f32, a - b)
OP2(mul_f32, a * b)
OP2(div_f32, a / b)
OP2(sqrt_f32, __builtin_elementwise_sqrt(a))

ROUNDED(fma_f32, __builtin_elementwise_fma(a, b, c))
static void f_fma_f32(Ctx *x, const Op *o, u32 m) {
    F32 a = ROW(F32, x, o->a), b = ROW(F32, x, o->b), c = ROW(F32, x, o->c);
    if (LIKELY(o->mod == 0)) { put32(x, o->d, (V32)canonical(__builtin_elementwise_fma(a, b, c)), m); return; }
    put32(x, o->d, (V32)slow_fma_f32(a, b, c, o->mod), m);
}

// Minimum and maximum: a NaN loses unless M_NAN, -0 < +0, M_XORSIGN compares magnitudes and multiplies the signs.
static inline S32 order(V32 u) { return (S32)(u ^ (V32)((S32)u >> 31 & 0x7fffffff)); }
static inline void extremum(Ctx *x, const Op *o, u32 m, int maximum) {
    V32 a = ROW(V32, x, o->a), b = ROW(V32, x, o->b), sign = 0;
    u32 mod = o->mod;
    F32 u = (F32)a, v = (F32)b;
    S32 strange = (u != u) | (v != v);
    if (LIKELY(mod == 0 && !__builtin_reduce_or(strange))) {            // if neither is greater, only zeros can differ
        put32(x, o->d, maximum ? (V32)(u > v ? u : v) & (V32)(v > u ? v : u) : (V32)(u < v ? u : v) | (V32)(v < u ? v : u), m);
        return;
    }
    if (mod & M_FTZ) { a = (V32)flush((F32)a); b = (V32)flush((F32)b); }
    if (mod & M_XORSIGN) sign = (a ^ b) & 0x80000000;
    S32 na = (F32)a != (F32)a, nb = (F32)b != (F32)b;
    if (mod & (M_XORSIGN | M_ABS)) { a &= 0x7fffffff; b &= 0x7fffffff; }
    S32 less = order(a) < order(b);
    V32 r = (maximum ? ~less : less) ? a : b;
    r = na ? b : nb ? a : r;
    r |= sign;
    S32 bad = mod & M_NAN ? na | nb : na & nb;
    put32(x, o->d, bad ? (V32)0x7fffffff : r, m);
}
static void f_min_f32(Ctx *x, const Op *o, u32 m) { extremum(x, o, m, 0); }
static void f_max_f32(Ctx *x, const Op *o, u32 m) { extremum(x, o, m, 1); }

// Comparison: imm is a set of 1 less, 2 equal, 4 greater, 8 unordered.
static void f_cmp_f32(Ctx *x, const Op *o, u32 m) {
    F32 a = ROW(F32, x, o->a), b = ROW(F32, x, o->b);
    if (o->mod & M_FTZ) { a = flush(a); b = flush(b); }
    S32 r = 0;
    if (o->imm & 1) r |= a < b;
    if (o->imm & 2) r |= a == b;
    if (o->imm & 4) r |= a > b;
    if (o->imm & 8) r |= (a != a) | (b != b);
    put_pred(x, o->d, bits32(r), m);
}
static void f_abs_f32(Ctx *x, const Op *o, u32 m) {
    F32 a = ROW(F32, x, o->a);
    if (o->mod & M_FTZ) a = flush(a);
    put32(x, o->d, (V32)a & 0x7fffffff, m);
}
static void f_neg_f32(Ctx *x, const Op *o, u32 m) {
    F32 a = ROW(F32, x, o->a);
    if (o->mod & M_FTZ) a = flush(a);
    put32(x, o->d, (V32)a ^ 0x80000000, m);
}
static void f_ftz_f32(Ctx *x, const Op *o, u32 m) { put32(x, o->d, (V32)flush(ROW(F32, x, o->a)), m); }
static void f_finish_f32(Ctx *x, const Op *o, u32 m) { put32(x, o->d, (V32)finish(ROW(F32, x, o->a), o->mod), m); }
static void f_copysign_f32(Ctx *x, const Op *o, u32 m) {
    put32(x, o->d, (ROW(V32, x, o->a) & 0x80000000) | (ROW(V32, x, o->b) & 0x7fffffff), m);
}
// Classes in imm: 1 zero, 2 subnormal, 4 normal, 8 infinite, 16 NaN.
static void f_class_f32(Ctx *x, const Op *o, u32 m) {
    V32 u = ROW(V32, x, o->a) & 0x7fffffff;
    S32 r = 0;
    if (o->imm & 1) r |= u == 0;
    if (o->imm & 2) r |= (u > 0) & (u < 0x800000);
    if (o->imm & 4) r |= (u >= 0x800000) & (u < 0x7f800000);
    if (o->imm & 8) r |= u == 0x7f800000;
    if (o->imm & 16) r |= u > 0x7f800000;
    put_pred(x, o->d, bits32(r), m);
}

// Approximations: computed in double, rounded once.
#define APPROX(NAME, EXPR) static void f_##NAME(Ctx *x, const Op *o, u32 m) { \
    F32 a = ROW(F32, x, o->a); \
    if (o->mod & M_FTZ) a = flush(a); \
    F32 r; float in[LANES], out[LANES]; memcpy(in, &a, sizeof in); \
    for (int i = 0; i < LANES; i++) { double v = in[i]; out[i] = (float)(EXPR); } \
    memcpy(&r, out, sizeof r); put32(x, o->d, (V32)finish(r, o->mod), m); }
// 2^v in f32 with the additions and multiplications of ex2_f32 in arithmetic/approximations.py; v minus its nearest integer
// is exact.
static inline F32 ex2_rest(F32 v, F32 n) {                              // 2^(v - n)
    F32 t = v - n, p = (F32)EX2_F32[0];
    for (int i = 1; i < EX2_F32_TERMS; i++) p = p * t + EX2_F32[i];
    return p;
}
static __attribute__((noinline)) F32 slow_ex2_f32(F32 v) {              // results may be subnormal, infinite or NaN
    F32 w = v > 1000.0f ? (F32)1000.0f : v;                             // overflows f32 anyway
    w = w < -1000.0f ? (F32)-1000.0f : w;
    w = w == w ? w : (F32)0.0f;
    F32 n = __builtin_elementwise_rint(w);
    V64 power = (V64)(__builtin_convertvector(n, S64) + 1023) << 52;
    F32 r = __builtin_convertvector(__builtin_convertvector(ex2_rest(w, n), F64) * (F64)power, F32);
    return v == v ? r : v;
}
static void f_ex2_f32(Ctx *x, const Op *o, u32 m) {
    F32 a = ROW(F32, x, o->a);
    if (o->mod & M_FTZ) a = flush(a);
    S32 plain = (F32)((V32)a & 0x7fffffff) <= 125.0f;
    if (LIKELY(o->mod <= M_FTZ && __builtin_reduce_and(plain))) {       // normal results: add to the exponent
        F32 n = __builtin_elementwise_rint(a);
        put32(x, o->d, (V32)ex2_rest(a, n) + ((V32)__builtin_convertvector(n, S32) << 23), m);
        return;
    }
    put32(x, o->d, (V32)finish(slow_ex2_f32(a), o->mod), m);
}
APPROX(lg2_f32, approx_lg2(v))
APPROX(sin_f32, approx_sincos(v, 0))
APPROX(cos_f32, approx_sincos(v, 1))
APPROX(tanh_f32, approx_tanh(v))
APPROX(rsqrt_f32, 1.0 / sqrt(v))
static void f_divapprox_f32(Ctx *x, const Op *o, u32 m) {           // a * (1/b): 1/b is zero beyond 2^126
    F32 a = ROW(F32, x, o->a), b = ROW(F32, x, o->b);
    if (o->mod & M_FTZ) { a = flush(a); b = flush(b); }
    V32 mag = (V32)b & 0x7fffffff;
    S32 big = (mag > 0x7e800000) & (mag < 0x7f800000);
    F32 zero = a * (F32)((V32)b & 0x80000000);
    put32(x, o->d, (V32)finish(big ? zero : a / b, o->mod), m);
}

#define E(n) {#n, f_##n}
const Entry float_ops[] = {
    E(add_f32), E(sub_f32), E(mul_f32), E(div_f32), E(sqrt_f32), E(fma_f32), E(min_f32), E(max_f32), E(cmp_f32), E(abs_f32),
    E(neg_f32), E(ftz_f32), E(finish_f32), E(copysign_f32), E(class_f32), E(ex2_f32), E(lg2_f32), E(sin_f32), E(cos_f32),
    E(tanh_f32), E(rsqrt_f32), E(divapprox_f32), {0, 0}};
