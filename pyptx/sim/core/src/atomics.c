// atom and red: lanes in order, one after the other. Vector forms are atomic per element.
//
// Op.mod as for loads. Op.aux2: operation | type << 8 | two in 32 bits << 16 | 128 bits
// << 17 | sums of f32 are never flushed << 18. Pool from Op.aux: `elements` destinations (NONE when the result
// is dropped), then sources, then for cas the new values.
#include "sanitizer/sanitizer.h"

static inline float flush(float v) {
    u32 u = of_f32(v);
    return (u & 0x7f800000) == 0 ? as_f32(u & 0x80000000) : v;
}
static u32 add_f32(u32 a, u32 b, int ftz) {
    float x = as_f32(a), y = as_f32(b);
    if (ftz) x = flush(x), y = flush(y);
    float r = x + y;
    if (r != r) return 0x7fffffff;
    return of_f32(ftz ? flush(r) : r);
}
static u64 add_f64(u64 a, u64 b) {
    double x = as_f64(a), y = as_f64(b), r = x + y;
    if (x != x) return a | 0x0008000000000000ull;
    if (y != y) return b | 0x0008000000000000ull;
    return r == r ? of_f64(r) : 0xfff8000000000000ull;
}
static u32 half(u32 a, u32 b, u32 operation, u32 type) {
    double x = widen(a & 0xffff, type), y = widen(b & 0xffff, type), r;
    if (operation == ATOMIC_ADD) r = x + y;
    else if (x != x || y != y) r = x != x ? y : x;
    else if (x == y) r = (a & 0x8000) == (b & 0x8000) ? x : operation == ATOMIC_MIN ? -0.0 : 0.0;
    else r = (x < y) == (operation == ATOMIC_MIN) ? x : y;
    return (u32)round_double(r, type, RN);
}

static u64 apply(u64 old, u64 b, u64 c, u32 operation, u32 type, u32 packed, int ftz) {
    u32 o32 = (u32)old, b32 = (u32)b;
    switch (operation) {
    case ATOMIC_EXCH: return b;
    case ATOMIC_CAS: return old == b ? c : old;
    case ATOMIC_AND: return old & b;
    case ATOMIC_OR: return old | b;
    case ATOMIC_XOR: return old ^ b;
    case ATOMIC_INC: return o32 >= b32 ? 0 : o32 + 1;
    case ATOMIC_DEC: return o32 == 0 || o32 > b32 ? b32 : o32 - 1;
    }
    if (type == T_F16 || type == T_BF16) {
        u32 low = half(o32, b32, operation, type);
        return packed ? low | half(o32 >> 16, b32 >> 16, operation, type) << 16 : low;
    }
    if (operation == ATOMIC_ADD) return type == T_F32 ? add_f32(o32, b32, ftz) : type == T_F64 ? add_f64(old, b) : old + b;
    int less;
    switch (type) {
    case T_S32: less = (i32)o32 < (i32)b32; break;
    case T_S64: less = (i64)old < (i64)b; break;
    default: less = old < b;
    }
    return less == (operation == ATOMIC_MIN) ? old : b;
}

// The same for copies that reduce (async_copies.c, tensor_copy_rows.c).
u64 apply_atomic(u64 old, u64 b, u64 c, u32 operation, u32 type, int ftz) { return apply(old, b, c, operation, type, 0, ftz); }

// Count the passes over the banks of shared memory when each lane takes one of its own, in a profiled run.
static void observe_passes(Ctx *x, const Op *o, u32 m, const Access *t) {
    u32 lanes[LANES] = {0}, most = 0;
    for (u32 k = m; k; k &= k - 1) {
        u32 own = ++lanes[t->addr[__builtin_ctz(k)] / 4 % LANES];
        most = own > most ? own : most;
    }
    x->atomic_passes[o->instr] += most;
}

