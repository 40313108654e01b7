// Shuffles, votes, matches and reductions over the lanes of a warp; `m` are the participating lanes.
#include "chain.h"
#include "sanitizer/sanitizer.h"

// All 32 lanes exchange values with the lane whose index differs in one bit.
#define PAIR(X) __builtin_shufflevector(a, a, 0 ^ X, 1 ^ X, 2 ^ X, 3 ^ X, 4 ^ X, 5 ^ X, 6 ^ X, 7 ^ X, 8 ^ X, 9 ^ X, 10 ^ X, 11 ^ X, \
    12 ^ X, 13 ^ X, 14 ^ X, 15 ^ X, 16 ^ X, 17 ^ X, 18 ^ X, 19 ^ X, 20 ^ X, 21 ^ X, 22 ^ X, 23 ^ X, 24 ^ X, 25 ^ X, 26 ^ X, 27 ^ X, \
    28 ^ X, 29 ^ X, 30 ^ X, 31 ^ X)
#define BUTTERFLY(X) static STEP(step_butterfly_##X) { \
    if (UNLIKELY(m != ALL)) return f; \
    V32 a = AT(V32, f->a); \
    AT(V32, f->d) = PAIR(X); \
    NEXT; }
BUTTERFLY(1)
BUTTERFLY(2)
BUTTERFLY(4)
BUTTERFLY(8)
BUTTERFLY(16)

// shfl.sync: mod SHUFFLE_...; c is the segment operand, e the membermask, aux2 the predicate (or NONE).
static void f_shfl(Ctx *x, const Op *o, u32 m) {
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_warp_sync(x, m);
    V32 lane = iota32(), b = ROW(V32, x, o->b) & 31, C = ROW(V32, x, o->c), c = C & 31, seg = C >> 8 & 31;
    S32 j, inside, top = (S32)((lane & seg) | (c & ~seg));
    switch (o->mod) {
    case SHUFFLE_UP: j = (S32)(lane - b); inside = j >= top; break;
    case SHUFFLE_DOWN: j = (S32)(lane + b); inside = j <= top; break;
    case SHUFFLE_BFLY: j = (S32)(lane ^ b); inside = j <= top; break;
    default: j = (S32)((lane & seg) | (b & ~seg)); inside = j <= top;
    }
    V32 from = (inside ? (V32)j : lane) & 31, a = ROW(V32, x, o->a), r;
    u32 in[LANES], at[LANES], out[LANES];
    memcpy(in, &a, sizeof in);
    memcpy(at, &from, sizeof at);
    for (u32 i = 0; i < LANES; i++) out[i] = in[at[i]];
    memcpy(&r, out, sizeof r);
    if (m != ALL) r = ((V32)m >> from & 1) != 0 ? r : (V32)0;
    put32(x, o->d, r, m);
    if (o->aux2 != NONE) put_pred(x, o->aux2, bits32(inside), m);
}

// The step of a shfl.sync.bfly of the whole warp by a uniform distance, without a predicate.
Step butterfly_step(Ctx *x, const Op *o) {
    if (o->fn != f_shfl) return 0;
    if (o->mod != SHUFFLE_BFLY || o->aux2 != NONE || (o->b & 3) != 1 || (o->c & 3) != 1 || *(u32 *)R(x, o->c) != 31 || (o->a | o->d) & 3) return 0;
    switch (*(u32 *)R(x, o->b) & 31) {
    case 1: return step_butterfly_1;
    case 2: return step_butterfly_2;
    case 4: return step_butterfly_4;
    case 8: return step_butterfly_8;
    case 16: return step_butterfly_16;
    default: return 0;
    }
}

// vote.sync: a is the predicate (xor imm), mod VOTE_....
static void f_vote(Ctx *x, const Op *o, u32 m) {
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_warp_sync(x, m);
    u32 yes = (PRED(x, o->a) ^ (u32)o->imm) & m;
    switch (o->mod) {
    case VOTE_ALL: put_pred(x, o->d, yes == m ? ALL : 0, m); break;
    case VOTE_ANY: put_pred(x, o->d, yes ? ALL : 0, m); break;
    case VOTE_UNI: put_pred(x, o->d, yes == m || !yes ? ALL : 0, m); break;
    default: put32(x, o->d, (V32)yes, m);
    }
}

