// Fences: of memory, of proxies, of mbarriers that were initialised, of tcgen05. See watch.h.
#include "clocks.h"

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
            join(to, clock_of(p, i) + w->rows + w->proxy_rows, w->tensor_rows);
            if (to == p->after[LANES]) {
                for (u32 l = 0; l < LANES; l++) if (p->after[l]) join(p->after[l], to, w->tensor_rows);
                break;
            }
        }
        break;
    case FENCE_MAP: watch_map_release(x, m); break;
    case FENCE_BEFORE:
        if (w->tensor_rows) for (u32 k = ROW_TC; k <= ROW_TC_ST; k++) raise(&p->before[k - ROW_TC], p->done[k], m);
        break;
    default: return;
    }
    p->time++;
}
