// Fences: memory, proxy, mbarrier initialization, tcgen05. See sanitizer.h.
#include "sanitizer/clocks.h"

enum { MOST_KEPT = 256 };

// A fence makes what relaxed reads observed known, as far as its scope reaches, and heads the releases of later relaxed writes.
static void memory_fence(Ctx *x, SanitizerWarp *p, u32 m, u32 info) {
    Sanitizer *w = x->sanitizer;
    u32 order = info & 15, scope = info >> 4 & 15, levels = scope < LEVELS ? scope + 1 : LEVELS;
    int acquires = order != ORDER_RELEASE, sc = info >> 12 & 1 && has_sc(w, scope) && (scope > SCOPE_CLUSTER || w->sc_scopes & SC_CLUSTER);
    u32 id = cluster_of(p->cta)->id;
    for (u32 k = m; acquires && k; k &= k - 1) {
        u32 i = (u32)__builtin_ctz(k);
        for (u32 level = 0; level < 2 && level < levels; level++) {
            if (!p->read[level][i]) continue;
            take(x, p, 1u << i, p->read[level][i]);
            free_clock(w, p->read[level][i]);
            p->read[level][i] = 0;
        }
    }
    for (u32 k = 0; (scope >= SCOPE_GPU || sc) && k < p->nlater;) {
        if (!(m >> p->later[k].lane & 1) || p->later[k].fenced || (scope < SCOPE_GPU && p->later[k].cluster != id)) { k++; continue; }
        join_deferred(x, p, 1u << p->later[k].lane, p->later[k].key, p->later[k].cluster, acquires && !p->later[k].acquired, sc);
        if (w->sc_scopes && p->nlater < MOST_KEPT) p->later[k++].fenced = 1;         // for fence.sc of other threads
        else p->later[k] = p->later[--p->nlater];
    }
    int everybody = (m & live(p)) == live(p) && !p->own;
    if (sc) {
        SanitizerCluster *c = cluster_of(x->cta);
        for (u32 k = 0; k < c->warps; k++)                               // reads of other threads that precede this fence
            for (u32 n = 0; n < c->warp[k].nlater; n++) {
                const SanitizerWarp *q = &c->warp[k];
                if (scope < SCOPE_GPU && q->later[n].cluster != id) continue;
                u32 row = row_of(w, ROW_THREAD, q), lanes = 0;
                if (m & ~p->own && ((const u32 *)&p->common[row])[q->later[n].lane] >= q->later[n].time) lanes = m & ~p->own;
                for (u32 o = m & p->own; o; o &= o - 1)
                    if (((const u32 *)&p->lane[__builtin_ctz(o)][row])[q->later[n].lane] >= q->later[n].time) lanes |= o & -o;
                if (lanes) join_deferred(x, p, lanes, q->later[n].key, q->later[n].cluster, 0, 1);
            }
        for (u32 k = everybody ? 1 : m; k; k &= k - 1) {
            u32 i = (u32)__builtin_ctz(k);
            V32 *v = everybody ? p->common : own_clock(x, p, i);
            for (u32 level = SCOPE_CLUSTER; level <= scope && level <= SCOPE_GPU; level++) {
                if (level == SCOPE_GPU && sc_row(w, level) == sc_row(w, SCOPE_CLUSTER)) break;   // the same rows
                V32 *at = v + sc_row(w, level);
                join(at, v, w->rows);
                raise(&at[row_of(w, ROW_THREAD, p)], (V32)p->time, everybody ? m : 1u << i);
                for (u32 r = ROW_CP_ASYNC; r < ROW_KINDS; r++) if (w->kinds >> r & 1) raise(&at[row_of(w, r, p)], p->done[r], everybody ? m : 1u << i);
            }
        }
    }
    everybody = everybody && !(m & p->inits);
    if (order == ORDER_ACQUIRE) return;
    for (u32 level = 0; level < levels; level++) {
        for (u32 k = m; k; k &= k - 1) {
            u32 i = (u32)__builtin_ctz(k);
            if (everybody) { free_clock(w, p->fence[level][i]); p->fence[level][i] = 0; }
            else give(x, p, 1u << i, know(x, &p->fence[level][i]));
        }
        if (!everybody) continue;
        join(know(x, &p->fence[level][LANES]), p->common, total(w));
        raise(&p->fence_own[level][ROW_THREAD], (V32)p->time, m);
        for (u32 k = ROW_CP_ASYNC; k < ROW_KINDS; k++) raise(&p->fence_own[level][k], p->done[k], m);
    }
}

