// Steps of loads and stores of quads. See quads.h.
#include "quads.h"
#include "fast_access.h"

typedef float F8 __attribute__((ext_vector_type(8), aligned(4)));
typedef i32 S8 __attribute__((ext_vector_type(8)));
typedef float F4 __attribute__((ext_vector_type(4)));

STEP(skipped) {
    u32 n = f->same;
    __attribute__((musttail)) return f[n].next(regs, f + n, x, m);
}

// Transpose a quad in registers: from rows by position to rows by lane, and back.
static __attribute__((noinline)) void lay_by_lane(Ctx *x, const u32 *rows) {
    u32 words[LANES][4];
    for (u32 k = 0; k < 4; k++) for (u32 i = 0; i < LANES; i++) words[i][k] = ((const u32 *)R(x, rows[k]))[i];
    for (u32 k = 0; k < 4; k++) memcpy(R(x, rows[k]), words[8 * k], 128);
}
static __attribute__((noinline)) void lay_by_position(Ctx *x, const u32 *rows) {
    u32 words[LANES][4];
    for (u32 k = 0; k < 4; k++) memcpy(words[8 * k], R(x, rows[k]), 128);
    for (u32 k = 0; k < 4; k++) for (u32 i = 0; i < LANES; i++) ((u32 *)R(x, rows[k]))[i] = words[i][k];
}

static inline u32 lanes_of(Ctx *x, const Op *o, u32 m) { return o->flags & F_GUARDED ? guarded_lanes(x, o, m) : m; }

#define QUAD_LOAD(SPACE, SHARED_) static STEP(quad_load_##SPACE) { \
    const Op *o = &x->ops[f->pc]; \
    const u32 *data = x->pool + o->aux; \
    const Pattern *p; \
    u32 lanes = lanes_of(x, o, m); \
    const u8 *host = LIKELY(lanes == ALL) ? place(regs, f, x, o, m, 16, SHARED_, 0, &p) : 0; \
    if (LIKELY(host && p->kind == CONTIGUOUS)) { \
        for (u32 k = 0; k < 4; k++) memcpy(regs + data[k], host + 128 * k, 128); \
        NEXT; \
    } \
    if (host) load_4((u32 *)(regs + data[0]), (u32 *)(regs + data[1]), (u32 *)(regs + data[2]), (u32 *)(regs + data[3]), host, p); \
    else if (UNLIKELY(!access_generally(x, f, o, m, lanes))) return f; \
    if (m == ALL) lay_by_lane(x, data); \
    NEXT; }
QUAD_LOAD(shared, 1)
QUAD_LOAD(global, 0)

// Sixteen lanes at a time, as eight vectors. By position: vector 2 k + j has position k of lanes 8 j to 8 j + 7 of the half; by lane:
// vector t has the words of lanes 2 t and 2 t + 1.
#define VECTORS(STATEMENT) _Pragma("clang loop unroll(full)") for (u32 t = 0; t < 8; t++) { STATEMENT; }
#define FROM(ROWS) (*(const F8 *)(R(x, (ROWS)[by_lane ? 2 * half + t / 4 : t / 2]) + (by_lane ? 32 * (t % 4) : 64 * half + 32 * (t % 2))))

static inline __attribute__((always_inline)) void compute(F8 *v, S8 *bad, const Quad *q, u32 k, Ctx *x, u32 half, int by_lane) {
    const u32 *b = q->step[k].b, *c = q->step[k].c;
    switch (q->step[k].kind) {
    case FOLD_ADD: VECTORS(v[t] += FROM(b)) break;
    case FOLD_SUB: VECTORS(v[t] -= FROM(b)) break;
    case FOLD_MUL: VECTORS(v[t] *= FROM(b)) break;
    case FOLD_FMA: VECTORS(v[t] = __builtin_elementwise_fma(FROM(b), FROM(c), v[t])) break;
    case FOLD_HORNER: VECTORS(v[t] = __builtin_elementwise_fma(v[t], FROM(b), FROM(c))) break;
    case FOLD_MAX: VECTORS(F8 w = FROM(b); *bad |= (v[t] != v[t]) | (w != w); v[t] = (F8)((S8)(v[t] > w ? v[t] : w) & (S8)(w > v[t] ? w : v[t]))) break;
    default: VECTORS(F8 w = FROM(b); *bad |= (v[t] != v[t]) | (w != w); v[t] = (F8)((S8)(v[t] < w ? v[t] : w) | (S8)(w < v[t] ? w : v[t])))
    }
}

