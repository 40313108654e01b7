// Logic, shifts, bit fields, byte permutes, predicates and selection.
#include "core.h"

#define BIN(NAME, T, PUT, EXPR) static void f_##NAME(Ctx *x, const Op *o, u32 m) { \
    T a = ROW(T, x, o->a), b = ROW(T, x, o->b); PUT(x, o->d, (EXPR), m); }
#define LANE(NAME, TD, PUT, TA, TB, TC, EXPR) static void f_##NAME(Ctx *x, const Op *o, u32 m) { \
    const TA *A = (const TA *)R(x, o->a); const TB *B = (const TB *)R(x, o->b); const TC *C = (const TC *)R(x, o->c); TD r; \
    (void)B; (void)C; \
    for (int i = 0; i < LANES; i++) { TA a = A[i]; TB b = B[i]; TC c = C[i]; (void)b; (void)c; r[i] = (EXPR); } \
    PUT(x, o->d, r, m); }
#define PREDS(NAME, EXPR) static void f_##NAME(Ctx *x, const Op *o, u32 m) { \
    u32 a = PRED(x, o->a), b = PRED(x, o->b), c = PRED(x, o->c); (void)b; (void)c; put_pred(x, o->d, (EXPR), m); }

BIN(and_32, V32, put32, a & b)
BIN(or_32, V32, put32, a | b)
BIN(xor_32, V32, put32, a ^ b)
BIN(and_64, V64, put64, a & b)
BIN(or_64, V64, put64, a | b)
BIN(xor_64, V64, put64, a ^ b)
static void f_not_32(Ctx *x, const Op *o, u32 m) { put32(x, o->d, ~ROW(V32, x, o->a), m); }
static void f_not_64(Ctx *x, const Op *o, u32 m) { put64(x, o->d, ~ROW(V64, x, o->a), m); }

// Amounts are unsigned 32-bit and clamp at the width.
BIN(shl_32, V32, put32, b > 31 ? (V32)0 : a << (b & 31))
BIN(shr_u32, V32, put32, b > 31 ? (V32)0 : a >> (b & 31))
static void f_shr_s32(Ctx *x, const Op *o, u32 m) {
    V32 n = __builtin_elementwise_min(ROW(V32, x, o->b), (V32)31);
    put32(x, o->d, (V32)(ROW(S32, x, o->a) >> (S32)n), m);
}
static inline V64 amount(Ctx *x, u32 operand) { return __builtin_convertvector(ROW(V32, x, operand), V64); }
static void f_shl_64(Ctx *x, const Op *o, u32 m) {
    V64 n = amount(x, o->b), a = ROW(V64, x, o->a);
    put64(x, o->d, n > 63 ? (V64)0 : a << (n & 63), m);
}
static void f_shr_u64(Ctx *x, const Op *o, u32 m) {
    V64 n = amount(x, o->b), a = ROW(V64, x, o->a);
    put64(x, o->d, n > 63 ? (V64)0 : a >> (n & 63), m);
}
static void f_shr_s64(Ctx *x, const Op *o, u32 m) {
    V64 n = __builtin_elementwise_min(amount(x, o->b), (V64)63);
    put64(x, o->d, (V64)(ROW(S64, x, o->a) >> (S64)n), m);
}
LANE(shfl_clamp, V32, put32, u32, u32, u32, c >= 32 ? a : (u32)(((u64)b << 32 | a) << c >> 32))
LANE(shfl_wrap, V32, put32, u32, u32, u32, (u32)(((u64)b << 32 | a) << (c & 31) >> 32))
LANE(shfr_clamp, V32, put32, u32, u32, u32, c >= 32 ? b : (u32)(((u64)b << 32 | a) >> c))
LANE(shfr_wrap, V32, put32, u32, u32, u32, (u32)(((u64)b << 32 | a) >> (c & 31)))

static void f_lop3_32(Ctx *x, const Op *o, u32 m) {
    V32 a = ROW(V32, x, o->a), b = ROW(V32, x, o->b), c = ROW(V32, x, o->c), r = 0;
    for (u32 k = 0; k < 8; k++)
        if (o->imm >> k & 1) r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    put32(x, o->d, r, m);
}

