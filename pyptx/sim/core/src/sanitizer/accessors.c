// Accessors of memory: lanes of a warp, and the asynchronous operations they issued. See sanitizer.h.
#include "sanitizer/clocks.h"

// The record of an access by lanes of a warp: the newest of the operation, as long as the warp's clock is unchanged.
u32 thread_record(Ctx *x, Accessor *a, u32 m) {
    u32 *newest = &a->p->record[x->pc];
    const Record *r = &x->sanitizer->records[*newest];
    if (!*newest || r->time != a->p->time || r->mask != m || r->how != a->how || r->row != a->row
        || r->base != a->base || r->shape != a->shape) {
        Record fresh = record_of(x, a, m);
        *newest = new_record(x, &fresh);
    }
    return *newest;
}

// The CTA may not exit before; sanitizer_end_cta checks its own threads.
void access_peer(Ctx *x, SanitizerWarp *p, u32 rank, u32 lane) {
    p->peers |= 1u << rank;
    p->peer_time[rank] = p->time;
    p->peer_pc[rank] = x->pc;
    p->peer_mask[rank] |= 1u << lane;
    if (!(cluster_of(p->cta)->ended >> rank & 1)) return;
    Accessor a = accessor_of(x, lane);
    report_finding(x, FINDING_PEER, &a, 0, 0, &a.c->shared[rank], 0);
}

void barrier_word(Ctx *x, Cta *at, u32 barrier, u32 lane, u32 how, u32 flags) {
    Accessor a = accessor_of(x, lane);
    a.how = how;
    a.flags = flags | (how == SEEN_ATOMIC ? SEEN_STRONG : 0);
    a.row = row_of(x->sanitizer, ROW_THREAD, a.p);
    Record r = record_of(x, &a, 1u << lane);
    u32 *newest = &a.p->record[x->pc];
    const Record *old = &x->sanitizer->records[*newest];
    a.flags |= SEEN_MBARRIER;                                            // not in the record of mbarrier.inval
    if (how == SEEN_WRITE && flags & SEEN_MBARRIER) {                    // initialized: a time of its own, as fence.mbarrier_init releases nothing else
        const SanitizerMbarrier *b = mbarrier_clocks(x, at, barrier);
        r.row = (u16)b->row; r.time = b->first; r.mask = 1u << b->lane; r.base = lane;
        a.value = new_record(x, &r) << 6 | b->lane;
        shadow_touch(x, &a, &a.c->shared[at->rank], barrier - x->smem_start, 8);
        return;
    }
    if (!*newest || old->time != r.time || old->how != how) *newest = new_record(x, &r);
    a.value = *newest << 6 | lane;
    shadow_touch(x, &a, &a.c->shared[at->rank], barrier - x->smem_start, 8);
}