// Fences that follow writes of other CTAs: the copies of those writes need one in their own CTA.
static void remember_proxy_fence(Ctx *x, SanitizerWarp *p, u32 m) {
    Sanitizer *w = x->sanitizer;
    if (cluster_of(p->cta)->warps == x->nwarps && !cluster_of(p->cta)->nforeign) return;
    V32 *clock = know(x, &p->proxy_fence[1].clock);
    p->proxy_fence[1] = p->proxy_fence[0];
    memset(clock, 0, sizeof(V32) * total(w));
    give(x, p, m, clock);
    p->proxy_fence[0].clock = clock;
    p->proxy_fence[0].time = (V32)p->time;
    p->proxy_fence[0].mask = m;
}

void sanitizer_fence(Ctx *x, const Op *o, u32 m) {
    Sanitizer *w = x->sanitizer;
    SanitizerWarp *p = sanitizer_warp(x);
    if (!m) return;
    u32 info = w->info[o->instr];
    switch (info >> 8 & 15) {
    case FENCE_MEMORY: memory_fence(x, p, m, info); break;
    case FENCE_PROXY:
        if (!w->proxy_rows) break;
        for (u32 pass = 0; pass < 2; pass++) {                           // own clocks, then the common one
            for (u32 k = pass ? m & ~p->own : m & p->own; k; k &= k - 1) {
                V32 *v = pass ? p->common : p->lane[__builtin_ctz(k)];
                if (pass && (m & live(p)) != live(p)) v = own_clock(x, p, (u32)__builtin_ctz(k));
                join(v + w->rows, v, w->warps);
                if (w->kinds >> ROW_CP_ASYNC & 1) join(v + w->rows + w->warps, v + w->slot[ROW_CP_ASYNC] * w->warps, w->warps);
                if (pass && v == p->common) break;
            }
        }
        raise(&p->fenced[0], (V32)p->time, m);
        raise(&p->fenced[1], p->done[ROW_CP_ASYNC], m);
        remember_proxy_fence(x, p, m);
        // fall through: it also orders the initialization of mbarriers
    case FENCE_INIT:
        for (u32 k = 0; k < cluster_of(x->cta)->nbarriers; k++) {
            SanitizerMbarrier *b = &cluster_of(x->cta)->barriers[k];
            const V32 *known = clock_of(p, (u32)__builtin_ctz(m));
            if (!(b->init_by == p->index && m >> b->init_lane & 1) && ((const u32 *)&known[b->init_by])[b->init_lane] < b->init_time
                && ((const u32 *)&known[b->row])[b->lane] < b->first) continue;
            b->fenced = 1;
            if ((info >> 8 & 15) == FENCE_INIT) b->released = 1;
        }
        break;
    case FENCE_AFTER:
        if (!(w->kinds >> ROW_TCGEN05 & 1)) break;
        for (u32 k = m; k; k &= k - 1) {
            u32 i = (u32)__builtin_ctz(k);
            V32 *to = know(x, &p->after[(m & live(p)) == live(p) && !p->own ? LANES : i]);
            join(to, clock_of(p, i) + w->rows + w->proxy_rows, w->tensor_rows);
            if (to == p->after[LANES]) {
                for (u32 l = 0; l < LANES; l++) if (p->after[l]) join(p->after[l], to, w->tensor_rows);
                break;
            }
        }
        break;
    case FENCE_MAP: sanitizer_map_release(x, m); break;
    case FENCE_BEFORE:
        if (w->tensor_rows) for (u32 k = ROW_TCGEN05; k <= ROW_TCGEN05_ST; k++) raise(&p->before[k - ROW_TCGEN05], p->done[k], m);
        break;
    default: return;
    }
    p->time++;
}
