// The fast path of loads and stores of 32-bit words by all lanes. If the address pattern is that of the last execution, one
// comparison of lane distances and one bounds check cover all lanes; the general operation handles everything else and every fault.
#ifndef PYPTX_FAST_ACCESS_H
#define PYPTX_FAST_ACCESS_H
#include "access.h"
#include "chain.h"
#include "linear.h"

// Bring bytes that are likely to be accessed soon into the second-level cache: the first level waits for few lines at a time.
static inline __attribute__((always_inline)) void fetch(const u8 *at, u32 bytes, int writes) {
    for (u32 k = 0; k < bytes; k += 64)
        if (writes) __builtin_prefetch((void *)((uintptr_t)at + k), 1, 2); else __builtin_prefetch((void *)((uintptr_t)at + k), 0, 2);
}

// Link.d of a load or store: the linear form of its address, or NONE: linear.c. Then only the first lane's address is in the register,
// and the distances between lanes are those of the last execution.

// The host address of the lowest lane's data if the fast path applies (its cost is counted); else NULL.
static inline __attribute__((always_inline)) u8 *place(char *regs, const Link *f, Ctx *x, const Op *o, u32 m, u32 bytes,
                                                       int shared, int writes, const Pattern **found) {
    u32 same = f->same != NONE && f->same >= x->chain_start, at = same ? f->same : f->pc;
    const Pattern *p = *found = &x->pattern[at];
    u64 base, lo, off;
    if (UNLIKELY(m != ALL || p->mask != ALL || !p->near)) return 0;
    if (shared) {
        V32 a = AT(V32, f->a);
        base = a[0] + (u32)o->imm;
        if (!same && f->d == NONE && UNLIKELY(__builtin_reduce_or((a - a[0]) ^ p->delta32))) return 0;
    } else {
        const V64 *a = &AT(V64, f->a);
        u64 first = (*a)[0];
        base = first + o->imm;
        if (!same && f->d == NONE && UNLIKELY(__builtin_reduce_or((*a - first) ^ p->delta))) return 0;
    }
    lo = base + (u64)p->lo;
    if (UNLIKELY((base | p->bits) & (bytes - 1))) return 0;
    if (shared) {
        off = lo - x->smem_origin;
        if (UNLIKELY(off > x->smem_bytes || p->span > x->smem_bytes - off || p->phase != (base & 3))) return 0;
        x->conflicts[o->instr] += p->extra;
        return x->cta->smem + off;
    }
    const Segment *s = &x->segments[p->segment];
    off = lo - s->va;
    if (UNLIKELY(off > s->bytes || p->span > s->bytes - off || p->phase != (base & 31) || (writes && s->read_only))) return 0;
    x->requests[o->instr]++;
    x->sectors[o->instr] += p->extra;
    x->excess[o->instr] += p->excess;
    u64 *last = &x->pattern[f->pc].last[x->warp->index % LAST], next = off + base - *last;
    *last = base;
    if (next != off && next <= s->bytes) fetch(s->host + next, 32 * bytes, writes);
    return s->host + off;
}

typedef u32 W4 __attribute__((ext_vector_type(4), aligned(4)));
typedef u32 W8 __attribute__((ext_vector_type(8)));

// Eight lanes at a time: concatenate the vectors of lanes k and k + 4, then transpose 4 x 4 in both halves.
#define BESIDE(lo, hi) __builtin_shufflevector(*(const W4 *)(lo), *(const W4 *)(hi), 0, 1, 2, 3, 4, 5, 6, 7)
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define HIGH(a, b) __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define FIRST(a, b) __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define SECOND(a, b) __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define TRANSPOSED(a, b, c, d, P, Q, S, T) do { \
    __typeof__(LOW(a, b)) ab_ = LOW(a, b), cd_ = LOW(c, d), AB_ = HIGH(a, b), CD_ = HIGH(c, d); \
    P = FIRST(ab_, cd_); Q = SECOND(ab_, cd_); S = FIRST(AB_, CD_); T = SECOND(AB_, CD_); } while (0)
#define LOAD_8(i, WHERE) do { \
    W8 a = BESIDE(WHERE(i), WHERE(i + 4)), b = BESIDE(WHERE(i + 1), WHERE(i + 5)); \
    W8 c = BESIDE(WHERE(i + 2), WHERE(i + 6)), d = BESIDE(WHERE(i + 3), WHERE(i + 7)); \
    TRANSPOSED(a, b, c, d, *(W8 *)(d0 + i), *(W8 *)(d1 + i), *(W8 *)(d2 + i), *(W8 *)(d3 + i)); } while (0)
