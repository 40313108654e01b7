// Memory accesses of lanes, with their ordering, releases and acquires. See sanitizer.h.
#include "sanitizer/clocks.h"


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
            return &x->sanitizer->global[k];
        }
    return 0;
}

// The union of the lanes' bytes as spans in ascending order.
static void find_spans(Shape *s) {
    u32 order[LANES];
    for (u32 i = 0; i < LANES; i++) {
        u32 k = i;
        for (; k && s->offset[order[k - 1]] > s->offset[i]; k--) order[k] = order[k - 1];
        order[k] = i;
    }
    s->nspans = 0;
    s->apart = 1;
    for (u32 i = 0, end = 0; i < LANES; i++) {
        u32 at = s->offset[order[i]];
        if (i && at < end) s->apart = 0;
        if (i && at <= end) { if (at + s->bytes > end) end = at + s->bytes; }
        else { s->span[s->nspans++].at = at; end = at + s->bytes; }
        s->span[s->nspans - 1].bytes = end - s->span[s->nspans - 1].at;
    }
}

// The number of the shape formed by the lanes' addresses; NONE: the table is full.
static u32 shape_of(Ctx *x, V32 offset, u32 bytes, u32 second) {
    Sanitizer *w = x->sanitizer;
    u32 *newest = &w->shape[2 * x->pc + second];
    for (u32 k = *newest, again = 0; k < w->nshapes; k = again++) {      // the newest of the operation, then all others
        const Shape *s = &w->shapes[k];
        if (s->bytes == bytes && !__builtin_reduce_or(s->offset ^ offset)) return *newest = k;
    }
    if (w->nshapes == MOST_SHAPES) return NONE;
    Shape *s = &w->shapes[w->nshapes];
    s->offset = offset;
    s->bytes = bytes;
    find_spans(s);
    return *newest = w->nshapes++;
}

// An access by 32 lanes, whose record is `record`; `lowest` is the offset of the lowest lane.
static void touch_shape(Ctx *x, Accessor *a, Shadow *s, u64 lowest, u32 record) {
    const Shape *shape = &x->sanitizer->shapes[a->shape];
    a->value = record << 6 | PLACE;
    for (u32 i = 0; i < shape->nspans; i++) {
        u64 at = lowest + shape->span[i].at, n = shape->span[i].bytes;
        if (a->how == SEEN_READ && s->readers && !((at | n) & 15)) shadow_read_whole(x, a, s, at, n); else shadow_touch(x, a, s, at, n);
    }
}

// Handle an access by 32 lanes with a common clock as one; `lowest` is the offset of the lowest lane. 0: handle it lane by lane.
static int as_one(Ctx *x, Accessor *a, Shadow *s, const Pattern *p, u64 lowest, u32 bytes) {
    u32 k = p->near && !a->p->own ? shape_of(x, p->offset, bytes, 0) : NONE;
    if (UNLIKELY(k == NONE)) return 0;
    a->wide = 1;
    a->lane = NO_LANE;
    a->base = (u32)lowest;
    a->shape = k;
    touch_shape(x, a, s, lowest, thread_record(x, a, ALL));
    return 1;
}

// cp.async by 32 lanes from one array, whose lowest lane reads at `from`. 0: handle it lane by lane.
int sanitizer_cp_async(Ctx *x, const Pattern *p, u64 from, V32 to, u32 bytes) {
    Sanitizer *w = x->sanitizer;
    const Segment *segment = &x->segments[p->segment];
    Accessor a = accessor_of(x, 0);
    V32 group = a.p->groups[ROW_CP_ASYNC];
    u32 lowest = __builtin_reduce_min(to);
    if (!p->near || a.p->own || __builtin_reduce_or(group ^ group[0])) return 0;
    u32 read = shape_of(x, p->offset, bytes, 0), write = shape_of(x, to - lowest, bytes, 1);
    if (read == NONE || write == NONE) return 0;
    a.wide = 1;
    a.lane = NO_LANE;
    a.kind = ROW_CP_ASYNC;
    a.row = row_of(w, ROW_CP_ASYNC, a.p);
    a.p->newest[ROW_CP_ASYNC] = group + 1;
    a.p->newest_pc[ROW_CP_ASYNC] = x->pc;
    Accessor both[2] = {a, a};
    for (u32 k = 0; k < 2; k++) {
        Accessor *one = &both[k];
        one->how = k ? SEEN_WRITE : SEEN_READ;
        one->base = k ? lowest : (u32)(from - segment->va);
        one->shape = k ? write : read;
        Record r = record_of(x, one, ALL);
        r.time = group[0] + 1;
        Shadow *s = k ? &a.c->shared[x->cta->rank] : &w->global[p->segment];
        if (s->cells && !w->full) touch_shape(x, one, s, k ? lowest : from - segment->va, new_record(x, &r));
    }
    return 1;
}

