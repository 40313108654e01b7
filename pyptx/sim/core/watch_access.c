// Accesses of lanes: which memory, in which order, and what they release and acquire. See watch.h.
#include "clocks.h"

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
            if (at->space == IN_SHARED && at->id != x->cta->rank) uses_peer(x, a.p, at->id, i);
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