#define HALVES_OF(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
static inline __attribute__((always_inline)) void transpose(F8 *v) {
    F8 w[8];
    _Pragma("clang loop unroll(full)") for (u32 j = 0; j < 2; j++) {
        F8 a, b, c, d;
        TRANSPOSED(v[j], v[2 + j], v[4 + j], v[6 + j], a, b, c, d);     // lanes 0 and 4, 1 and 5, 2 and 6, 3 and 7
        w[4 * j] = HALVES_OF(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
        w[4 * j + 1] = HALVES_OF(c, d, 0, 1, 2, 3, 8, 9, 10, 11);
        w[4 * j + 2] = HALVES_OF(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
        w[4 * j + 3] = HALVES_OF(c, d, 4, 5, 6, 7, 12, 13, 14, 15);
    }
    VECTORS(v[t] = w[t])
}

// Compute what the store writes to 512 consecutive bytes; 0: there is a NaN, whose bits only the operations themselves know.
static inline __attribute__((always_inline)) int store_quad(Ctx *x, const Quad *q, u8 *host) {
    S8 bad = 0;
    for (u32 half = 0; half < 2; half++) {
        F8 v[8];
        u32 k = 0;
        if (q->loaded) { enum { by_lane = 1 }; VECTORS(v[t] = FROM(q->first)) }
        else {
            { enum { by_lane = 0 }; VECTORS(v[t] = FROM(q->first)) }
            for (; k < q->by_lane; k++) compute(v, &bad, q, k, x, half, 0);
            transpose(v);
        }
        for (; k < q->n; k++) compute(v, &bad, q, k, x, half, 1);
        if (q->n) VECTORS(bad |= v[t] != v[t])
        VECTORS(*(F8 *)(host + 256 * half + 32 * t) = v[t])
    }
    return LIKELY(!__builtin_reduce_or(bad));
}

// Execute the operations one by one, which leaves the values to store in their registers.
static __attribute__((noinline)) void execute(Ctx *x, const Quad *q, u32 m) {
    if (m == ALL) for (u32 k = 0; k < q->nloads; k++) lay_by_position(x, x->pool + x->ops[q->loads[k]].aux);
    for (u32 k = 0; k < q->noperations; k++) {
        const Op *o = &x->ops[x->pc = q->operations[k]];
        o->fn(x, o, m);
    }
}

// Link.b: the quad.
#define QUAD_STORE(SPACE, SHARED_) static STEP(quad_store_##SPACE) { \
    const Op *o = &x->ops[f->pc]; \
    const Quad *q = x->quads + f->b; \
    const Pattern *p; \
    u32 lanes = lanes_of(x, o, m); \
    u8 *host = LIKELY(lanes == ALL) ? place(regs, f, x, o, m, 16, SHARED_, 1, &p) : 0; \
    if (LIKELY(host && p->kind == CONTIGUOUS && store_quad(x, q, host))) NEXT; \
    execute(x, q, m); \
    if (host) { \
        const u32 *data = x->pool + o->aux; \
        store_4((u32 *)R(x, data[0]), (u32 *)R(x, data[1]), (u32 *)R(x, data[2]), (u32 *)R(x, data[3]), host, p); \
        NEXT; \
    } \
    if (UNLIKELY(!access_generally(x, f, o, m, lanes))) return f; \
    NEXT; }
QUAD_STORE(shared, 1)
QUAD_STORE(global, 0)

static int shared(const Op *o) { return (o->mod >> 12 & 15) == SPACE_SHARED; }
Step quad_load_step(const Op *o) { return shared(o) ? quad_load_shared : quad_load_global; }
Step quad_store_step(const Op *o) { return shared(o) ? quad_store_shared : quad_store_global; }
