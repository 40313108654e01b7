// Clocks: what each thread knows has happened. See watch.h.
#include "watch.h"

typedef struct Sync { struct Sync *next; u64 key; V32 *clock; u32 *clusters, nclusters; } Sync;

static u32 total(const Watch *w) { return w->rows + w->proxy_rows; }

static V32 *new_clock(Ctx *x) {
    Watch *w = x->watch;
    V32 *v = w->nspare ? w->spare[--w->nspare] : (V32 *)aligned(sizeof(V32) * total(w));
    if (!v) { x->status = FAULT; x->fault = FAULT_MEMORY; abort(); }
    memset(v, 0, sizeof(V32) * total(w));
    return v;
}
static void free_clock(Watch *w, V32 *v) {
    if (!v) return;
    if (w->nspare == w->spare_room) {
        u32 room = w->spare_room ? 2 * w->spare_room : 256;
        V32 **more = realloc(w->spare, room * sizeof *more);
        if (!more) { release_aligned(v); return; }
        w->spare = more;
        w->spare_room = room;
    }
    w->spare[w->nspare++] = v;
}
static inline void join(V32 *to, const V32 *from, u32 n) {
    for (u32 k = 0; k < n; k++) to[k] = __builtin_elementwise_max(to[k], from[k]);
}
static inline V32 only(V32 v, u32 m) { return v & (V32)expand32(m); }
static inline void raise(V32 *to, V32 v, u32 m) { *to = __builtin_elementwise_max(*to, only(v, m)); }
static inline u32 row_of(const Watch *w, u32 kind, const Watched *p) { return w->slot[kind] * w->warps + p->index; }
static inline u32 live(const Watched *p) { return p->cta->warps[p->index % p->cta->nwarps].live; }
static inline V32 *clock_of(const Watched *p, u32 lane) { return p->own >> lane & 1 ? p->lane[lane] : p->common; }

static V32 *own_clock(Ctx *x, Watched *p, u32 lane) {
    if (!(p->own >> lane & 1)) {
        if (!p->lane[lane]) p->lane[lane] = new_clock(x);
        memcpy(p->lane[lane], p->common, sizeof(V32) * total(x->watch));
        p->own |= 1u << lane;
    }
    return p->lane[lane];
}

// What lanes did themselves.
static void give_own(Ctx *x, const Watched *p, u32 m, V32 *to) {
    Watch *w = x->watch;
    raise(&to[row_of(w, ROW_THREAD, p)], (V32)p->time, m);
    for (u32 k = ROW_CP; k < ROW_KINDS; k++)
        if (w->kinds >> k & 1) raise(&to[row_of(w, k, p)], p->done[k], k == ROW_WGMMA ? ALL : m);
    if (!w->proxy_rows) return;
    raise(&to[w->rows + p->index], p->fenced[0], m);
    if (w->kinds >> ROW_CP & 1) raise(&to[w->rows + w->warps + p->index], p->fenced[1], m);
}
// That, and what they know.
static void give(Ctx *x, const Watched *p, u32 m, V32 *to) {
    if (m & ~p->own) join(to, p->common, total(x->watch));
    for (u32 k = m & p->own; k; k &= k - 1) join(to, p->lane[__builtin_ctz(k)], total(x->watch));
    give_own(x, p, m, to);
}
static void take(Ctx *x, Watched *p, u32 m, const V32 *from) {
    Watch *w = x->watch;
    if ((m & live(p)) == live(p)) {
        join(p->common, from, total(w));
        for (u32 k = m & p->own; k; k &= k - 1) join(p->lane[__builtin_ctz(k)], from, total(w));
    } else for (u32 k = m; k; k &= k - 1) join(own_clock(x, p, (u32)__builtin_ctz(k)), from, total(w));
    p->time++;
}
// The same, when `from` holds all that the lanes know.
static void take_all(Ctx *x, Watched *p, u32 m, const V32 *from) {
    if ((m & live(p)) != live(p)) { take(x, p, m, from); return; }
    join(p->common, from, total(x->watch));
    p->own = 0;
    p->time++;
}

// Barriers of a CTA, of a warp, of a cluster

static inline WatchCluster *cluster_of(const Cta *cta) { return cta->cluster->watch; }
static inline Watched *watched_of(const Cta *cta, const Warp *warp) { return &cluster_of(cta)->warp[cta->rank * cta->nwarps + warp->index]; }

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

// mbarriers

