// Vector clocks, and the functions shared by the sanitizer's files. See sanitizer.h.
#ifndef PYPTX_CLOCKS_H
#define PYPTX_CLOCKS_H
#include "sanitizer/sanitizer.h"

// sanitizer/synchronization.c; sc: what precedes a fence.sc before a write; owner: the thread of the last store, plus one
typedef struct Sync { struct Sync *next; u64 key, owner; V32 *clock, *sc; u32 *clusters, nclusters, room; } Sync;

static inline u32 total(const Sanitizer *w) { return w->rows + w->proxy_rows + w->tensor_rows + w->sc_rows; }
static inline u32 tensor_row(const Sanitizer *w, u32 kind, const SanitizerWarp *p) { return w->rows + w->proxy_rows + (kind - ROW_TCGEN05) * w->warps + p->index; }
static inline void join(V32 *to, const V32 *from, u32 n) {
    for (u32 k = 0; k < n; k++) to[k] = __builtin_elementwise_max(to[k], from[k]);
}
static inline V32 only(V32 v, u32 m) { return v & (V32)expand32(m); }
// The rows of fence.sc that count for a scope, which is SCOPE_CLUSTER or wider, and whether there are any.
static inline u32 sc_row(const Sanitizer *w, u32 scope) {
    return w->rows + w->proxy_rows + w->tensor_rows + (scope == SCOPE_CLUSTER && w->sc_scopes == SC_BOTH ? w->rows : 0);
}
static inline int has_sc(const Sanitizer *w, u32 scope) { return scope == SCOPE_CLUSTER ? w->sc_scopes != 0 : scope > SCOPE_CLUSTER && w->sc_scopes & SC_GPU; }
static inline u32 info_of(const Ctx *x) { return x->sanitizer->info[x->ops[x->pc].instr]; }     // of the current instruction
static inline void raise(V32 *to, V32 v, u32 m) { *to = __builtin_elementwise_max(*to, only(v, m)); }
static inline u32 row_of(const Sanitizer *w, u32 kind, const SanitizerWarp *p) { return w->slot[kind] * w->warps + p->index; }
static inline u32 live(const SanitizerWarp *p) { return p->cta->warps[p->index % p->cta->nwarps].live; }
static inline V32 *clock_of(const SanitizerWarp *p, u32 lane) { return p->own >> lane & 1 ? p->lane[lane] : p->common; }
static inline SanitizerCluster *cluster_of(const Cta *cta) { return cta->cluster->sanitizer; }
static inline SanitizerWarp *sanitizer_warp_of(const Cta *cta, const Warp *warp) { return &cluster_of(cta)->warp[cta->rank * cta->nwarps + warp->index]; }

// sanitizer/clocks.c
V32 *new_clock(Ctx *x);
void free_clock(Sanitizer *w, V32 *v);                                       // for reuse
static inline void drop_clock(const Sanitizer *w, V32 *v) { if (v != w->last) release_aligned(v); }
V32 *own_clock(Ctx *x, SanitizerWarp *p, u32 lane);
void give_own(Ctx *x, const SanitizerWarp *p, u32 m, V32 *to);
void give(Ctx *x, const SanitizerWarp *p, u32 m, V32 *to);
void give_fence(Ctx *x, const SanitizerWarp *p, u32 lane, u32 scope, V32 *to);
void take(Ctx *x, SanitizerWarp *p, u32 m, const V32 *from);
void take_all(Ctx *x, SanitizerWarp *p, u32 m, const V32 *from);
static inline V32 *know(Ctx *x, V32 **place) { return *place ? *place : (*place = new_clock(x)); }

// sanitizer/mbarriers.c
SanitizerMbarrier *mbarrier_clocks(Ctx *x, Cta *at, u32 barrier);

// sanitizer/accessors.c
static inline Accessor accessor_of(Ctx *x, u32 lane) {
    SanitizerWarp *p = sanitizer_warp(x);
    return (Accessor){.c = cluster_of(x->cta), .p = p, .number = ++x->sanitizer->accessors, .clock = clock_of(p, lane < LANES ? lane : 0), .lane = lane, .pc = x->pc,
                   .good = NONE, .good_reads = NONE, .sure = NONE, .passed = NONE, .stood_for = NONE, .box = NONE};
}
static inline void forget_known(Ctx *x, Accessor *a) {                  // it has another lane
    a->good = a->good_reads = NONE;
    a->number = ++x->sanitizer->accessors;
}
static inline Record record_of(Ctx *x, const Accessor *a, u32 m) {
    return (Record){.time = a->p->time, .pc = x->pc, .mask = m, .cluster = a->c->id, .row = (u16)a->row, .how = (u8)a->how,
                    .flags = (u8)a->flags, .by = (u16)a->p->index, .base = a->base, .shape = (u16)a->shape};
}
u32 thread_record(Ctx *x, Accessor *a, u32 m);
void access_peer(Ctx *x, SanitizerWarp *p, u32 rank, u32 lane);                  // a lane accesses memory of another CTA
void barrier_word(Ctx *x, Cta *at, u32 barrier, u32 lane, u32 how, u32 flags);

// sanitizer/synchronization.c: scopes and orders of accesses of lanes
void release(Ctx *x, SanitizerWarp *p, u32 lane, u64 key, u32 scope, int from_fence);
void acquire(Ctx *x, SanitizerWarp *p, u32 lane, u64 key, u32 scope, int later);
void drop_releases(Ctx *x, SanitizerWarp *p, u32 lane, u64 key, u32 scope, int store);
int knows_cluster(const Sanitizer *w, const ClusterClock *f, const V32 *clock);
void join_deferred(Ctx *x, SanitizerWarp *p, u32 m, u64 key, u32 cluster, int acquires, int sc);
#endif
