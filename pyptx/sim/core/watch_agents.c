// Who accesses memory: lanes of a warp, or what they started. See watch.h.
#include "clocks.h"

// The record of lanes of a warp; the newest of the operation, while the warp knows the same.
u32 thread_record(Ctx *x, Agent *a, u32 m) {
    u32 *newest = &a->p->record[x->pc];
    const Record *r = &x->watch->records[*newest];
    if (!*newest || r->time != a->p->time || r->mask != m || r->how != a->how || r->row != a->row
        || r->base != a->base || r->shape != a->shape) {
        Record fresh = record_of(x, a, m);
        *newest = new_record(x, &fresh);
    }
    return *newest;
}

// It may not end before; see watch_end for what its own threads have to know.
void uses_peer(Ctx *x, Watched *p, u32 rank, u32 lane) {
    p->peers |= 1u << rank;
    p->peer_time[rank] = p->time;
    p->peer_pc[rank] = x->pc;
    p->peer_mask[rank] |= 1u << lane;
    if (!(cluster_of(p->cta)->ended >> rank & 1)) return;
    Agent a = agent_of(x, lane);
    watch_found(x, FOUND_PEER, &a, 0, 0, &a.c->shared[rank], 0);
}

void barrier_word(Ctx *x, Cta *at, u32 barrier, u32 lane, u32 how, u32 flags) {
    Agent a = agent_of(x, lane);
    a.how = how;
    a.flags = flags | (how == SEEN_ATOMIC ? SEEN_STRONG : 0);
    a.row = row_of(x->watch, ROW_THREAD, a.p);
    Record r = record_of(x, &a, 1u << lane);
    u32 *newest = &a.p->record[x->pc];
    const Record *old = &x->watch->records[*newest];
    if (!*newest || old->time != r.time || old->how != how) *newest = new_record(x, &r);
    a.value = *newest << 6 | lane;
    shadow_touch(x, &a, &a.c->shared[at->rank], barrier - x->smem_start, 8);
}

// What was known of tcgen05 at the last tcgen05.fence::after_thread_sync: by a lane, or by all of the warp.
static const V32 *after_fence(const Watch *w, const Watched *p, u32 lane) {
    const V32 *common = p->after[LANES] ? p->after[LANES] : w->nothing;
    if (lane < LANES) return p->after[lane] ? p->after[lane] : common;
    V32 *least = 0;
    for (u32 m = live(p); m; m &= m - 1) {
        const V32 *v = p->after[__builtin_ctz(m)];
        if (!v) v = common;
        if (least) for (u32 r = 0; r < w->tensor_rows; r++) least[r] = __builtin_elementwise_min(least[r], v[r]);
        else memcpy(least = w->scratch + total(w), v, sizeof(V32) * w->tensor_rows);
    }
    return least ? least : common;
}