// Count the turns that an access takes in the L2 slices of its addresses, in a profiled run: its sectors, and the lanes of each
// beyond the first that name the word that most of them name.
static void observe_turns(Ctx *x, u32 m, const Access *t) {
    if (t->space == SPACE_MIXED && t->addr[__builtin_ctz(m)] - x->shared_window < (u64)1 << 32) return;
    for (u32 left = m; left;) {
        u64 sector = t->addr[__builtin_ctz(left)] >> 5;
        u32 own = 0, most = 0;
        for (u32 k = left; k; k &= k - 1) own |= (t->addr[__builtin_ctz(k)] >> 5 == sector) << __builtin_ctz(k);
        for (u32 k = own; k; k &= k - 1) {
            u32 same = 0;
            for (u32 j = k; j; j &= j - 1) same += t->addr[__builtin_ctz(j)] == t->addr[__builtin_ctz(k)];
            most = same > most ? same : most;
        }
        u64 *slice = x->atomic_turns + 2 * ((sector << 5) / ATOMIC_BLOCK % ATOMIC_BLOCKS);
        slice[0]++;
        slice[1] += most - 1;
        left &= ~own;
    }
}

static void f_atom(Ctx *x, const Op *o, u32 m) {
    Access t;
    if (!m || !resolve(x, o, m, &t, 1)) return;
    account(x, o, m, &t);
    if (UNLIKELY(x->atomic_turns != 0)) {
        if (t.space == SPACE_SHARED) observe_passes(x, o, m, &t);
        else if (t.space == SPACE_GLOBAL || (t.space == SPACE_MIXED && !t.remote)) observe_turns(x, m, &t);
    }
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_access(x, o, m, &t, SEEN_ATOMIC);
    u32 size = 1u << (o->mod & 15), count = o->mod >> 4 & 15, width = 1u << (o->mod >> 9 & 7);
    u32 operation = o->aux2 & 255, type = o->aux2 >> 8 & 255, packed = o->aux2 >> 16 & 1;
    const u32 *data = x->pool + o->aux;
    for (u32 k = m; k; k &= k - 1) {
        u32 i = (u32)__builtin_ctz(k);
        u8 *p = t.space == SPACE_MIXED ? lane_host(x, o, &t, i, 1) : host_of_lane(&t, i);
        if (!p) return;
        int ftz = t.space == SPACE_GLOBAL || (t.space == SPACE_MIXED && !t.remote && t.addr[i] - x->shared_window >= (u64)1 << 32);
        if (o->aux2 >> 18 & 1) ftz = 0;
        if (operation >= ATOMIC_EXCH && operation <= ATOMIC_CAS && count == 2 && o->aux2 >> 17 & 1) {      // b128: both halves at once
            u64 old[2], b[2], c[2] = {0, 0};
            memcpy(old, p, 16);
            for (int h = 0; h < 2; h++) {
                b[h] = ((u64 *)R(x, data[2 + h]))[i];
                if (operation == ATOMIC_CAS) c[h] = ((u64 *)R(x, data[4 + h]))[i];
            }
            if (operation == ATOMIC_EXCH) memcpy(p, b, 16);
            else if (old[0] == b[0] && old[1] == b[1]) memcpy(p, c, 16);
            for (int h = 0; h < 2; h++) if (data[h] != NONE) ((u64 *)R(x, data[h]))[i] = old[h];
            continue;
        }
        for (u32 e = 0; e < count; e++) {
            u64 old = 0, b, c = 0, cut = size == 8 ? ~(u64)0 : ((u64)1 << 8 * size) - 1;
            u32 from = data[count + e];
            memcpy(&old, p + e * size, size);
            b = (width == 8 ? ((u64 *)R(x, from))[i] : ((u32 *)R(x, from))[i]) & cut;
            if (operation == ATOMIC_CAS) c = (width == 8 ? ((u64 *)R(x, data[2 * count + e]))[i] : ((u32 *)R(x, data[2 * count + e]))[i]) & cut;
            u64 r = apply(old, b, c, operation, type, packed, ftz) & cut;
            memcpy(p + e * size, &r, size);
            if (data[e] == NONE) continue;
            if (width == 8) ((u64 *)R(x, data[e]))[i] = old; else ((u32 *)R(x, data[e]))[i] = (u32)old;
        }
    }
}

#define E(n) {#n, f_##n}
const Entry atomic_ops[] = {E(atom), {0, 0}};
