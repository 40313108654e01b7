// Steps of frequent arithmetic operations. There are three for each, which avoids run-time checks of operands and lanes:
// r_: all operands are registers; g_: any operands; t_: the result is a temporary.
#include "chain.h"

#define STORED(T, WIDE, PLACE) do { T *d_ = (T *)(PLACE); \
    if (LIKELY(m == ALL)) *d_ = r; \
    else { WIDE k_ = EXPAND_##WIDE(m); *d_ = (r & (T)k_) | (*d_ & ~(T)k_); } } while (0)
#define EXPAND_S32(m) expand32(m)
#define EXPAND_S64(m) expand64(m)

#define THREE(NAME, T, WIDE, TA, TB, TC, EXPR) \
    static STEP(r_##NAME) { TA a = AT(TA, f->a); TB b = AT(TB, f->b); TC c = AT(TC, f->c); (void)b; (void)c; \
        T r = (T)(EXPR); STORED(T, WIDE, regs + f->d); NEXT; } \
    static STEP(g_##NAME) { TA a = ROW(TA, x, f->a); TB b = ROW(TB, x, f->b); TC c = ROW(TC, x, f->c); (void)b; (void)c; \
        T r = (T)(EXPR); STORED(T, WIDE, R(x, f->d)); NEXT; } \
    static STEP(t_##NAME) { TA a = ROW(TA, x, f->a); TB b = ROW(TB, x, f->b); TC c = ROW(TC, x, f->c); (void)b; (void)c; \
        ROW(T, x, f->d) = (T)(EXPR); NEXT; }

// Replace NaNs by the canonical one. NaNs are rare, so one test covers all lanes.
typedef float F8 __attribute__((ext_vector_type(8)));
typedef i32 S8 __attribute__((ext_vector_type(8)));
#define EIGHTH(v, k) __builtin_shufflevector(v, v, k, k + 1, k + 2, k + 3, k + 4, k + 5, k + 6, k + 7)
static inline V32 canonical(F32 r) {
    F8 a = EIGHTH(r, 0), b = EIGHTH(r, 8), c = EIGHTH(r, 16), d = EIGHTH(r, 24);
    S8 bad = ((a != a) | (b != b)) | ((c != c) | (d != d));
    if (LIKELY(!__builtin_reduce_or(bad))) return (V32)r;
    return r == r ? (V32)r : (V32)0x7fffffff;
}

// The larger or smaller of two numbers, -0 below +0; a NaN loses.
static inline V32 extremum(F32 a, F32 b, int maximum) {
    V32 r = maximum ? (V32)(a > b ? a : b) & (V32)(b > a ? b : a) : (V32)(a < b ? a : b) | (V32)(b < a ? b : a);
    S32 bad = (a != a) | (b != b);
    if (LIKELY(!__builtin_reduce_or(bad))) return r;
    r = a != a ? (V32)b : b != b ? (V32)a : r;
    return (F32)r == (F32)r ? r : (V32)0x7fffffff;
}

THREE(add_f32, V32, S32, F32, F32, V32, canonical(a + b))
THREE(sub_f32, V32, S32, F32, F32, V32, canonical(a - b))
THREE(mul_f32, V32, S32, F32, F32, V32, canonical(a * b))
THREE(fma_f32, V32, S32, F32, F32, F32, canonical(__builtin_elementwise_fma(a, b, c)))
THREE(min_f32, V32, S32, F32, F32, V32, extremum(a, b, 0))
THREE(max_f32, V32, S32, F32, F32, V32, extremum(a, b, 1))
THREE(add_32, V32, S32, V32, V32, V32, a + b)
THREE(sub_32, V32, S32, V32, V32, V32, a - b)
THREE(mul_32, V32, S32, V32, V32, V32, a * b)
THREE(mad_32, V32, S32, V32, V32, V32, a * b + c)
THREE(and_32, V32, S32, V32, V32, V32, a & b)
THREE(or_32, V32, S32, V32, V32, V32, a | b)
THREE(xor_32, V32, S32, V32, V32, V32, a ^ b)
THREE(mov_32, V32, S32, V32, u32, u32, a)
THREE(mov_64, V64, S64, V64, u32, u32, a)
THREE(add_64, V64, S64, V64, V64, u32, a + b)
THREE(sub_64, V64, S64, V64, V64, u32, a - b)
THREE(shl_32, V32, S32, V32, V32, u32, b > 31 ? (V32)0 : a << (b & 31))
THREE(shr_u32, V32, S32, V32, V32, u32, b > 31 ? (V32)0 : a >> (b & 31))
#define WIDE(v, T) __builtin_convertvector(v, T)
THREE(madwide_u32, V64, S64, V32, V32, V64, WIDE(a, V64) * WIDE(b, V64) + c)
THREE(madwide_s32, V64, S64, S32, S32, V64, (V64)(WIDE(a, S64) * WIDE(b, S64)) + c)

// Four consecutive multiply-adds with a common factor, as in the inner loop of a matrix product: the factor is read once and
// one test for NaN covers all four. None depends on another, see fused_fma_step.
static STEP(fma_together_f32) {
    if (UNLIKELY(m != ALL)) __attribute__((musttail)) return r_fma_f32(regs, f, x, m);
    S8 bad = 0;
    for (int half = 0; half < 128; half += 64) {                        // so that all values stay in 16 vector registers
        F8 a0 = AT(F8, f->a + half), a1 = AT(F8, f->a + half + 32);
        for (int k = 0; k < 4; k++) {
            F8 r0 = __builtin_elementwise_fma(a0, AT(F8, f[k].b + half), AT(F8, f[k].c + half));
            F8 r1 = __builtin_elementwise_fma(a1, AT(F8, f[k].b + half + 32), AT(F8, f[k].c + half + 32));
            AT(F8, f[k].d + half) = r0;
            AT(F8, f[k].d + half + 32) = r1;
            bad |= (r0 != r0) | (r1 != r1);
        }
    }
    if (UNLIKELY(__builtin_reduce_or(bad)))
        for (int k = 0; k < 4; k++) AT(V32, f[k].d) = canonical(AT(F32, f[k].d));
    __attribute__((musttail)) return f[4].next(regs, f + 4, x, m);
}

typedef struct { const char *name; u32 operands, bytes; Step registers, general, temporary; } Quick;
#define Q(NAME, OPERANDS, BYTES) {#NAME, OPERANDS, BYTES, r_##NAME, g_##NAME, t_##NAME}
static const Quick quick[] = {
    Q(add_f32, 2, 128), Q(sub_f32, 2, 128), Q(mul_f32, 2, 128), Q(fma_f32, 3, 128), Q(min_f32, 2, 128),
    Q(max_f32, 2, 128), Q(add_32, 2, 128), Q(sub_32, 2, 128),
    Q(mul_32, 2, 128), Q(mad_32, 3, 128), Q(and_32, 2, 128), Q(or_32, 2, 128), Q(xor_32, 2, 128), Q(mov_32, 1, 128),
    Q(mov_64, 1, 256), Q(add_64, 2, 256), Q(sub_64, 2, 256), Q(shl_32, 2, 128), Q(shr_u32, 2, 128), Q(madwide_u32, 3, 256),
    Q(madwide_s32, 3, 256)};

static const Quick *by_code[1024];                                      // filled when the library is loaded

__attribute__((constructor)) static void find_quick(void) {
    const char *name;
    for (u32 code = 0; (name = core_op_name(code)); code++)
        for (u32 k = 0; k < sizeof quick / sizeof *quick; k++)
            if (!strcmp(name, quick[k].name)) by_code[code] = &quick[k];
}

static const Quick *quick_of(const Op *o) { return o->mod || o->flags & F_SPECIAL ? 0 : by_code[o->code]; }

Step quick_step(const Op *o) {
    const Quick *q = quick_of(o);
    if (!q) return 0;
    if (o->flags & F_FULL) return q->temporary;
    u32 all = o->d | o->a | (q->operands > 1 ? o->b : 0) | (q->operands > 2 ? o->c : 0);
    return all & 3 ? q->general : q->registers;
}

int quick_writes(const Op *o, u32 row, u32 bytes) {
    const Quick *q = quick_of(o);
    return !q || (o->d < row + bytes && row < o->d + q->bytes);
}

// The step that executes the four operations from `f` on at once, or 0; `next` of each is its own step.
Step fused_fma_step(const Link *f) {
    for (int k = 0; k < 4; k++) {
        if (f[k].next != r_fma_f32 || f[k].a != f->a || f[k].d != f[k].c) return 0;
        for (int j = 0; j < 4; j++) if (f[k].d == f[j].a || f[k].d == f[j].b || (j != k && f[k].d == f[j].d)) return 0;
    }
    return fma_together_f32;
}

// Test whether an operation computes in 32-bit rows for the lanes of the line only, so that a copied operand may be replaced
// by its source.
int quick_narrow(const Op *o) {
    const Quick *q = quick_of(o);
    return q && q->bytes == 128 && !(o->flags & (F_FULL | F_GUARDED));
}
int quick_copies(const Op *o) { return quick_step(o) == r_mov_32 && !(o->flags & F_GUARDED); }
