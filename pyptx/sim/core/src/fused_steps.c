// Fused steps: consecutive f32 operations on one running value (sums, maxima, a scaled difference that is exponentiated) execute
// as one step that keeps the value of all lanes in machine registers. Registers that only carry the value within the fold are
// not written, because nothing else in the program reads them.
#include "approximations.h"
#include "chain.h"
#include "quads.h"

typedef float F8 __attribute__((ext_vector_type(8)));
typedef i32 S8 __attribute__((ext_vector_type(8)));

static u8 kinds[1024];                                                  // of operations; filled when the library is loaded

__attribute__((constructor)) static void find_kinds(void) {
    static const char *names[] = {0, "add_f32", "sub_f32", "mul_f32", "fma_f32", 0, "max_f32", "min_f32", "ex2_f32"};
    for (u32 k = 0; k < sizeof names / sizeof *names; k++) if (names[k]) kinds[core_op_code(names[k])] = (u8)k;
}

// Link.same of a link in a fold: its kind, and in the first link the length << 8.
#define KIND(f) ((f)->same & 255)
#define EACH(STATEMENT) { { enum { i = 0 }; STATEMENT; } { enum { i = 1 }; STATEMENT; } { enum { i = 2 }; STATEMENT; } { enum { i = 3 }; STATEMENT; } }
#define PART(p) (*(const F8 *)((p) + 32 * i))

static inline F8 canonical(F8 v) { return v == v ? v : (F8)(S8)0x7fffffff; }
static inline int any(S8 bad) { return __builtin_reduce_or(bad) != 0; }
static inline void put(char *row, const F8 *v) { EACH(*(F8 *)(row + 32 * i) = canonical(v[i])) }

// 2^v for |v| <= 125 with the operations of f_ex2_f32; 0: some |v| is larger.
static inline __attribute__((always_inline)) int raise_two(F8 *v) {
    S8 large = 0;
    EACH(large |= ~((F8)((S8)v[i] & 0x7fffffff) <= 125.0f))
    if (UNLIKELY(any(large))) return 0;
    F8 t[4], p[4];
    S8 whole[4];
    EACH(F8 n = __builtin_elementwise_rint(v[i]); t[i] = v[i] - n; p[i] = (F8){} + EX2_F32[0]; whole[i] = __builtin_convertvector(n, S8) << 23)
    for (int k = 1; k < EX2_F32_TERMS; k++) EACH(p[i] = p[i] * t[i] + EX2_F32[k])  // interleaved, to hide the latency of each chain
    EACH(v[i] = (F8)((S8)p[i] + whole[i]))
    return 1;
}

// Execute the operations from `k` on one by one: for a partial warp, and for NaNs and exponents out of range.
static __attribute__((noinline)) void one_by_one(Ctx *x, const Link *k, const Link *end, u32 m) {
    for (; k < end; k++) {
        const Op *o = &x->ops[k->pc];
        x->pc = k->pc;
        o->fn(x, o, m);
    }
}

#define OTHER(o) const char *b = R(x, o)
#define LOOP(WHAT, STATEMENT) do { OTHER(k->b); EACH(STATEMENT) k++; } while (k < end && KIND(k) == WHAT)
// The extremum. The sum detects NaNs cheaply; a false positive only takes the slow path.
#define EXTREMUM(WHAT, ONE, OTHER_, HOW) { \
    const Link *start = k; \
    F8 before[4], sum[4]; \
    EACH(before[i] = v[i]; sum[i] = v[i]) \
    LOOP(WHAT, F8 w = PART(b); sum[i] += w; v[i] = (F8)((S8)(ONE) HOW (S8)(OTHER_))); \
    S8 bad = 0; \
    EACH(bad |= sum[i] != sum[i]) \
    if (UNLIKELY(any(bad))) { if (start > f) put(regs + start[-1].d, before); one_by_one(x, start, end, m); goto done; } \
    break; }