// Counting and searching.
static inline u32 clz64(u64 v) { return v ? (u32)__builtin_clzll(v) : 64; }
static inline u32 clz32(u32 v) { return v ? (u32)__builtin_clz(v) : 32; }
static inline u32 find32(u32 v, u32 shift) { return v ? (shift ? clz32(v) : 31 - clz32(v)) : ALL; }
static inline u32 find64(u64 v, u32 shift) { return v ? (shift ? clz64(v) : 63 - clz64(v)) : ALL; }
static u32 fns(u32 mask, u32 base, i32 offset) {
    if (base > 31) return ALL;
    if (offset == 0) return mask >> base & 1 ? base : ALL;
    if (offset == INT32_MIN) return ALL;
    i32 step = offset > 0 ? 1 : -1, left = offset > 0 ? offset : -offset;
    for (i32 pos = (i32)base; pos >= 0 && pos < 32; pos += step)
        if (mask >> pos & 1 && --left == 0) return (u32)pos;
    return ALL;
}
LANE(popc_32, V32, put32, u32, u32, u32, (u32)__builtin_popcount(a))
LANE(popc_64, V32, put32, u64, u32, u32, (u32)__builtin_popcountll(a))
LANE(clz_32, V32, put32, u32, u32, u32, clz32(a))
LANE(clz_64, V32, put32, u64, u32, u32, clz64(a))
LANE(brev_32, V32, put32, u32, u32, u32, __builtin_bitreverse32(a))
LANE(brev_64, V64, put64, u64, u32, u32, __builtin_bitreverse64(a))
LANE(bfind_u32, V32, put32, u32, u32, u32, find32(a, o->mod))
LANE(bfind_s32, V32, put32, i32, u32, u32, find32(a < 0 ? ~(u32)a : (u32)a, o->mod))
LANE(bfind_u64, V32, put32, u64, u32, u32, find64(a, o->mod))
LANE(bfind_s64, V32, put32, i64, u32, u32, find64(a < 0 ? ~(u64)a : (u64)a, o->mod))
LANE(fns_32, V32, put32, u32, u32, u32, fns(a, b, (i32)c))

// Bit fields: position and length are the low 8 bits; the 64-bit forms, which hardware lacks, use all 32.
static inline void field(u32 *pos, u32 *len, u32 width) {
    if (width == 32) *pos &= 255, *len &= 255;
    if (*pos > 255) *pos = 255;
    if (*len > 255) *len = 255;
}
static u64 bfe(u64 a, u32 pos, u32 len, u32 width, u32 is_signed) {
    field(&pos, &len, width);
    u32 last = pos + len - 1 < width - 1 ? pos + len - 1 : width - 1;
    u64 sign = is_signed && len ? a >> last & 1 : 0, r = 0;
    if (len && pos < width) {
        u32 have = pos + len < width ? len : width - pos;
        r = have >= 64 ? a >> pos : a >> pos & (((u64)1 << have) - 1);
        if (sign && have < 64) r |= ~(u64)0 << have;
    } else if (sign) {
        r = ~(u64)0;
    }
    return r;
}
static u64 bfi(u64 a, u64 b, u32 pos, u32 len, u32 width) {
    field(&pos, &len, width);
    if (pos >= width || !len) return b;
    if (pos + len > width) len = width - pos;
    u64 mask = (len >= 64 ? ~(u64)0 : ((u64)1 << len) - 1) << pos;
    return (b & ~mask) | (a << pos & mask);
}
LANE(bfe_u32, V32, put32, u32, u32, u32, (u32)bfe(a, b, c, 32, 0))
LANE(bfe_s32, V32, put32, u32, u32, u32, (u32)bfe(a, b, c, 32, 1))
LANE(bfe_u64, V64, put64, u64, u32, u32, bfe(a, b, c, 64, 0))
LANE(bfe_s64, V64, put64, u64, u32, u32, bfe(a, b, c, 64, 1))
static void f_bfi_32(Ctx *x, const Op *o, u32 m) {
    const u32 *A = (u32 *)R(x, o->a), *B = (u32 *)R(x, o->b), *C = (u32 *)R(x, o->c), *D = (u32 *)R(x, o->e); V32 r;
    for (int i = 0; i < LANES; i++) r[i] = (u32)bfi(A[i], B[i], C[i], D[i], 32);
    put32(x, o->d, r, m);
}
static void f_bfi_64(Ctx *x, const Op *o, u32 m) {
    const u64 *A = (u64 *)R(x, o->a), *B = (u64 *)R(x, o->b); const u32 *C = (u32 *)R(x, o->c), *D = (u32 *)R(x, o->e); V64 r;
    for (int i = 0; i < LANES; i++) r[i] = bfi(A[i], B[i], C[i], D[i], 64);
    put64(x, o->d, r, m);
}
static u32 bmsk(u32 pos, u32 len, u32 wrap) {
    if (wrap) pos &= 31, len &= 31;
    if (pos > 31 || !len) return 0;
    u32 mask = len > 31 ? ALL : (1u << len) - 1;
    return mask << pos;
}
static u32 szext(u32 a, u32 bits, u32 wrap, u32 is_signed) {
    if (wrap) bits &= 31;
    if (bits > 31) return a;
    if (!bits) return 0;
    u32 mask = (1u << bits) - 1;
    return is_signed && a >> (bits - 1) & 1 ? a | ~mask : a & mask;
}
LANE(bmsk_32, V32, put32, u32, u32, u32, bmsk(a, b, o->mod))
LANE(szext_u32, V32, put32, u32, u32, u32, szext(a, b, o->mod, 0))
LANE(szext_s32, V32, put32, u32, u32, u32, szext(a, b, o->mod, 1))