static Barriers *barrier_at(Ctx *x, Cta *at, u32 barrier) {
    WatchCluster *c = cluster_of(at);
    u16 *slot = &c->slot[at->rank][(barrier - x->smem_start) / 8];
    if (!*slot) {
        if (c->nbarriers == c->barriers_room) {
            u32 room = c->barriers_room ? 2 * c->barriers_room : 32;
            Barriers *more = realloc(c->barriers, room * sizeof *more);
            if (!more) abort();
            c->barriers = more;
            c->barriers_room = room;
        }
        u32 n = c->nbarriers++, rows = x->watch->rows - x->watch->barrier_row;
        c->barriers[n] = (Barriers){.pending = new_clock(x), .done = new_clock(x), .at = barrier, .rank = at->rank,
                                    .row = x->watch->barrier_row + n / LANES % rows, .lane = n % LANES};
        *slot = (u16)(n + 1);
    }
    return &c->barriers[*slot - 1];
}

static void barrier_word(Ctx *x, Cta *at, u32 barrier, u32 lane, u32 how, u32 flags);

void watch_init(Ctx *x, Cta *at, u32 barrier, u32 lane) {
    Barriers *b = barrier_at(x, at, barrier);
    barrier_word(x, at, barrier, lane, SEEN_WRITE, 0);
    b->init_pc = x->pc;
    b->init_by = watched(x)->index;
    b->init_lane = lane;
    b->init_time = watched(x)->time;
    b->fenced = 0;
    b->phase += 2 + (b->phase & 1);                                      // what was before is over
    b->waited = b->copies = 0;
}
void watch_inval(Ctx *x, Cta *at, u32 barrier, u32 lane) { barrier_word(x, at, barrier, lane, SEEN_WRITE, 0); }

void watch_signal(Ctx *x, Cta *at, u32 barrier, u32 lane, u32 kind) {
    Barriers *b = barrier_at(x, at, barrier);
    Watched *p = watched(x);
    Watch *w = x->watch;
    barrier_word(x, at, barrier, lane, SEEN_ATOMIC, 0);
    give(x, p, 1u << lane, b->pending);
    if (kind != ROW_CP && kind != ROW_TC) return;
    raise(&b->pending[row_of(w, kind, p)], p->newest[kind], 1u << lane); // all so far
    raise(&p->tracked[kind], p->newest[kind], 1u << lane);
}
void watch_signalled(Ctx *x) { watched(x)->time++; }

void watch_phase(Ctx *x, Cta *at, u32 barrier) {
    Barriers *b = barrier_at(x, at, barrier);
    b->phase++;
    join(b->done, b->pending, total(x->watch));
    memset(b->pending, 0, sizeof(V32) * total(x->watch));
    ((u32 *)&b->done[b->row])[b->lane] = b->phase;
}
void watch_waited(Ctx *x, Cta *at, u32 barrier, u32 lanes) {
    Barriers *b = barrier_at(x, at, barrier);
    barrier_word(x, at, barrier, (u32)__builtin_ctz(lanes), SEEN_ATOMIC, 0);
    b->waited = b->phase;
    take(x, watched(x), lanes, b->done);
}

// Who accesses

static Agent agent_of(Ctx *x, u32 lane) {
    Watched *p = watched(x);
    return (Agent){.c = cluster_of(x->cta), .p = p, .clock = clock_of(p, lane < LANES ? lane : 0), .lane = lane, .pc = x->pc,
                   .good = NONE, .good_reads = NONE, .sure = NONE};
}
static Record record_of(Ctx *x, const Agent *a, u32 m) {
    return (Record){.time = a->p->time, .pc = x->pc, .mask = m, .cluster = a->c->id, .row = (u16)a->row, .how = (u8)a->how,
                    .flags = (u8)a->flags, .by = a->p->index};
}

// The record of lanes of a warp; the newest of the operation, while the warp knows the same.
static u32 thread_record(Ctx *x, Agent *a, u32 m) {
    u32 *newest = &a->p->record[x->pc];
    const Record *r = &x->watch->records[*newest];
    if (!*newest || r->time != a->p->time || r->mask != m || r->how != a->how || r->row != a->row) {
        Record fresh = record_of(x, a, m);
        *newest = new_record(x->watch, &fresh);
    }
    return *newest;
}

