// Orderings and scopes: each address has a clock that releases join and acquires take. See sanitizer.h.
#include "sanitizer/clocks.h"

static Sync *sync_among(Ctx *x, u64 key) {                               // NULL: no release at this address
    for (Sync *s = x->sanitizer->sync[(key * 0x9E3779B97F4A7C15ull >> 40) & 4095]; s; s = s->next) if (s->key == key) return s;
    return 0;
}
static Sync *sync_at(Ctx *x, u64 key) {
    Sanitizer *w = x->sanitizer;
    Sync **at = &w->sync[(key * 0x9E3779B97F4A7C15ull >> 40) & 4095], *s = sync_among(x, key);
    if (s) return s;
    s = calloc(1, sizeof *s);
    if (!s) { sanitizer_no_memory(x); return 0; }
    w->nsync++;
    s->key = key;
    s->next = *at;
    return *at = s;
}

// Test whether a clock includes a time since which a thread knows the clock of another cluster.
int knows_cluster(const Sanitizer *w, const ClusterClock *f, const V32 *clock) {
    for (u32 k = 0; k < w->warps; k++) if (bits32((S32)(f->since[k] != 0) & (S32)(clock[k] >= f->since[k]))) return 1;
    return 0;
}


// Clocks of other clusters are kept with the threads that acquired them and the times at which they did: whoever knows such a
// time knows the clock. Each newer clock of the same cluster is a further entry. Beyond MOST_CLOCKS, two of them are joined: those
// that all threads know, or else the first two.
enum { MOST_CLOCKS = 6 };
static int includes(const V32 *all, const V32 *part, u32 n) {
    for (u32 k = 0; k < n; k++) if (bits32((S32)(all[k] < part[k]))) return 0;
    return 1;
}
static void join_clusters(const Sanitizer *w, ClusterClock *to, const ClusterClock *from) {
    join(to->rows, from->rows, total(w));
    for (u32 k = 0; k < w->warps; k++)                                   // the earlier time; 0: never, which wraps around to the latest
        to->since[k] = __builtin_elementwise_min(to->since[k] - 1, from->since[k] - 1) + 1;
}
static int known_by_all(const Sanitizer *w, const SanitizerCluster *c, const ClusterClock *f) {
    for (u32 i = 0; i < c->warps; i++) {
        const SanitizerWarp *p = &c->warp[i];
        u32 own = bits32((S32)(f->since[i] != 0)), lanes = live(p);
        if (lanes & ~p->own & ~own && !knows_cluster(w, f, p->common)) return 0;
        for (u32 k = lanes & p->own & ~own; k; k &= k - 1) if (!knows_cluster(w, f, p->lane[__builtin_ctz(k)])) return 0;
    }
    return 1;
}
static u32 lanes_that_know(const Sanitizer *w, const SanitizerWarp *p, u32 m, const ClusterClock *f) {
    u32 known = bits32((S32)(f->since[p->index] != 0)) & m;
    if (m & ~known & ~p->own && knows_cluster(w, f, p->common)) known |= m & ~p->own;
    for (u32 k = m & ~known & p->own; k; k &= k - 1) if (knows_cluster(w, f, p->lane[__builtin_ctz(k)])) known |= k & -k;
    return known;
}
static void join_lanes(Ctx *x, SanitizerWarp *p, u32 m, const V32 *rows, u32 n) {
    if (!p->own && (m & live(p)) == live(p)) { join(p->common, rows, n); return; }
    for (u32 k = m; k; k &= k - 1) join(own_clock(x, p, (u32)__builtin_ctz(k)), rows, n);
}
static void learn(Ctx *x, SanitizerWarp *p, u32 m, u32 cluster, const V32 *rows) {
    Sanitizer *w = x->sanitizer;
    SanitizerCluster *c = cluster_of(p->cta);
    u32 n = total(w) - w->sc_rows;
    ClusterClock *entry[MOST_CLOCKS], *to = 0;
    u32 used = 0;
    for (u32 k = 0; k < c->nforeign; k++) {
        ClusterClock *f = &c->foreign[k];
        if (f->cluster != cluster) continue;
        entry[used++] = f;
        if (!includes(f->rows, rows, n)) continue;
        m &= ~lanes_that_know(w, p, m, f);
        if (!m) return;
        if (includes(rows, f->rows, n)) to = f;
    }
    if (!to && used == MOST_CLOCKS) {
        u32 first = 0, second = 1;
        for (u32 k = 0, n = 0; k < used && n < 2; k++) if (known_by_all(w, c, entry[k])) { if (n++) second = k; else first = k; }
        if (second <= first) first = 0, second = 1;
        join_clusters(w, entry[first], entry[second]);
        ClusterClock rest = *entry[second];
        for (; second + 1 < used; second++) *entry[second] = *entry[second + 1];        // in the order of time
        to = entry[second];
        *to = rest;
        memset(to->rows, 0, sizeof(V32) * total(w));
        memset(to->since, 0, sizeof(V32) * total(w));
    }
    if (!to) {
        if (w->full) return;
        if (!sanitizer_room(&c->foreign, &c->foreign_room, c->nforeign, 4, sizeof *c->foreign)) { sanitizer_no_memory(x); return; }
        c->foreign[c->nforeign] = (ClusterClock){cluster, new_clock(x), new_clock(x)};
        to = &c->foreign[c->nforeign++];
    }
    join(to->rows, rows, n);
    to->since[p->index] = (to->since[p->index] & ~(V32)expand32(m)) | only((V32)p->time, m);
    if (p->own || (m & live(p)) != live(p)) for (u32 k = m; k; k &= k - 1) own_clock(x, p, (u32)__builtin_ctz(k));      // the other lanes do not know it
}

