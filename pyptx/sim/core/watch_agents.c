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
        a.tensor = a.p->after[lane < LANES && a.p->after[lane] ? lane : LANES];
        if (!a.tensor) a.tensor = w->nothing;
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