Agent watch_async(Ctx *x, u32 lane, u32 kind, u32 how) {
    Agent a = agent_of(x, lane);
    Watch *w = x->watch;
    a.kind = kind;
    a.how = how;
    a.flags = (kind == ROW_CP ? 0 : SEEN_ASYNC) | (how == SEEN_ATOMIC ? SEEN_STRONG : 0);
    u32 mask = lane < LANES ? 1u << lane : ALL, first = lane < LANES ? lane : 0, code = lane < LANES ? lane : SEVERAL;
    if (lane >= LANES && a.p->own) {                                     // what all of them know
        V32 *v = w->scratch;
        u32 others = live(a.p) & ~a.p->own;
        memcpy(v, clock_of(a.p, others ? (u32)__builtin_ctz(others) : 0), sizeof(V32) * total(w));
        for (u32 k = a.p->own & live(a.p); k; k &= k - 1)
            for (u32 r = 0; r < total(w); r++) v[r] = __builtin_elementwise_min(v[r], a.p->lane[__builtin_ctz(k)][r]);
        a.clock = v;
    }
    Record r = record_of(x, &a, mask);
    if (kind == ROW_MBARRIER) { a.row = r.row = (u16)row_of(w, ROW_THREAD, a.p); a.value = code; return a; }      // see watch_on_barrier
    r.row = (u16)(a.row = row_of(w, kind, a.p));
    if (kind == ROW_THREAD) { a.value = new_record(x, &r) << 6 | code; return a; }
    if (kind >= ROW_TC) a.p->groups[kind] += only((V32)1, mask);         // each waits for itself
    r.time = ((const u32 *)&a.p->groups[kind])[first] + (kind < ROW_TC);
    for (u32 k = mask; k; k &= k - 1) ((u32 *)&a.p->newest[kind])[__builtin_ctz(k)] = r.time;
    a.p->newest_pc[kind] = x->pc;
    if (kind >= ROW_TC) {
        a.tensor = after_fence(w, a.p, lane);
    }
    a.value = new_record(x, &r) << 6 | code;
    return a;
}
void watch_on_barrier(Ctx *x, Agent *a, Cta *at, u32 barrier) {
    Barriers *b = barrier_at(x, at, barrier);
    if (!b->fenced && b->init_pc != NONE) {
        Record init = {.pc = b->init_pc, .how = SEEN_WRITE, .by = (u16)b->init_by, .mask = 1u << b->init_lane, .cluster = a->c->id,
                       .row = (u16)(b->init_by)};
        watch_found(x, FOUND_INIT_FENCE, a, &init, b->init_lane, &a->c->shared[at->rank], barrier - x->smem_start);
        b->fenced = 1;
    }
    Record r = record_of(x, a, 1u << b->lane);
    r.row = (u16)(a->row = b->row);
    r.time = b->phase + 1;
    b->copies = b->phase + 1;
    b->pc = x->pc;
    b->by = a->p->index;
    a->value = new_record(x, &r) << 6 | b->lane;
}

void watch_shared(Ctx *x, Agent *a, const Cta *cta, u64 offset, u64 bytes) {
    if (cta != x->cta && a->lane < LANES) uses_peer(x, a->p, cta->rank, a->lane);
    shadow_touch(x, a, &a->c->shared[cta->rank], offset, bytes);
}
// Of an address: the bits that a swizzle changes.
static inline u64 changed(u32 swizzle, u64 address) {
    return swizzle & SWIZZLE_ATOM_32 ? (address >> 7 & 3) << 5 : (address >> 7 & (swizzle - 1)) << 4;
}
void watch_chunk(Ctx *x, Agent *a, const Cta *cta, u64 offset, u32 swizzle) {
    Watch *w = x->watch;
    Shadow *s = &a->c->shared[cta->rank];
    if (w->full || !s->cells || offset >= s->bytes || s->cells[offset >> 4].write == SPLIT) return;
    u32 value = s->cells[offset >> 4].write, n = w->nfound;
    const Record *r = &w->records[value >> 6];
    u32 was = r->base;
    if (!(r->flags & SEEN_BOX) || was == swizzle) return;
    if ((was == 1 || swizzle == 1) && changed(was, x->smem_start + offset) == changed(swizzle, x->smem_start + offset)) return;    // a first row
    watch_found(x, FOUND_SWIZZLE, a, r, value & 63, s, offset);
    if (w->nfound > n) { w->found[n].swizzle[0] = was; w->found[n].swizzle[1] = swizzle; }
}
void watch_global(Ctx *x, Agent *a, u64 address, u64 bytes) {
    Segment *s = segment_of(x, address, bytes);
    if (s && !s->read_only) shadow_touch(x, a, &x->watch->global[s - x->segments], address - s->va, bytes);
}
void watch_tensor(Ctx *x, Agent *a, const Cta *cta, u32 half, u32 column, u32 columns) {
    shadow_touch(x, a, &a->c->tensor[cta->rank], (half * 512 + column) * 4, columns * 4);
}
void watch_fresh_tensor(Ctx *x, const Cta *cta, u32 column, u32 columns) {
    for (u32 half = 0; half < 8; half++) shadow_forget(x->watch, &cluster_of(cta)->tensor[cta->rank], (half * 512 + column) * 4, columns * 4);
}