static STEP(fold_f32) {
    const Link *end = f + (f->same >> 8), *k = f;
    if (UNLIKELY(m != ALL)) { one_by_one(x, f, end, m); goto done; }
    const char *first = R(x, KIND(f) == FOLD_FMA ? f->c : f->a);
    F8 v[4];
    EACH(v[i] = PART(first))
    while (k < end)
        switch (KIND(k)) {
        case FOLD_ADD: LOOP(FOLD_ADD, v[i] += PART(b)); break;
        case FOLD_SUB: LOOP(FOLD_SUB, v[i] -= PART(b)); break;
        case FOLD_MUL: LOOP(FOLD_MUL, v[i] *= PART(b)); break;
        case FOLD_FMA: LOOP(FOLD_FMA, const char *a = R(x, k->a); v[i] = __builtin_elementwise_fma(PART(a), PART(b), v[i])); break;
        case FOLD_HORNER: LOOP(FOLD_HORNER, const char *c = R(x, k->c); v[i] = __builtin_elementwise_fma(v[i], PART(b), PART(c))); break;
        case FOLD_MAX: EXTREMUM(FOLD_MAX, v[i] > w ? v[i] : w, w > v[i] ? w : v[i], &)
        case FOLD_MIN: EXTREMUM(FOLD_MIN, v[i] < w ? v[i] : w, w < v[i] ? w : v[i], |)
        default:
            if (UNLIKELY(!raise_two(v))) { if (k > f) put(regs + k[-1].d, v); one_by_one(x, k, end, m); goto done; }
            k++;
        }
    S8 bad = 0;
    EACH(bad |= v[i] != v[i])
    if (UNLIKELY(any(bad))) put(regs + end[-1].d, v);
    else EACH(*(F8 *)(regs + end[-1].d + 32 * i) = v[i])
done:;
    u32 n = (u32)(end - f);
    __attribute__((musttail)) return f[n].next(regs, f + n, x, m);
}

// The kind of an operation in a fold.
u32 fold_kind(const Op *o) {
    u32 kind = kinds[o->code];
    if (o->flags & (F_SPECIAL | F_GUARDED | F_FULL) || o->d & 3) return FOLD_NONE;
    return o->mod && !(kind == FOLD_EX2 && o->mod == M_FTZ) ? FOLD_NONE : kind;
}

// The kind of a link that uses the value of `row` exactly once, or FOLD_NONE; reorders its operands.
static u32 takes(Link *f, u32 kind, u32 row) {
    u32 ways = (f->a == row) + (kind != FOLD_EX2 && f->b == row) + (kind == FOLD_FMA && f->c == row);
    if (ways != 1) return FOLD_NONE;
    if (kind == FOLD_FMA && f->c == row) return FOLD_FMA;
    if (f->a != row) {
        if (kind == FOLD_SUB) return FOLD_NONE;
        f->b = f->a;
        f->a = row;
    }
    return kind == FOLD_FMA ? FOLD_HORNER : kind;
}

void fuse_steps(Ctx *x, const u8 *leader, const Uses *uses) {
    for (u32 pc = 0; pc + 1 < x->nops; pc++) {
        Link *f = &x->link[pc];
        u32 n = 1, kind = fold_kind(&x->ops[pc]);
        if (!kind || kind == FOLD_EX2 || x->run[pc].step == chain_end || x->run[pc].step == skipped) continue;
        f->same = kind;
        for (; pc + n < x->nops && n < 1 << 20; n++) {
            const Link *last = &f[n - 1];
            u32 next = fold_kind(&x->ops[pc + n]);
            if (!next || leader[pc + n] || f[n].next == chain_end || f[n].next != x->run[pc + n].step) break;
            if ((f[n].d != last->d && uses[last->d / 128].named + uses[last->d / 128].listed != 2) || !(next = takes(&f[n], next, last->d))) break;
            f[n].same = next;
        }
        f->same = NONE;
        if (n > 1) {
            f->same = kind | n << 8;
            for (u32 k = 1; k < n; k++) x->run[pc + k].fused = pc;
            x->run[pc].step = fold_f32;
            if (f->next != chain_end) f->next = fold_f32;
        }
        pc += n - 1;
    }
}