// The tcgen05 rows of the clock at the last tcgen05.fence::after_thread_sync, of a lane or of the whole warp.
static const V32 *after_fence(const Sanitizer *w, const SanitizerWarp *p, u32 lane) {
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

Accessor sanitizer_async(Ctx *x, u32 lane, u32 kind, u32 how) {
    Accessor a = accessor_of(x, lane);
    Sanitizer *w = x->sanitizer;
    a.kind = kind;
    a.how = how;
    a.flags = (kind == ROW_CP_ASYNC ? 0 : SEEN_ASYNC) | (how == SEEN_ATOMIC ? SEEN_STRONG : 0);
    u32 mask = lane < LANES ? 1u << lane : ALL, first = lane < LANES ? lane : 0, code = lane < LANES ? lane : SEVERAL;
    if (lane >= LANES && a.p->own) {                                     // what all lanes know
        V32 *v = w->scratch;
        u32 others = live(a.p) & ~a.p->own;
        memcpy(v, clock_of(a.p, others ? (u32)__builtin_ctz(others) : 0), sizeof(V32) * total(w));
        for (u32 k = a.p->own & live(a.p); k; k &= k - 1)
            for (u32 r = 0; r < total(w); r++) v[r] = __builtin_elementwise_min(v[r], a.p->lane[__builtin_ctz(k)][r]);
        a.clock = v;
    }
    Record r = record_of(x, &a, mask);
    if (kind == ROW_MBARRIER) { a.row = r.row = (u16)row_of(w, ROW_THREAD, a.p); a.value = code; return a; }      // see sanitizer_on_barrier
    r.row = (u16)(a.row = row_of(w, kind, a.p));
    if (kind == ROW_THREAD) { a.value = new_record(x, &r) << 6 | code; return a; }
    if (kind >= ROW_TCGEN05) a.p->groups[kind] += only((V32)1, mask);         // each lane waits for its own
    r.time = ((const u32 *)&a.p->groups[kind])[first] + (kind < ROW_TCGEN05);
    for (u32 k = mask; k; k &= k - 1) ((u32 *)&a.p->newest[kind])[__builtin_ctz(k)] = r.time;
    a.p->newest_pc[kind] = x->pc;
    if (kind >= ROW_TCGEN05) {
        a.tensor = after_fence(w, a.p, lane);
    }
    a.value = new_record(x, &r) << 6 | code;
    return a;
}
void sanitizer_on_barrier(Ctx *x, Accessor *a, Cta *at, u32 barrier) {
    SanitizerMbarrier *b = mbarrier_clocks(x, at, barrier);
    if (!b->fenced && b->init_pc != NONE) {
        Record init = {.pc = b->init_pc, .how = SEEN_WRITE, .by = (u16)b->init_by, .mask = 1u << b->init_lane, .cluster = a->c->id,
                       .row = (u16)(b->init_by)};
        report_finding(x, FINDING_INIT_FENCE, a, &init, b->init_lane, &a->c->shared[at->rank], barrier - x->smem_start);
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

void sanitizer_shared(Ctx *x, Accessor *a, const Cta *cta, u64 offset, u64 bytes) {
    if (cta != x->cta && a->lane < LANES) access_peer(x, a->p, cta->rank, a->lane);
    shadow_touch(x, a, &a->c->shared[cta->rank], offset, bytes);
}
// The address bits that a swizzle changes.
static inline u64 changed(u32 swizzle, u64 address) {
    return swizzle & SWIZZLE_ATOM_32 ? (address >> 7 & 3) << 5 : (address >> 7 & (swizzle - 1)) << 4;
}
// Report a chunk of a box that was written with another swizzle. Return 1 if all chunks of its record are written with this one.
static int is_swizzled(Ctx *x, Accessor *a, Shadow *s, u64 offset, u32 swizzle) {
    Sanitizer *w = x->sanitizer;
    u32 value = s->cells[offset >> 4].write, n = w->nfindings;
    if (value == SPLIT) return 0;
    const Record *r = &w->records[value >> 6];
    u32 was = r->base;
    if (!(r->flags & SEEN_BOX) || was == swizzle) return 1;
    if ((was == 1 || swizzle == 1) && changed(was, x->smem_start + offset) == changed(swizzle, x->smem_start + offset)) return 0;  // a first row
    report_finding(x, FINDING_SWIZZLE, a, r, value & 63, s, offset);
    if (w->nfindings > n) { w->found[n].swizzle[0] = was; w->found[n].swizzle[1] = swizzle; }
    return 0;
}
void sanitizer_chunks(Ctx *x, Accessor *a, const Cta *cta, const u32 *offset, u32 n, u32 bytes, u32 swizzle) {
    Shadow *s = &a->c->shared[cta->rank];
    if (cta != x->cta && a->lane < LANES) access_peer(x, a->p, cta->rank, a->lane);
    if (UNLIKELY(x->sanitizer->full) || !s->cells) return;
    int by_warp = cta == x->cta && bytes == 16 && s->readers;
    for (u32 k = 0; k < n; k++) {
        u32 at = offset[k];
        if (UNLIKELY(at > s->bytes || s->bytes - at < 16)) continue;    // the fault is raised where it is read
        if (by_warp) shadow_read_whole(x, a, s, at, 16); else shadow_touch(x, a, s, at, bytes);
        u32 record = s->cells[at >> 4].write >> 6;
        if (swizzle && record != a->box && is_swizzled(x, a, s, at, swizzle)) a->box = record;
    }
}
void sanitizer_global(Ctx *x, Accessor *a, u64 address, u64 bytes) {
    Segment *s = segment_of(x, address, bytes);
    if (s && !s->read_only) shadow_touch(x, a, &x->sanitizer->global[s - x->segments], address - s->va, bytes);
}
void sanitizer_tensor(Ctx *x, Accessor *a, const Cta *cta, u32 half, u32 column, u32 columns) {
    shadow_touch(x, a, &a->c->tensor[cta->rank], (half * 512 + column) * 4, columns * 4);
}
void sanitizer_fresh_tensor(Ctx *x, const Cta *cta, u32 column, u32 columns) {
    for (u32 half = 0; half < 8; half++) shadow_forget(x->sanitizer, &cluster_of(cta)->tensor[cta->rank], (half * 512 + column) * 4, columns * 4);
}
