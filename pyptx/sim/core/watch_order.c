// Orders and scopes: an address has a clock that releases are joined to and acquires take. See watch.h.
#include "clocks.h"

static Sync *sync_among(Ctx *x, u64 key) {                               // NULL: nobody released there
    for (Sync *s = x->watch->sync[(key * 0x9E3779B97F4A7C15ull >> 40) & 4095]; s; s = s->next) if (s->key == key) return s;
    return 0;
}
static Sync *sync_at(Ctx *x, u64 key) {
    Watch *w = x->watch;
    Sync **at = &w->sync[(key * 0x9E3779B97F4A7C15ull >> 40) & 4095], *s = sync_among(x, key);
    if (s) return s;
    s = calloc(1, sizeof *s);
    if (!s) { watch_no_memory(x); return 0; }
    w->nsync++;
    s->key = key;
    s->next = *at;
    return *at = s;
}

// Clusters learn of each other as a whole: what a thread of one released, all threads of the other know that acquired it.
static void learn(Ctx *x, WatchCluster *c, u32 cluster, const V32 *rows) {
    for (u32 k = 0; k < c->nforeign; k++)
        if (c->foreign[k].cluster == cluster) { join(c->foreign[k].rows, rows, x->watch->rows); return; }
    if (x->watch->full) return;
    if (!watch_room(&c->foreign, &c->foreign_room, c->nforeign, 4, sizeof *c->foreign)) { watch_no_memory(x); return; }
    c->foreign[c->nforeign] = (Foreign){cluster, new_clock(x)};
    join(c->foreign[c->nforeign++].rows, rows, total(x->watch));
}

// The address as all, a cluster, and a CTA of it see it.
static u64 key_of(u64 key, const WatchCluster *c, const Cta *cta) {
    return key ^ ((u64)c->id + 1) * 0xD1342543DE82EF95ull ^ (cta ? (cta->id + 1) * 0xA0761D6478BD642Full : 0);
}

void release(Ctx *x, Watched *p, u32 lane, u64 key, u32 scope, int from_fence) {
    WatchCluster *c = cluster_of(p->cta);
    V32 *v = from_fence ? p->fence[p->fence[lane] ? lane : LANES] : 0;
    if (from_fence && !v) return;
    if (x->watch->full) return;                                          // there may be very many addresses
    Sync *s = sync_at(x, key_of(key, c, scope == SCOPE_CTA ? p->cta : 0));
    if (!s) return;
    V32 *to = know(x, &s->clock);
    if (v) join(to, v, total(x->watch)); else give(x, p, 1u << lane, to);
    if (v && v == p->fence[LANES])
        for (u32 k = 0; k < ROW_KINDS; k++) if (x->watch->kinds >> k & 1) raise(&to[row_of(x->watch, k, p)], p->fence_own[k], 1u << lane);
    if (scope == SCOPE_CTA) return;
    Sync *all = sync_at(x, key);                                         // which clusters released here
    if (!all) return;
    for (u32 k = 0; k < all->nclusters; k++) if (all->clusters[k] == c->id) return;
    if (!watch_room(&all->clusters, &all->room, all->nclusters, 4, sizeof *all->clusters)) { watch_no_memory(x); return; }
    all->clusters[all->nclusters++] = c->id;
}
static void learn_from(Ctx *x, WatchCluster *c, const Foreign *f, u32 n) {
    for (u32 k = 0; k < n; k++) if (f[k].cluster != c->id) learn(x, c, f[k].cluster, f[k].rows);
}
void learn_of(Ctx *x, WatchCluster *c, u64 key, u32 cluster) {
    WatchCluster other = {.id = cluster};
    Sync *s = sync_among(x, key_of(key, &other, 0));
    if (!s || !s->clock) return;
    learn(x, c, cluster, s->clock);
    for (u32 i = 0; i < x->resident; i++) {                              // and what that one knows
        WatchCluster *theirs = x->ctas[i]->cluster->watch;
        if (theirs && theirs->id == cluster) { learn_from(x, c, theirs->foreign, theirs->nforeign); break; }
    }
    for (u32 d = 0; d < x->watch->ndone; d++)
        if (x->watch->done[d].cluster == cluster) learn_from(x, c, x->watch->done[d].foreign, x->watch->done[d].nforeign);
}

static void learn_later(Ctx *x, Watched *p, u32 lane, u64 key, u32 cluster) {
    for (u32 k = 0; k < p->nlater; k++) if (p->later[k].key == key && p->later[k].cluster == cluster && p->later[k].lane == lane) return;
    if (!watch_room(&p->later, &p->later_room, p->nlater, 16, sizeof *p->later)) { watch_no_memory(x); return; }
    p->later[p->nlater].key = key; p->later[p->nlater].cluster = cluster; p->later[p->nlater++].lane = lane;
}

// `later`: what is taken counts after the next memory fence only.
void acquire(Ctx *x, Watched *p, u32 lane, u64 key, int later) {
    WatchCluster *c = cluster_of(p->cta);
    if (!x->watch->nsync) return;
    Sync *narrow = sync_among(x, key_of(key, c, p->cta)), *all = sync_among(x, key);
    if (!(narrow && narrow->clock) && !all) return;
    V32 *to = 0;
    if (narrow && narrow->clock) join(to = later ? know(x, &p->read[lane]) : own_clock(x, p, lane), narrow->clock, total(x->watch));
    for (u32 k = 0; all && k < all->nclusters; k++) {
        u32 id = all->clusters[k];
        if (id != c->id && later) learn_later(x, p, lane, key, id);
        else if (id != c->id) learn_of(x, c, key, id);
        else {
            Sync *s = sync_among(x, key_of(key, c, 0));
            if (!to) to = later ? know(x, &p->read[lane]) : own_clock(x, p, lane);
            if (s && s->clock) join(to, s->clock, total(x->watch));
        }
    }
}
