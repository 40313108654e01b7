// f16 and bf16: exact sums in double (rounded to odd), then one rounding. imm is the format.
#include "approximations.h"

static inline double odd_sum(double a, double b) {                      // a + b with the lost part kept as a sticky bit
    double s = a + b, t = s - a, e = (a - (s - t)) + (b - t);
    if (e != 0.0 && s - s == 0.0) {
        u64 u = of_f64(s);
        if (!(u & 1)) u += ((e > 0.0) == (s > 0.0)) ? 1 : (u64)-1;
        s = as_f64(u);
    }
    return s;
}
static inline u32 flush16(u32 v, u32 mod) { return (mod & M_FTZ) && (v & 0x7c00) == 0 ? v & 0x8000 : v; }
static inline u32 settle(double v, const Op *o) {
    if (o->mod & M_SAT) v = v > 0.0 ? (v < 1.0 ? v : 1.0) : 0.0;
    return flush16((u32)round_double(v, (u32)o->imm, o->mod), o->mod);
}
#define HALF(NAME, EXPR) static void f_##NAME(Ctx *x, const Op *o, u32 m) { \
    const u32 *A = (u32 *)R(x, o->a), *B = (u32 *)R(x, o->b), *C = (u32 *)R(x, o->c); V32 r; u32 fmt = (u32)o->imm; \
    for (int i = 0; i < LANES; i++) { \
        double a = widen(flush16(A[i], o->mod), fmt), b = widen(flush16(B[i], o->mod), fmt), c = widen(flush16(C[i], o->mod), fmt); \
        (void)a; (void)b; (void)c; r[i] = settle(EXPR, o); } \
    put32(x, o->d, r, m); }
HALF(add_h, odd_sum(a, b))
HALF(sub_h, odd_sum(a, -b))
HALF(mul_h, a * b)
HALF(fma_h, odd_sum(a * b, c))
HALF(ex2_h, approx_ex2(a))
HALF(tanh_h, approx_tanh(a))

static inline i32 order16(u32 v) { return v & 0x8000 ? -1 - (i32)(v & 0x7fff) : (i32)v; }
static inline u32 extremum(u32 a, u32 b, const Op *o, int maximum) {
    u32 inf = o->imm == T_F16 ? 0x7c00 : 0x7f80, sign = 0;
    a = flush16(a, o->mod), b = flush16(b, o->mod);
    int na = (a & 0x7fff) > inf, nb = (b & 0x7fff) > inf;
    if (o->mod & M_NAN ? na || nb : na && nb) return 0x7fff;
    if (o->mod & M_XORSIGN) sign = (a ^ b) & 0x8000, a &= 0x7fff, b &= 0x7fff;
    u32 r = na ? b : nb ? a : (order16(a) < order16(b)) != maximum ? a : b;
    return r | sign;
}
#define EXTREMUM(NAME, MAX) static void f_##NAME(Ctx *x, const Op *o, u32 m) { \
    const u32 *A = (u32 *)R(x, o->a), *B = (u32 *)R(x, o->b); V32 r; \
    for (int i = 0; i < LANES; i++) r[i] = extremum(A[i], B[i], o, MAX); \
    put32(x, o->d, r, m); }
EXTREMUM(min_h, 0)
EXTREMUM(max_h, 1)
static void f_neg_h(Ctx *x, const Op *o, u32 m) {
    V32 a = ROW(V32, x, o->a), r = a ^ 0x8000;
    if (o->mod & M_FTZ) r = (a & 0x7c00) == 0 ? r & 0x8000 : r;
    put32(x, o->d, r, m);
}
static void f_abs_h(Ctx *x, const Op *o, u32 m) {
    V32 a = ROW(V32, x, o->a), r = a & 0x7fff;
    if (o->mod & M_FTZ) r = (a & 0x7c00) == 0 ? (V32)0 : r;
    put32(x, o->d, r, m);
}
// imm: format | comparison set << 8 (as cmp_f32).
static void f_cmp_h(Ctx *x, const Op *o, u32 m) {
    const u32 *A = (u32 *)R(x, o->a), *B = (u32 *)R(x, o->b);
    u32 fmt = o->imm & 255, set = (u32)(o->imm >> 8), out = 0;
    for (int i = 0; i < LANES; i++) {
        double a = widen(flush16(A[i], o->mod), fmt), b = widen(flush16(B[i], o->mod), fmt);
        u32 k = a < b ? 1 : a == b ? 2 : a > b ? 4 : 8;
        out |= (u32)((set & k) != 0) << i;
    }
    put_pred(x, o->d, out, m);
}

#define E(n) {#n, f_##n}
const Entry half_ops[] = {E(add_h), E(sub_h), E(mul_h), E(fma_h), E(ex2_h), E(tanh_h), E(min_h), E(max_h), E(neg_h), E(abs_h),
                          E(cmp_h), {0, 0}};
