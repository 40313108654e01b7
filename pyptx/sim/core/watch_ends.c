// What has to be over when a CTA ends: what its threads started, and the use of its memory by its peers. See watch.h.
#include "clocks.h"

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
