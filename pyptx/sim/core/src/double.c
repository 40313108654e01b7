// f64: exact rounding; NaN operands are propagated as quiet NaNs, the first operand first.
#include "approximations.h"

#define KEEP(v) __asm__ volatile("" : "+m"(v) : : "memory")
#define QUIET 0x0008000000000000ull
#define INVALID 0xfff8000000000000ull

static inline V64 settle(F64 r, F64 a, F64 b, F64 c) {
    V64 v = r == r ? (V64)r : (V64)INVALID;
    v = c == c ? v : (V64)c | QUIET;
    v = b == b ? v : (V64)b | QUIET;
    return a == a ? v : (V64)a | QUIET;
}
#define ROUNDED(NAME, EXPR) static __attribute__((noinline)) F64 slow_##NAME(F64 a, F64 b, F64 c, u32 mod) { \
    F64 r; (void)b; (void)c; set_rounding(mod & RND_MASK); KEEP(a); KEEP(b); KEEP(c); r = (EXPR); KEEP(r); set_rounding(RN); \
    return r; }
static inline V64 clamp01(V64 v, u32 mod) {
    F64 r = (F64)v;
    return mod & M_SAT ? (V64)(r > 0.0 ? (r < 1.0 ? r : (F64)1.0) : (F64)0.0) : v;
}
#define OP3(NAME, B, C, EXPR) ROUNDED(NAME, EXPR) static void f_##NAME(Ctx *x, const Op *o, u32 m) { \
    F64 a = ROW(F64, x, o->a), b = ROW(F64, x, B), c = ROW(F64, x, C); (void)b; (void)c; \
    F64 r; if (LIKELY((o->mod & RND_MASK) == 0)) r = (EXPR); else r = slow_##NAME(a, b, c, o->mod); \
    put64(x, o->d, clamp01(settle(r, a, b, c), o->mod), m); }
OP3(add_f64, o->b, o->b, a + b)
OP3(sub_f64, o->b, o->b, a - b)
OP3(mul_f64, o->b, o->b, a * b)
OP3(div_f64, o->b, o->b, a / b)
OP3(sqrt_f64, o->a, o->a, __builtin_elementwise_sqrt(a))
OP3(fma_f64, o->b, o->c, __builtin_elementwise_fma(a, b, c))

static inline S64 order(V64 u) { return (S64)(u ^ (V64)((S64)u >> 63 & 0x7fffffffffffffffll)); }
static inline void extremum(Ctx *x, const Op *o, u32 m, int maximum) {
    V64 a = ROW(V64, x, o->a), b = ROW(V64, x, o->b);
    S64 na = (S64)((F64)a != (F64)a), nb = (S64)((F64)b != (F64)b), less = (S64)(order(a) < order(b));
    V64 r = (maximum ? ~less : less) ? a : b;
    r = na ? b : nb ? a : r;
    put64(x, o->d, na & nb ? (V64)0x7fffffffffffffffull : r, m);
}
static void f_min_f64(Ctx *x, const Op *o, u32 m) { extremum(x, o, m, 0); }
static void f_max_f64(Ctx *x, const Op *o, u32 m) { extremum(x, o, m, 1); }
static void f_cmp_f64(Ctx *x, const Op *o, u32 m) {
    F64 a = ROW(F64, x, o->a), b = ROW(F64, x, o->b);
    S64 r = 0;
    if (o->imm & 1) r |= (S64)(a < b);
    if (o->imm & 2) r |= (S64)(a == b);
    if (o->imm & 4) r |= (S64)(a > b);
    if (o->imm & 8) r |= (S64)((a != a) | (b != b));
    put_pred(x, o->d, bits64(r), m);
}
static void f_abs_f64(Ctx *x, const Op *o, u32 m) { put64(x, o->d, ROW(V64, x, o->a) & 0x7fffffffffffffffull, m); }
static void f_neg_f64(Ctx *x, const Op *o, u32 m) { put64(x, o->d, ROW(V64, x, o->a) ^ 0x8000000000000000ull, m); }
static void f_copysign_f64(Ctx *x, const Op *o, u32 m) {
    put64(x, o->d, (ROW(V64, x, o->a) & 0x8000000000000000ull) | (ROW(V64, x, o->b) & 0x7fffffffffffffffull), m);
}
static void f_class_f64(Ctx *x, const Op *o, u32 m) {
    V64 u = ROW(V64, x, o->a) & 0x7fffffffffffffffull;
    S64 r = 0;
    if (o->imm & 1) r |= (S64)(u == 0);
    if (o->imm & 2) r |= (S64)((u > 0) & (u < 0x0010000000000000ull));
    if (o->imm & 4) r |= (S64)((u >= 0x0010000000000000ull) & (u < 0x7ff0000000000000ull));
    if (o->imm & 8) r |= (S64)(u == 0x7ff0000000000000ull);
    if (o->imm & 16) r |= (S64)(u > 0x7ff0000000000000ull);
    put_pred(x, o->d, bits64(r), m);
}
static void f_rsqrt_f64(Ctx *x, const Op *o, u32 m) {
    F64 a = ROW(F64, x, o->a), r = 1.0 / __builtin_elementwise_sqrt(a);
    put64(x, o->d, settle(r, a, a, a), m);
}
// The .approx.ftz.f64 forms: upper word only, subnormals are flushed, canonical NaN.
static inline void coarse(Ctx *x, const Op *o, u32 m, int root) {
    V64 u = ROW(V64, x, o->a) & 0xffffffff00000000ull;
    u = (u & 0x7ff0000000000000ull) == 0 ? u & 0x8000000000000000ull : u;
    F64 a = (F64)u, r = 1.0 / (root ? __builtin_elementwise_sqrt(a) : a);
    V64 v = (V64)r & 0xffffffff00000000ull;
    v = (v & 0x7ff0000000000000ull) == 0 ? v & 0x8000000000000000ull : v;
    put64(x, o->d, r == r ? v : (V64)0x7fffffff00000000ull, m);
}
static void f_rcpcoarse_f64(Ctx *x, const Op *o, u32 m) { coarse(x, o, m, 0); }
static void f_rsqrtcoarse_f64(Ctx *x, const Op *o, u32 m) { coarse(x, o, m, 1); }

#define E(n) {#n, f_##n}
const Entry double_ops[] = {
    E(add_f64), E(sub_f64), E(mul_f64), E(div_f64), E(sqrt_f64), E(fma_f64), E(min_f64), E(max_f64), E(cmp_f64), E(abs_f64),
    E(neg_f64), E(copysign_f64), E(class_f64), E(rsqrt_f64), E(rcpcoarse_f64), E(rsqrtcoarse_f64), {0, 0}};