// match.sync: mod bit 0 all, bit 1 64-bit values; aux2 the predicate of match.all (or NONE).
static void f_match(Ctx *x, const Op *o, u32 m) {
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_warp_sync(x, m);
    u64 v[LANES]; V32 r = 0;
    for (int i = 0; i < LANES; i++) v[i] = o->mod & 2 ? ((u64 *)R(x, o->a))[i] : ((u32 *)R(x, o->a))[i];
    if (o->mod & 1) {
        u32 equal = 1, first = (u32)__builtin_ctz(m);
        for (int i = 0; i < LANES; i++) if (m >> i & 1 && v[i] != v[first]) equal = 0;
        if (o->d != NONE) put32(x, o->d, (V32)(equal ? m : 0), m);
        if (o->aux2 != NONE) put_pred(x, o->aux2, equal ? ALL : 0, m);
        return;
    }
    for (int i = 0; i < LANES; i++)
        for (int j = 0; j < LANES; j++) if (m >> j & 1 && v[i] == v[j]) r[i] |= 1u << j;
    put32(x, o->d, r, m);
}

// redux.sync: mod REDUX_..., imm bit 0 .abs, bit 1 .NaN.
u32 extremum_f32(u32 a, u32 b, int maximum, int nan) {
    int na = (a & 0x7fffffff) > 0x7f800000, nb = (b & 0x7fffffff) > 0x7f800000;
    if (nan ? na || nb : na && nb) return 0x7fffffff;
    if (na) return b;
    if (nb) return a;
    i32 x = (i32)(a ^ (u32)((i32)a >> 31 & 0x7fffffff)), y = (i32)(b ^ (u32)((i32)b >> 31 & 0x7fffffff));
    return (x < y) != maximum ? a : b;
}
static void f_redux(Ctx *x, const Op *o, u32 m) {
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_warp_sync(x, m);
    const u32 *a = (const u32 *)R(x, o->a);
    u32 first = (u32)__builtin_ctz(m), r = a[first];
    int abs = (int)(o->imm & 1), nan = (int)(o->imm >> 1 & 1);
    if (o->mod >= REDUX_MIN_F32 && abs) r &= 0x7fffffff;
    if (o->mod >= REDUX_MIN_F32) r = extremum_f32(r, r, 0, nan);
    for (u32 k = m & (m - 1); k; k &= k - 1) {
        u32 v = a[__builtin_ctz(k)];
        if (o->mod >= REDUX_MIN_F32 && abs) v &= 0x7fffffff;
        switch (o->mod) {
        case REDUX_ADD: r += v; break;
        case REDUX_MIN_S32: r = (i32)v < (i32)r ? v : r; break;
        case REDUX_MAX_S32: r = (i32)v > (i32)r ? v : r; break;
        case REDUX_MIN_U32: r = v < r ? v : r; break;
        case REDUX_MAX_U32: r = v > r ? v : r; break;
        case REDUX_AND: r &= v; break;
        case REDUX_OR: r |= v; break;
        case REDUX_XOR: r ^= v; break;
        default: r = extremum_f32(r, v, o->mod == REDUX_MAX_F32, nan);
        }
    }
    put32(x, o->d, (V32)r, m);
}
// elect.sync: the lowest lane leads; aux2 is the predicate.
static void f_elect(Ctx *x, const Op *o, u32 m) {
    u32 leader = (u32)__builtin_ctz(m);
    if (o->d != NONE) put32(x, o->d, (V32)leader, m);
    if (o->aux2 != NONE) put_pred(x, o->aux2, 1u << leader, m);
}
static void f_activemask(Ctx *x, const Op *o, u32 m) { put32(x, o->d, (V32)m, m); }
static void f_warpsync(Ctx *x, const Op *o, u32 m) { (void)o; if (UNLIKELY(x->sanitizer != 0) && m) sanitizer_warp_sync(x, m); }

#define E(n) {#n, f_##n}
const Entry warp_ops[] = {E(shfl), E(vote), E(match), E(redux), E(elect), E(activemask), E(warpsync), {0, 0}};