// Accesses by the fast steps of loads and stores: weak, by all lanes, to one array or to the CTA's own shared memory.
void sanitizer_fast_access(Ctx *x, const Pattern *p, int shared, const u8 *host, u32 bytes, u32 how) {
    Sanitizer *w = x->sanitizer;
    if (UNLIKELY(w->full)) return;
    if (UNLIKELY(w->ndoubts)) settle_doubts(x);
    Shadow *s = shared ? &cluster_of(x->cta)->shared[x->cta->rank] : &w->global[p->segment];
    if (!s->cells) return;
    u64 lowest = (u64)(host - s->host);
    Accessor a = accessor_of(x, 0);
    a.how = how;
    a.row = row_of(w, ROW_THREAD, a.p);
    if (LIKELY(as_one(x, &a, s, p, lowest, bytes))) return;
    u32 record = thread_record(x, &a, ALL);
    for (u32 i = 0; i < LANES; i++) {
        a.lane = i;
        a.clock = clock_of(a.p, i);
        a.value = record << 6 | i;
        forget_known(x, &a);
        shadow_touch(x, &a, s, lowest + p->offset[i], bytes);
    }
}

void sanitizer_access(Ctx *x, const Op *o, u32 m, Access *t, u32 how) {
    Sanitizer *w = x->sanitizer;
    if (t->space == SPACE_LOCAL || t->space == SPACE_PARAM || t->space == SPACE_CONST || w->full) return;
    if (UNLIKELY(w->ndoubts)) settle_doubts(x);
    u32 info = w->info[o->instr], order = info & 15, scope = info >> 4 & 15;
    u32 together = how & SEEN_TOGETHER;
    Accessor a = accessor_of(x, 0);
    Shadow *s = 0;
    u64 shift = 0;
    if (UNLIKELY(how & SEEN_CACHED)) a.flags |= SEEN_IMAGE;
    how &= ~(u32)(SEEN_TOGETHER | SEEN_CACHED);
    if (t->space == SPACE_GLOBAL) {
        u32 k = t->pattern->segment;
        if (x->segments[k].read_only) return;
        s = &w->global[k];
        shift = x->segments[k].va;
    } else if (t->space == SPACE_SHARED && t->host + t->lo - (u64)(uintptr_t)x->cta->smem < x->smem_bytes) {
        s = &a.c->shared[x->cta->rank];
        shift = (u64)(uintptr_t)x->cta->smem - t->host;
    }
    a.how = how == SEEN_WRITE && order ? SEEN_ATOMIC : how;
    a.flags |= how == SEEN_ATOMIC || order ? SEEN_STRONG : 0;
    if (how == SEEN_WRITE && order) a.flags |= SEEN_STORE;
    if (a.flags & SEEN_STRONG) a.base = scope + 1;
    a.row = row_of(w, ROW_THREAD, a.p);
    if (s && m == ALL && !order && how != SEEN_ATOMIC && !together && as_one(x, &a, s, t->pattern, t->lo - shift, t->bytes)) return;
    u32 record = thread_record(x, &a, m);
    if (s && together && !a.p->own) {                                    // one address for all lanes
        a.lane = NO_LANE;
        a.value = record << 6 | SEVERAL;
        for (u32 k = m; k; k &= k - 1) {
            u64 at = t->addr[__builtin_ctz(k)] - shift;
            if (LIKELY(s->readers && m == ALL)) shadow_read_whole(x, &a, s, at, 16); else shadow_touch(x, &a, s, at, t->bytes);
        }
        return;
    }
    for (u32 k = m; k; k &= k - 1) {
        u32 i = (u32)__builtin_ctz(k);
        u64 offset = t->addr[i] - shift;
        Shadow *at = s;
        a.lane = i;
        a.clock = clock_of(a.p, i);
        if (!at) {
            const u8 *host = t->space == SPACE_MIXED ? lane_host(x, o, t, i, how != SEEN_READ) : host_at(t->host, t->addr[i]);
            if (!host) return;
            at = shadow_at(x, host, &offset);
            if (!at) continue;
            if (at->space == IN_SHARED && at->id != x->cta->rank) access_peer(x, a.p, at->id, i);
        }
        if (UNLIKELY(a.flags & SEEN_STRONG)) {
            u64 key = (u64)(at->host + offset);
            if (how != SEEN_WRITE) {                                     // before the check: it may acquire
                acquire(x, a.p, i, key, scope, order != ORDER_ACQUIRE && order != ORDER_ACQ_REL);
                a.clock = clock_of(a.p, i);
            }
            if (how != SEEN_READ) drop_releases(x, a.p, i, key, scope, how == SEEN_WRITE);
            if (how != SEEN_READ) release(x, a.p, i, key, scope, !(order == ORDER_RELEASE || order == ORDER_ACQ_REL));
        }
        a.value = record << 6 | i;
        forget_known(x, &a);
        shadow_touch(x, &a, at, offset, t->bytes);
    }
    if (UNLIKELY(a.flags & SEEN_STRONG) && x->sanitizer->nsync) a.p->time++;
}