// The key of an address for releases to a CTA, to a cluster, or, from a cluster, to the GPU.
static u64 key_of(u64 key, u32 cluster, const Cta *cta, u32 level) {
    return key ^ ((u64)cluster + 1) * 0xD1342543DE82EF95ull ^ (level == SCOPE_CTA ? (cta->id + 1) * 0xA0761D6478BD642Full : 0)
        ^ (level == SCOPE_GPU ? 0x8EBC6AF09C88C6E3ull : 0);
}

// A write releases to every scope up to its own; a relaxed one releases what its last fence of at least that scope released.
void release(Ctx *x, SanitizerWarp *p, u32 lane, u64 key, u32 scope, int from_fence) {
    Sanitizer *w = x->sanitizer;
    SanitizerCluster *c = cluster_of(p->cta);
    if (w->full) return;                                                 // the number of addresses is unbounded
    u32 widest = scope < LEVELS ? scope : LEVELS - 1, listed = 0;
    for (u32 level = 0; level <= widest; level++) {
        if (level == SCOPE_CLUSTER && c->warps == x->nwarps) continue;   // the cluster is a CTA
        if (from_fence && !p->fence[level][lane] && !p->fence[level][LANES] && !has_sc(w, level)) continue;
        Sync *s = sync_at(x, key_of(key, c->id, p->cta, level));
        if (!s) return;
        if (has_sc(w, level)) join(know(x, &s->sc), clock_of(p, lane) + sc_row(w, level), w->rows);
        if (from_fence) give_fence(x, p, lane, level, know(x, &s->clock)); else give(x, p, 1u << lane, know(x, &s->clock));
        Sync *all = listed++ ? 0 : sync_at(x, key);                      // the clusters that released here
        if (!all) continue;
        u32 k = 0;
        while (k < all->nclusters && all->clusters[k] != c->id) k++;
        if (k < all->nclusters) continue;
        if (!sanitizer_room(&all->clusters, &all->room, all->nclusters, 4, sizeof *all->clusters)) { sanitizer_no_memory(x); return; }
        all->clusters[all->nclusters++] = c->id;
    }
}
static void forget_release(Ctx *x, u64 key) {
    Sync *s = sync_among(x, key);
    if (!s) return;
    free_clock(x->sanitizer, s->clock);
    free_clock(x->sanitizer, s->sc);
    s->clock = s->sc = 0;
}
// Forget the releases by a cluster at an address, except those to a CTA, or to the whole cluster (`keep_cluster`).
static void forget_cluster(Ctx *x, u64 key, u32 cluster, const Cta *keep, int keep_cluster) {
    forget_release(x, key_of(key, cluster, 0, SCOPE_GPU));
    if (keep_cluster) return;
    forget_release(x, key_of(key, cluster, 0, SCOPE_CLUSTER));
    for (u32 k = 0; k < x->resident; k++) {
        const SanitizerCluster *c = x->ctas[k]->cluster->sanitizer;
        if (x->ctas[k] != keep && c && c->id == cluster) forget_release(x, key_of(key, cluster, x->ctas[k], SCOPE_CTA));
    }
}
// A store by another thread ends the release sequences at this address; an atomic continues them for the threads in its scope.
void drop_releases(Ctx *x, SanitizerWarp *p, u32 lane, u64 key, u32 scope, int store) {
    u64 me = ((u64)p->cta->id << 16 | p->index % p->cta->nwarps << 5 | lane) + 1;
    u32 own = cluster_of(p->cta)->id, used = 0;
    Sync *all = sync_at(x, key);
    if (!all) return;
    if (store && all->owner && all->owner != me) {
        for (u32 k = 0; k < all->nclusters; k++) forget_cluster(x, key, all->clusters[k], 0, 0);
        all->nclusters = 0;
        all->owner = 0;
    } else if (!store && scope < SCOPE_GPU) {
        for (u32 k = 0; k < all->nclusters; k++) {
            int ours = all->clusters[k] == own;
            forget_cluster(x, key, all->clusters[k], ours ? p->cta : 0, ours && scope == SCOPE_CLUSTER);
            used |= (u32)ours;
        }
        if (used) all->clusters[0] = own;
        all->nclusters = used;
    }
    all->owner = !all->owner || all->owner == me ? me : ~0ull;
}
// The clocks of third clusters that the releasing threads knew.
static void join_known_clusters(Ctx *x, SanitizerWarp *p, u32 m, const ClusterClock *f, u32 n, const V32 *released) {
    u32 own = cluster_of(p->cta)->id;
    for (u32 k = 0; k < n; k++) {
        if (!knows_cluster(x->sanitizer, &f[k], released)) continue;
        if (f[k].cluster == own) join_lanes(x, p, m, f[k].rows, total(x->sanitizer)); else learn(x, p, m, f[k].cluster, f[k].rows);
    }
}
static void join_other_cluster(Ctx *x, SanitizerWarp *p, u32 m, u64 key, u32 cluster, int acquires, int sc) {
    Sync *s = sync_among(x, key_of(key, cluster, 0, SCOPE_GPU));
    if (s && s->sc && sc) learn(x, p, m, cluster, s->sc);
    if (!s || !s->clock || !acquires) return;
    learn(x, p, m, cluster, s->clock);
    for (u32 i = 0; i < x->resident; i++) {
        SanitizerCluster *theirs = x->ctas[i]->cluster->sanitizer;
        if (theirs && theirs->id == cluster) { join_known_clusters(x, p, m, theirs->foreign, theirs->nforeign, s->clock); break; }
    }
    for (u32 d = 0; d < x->sanitizer->ndone; d++)
        if (x->sanitizer->done[d].cluster == cluster) join_known_clusters(x, p, m, x->sanitizer->done[d].foreign, x->sanitizer->done[d].nforeign, s->clock);
}