// prmt: mod 0 generic, 1 f4e, 2 b4e, 3 rc8, 4 ecl, 5 ecr, 6 rc16.
static u32 prmt(u32 a, u32 b, u32 c, u32 mode) {
    u64 pool = (u64)b << 32 | a;
    u32 n = c & 3, r = 0;
    for (u32 i = 0; i < 4; i++) {
        u32 s;
        switch (mode) {
        case 0: s = c >> 4 * i & 15; break;
        case 1: s = n + i; break;
        case 2: s = (n - i) & 7; break;
        case 3: s = n; break;
        case 4: s = i > n ? i : n; break;
        case 5: s = i < n ? i : n; break;
        default: s = (n & 1) * 2 + (i & 1);
        }
        u32 byte = (u32)(pool >> 8 * (s & 7)) & 255;
        if (s & 8) byte = byte & 128 ? 255 : 0;
        r |= byte << 8 * i;
    }
    return r;
}
LANE(prmt_32, V32, put32, u32, u32, u32, prmt(a, b, c, o->mod))

// Dot products; mod bit 0: a signed, bit 1: b signed, bit 2: dp2a upper bytes of b.
static u32 dp4a(u32 a, u32 b, u32 c, u32 mod) {
    for (int i = 0; i < 4; i++) {
        i32 p = mod & 1 ? (int8_t)(a >> 8 * i) : (u8)(a >> 8 * i), q = mod & 2 ? (int8_t)(b >> 8 * i) : (u8)(b >> 8 * i);
        c += (u32)(p * q);
    }
    return c;
}
static u32 dp2a(u32 a, u32 b, u32 c, u32 mod) {
    if (mod & 4) b >>= 16;
    for (int i = 0; i < 2; i++) {
        i32 p = mod & 1 ? (int16_t)(a >> 16 * i) : (u16)(a >> 16 * i), q = mod & 2 ? (int8_t)(b >> 8 * i) : (u8)(b >> 8 * i);
        c += (u32)(p * q);
    }
    return c;
}
LANE(dp4a_32, V32, put32, u32, u32, u32, dp4a(a, b, c, o->mod))
LANE(dp2a_32, V32, put32, u32, u32, u32, dp2a(a, b, c, o->mod))
static u64 clmul(u64 a, u64 b, u32 high) {
    u64 lo = 0, hi = 0;
    for (u32 i = 0; i < 64; i++)
        if (b >> i & 1) { lo ^= a << i; if (i) hi ^= a >> (64 - i); }
    return high ? hi : lo;
}
LANE(clmul_64, V64, put64, u64, u64, u32, clmul(a, b, o->mod))

// Predicates.
PREDS(and_p, a & b)
PREDS(or_p, a | b)
PREDS(xor_p, a ^ b)
PREDS(not_p, ~a)
PREDS(mov_p, a)
PREDS(sel_p, (a & c) | (b & ~c))
static void f_sel_32(Ctx *x, const Op *o, u32 m) {
    put32(x, o->d, expand32(PRED(x, o->c)) ? ROW(V32, x, o->a) : ROW(V32, x, o->b), m);
}
static void f_sel_64(Ctx *x, const Op *o, u32 m) {
    put64(x, o->d, expand64(PRED(x, o->c)) ? ROW(V64, x, o->a) : ROW(V64, x, o->b), m);
}

#define E(n) {#n, f_##n}
const Entry logic_ops[] = {
    E(and_32), E(or_32), E(xor_32), E(and_64), E(or_64), E(xor_64), E(not_32), E(not_64), E(shl_32), E(shr_u32), E(shr_s32),
    E(shl_64), E(shr_u64), E(shr_s64), E(shfl_clamp), E(shfl_wrap), E(shfr_clamp), E(shfr_wrap), E(lop3_32), E(popc_32),
    E(popc_64), E(clz_32), E(clz_64), E(brev_32), E(brev_64), E(bfind_u32), E(bfind_s32), E(bfind_u64), E(bfind_s64),
    E(fns_32), E(bfe_u32), E(bfe_s32), E(bfe_u64), E(bfe_s64), E(bfi_32), E(bfi_64), E(bmsk_32), E(szext_u32), E(szext_s32),
    E(prmt_32), E(dp4a_32), E(dp2a_32), E(clmul_64), E(and_p), E(or_p), E(xor_p), E(not_p), E(mov_p), E(sel_p), E(sel_32),
    E(sel_64), {0, 0}};
