// What makes threads wait for each other, or for what they started: barriers of a CTA, of a warp and of a cluster, and
// groups of asynchronous operations. See watch.h.
#include "clocks.h"

void watch_arrive(Ctx *x, u32 id, u32 m) {
    V32 **bar = &cluster_of(x->cta)->bar[x->cta->rank][id];
    Watched *p = watched(x);
    if (!*bar) *bar = new_clock(x);
    give(x, p, m, *bar);
    p->time++;
}
void watch_leave(Ctx *x, Cta *cta, Warp *warp, u32 id, u32 m) {
    V32 *bar = cluster_of(cta)->bar[cta->rank][id];
    if (bar) take_all(x, watched_of(cta, warp), m, bar);
}
void watch_left(Ctx *x, Cta *cta, u32 id) {
    V32 **bar = &cluster_of(cta)->bar[cta->rank][id];
    free_clock(x->watch, *bar);
    *bar = 0;
}
// bar.warp.sync, and what else lanes do together: shuffles, votes, the fences and waits of wgmma.
void watch_warp_sync(Ctx *x, u32 m) {
    Watched *p = watched(x);
    if (!p->own && (m & live(p)) == live(p)) {
        give_own(x, p, m, p->common);
        p->time++;
        return;
    }
    V32 *v = new_clock(x);
    give(x, p, m, v);
    p->time++;
    take_all(x, p, m, v);
    free_clock(x->watch, v);
}
void watch_cluster_arrive(Ctx *x, const Op *o, u32 m) {
    WatchCluster *c = cluster_of(x->cta);
    Watched *p = watched(x);
    if (!c->arrived) c->arrived = new_clock(x);
    if ((x->watch->info[o->instr] >> 8 & 15) != FENCE_RELAXED) give(x, p, m, c->arrived);
    p->time++;
}
void watch_cluster_over(Ctx *x, Cluster *cluster) {
    WatchCluster *c = cluster->watch;
    if (!c->arrived) return;
    free_clock(x->watch, c->met);
    c->met = c->arrived;
    c->arrived = 0;
}
void watch_cluster_wait(Ctx *x, u32 m) {
    WatchCluster *c = cluster_of(x->cta);
    if (c->met) take(x, watched(x), m, c->met);
}

// Groups of asynchronous operations

void watch_commit(Ctx *x, u32 kind, u32 lanes) {
    Watched *p = watched(x);
    p->groups[kind] += only((V32)1, lanes);
    if (kind == ROW_BULK) p->groups[ROW_BULK_READ] += only((V32)1, lanes);
}
void watch_wait_groups(Ctx *x, u32 kind, u32 lanes, u32 most) {
    Watched *p = watched(x);
    if (most == NONE) watch_commit(x, kind, lanes), most = 0;
    V32 n = p->groups[kind], done = n > most ? n - most : (V32)0;
    raise(&p->done[kind], done, lanes);
    if (kind == ROW_BULK) raise(&p->done[ROW_BULK_READ], done, lanes);
    p->time++;
}