#define STORE_8(i, WHERE) do { \
    W8 p, q, s, t; \
    TRANSPOSED(*(const W8 *)(d0 + i), *(const W8 *)(d1 + i), *(const W8 *)(d2 + i), *(const W8 *)(d3 + i), p, q, s, t); \
    *(W4 *)WHERE(i) = p.lo; *(W4 *)WHERE(i + 4) = p.hi; *(W4 *)WHERE(i + 1) = q.lo; *(W4 *)WHERE(i + 5) = q.hi; \
    *(W4 *)WHERE(i + 2) = s.lo; *(W4 *)WHERE(i + 6) = s.hi; *(W4 *)WHERE(i + 3) = t.lo; *(W4 *)WHERE(i + 7) = t.hi; } while (0)
#define IN_ORDER(i) (host + 16 * (i))
#define ANYWHERE(i) (host + offset[i])

static inline void load_1(u32 *d, const u8 *host, const Pattern *p) {
    const u32 *offset = (const u32 *)&p->offset;
    switch (p->kind) {
    case CONTIGUOUS: memcpy(d, host, 128); break;
    case TWICE: memcpy(d, host, 64); memcpy(d + 16, host, 64); break;
    case UNIFORM: case HALVES:
        for (int k = 0; k < LANES; k += 16) {
            W8 v = (W8)*(const u32 *)(host + offset[k]);
            *(W8 *)(d + k) = v;
            *(W8 *)(d + k + 8) = v;
        }
        break;
    default: for (int i = 0; i < LANES; i++) memcpy(d + i, host + offset[i], 4);
    }
}

static inline void load_4(u32 *d0, u32 *d1, u32 *d2, u32 *d3, const u8 *host, const Pattern *p) {
    const u32 *offset = (const u32 *)&p->offset;
    switch (p->kind) {
    case CONTIGUOUS: for (int i = 0; i < LANES; i += 8) LOAD_8(i, IN_ORDER); break;
    case TWICE:
        for (int i = 0; i < LANES / 2; i += 8) LOAD_8(i, IN_ORDER);
        memcpy(d0 + 16, d0, 64); memcpy(d1 + 16, d1, 64); memcpy(d2 + 16, d2, 64); memcpy(d3 + 16, d3, 64);
        break;
    case UNIFORM: case HALVES:
        for (int k = 0; k < LANES; k += 16) {
            W4 v = *(const W4 *)(host + offset[k]);
            for (int i = k; i < k + 16; i += 8) {
                *(W8 *)(d0 + i) = (W8)v[0]; *(W8 *)(d1 + i) = (W8)v[1]; *(W8 *)(d2 + i) = (W8)v[2]; *(W8 *)(d3 + i) = (W8)v[3];
            }
        }
        break;
    default: for (int i = 0; i < LANES; i += 8) LOAD_8(i, ANYWHERE);
    }
}

static inline void store_1(const u32 *d, u8 *host, const Pattern *p) {
    const u32 *offset = (const u32 *)&p->offset;
    if (p->kind == CONTIGUOUS) memcpy(host, d, 128);
    else for (int i = 0; i < LANES; i++) memcpy(host + offset[i], d + i, 4);
}

// Lanes in ascending order, not eight at a time: of lanes with the same address the last one wins, as in the general store.
static inline void store_4(const u32 *d0, const u32 *d1, const u32 *d2, const u32 *d3, u8 *host, const Pattern *p) {
    const u32 *offset = (const u32 *)&p->offset;
    if (p->kind == CONTIGUOUS) { for (int i = 0; i < LANES; i += 8) STORE_8(i, IN_ORDER); return; }
    for (int i = 0; i < LANES; i++) {
        W4 v = {d0[i], d1[i], d2[i], d3[i]};
        *(W4 *)(host + offset[i]) = v;
    }
}

// The lanes for which a guard is true; they are counted here, because they may differ from those of the line.
static inline u32 guarded_lanes(Ctx *x, const Op *o, u32 m) {
    u32 lanes = m & (PRED(x, o->guard) ^ o->flip);
    if (o->flags & F_COUNT) x->lanes[o->instr] += (u32)__builtin_popcount(lanes);
    return lanes;
}

// Execute the access by its general operation; 0: it raised a fault. A guarded load needs what its registers were before: Link.b and
// Link.c are the first of their linear forms that are not yet written, and their number.
static inline int access_generally(Ctx *x, const Link *f, const Op *o, u32 m, u32 lanes) {
    x->pc = f->pc;
    if (f->d != NONE) write_linears(x, f->d, 1, m);
    if (o->flags & F_GUARDED && f->c) write_linears(x, f->b, f->c, m);
    o->fn(x, o, lanes);
    return LIKELY(x->status == STATUS_RUNNING);
}
#endif