static void barrier_word(Ctx *x, Cta *at, u32 barrier, u32 lane, u32 how, u32 flags) {
    Agent a = agent_of(x, lane);
    a.how = how;
    a.flags = flags | (how == SEEN_ATOMIC ? SEEN_STRONG : 0);
    a.row = row_of(x->watch, ROW_THREAD, a.p);
    Record r = record_of(x, &a, 1u << lane);
    u32 *newest = &a.p->record[x->pc];
    const Record *old = &x->watch->records[*newest];
    if (!*newest || old->time != r.time || old->how != how) *newest = new_record(x->watch, &r);
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
    if (kind == ROW_THREAD) { a.value = new_record(w, &r) << 6 | code; return a; }
    if (kind >= ROW_TC) a.p->groups[kind] += only((V32)1, mask);         // each waits for itself
    r.time = ((const u32 *)&a.p->groups[kind])[first] + (kind < ROW_TC);
    for (u32 k = mask; k; k &= k - 1) ((u32 *)&a.p->newest[kind])[__builtin_ctz(k)] = r.time;
    a.p->newest_pc[kind] = x->pc;
    if (kind >= ROW_TC) {
        a.tensor = a.p->after[lane < LANES && a.p->after[lane] ? lane : LANES];
        if (!a.tensor) a.tensor = w->nothing;
    }
    a.value = new_record(w, &r) << 6 | code;
    return a;
}
void watch_on_barrier(Ctx *x, Agent *a, Cta *at, u32 barrier) {
    Barriers *b = barrier_at(x, at, barrier);
    if (!b->fenced && b->init_pc != NONE) {
        Record init = {.pc = b->init_pc, .how = SEEN_WRITE, .by = b->init_by, .mask = 1u << b->init_lane, .cluster = a->c->id,
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
    a->value = new_record(x->watch, &r) << 6 | b->lane;
}

void watch_shared(Ctx *x, Agent *a, const Cta *cta, u64 offset, u64 bytes) {
    if (cta != x->cta && a->lane < LANES) {
        a->p->peers |= 1u << cta->rank;
        a->p->peer_time[cta->rank] = a->p->time;
        a->p->peer_pc[cta->rank] = x->pc;
        a->p->peer_mask[cta->rank] |= 1u << a->lane;
    }
    shadow_touch(x, a, &a->c->shared[cta->rank], offset, bytes);
}
void watch_global(Ctx *x, Agent *a, u64 address, u64 bytes) {
    Segment *s = segment_of(x, address, bytes);
    if (s && !s->read_only) shadow_touch(x, a, &x->watch->global[s - x->segments], address - s->va, bytes);
}
void watch_tensor(Ctx *x, Agent *a, const Cta *cta, u32 half, u32 column, u32 columns) {
    shadow_touch(x, a, &a->c->tensor[cta->rank], (half * 512 + column) * 4, columns * 4);
}
// A tensor map in global memory that this kernel wrote has to pass fence.proxy.tensormap before it is used.
void watch_map(Ctx *x, Agent *a, u64 address) {
    Segment *s = segment_of(x, address, 128);
    if (!s || s->read_only || x->watch->full) return;
    Agent reads = *a;
    reads.how = SEEN_READ;
    reads.good = reads.good_reads = NONE;
    reads.flags |= SEEN_TMA;
    shadow_touch(x, &reads, &x->watch->global[s - x->segments], address - s->va, 128);
}
void watch_fresh_tensor(Ctx *x, const Cta *cta, u32 column, u32 columns) {
    for (u32 half = 0; half < 8; half++) shadow_forget(x->watch, &cluster_of(cta)->tensor[cta->rank], (half * 512 + column) * 4, columns * 4);
}

// Atomics and ordered accesses: an address has a clock that releases are joined to and acquires take.
static Sync *sync_among(Ctx *x, u64 key) {                               // NULL: nobody released there
    for (Sync *s = x->watch->sync[(key * 0x9E3779B97F4A7C15ull >> 40) & 4095]; s; s = s->next) if (s->key == key) return s;
    return 0;
}
static Sync *sync_at(Ctx *x, u64 key) {
    Watch *w = x->watch;
    Sync **at = &w->sync[(key * 0x9E3779B97F4A7C15ull >> 40) & 4095], *s = sync_among(x, key);
    if (s) return s;
    s = calloc(1, sizeof *s);
    if (!s) abort();
    w->nsync++;
    s->key = key;
    s->next = *at;
    return *at = s;
}

static V32 *know(Ctx *x, V32 **place) { return *place ? *place : (*place = new_clock(x)); }

// Clusters learn of each other as a whole: what a thread of one released, all threads of the other know that acquired it.
static void learn(Ctx *x, WatchCluster *c, u32 cluster, const V32 *rows) {
    for (u32 k = 0; k < c->nforeign; k++)
        if (c->foreign[k].cluster == cluster) { join(c->foreign[k].rows, rows, x->watch->rows); return; }
    Foreign *more = realloc(c->foreign, (c->nforeign + 1) * sizeof *more);
    if (!more) abort();
    c->foreign = more;
    c->foreign[c->nforeign] = (Foreign){cluster, new_clock(x)};
    join(c->foreign[c->nforeign++].rows, rows, total(x->watch));
}

// The address as all, a cluster, and a CTA of it see it.
static u64 key_of(u64 key, const WatchCluster *c, const Cta *cta) {
    return key ^ ((u64)c->id + 1) * 0xD1342543DE82EF95ull ^ (cta ? (cta->id + 1) * 0xA0761D6478BD642Full : 0);
}

static void release(Ctx *x, Watched *p, u32 lane, u64 key, u32 scope, int from_fence) {
    WatchCluster *c = cluster_of(p->cta);
    V32 *v = from_fence ? p->fence[p->fence[lane] ? lane : LANES] : 0;
    if (from_fence && !v) return;
    V32 *to = know(x, &sync_at(x, key_of(key, c, scope == SCOPE_CTA ? p->cta : 0))->clock);
    if (v) join(to, v, total(x->watch)); else give(x, p, 1u << lane, to);
    if (v && v == p->fence[LANES])
        for (u32 k = 0; k < ROW_KINDS; k++) if (x->watch->kinds >> k & 1) raise(&to[row_of(x->watch, k, p)], p->fence_own[k], 1u << lane);
    if (scope == SCOPE_CTA) return;
    Sync *all = sync_at(x, key);                                         // which clusters released here
    for (u32 k = 0; k < all->nclusters; k++) if (all->clusters[k] == c->id) return;
    u32 *list = realloc(all->clusters, (all->nclusters + 1) * sizeof *list);
    if (!list) abort();
    list[all->nclusters++] = c->id;
    all->clusters = list;
}
static void learn_from(Ctx *x, WatchCluster *c, const Foreign *f, u32 n) {
    for (u32 k = 0; k < n; k++) if (f[k].cluster != c->id) learn(x, c, f[k].cluster, f[k].rows);
}
static void learn_of(Ctx *x, WatchCluster *c, u64 key, u32 cluster) {
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

static void learn_later(Watched *p, u32 lane, u64 key, u32 cluster) {
    for (u32 k = 0; k < p->nlater; k++) if (p->later[k].key == key && p->later[k].cluster == cluster && p->later[k].lane == lane) return;
    if (p->nlater == p->later_room) {
        u32 room = p->later_room ? 2 * p->later_room : 16;
        void *more = realloc(p->later, room * sizeof *p->later);
        if (!more) abort();
        p->later = more;
        p->later_room = room;
    }
    p->later[p->nlater].key = key; p->later[p->nlater].cluster = cluster; p->later[p->nlater++].lane = lane;
}

// `later`: what is taken counts after the next memory fence only.
static void acquire(Ctx *x, Watched *p, u32 lane, u64 key, int later) {
    WatchCluster *c = cluster_of(p->cta);
    if (!x->watch->nsync) return;
    Sync *narrow = sync_among(x, key_of(key, c, p->cta)), *all = sync_among(x, key);
    if (!(narrow && narrow->clock) && !all) return;
    V32 *to = 0;
    if (narrow && narrow->clock) join(to = later ? know(x, &p->read[lane]) : own_clock(x, p, lane), narrow->clock, total(x->watch));
    for (u32 k = 0; all && k < all->nclusters; k++) {
        u32 id = all->clusters[k];
        if (id != c->id && later) learn_later(p, lane, key, id);
        else if (id != c->id) learn_of(x, c, key, id);
        else {
            Sync *s = sync_among(x, key_of(key, c, 0));
            if (!to) to = later ? know(x, &p->read[lane]) : own_clock(x, p, lane);
            if (s && s->clock) join(to, s->clock, total(x->watch));
        }
    }
}

void watch_fence(Ctx *x, const Op *o, u32 m) {
    Watch *w = x->watch;
    Watched *p = watched(x);
    if (!m) return;
    switch (x->watch->info[o->instr] >> 8 & 15) {
    case FENCE_MEMORY: {
        int everybody = (m & live(p)) == live(p) && !p->own;
        for (u32 k = m; k; k &= k - 1) {
            u32 i = (u32)__builtin_ctz(k), at = everybody ? LANES : i;
            if (p->read[i]) { take(x, p, 1u << i, p->read[i]); free_clock(w, p->read[i]); p->read[i] = 0; }
            if (everybody) { free_clock(w, p->fence[i]); p->fence[i] = 0; }
            else give(x, p, 1u << i, know(x, &p->fence[at]));
        }
        if (everybody) {
            join(know(x, &p->fence[LANES]), p->common, total(w));
            raise(&p->fence_own[ROW_THREAD], (V32)p->time, m);
            for (u32 k = ROW_CP; k < ROW_KINDS; k++) raise(&p->fence_own[k], p->done[k], m);
        }
        for (u32 k = 0; k < p->nlater;) {
            if (!(m >> p->later[k].lane & 1)) { k++; continue; }
            learn_of(x, cluster_of(x->cta), p->later[k].key, p->later[k].cluster);
            p->later[k] = p->later[--p->nlater];
        }
        break;
    }
    case FENCE_PROXY:
        if (!w->proxy_rows) break;
        for (u32 pass = 0; pass < 2; pass++) {                           // own clocks, then the common one
            for (u32 k = pass ? m & ~p->own : m & p->own; k; k &= k - 1) {
                V32 *v = pass ? p->common : p->lane[__builtin_ctz(k)];
                if (pass && (m & live(p)) != live(p)) v = own_clock(x, p, (u32)__builtin_ctz(k));
                join(v + w->rows, v, w->warps);
                if (w->kinds >> ROW_CP & 1) join(v + w->rows + w->warps, v + w->slot[ROW_CP] * w->warps, w->warps);
                if (pass && v == p->common) break;
            }
        }
        raise(&p->fenced[0], (V32)p->time, m);
        raise(&p->fenced[1], p->done[ROW_CP], m);
        // fall through: it orders initialised mbarriers too
    case FENCE_INIT:
        for (u32 k = 0; k < cluster_of(x->cta)->nbarriers; k++) {
            Barriers *b = &cluster_of(x->cta)->barriers[k];
            if (b->init_by == p->index && m >> b->init_lane & 1) b->fenced = 1;
            if (((const u32 *)&clock_of(p, (u32)__builtin_ctz(m))[b->init_by])[b->init_lane] >= b->init_time) b->fenced = 1;
        }
        break;
    case FENCE_AFTER:
        if (!(w->kinds >> ROW_TC & 1)) break;
        for (u32 k = m; k; k &= k - 1) {
            u32 i = (u32)__builtin_ctz(k);
            V32 *to = know(x, &p->after[(m & live(p)) == live(p) && !p->own ? LANES : i]);
            join(to, clock_of(p, i) + w->slot[ROW_TC] * w->warps, w->warps);
            if (to == p->after[LANES]) {
                for (u32 l = 0; l < LANES; l++) if (p->after[l]) join(p->after[l], to, w->warps);
                break;
            }
        }
        break;
    default: return;
    }
    p->time++;
}

// Accesses of lanes

static Shadow *shadow_at(Ctx *x, const u8 *host, u64 *offset) {
    Cluster *cluster = x->cta->cluster;
    for (u32 k = 0; k < cluster->size; k++)
        if ((u64)(host - cluster->cta[k]->smem) < x->smem_bytes) {
            *offset = (u64)(host - cluster->cta[k]->smem);
            return &cluster_of(x->cta)->shared[k];
        }
    for (u64 k = 0; k < x->nsegments; k++)
        if ((u64)(host - x->segments[k].host) < x->segments[k].bytes && !x->segments[k].read_only) {
            *offset = (u64)(host - x->segments[k].host);
            return &x->watch->global[k];
        }
    return 0;
}

void watch_access(Ctx *x, const Op *o, u32 m, Access *t, u32 how) {
    Watch *w = x->watch;
    if (t->space == LOCAL || t->space == PARAM || t->space == CONST || w->full) return;
    if (UNLIKELY(w->ndoubts)) settle_doubts(x);
    u32 info = w->info[o->instr], order = info & 15, scope = info >> 4 & 15, kind = t->space == MIXED ? SCATTERED : t->pattern->kind;
    u32 together = how & SEEN_TOGETHER;
    Agent a = agent_of(x, 0);
    Shadow *s = 0;
    u64 shift = 0;
    how &= ~(u32)SEEN_TOGETHER;
    if (t->space == GLOBAL) {
        u32 k = x->pattern[x->pc].segment;
        if (x->segments[k].read_only) return;
        s = &w->global[k];
        shift = x->segments[k].va;
    } else if (t->space == SHARED && (u64)(t->host + t->lo - x->cta->smem) < x->smem_bytes) {
        s = &a.c->shared[x->cta->rank];
        shift = (u64)(x->cta->smem - t->host);
    }
    a.how = how == SEEN_WRITE && order ? SEEN_ATOMIC : how;
    a.flags = how == SEEN_ATOMIC || order ? SEEN_STRONG : 0;
    a.row = row_of(w, ROW_THREAD, a.p);
    u32 record = thread_record(x, &a, m);
    if (s && !a.p->own && !order && how == SEEN_READ && (together || (kind >= UNIFORM && kind <= TWICE))) {
        a.lane = NO_LANE;
        a.value = record << 6 | SEVERAL;
        if (together) {
            for (u32 k = m; k; k &= k - 1) shadow_touch(x, &a, s, t->addr[__builtin_ctz(k)] - shift, t->bytes);
            return;
        }
        for (u32 i = 0; i < (kind == UNIFORM ? 1 : kind == HALVES ? 32 : 16); i += kind == HALVES ? 16 : 1)
            shadow_touch(x, &a, s, t->addr[i] - shift, t->bytes);
        return;
    }
    for (u32 k = m; k; k &= k - 1) {
        u32 i = (u32)__builtin_ctz(k);
        u64 offset = t->addr[i] - shift;
        Shadow *at = s;
        a.lane = i;
        a.clock = clock_of(a.p, i);
        if (!at) {
            const u8 *host = t->space == MIXED ? lane_host(x, o, t, i, how != SEEN_READ) : t->host + t->addr[i];
            if (!host) return;
            at = shadow_at(x, host, &offset);
            if (!at) continue;
            if (at->space == IN_SHARED && at->id != x->cta->rank) {
                a.p->peers |= 1u << at->id;
                a.p->peer_time[at->id] = a.p->time;
                a.p->peer_pc[at->id] = x->pc;
                a.p->peer_mask[at->id] |= 1u << i;
            }
        }
        if (UNLIKELY(a.flags & SEEN_STRONG)) {
            u64 key = (u64)(at->host + offset);
            if (how != SEEN_WRITE) {                                     // before it is looked at: it may acquire
                acquire(x, a.p, i, key, order != ORDER_ACQUIRE && order != ORDER_BOTH);
                a.clock = clock_of(a.p, i);
            }
            if (how != SEEN_READ) release(x, a.p, i, key, scope, !(order == ORDER_RELEASE || order == ORDER_BOTH));
        }
        a.value = record << 6 | i;
        a.good = a.good_reads = NONE;
        shadow_touch(x, &a, at, offset, t->bytes);
    }
    if (UNLIKELY(a.flags & SEEN_STRONG) && x->watch->nsync) a.p->time++;
}

// Beginning and end

static int has(const Ctx *x, const char *name) {
    for (u32 k = 0; k < x->nops; k++) {
        const char *n = core_op_name(x->ops[k].code);
        if (n && !strcmp(n, name)) return 1;
    }
    return 0;
}

int watch_open(Ctx *x, const u32 *info) {
    Watch *w = calloc(1, sizeof *w);
    if (!w) return 0;
    x->watch = w;
    w->info = info;
    int bulk = has(x, "bulk") || has(x, "tensor_copy"), wgmma = has(x, "wgmma"), tc = has(x, "tcgen05_mma") || has(x, "tmem_ld") || has(x, "tmem_st") || has(x, "tmem_cp");
    w->kinds = 1u << ROW_THREAD | (has(x, "cp_async") ? 1u << ROW_CP : 0) | (bulk ? 1u << ROW_BULK | 1u << ROW_BULK_READ : 0)
        | (wgmma ? 1u << ROW_WGMMA : 0) | (tc ? 7u << ROW_TC : 0);
    w->warps = x->nwarps * x->cluster[0] * x->cluster[1] * x->cluster[2];
    u32 n = 0;
    for (u32 k = 0; k < ROW_KINDS; k++) if (w->kinds >> k & 1) { w->slot[k] = n; w->kind_of[n++] = k; }
    w->barrier_row = n * w->warps;
    int mbarriers = has(x, "mbarrier_init") || has(x, "mbarrier_arrive") || has(x, "mbarrier_wait") || has(x, "mbarrier_test");
    w->rows = w->barrier_row + (mbarriers ? 2 * x->cluster[0] * x->cluster[1] * x->cluster[2] : 0);
    w->proxy_rows = bulk || wgmma || tc ? w->warps * (1 + (w->kinds >> ROW_CP & 1)) : 0;
    Record none = {0};
    w->scratch = (V32 *)aligned(sizeof(V32) * total(w));
    w->nothing = (V32 *)aligned(sizeof(V32) * total(w));
    new_record(w, &none);                                                // value 0 is nobody
    w->global = calloc(x->nsegments + 1, sizeof *w->global);
    if (!w->global || !w->records || !w->scratch || !w->nothing) return 0;
    for (u64 k = 0; k < x->nsegments; k++) {
        Segment *s = &x->segments[k];
        w->global[k] = (Shadow){s->read_only ? 0 : calloc(s->bytes / 16 + 2, sizeof(Cell)), s->bytes, s->host, IN_GLOBAL, (u32)k};
    }
    return 1;
}

void watch_close(Ctx *x) {
    Watch *w = x->watch;
    if (!w) return;
    for (u64 k = 0; w->global && k < x->nsegments; k++) free(w->global[k].cells);
    free(w->global);
    for (u32 k = 0; k < 4096; k++)
        for (Sync *s = w->sync[k], *next; s; s = next) {
            next = s->next;
            release_aligned(s->clock);
            free(s->clusters);
            free(s);
        }
    for (u32 k = 0; k < w->nspare; k++) release_aligned(w->spare[k]);
    for (u32 k = 0; k < w->ndone; k++) {
        for (u32 i = 0; i < w->done[k].nforeign; i++) release_aligned(w->done[k].foreign[i].rows);
        free(w->done[k].foreign);
    }
    release_aligned(w->scratch);
    release_aligned(w->nothing);
    free(w->done); free(w->spare); free(w->records); free(w->kids); free(w->nodes);
    free(w);
    x->watch = 0;
}

void watch_start(Ctx *x, Cluster *cluster) {
    Watch *w = x->watch;
    WatchCluster *c = calloc(1, sizeof *c);
    if (!c) abort();
    cluster->watch = c;
    c->id = (u32)cluster->id;
    c->warps = w->warps;
    c->warp = (Watched *)aligned(sizeof *c->warp * w->warps);
    for (u32 k = 0; k < cluster->size; k++) {
        c->slot[k] = calloc(x->smem_bytes / 8 + 2, 2);
        c->shared[k] = (Shadow){calloc(x->smem_bytes / 16 + 2, sizeof(Cell)), x->smem_bytes, cluster->cta[k]->smem, IN_SHARED, k};
        c->tensor[k] = (Shadow){w->kinds >> ROW_TC & 1 ? calloc(8 * 512 / 4 + 2, sizeof(Cell)) : 0, 8 * 512 * 4, 0, IN_TENSOR, k};
        for (u32 i = 0; i < x->nwarps; i++) {
            Watched *p = &c->warp[k * x->nwarps + i];
            p->cta = cluster->cta[k];
            p->index = k * x->nwarps + i;
            p->time = 1;
            p->common = new_clock(x);
            p->record = calloc(x->nops + 1, sizeof *p->record);
        }
    }
}

static void unawaited(Ctx *x, Watched *p, u32 kind) {
    u32 late = bits32((S32)(p->newest[kind] > __builtin_elementwise_max(p->done[kind], p->tracked[kind])));
    if (!late) return;
    u32 pc = x->pc, lane = (u32)__builtin_ctz(late);
    Cta *cta = x->cta;
    Warp *warp = x->warp;
    x->cta = p->cta; x->warp = &p->cta->warps[p->index % p->cta->nwarps]; x->pc = p->newest_pc[kind];
    Agent a = agent_of(x, lane);
    a.kind = kind;
    watch_found(x, FOUND_UNAWAITED, &a, 0, 0, 0, 0);
    x->pc = pc; x->cta = cta; x->warp = warp;
}

// A CTA has ended: what its threads started has to have been waited for, and no peer may still use its memory.
void watch_end(Ctx *x, Cta *cta) {
    Watch *w = x->watch;
    WatchCluster *c = cluster_of(cta);
    static const u8 kinds[] = {ROW_CP, ROW_BULK_READ, ROW_WGMMA, ROW_TC};
    c->ended |= 1u << cta->rank;
    settle_doubts(x);
    for (u32 i = 0; i < cta->nwarps; i++)
        for (u32 k = 0; k < sizeof kinds; k++)
            if (w->kinds >> kinds[k] & 1) unawaited(x, &c->warp[cta->rank * cta->nwarps + i], kinds[k]);
    for (u32 k = 0; k < c->nbarriers; k++) {
        Barriers *b = &c->barriers[k];
        if (b->rank != cta->rank || !b->copies || b->waited >= b->copies) continue;
        Watched *p = &c->warp[b->by];
        u32 pc = x->pc;
        Cta *keep = x->cta;
        Warp *warp = x->warp;
        x->cta = p->cta; x->warp = &p->cta->warps[p->index % p->cta->nwarps]; x->pc = b->pc;
        Agent a = agent_of(x, 0);
        a.kind = ROW_MBARRIER;
        watch_found(x, FOUND_UNAWAITED_BARRIER, &a, 0, 0, &c->shared[cta->rank], b->at - x->smem_start);
        x->pc = pc; x->cta = keep; x->warp = warp;
    }
    for (u32 i = 0; i < c->warps; i++) {                                 // does any thread of it know of the last use?
        Watched *p = &c->warp[i];
        if (p->cta == cta || !(p->peers >> cta->rank & 1)) continue;
        u32 known = 0, mask = p->peer_mask[cta->rank];
        for (u32 k = 0; k < cta->nwarps; k++) {
            Watched *own = &c->warp[cta->rank * cta->nwarps + k];
            known |= bits32((S32)(own->common[i] >= p->peer_time[cta->rank]));
            for (u32 m = own->own; m; m &= m - 1) known |= bits32((S32)(own->lane[__builtin_ctz(m)][i] >= p->peer_time[cta->rank]));
        }
        if (!(mask & ~known)) continue;
        Cta *keep = x->cta;
        Warp *warp = x->warp;
        u32 pc = x->pc;
        x->cta = p->cta; x->warp = &p->cta->warps[p->index % p->cta->nwarps]; x->pc = p->peer_pc[cta->rank];
        Agent a = agent_of(x, (u32)__builtin_ctz(mask & ~known));
        watch_found(x, FOUND_PEER, &a, 0, 0, &c->shared[cta->rank], 0);
        x->pc = pc; x->cta = keep; x->warp = warp;
    }
}

void watch_stop(Ctx *x, Cluster *cluster) {
    Watch *w = x->watch;
    WatchCluster *c = cluster->watch;
    if (!c) return;
    for (u32 k = 0; k < c->warps; k++) {
        Watched *p = &c->warp[k];
        free_clock(w, p->common);
        for (u32 i = 0; i < LANES; i++) free_clock(w, p->lane[i]);
        for (u32 i = 0; i <= LANES; i++) { free_clock(w, p->after[i]); free_clock(w, p->fence[i]); free_clock(w, p->read[i]); }
        free(p->record);
        free(p->later);
    }
    release_aligned(c->warp);
    for (u32 k = 0; k < cluster->size; k++) {
        for (u32 id = 0; id < 16; id++) free_clock(w, c->bar[k][id]);
        shadow_forget(w, &c->shared[k], 0, c->shared[k].bytes);
        shadow_forget(w, &c->tensor[k], 0, c->tensor[k].bytes);
        free(c->slot[k]);
        free(c->shared[k].cells);
        free(c->tensor[k].cells);
    }
    for (u32 k = 0; k < c->nbarriers; k++) { free_clock(w, c->barriers[k].pending); free_clock(w, c->barriers[k].done); }
    if (c->nforeign) {                                                   // those who come later may learn of it
        Ended *more = realloc(w->done, (w->ndone + 1) * sizeof *more);
        if (!more) abort();
        w->done = more;
        w->done[w->ndone++] = (Ended){c->id, c->nforeign, c->foreign};
    }
    free(c->barriers);
    free_clock(w, c->arrived);
    free_clock(w, c->met);
    free(c);
    cluster->watch = 0;
}

// Findings: how many; one as words, see sim/watch.py. -> 0: there is none.
u32 core_found(const Ctx *x, u32 k, u64 *out) {
    const Watch *w = x->watch;
    if (!w || k >= w->nfound) return 0;
    const Found *f = &w->found[k];
    u64 all[] = {f->rule, f->pc[0] == NONE ? NONE : x->ops[f->pc[0]].instr, x->ops[f->pc[1]].instr, f->how[0], f->how[1], f->kind[0], f->kind[1],
                 f->thread[0], f->thread[1], f->space, f->place, f->count, f->cta, f->offset, w->full};
    memcpy(out, all, sizeof all);
    return 1;
}
