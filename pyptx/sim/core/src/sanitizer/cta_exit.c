// Checks at the exit of a CTA: its asynchronous operations, and accesses of its memory by peers. See sanitizer.h.
#include "sanitizer/clocks.h"

static void unawaited(Ctx *x, SanitizerWarp *p, u32 kind) {
    u32 late = bits32((S32)(p->newest[kind] > __builtin_elementwise_max(p->done[kind], p->tracked[kind])));
    if (!late) return;
    u32 pc = x->pc, lane = (u32)__builtin_ctz(late);
    Cta *cta = x->cta;
    Warp *warp = x->warp;
    x->cta = p->cta; x->warp = &p->cta->warps[p->index % p->cta->nwarps]; x->pc = p->newest_pc[kind];
    Accessor a = accessor_of(x, lane);
    a.kind = kind;
    report_finding(x, FINDING_UNAWAITED, &a, 0, 0, 0, 0);
    x->pc = pc; x->cta = cta; x->warp = warp;
}

// A CTA exited: its asynchronous operations must have been waited for, and no peer may still access its memory.
void sanitizer_end_cta(Ctx *x, Cta *cta) {
    Sanitizer *w = x->sanitizer;
    SanitizerCluster *c = cluster_of(cta);
    static const u8 kinds[] = {ROW_CP_ASYNC, ROW_BULK_READ, ROW_WGMMA, ROW_TCGEN05};
    c->ended |= 1u << cta->rank;
    settle_doubts(x);
    for (u32 i = 0; i < cta->nwarps; i++)
        for (u32 k = 0; k < sizeof kinds; k++)
            if (w->kinds >> kinds[k] & 1) unawaited(x, &c->warp[cta->rank * cta->nwarps + i], kinds[k]);
    for (u32 k = 0; k < c->nbarriers; k++) {
        SanitizerMbarrier *b = &c->barriers[k];
        if (b->rank != cta->rank || !b->copies || b->waited >= b->copies) continue;
        SanitizerWarp *p = &c->warp[b->by];
        u32 pc = x->pc;
        Cta *keep = x->cta;
        Warp *warp = x->warp;
        x->cta = p->cta; x->warp = &p->cta->warps[p->index % p->cta->nwarps]; x->pc = b->pc;
        Accessor a = accessor_of(x, 0);
        a.kind = ROW_MBARRIER;
        report_finding(x, FINDING_UNAWAITED_BARRIER, &a, 0, 0, &c->shared[cta->rank], b->at - x->smem_start);
        x->pc = pc; x->cta = keep; x->warp = warp;
    }
    for (u32 i = 0; i < c->warps; i++) {                                 // does any of its threads know of the last access?
        SanitizerWarp *p = &c->warp[i];
        if (p->cta == cta || !(p->peers >> cta->rank & 1)) continue;
        u32 known = 0, mask = p->peer_mask[cta->rank];
        for (u32 k = 0; k < cta->nwarps; k++) {
            SanitizerWarp *own = &c->warp[cta->rank * cta->nwarps + k];
            known |= bits32((S32)(own->common[i] >= p->peer_time[cta->rank]));
            for (u32 m = own->own; m; m &= m - 1) known |= bits32((S32)(own->lane[__builtin_ctz(m)][i] >= p->peer_time[cta->rank]));
        }
        if (!(mask & ~known)) continue;
        Cta *keep = x->cta;
        Warp *warp = x->warp;
        u32 pc = x->pc;
        x->cta = p->cta; x->warp = &p->cta->warps[p->index % p->cta->nwarps]; x->pc = p->peer_pc[cta->rank];
        Accessor a = accessor_of(x, (u32)__builtin_ctz(mask & ~known));
        report_finding(x, FINDING_PEER, &a, 0, 0, &c->shared[cta->rank], 0);
        x->pc = pc; x->cta = keep; x->warp = warp;
    }
}