// What a read that precedes a memory fence of GPU scope observed.
void join_deferred(Ctx *x, SanitizerWarp *p, u32 m, u64 key, u32 cluster, int acquires, int sc) {
    SanitizerCluster *c = cluster_of(p->cta);
    if (cluster != c->id) { join_other_cluster(x, p, m, key, cluster, acquires, sc); return; }
    Sync *s = sync_among(x, key_of(key, c->id, 0, SCOPE_CLUSTER));
    if (s && s->sc && sc) join_lanes(x, p, m, s->sc, x->sanitizer->rows);
}

static void defer_join(Ctx *x, SanitizerWarp *p, u32 lane, u64 key, u32 cluster, u32 acquired) {
    for (u32 k = 0; k < p->nlater; k++)
        if (p->later[k].key == key && p->later[k].cluster == cluster && p->later[k].lane == lane) { p->later[k].acquired &= acquired; p->later[k].time = p->time; p->later[k].fenced = 0; return; }
    if (!sanitizer_room(&p->later, &p->later_room, p->nlater, 16, sizeof *p->later)) { sanitizer_no_memory(x); return; }
    p->later[p->nlater].key = key; p->later[p->nlater].cluster = cluster; p->later[p->nlater].lane = lane; p->later[p->nlater].time = p->time; p->later[p->nlater].fenced = 0; p->later[p->nlater++].acquired = acquired;
}

// A read acquires what was released to its CTA, and, as far as its scope reaches, to its cluster and to the GPU; `later`: after
// the next memory fence.
void acquire(Ctx *x, SanitizerWarp *p, u32 lane, u64 key, u32 scope, int later) {
    Sanitizer *w = x->sanitizer;
    SanitizerCluster *c = cluster_of(p->cta);
    if (!w->nsync) return;
    for (u32 level = 0; level <= SCOPE_CLUSTER && level <= scope; level++) {
        Sync *s = sync_among(x, key_of(key, c->id, p->cta, level));
        if (s && s->clock) join(later ? know(x, &p->read[level][lane]) : own_clock(x, p, lane), s->clock, total(w));
        if (s && s->sc && level && c->warps != x->nwarps) defer_join(x, p, lane, key, c->id, 1);
    }
    Sync *all = scope >= SCOPE_GPU ? sync_among(x, key) : 0;
    for (u32 k = 0; all && k < all->nclusters; k++) {
        u32 id = all->clusters[k];
        if (id != c->id && !later) join_other_cluster(x, p, 1u << lane, key, id, 1, 0);
        if (id != c->id && (later || w->sc_scopes & SC_GPU)) defer_join(x, p, lane, key, id, !later);
    }
}
