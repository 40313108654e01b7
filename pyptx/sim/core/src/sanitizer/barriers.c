// Synchronization of threads: barriers of a CTA, a warp and a cluster, and groups of asynchronous operations. See sanitizer.h.
#include "sanitizer/clocks.h"

void sanitizer_arrive_barrier(Ctx *x, u32 id, u32 m) {
    V32 **bar = &cluster_of(x->cta)->bar[x->cta->rank][id];
    SanitizerWarp *p = sanitizer_warp(x);
    if (!*bar) *bar = new_clock(x);
    give(x, p, m, *bar);
    p->time++;
}
void sanitizer_leave_barrier(Ctx *x, Cta *cta, Warp *warp, u32 id, u32 m) {
    V32 *bar = cluster_of(cta)->bar[cta->rank][id];
    if (bar) take_all(x, sanitizer_warp_of(cta, warp), m, bar);
}
void sanitizer_barrier_complete(Ctx *x, Cta *cta, u32 id) {
    V32 **bar = &cluster_of(cta)->bar[cta->rank][id];
    free_clock(x->sanitizer, *bar);
    *bar = 0;
}
// bar.warp.sync and other collectives: shuffles, votes, the fences and waits of wgmma.
void sanitizer_warp_sync(Ctx *x, u32 m) {
    SanitizerWarp *p = sanitizer_warp(x);
    if (!p->own && (m & live(p)) == live(p)) {
        give_own(x, p, m, p->common);
        p->time++;
        return;
    }
    V32 *v = new_clock(x);
    give(x, p, m, v);
    p->time++;
    take_all(x, p, m, v);
    free_clock(x->sanitizer, v);
}
// A relaxed arrival releases what a memory fence, or fence.mbarrier_init, released before it.
static void relaxed_arrive(Ctx *x, SanitizerWarp *p, u32 m, V32 *to) {
    SanitizerCluster *c = cluster_of(x->cta);
    for (u32 k = m; k; k &= k - 1) give_fence(x, p, (u32)__builtin_ctz(k), SCOPE_CLUSTER, to);
    for (u32 k = 0; m & p->inits && k < c->nbarriers; k++) {
        const SanitizerMbarrier *b = &c->barriers[k];
        u32 *time = &((u32 *)&to[b->row])[b->lane];
        if (b->released && b->init_by == p->index && m >> b->init_lane & 1 && *time < b->first) *time = b->first;
    }
}
void sanitizer_cluster_arrive(Ctx *x, const Op *o, u32 m) {
    SanitizerCluster *c = cluster_of(x->cta);
    SanitizerWarp *p = sanitizer_warp(x);
    if (!c->arrived) c->arrived = new_clock(x);
    if ((x->sanitizer->info[o->instr] >> 8 & 15) != FENCE_RELAXED) give(x, p, m, c->arrived);
    else relaxed_arrive(x, p, m, c->arrived);
    p->time++;
}
void sanitizer_cluster_complete(Ctx *x, Cluster *cluster) {
    SanitizerCluster *c = cluster->sanitizer;
    if (!c->arrived) return;
    free_clock(x->sanitizer, c->met);
    c->met = c->arrived;
    c->arrived = 0;
}
void sanitizer_cluster_wait(Ctx *x, u32 m) {
    SanitizerCluster *c = cluster_of(x->cta);
    if (c->met) take(x, sanitizer_warp(x), m, c->met);
}

// Groups of asynchronous operations

void sanitizer_commit(Ctx *x, u32 kind, u32 lanes) {
    SanitizerWarp *p = sanitizer_warp(x);
    p->groups[kind] += only((V32)1, lanes);
    if (kind == ROW_BULK) p->groups[ROW_BULK_READ] += only((V32)1, lanes);
}
void sanitizer_wait_groups(Ctx *x, u32 kind, u32 lanes, u32 most) {
    SanitizerWarp *p = sanitizer_warp(x);
    if (most == NONE) sanitizer_commit(x, kind, lanes), most = 0;
    V32 n = p->groups[kind], done = n > most ? n - most : (V32)0;
    raise(&p->done[kind], done, lanes);
    if (kind == ROW_BULK) raise(&p->done[ROW_BULK_READ], done, lanes);
    p->time++;
}
