// Clocks of the sanitizer, and what its files ask of each other. See watch.h.
#ifndef PYPTX_CLOCKS_H
#define PYPTX_CLOCKS_H
#include "watch.h"

typedef struct Sync { struct Sync *next; u64 key; V32 *clock; u32 *clusters, nclusters, room; } Sync;     // watch_order.c

static inline u32 total(const Watch *w) { return w->rows + w->proxy_rows + w->tensor_rows; }
static inline u32 tensor_row(const Watch *w, u32 kind, const Watched *p) { return w->rows + w->proxy_rows + (kind - ROW_TC) * w->warps + p->index; }
static inline void join(V32 *to, const V32 *from, u32 n) {
    for (u32 k = 0; k < n; k++) to[k] = __builtin_elementwise_max(to[k], from[k]);
}
static inline V32 only(V32 v, u32 m) { return v & (V32)expand32(m); }
static inline void raise(V32 *to, V32 v, u32 m) { *to = __builtin_elementwise_max(*to, only(v, m)); }
static inline u32 row_of(const Watch *w, u32 kind, const Watched *p) { return w->slot[kind] * w->warps + p->index; }
static inline u32 live(const Watched *p) { return p->cta->warps[p->index % p->cta->nwarps].live; }
static inline V32 *clock_of(const Watched *p, u32 lane) { return p->own >> lane & 1 ? p->lane[lane] : p->common; }
static inline WatchCluster *cluster_of(const Cta *cta) { return cta->cluster->watch; }
static inline Watched *watched_of(const Cta *cta, const Warp *warp) { return &cluster_of(cta)->warp[cta->rank * cta->nwarps + warp->index]; }

// watch_clocks.c
V32 *new_clock(Ctx *x);
void free_clock(Watch *w, V32 *v);                                       // for another use
static inline void drop_clock(const Watch *w, V32 *v) { if (v != w->last) release_aligned(v); }
V32 *own_clock(Ctx *x, Watched *p, u32 lane);
void give_own(Ctx *x, const Watched *p, u32 m, V32 *to);
void give(Ctx *x, const Watched *p, u32 m, V32 *to);
void take(Ctx *x, Watched *p, u32 m, const V32 *from);
void take_all(Ctx *x, Watched *p, u32 m, const V32 *from);
static inline V32 *know(Ctx *x, V32 **place) { return *place ? *place : (*place = new_clock(x)); }

// watch_mbarriers.c
Barriers *barrier_at(Ctx *x, Cta *at, u32 barrier);

// watch_agents.c
static inline Agent agent_of(Ctx *x, u32 lane) {
    Watched *p = watched(x);
    return (Agent){.c = cluster_of(x->cta), .p = p, .clock = clock_of(p, lane < LANES ? lane : 0), .lane = lane, .pc = x->pc,
                   .good = NONE, .good_reads = NONE, .sure = NONE, .passed = NONE, .stood_for = NONE};
}
static inline Record record_of(Ctx *x, const Agent *a, u32 m) {
    return (Record){.time = a->p->time, .pc = x->pc, .mask = m, .cluster = a->c->id, .row = (u16)a->row, .how = (u8)a->how,
                    .flags = (u8)a->flags, .by = (u16)a->p->index, .base = a->base, .shape = (u16)a->shape};
}
u32 thread_record(Ctx *x, Agent *a, u32 m);
void uses_peer(Ctx *x, Watched *p, u32 rank, u32 lane);                  // a lane uses the memory of another CTA
void barrier_word(Ctx *x, Cta *at, u32 barrier, u32 lane, u32 how, u32 flags);

// watch_order.c: scopes and orders of accesses of lanes
void release(Ctx *x, Watched *p, u32 lane, u64 key, u32 scope, int from_fence);
void acquire(Ctx *x, Watched *p, u32 lane, u64 key, int later);
void learn_of(Ctx *x, WatchCluster *c, u64 key, u32 cluster);
#endif
