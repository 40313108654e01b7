// CTA barriers. They count warps: a warp has arrived once all its live lanes have.
//
// Op of a barrier: a the id, b the thread count (NONE: all threads), c the predicate of bar.red (xor imm), d its result;
// mod: BARRIER_...
#include "sanitizer/sanitizer.h"

static void reset(Barrier *b) { memset(b, 0, sizeof *b); b->all = 1; }

static void release(Ctx *x, Cta *cta, u32 id) {
    Barrier *bar = &cta->bar[id];
    char *keep[4];
    memcpy(keep, x->base, sizeof keep);
    for (u32 w = 0; w < cta->nwarps; w++) {
        Warp *warp = &cta->warps[w];
        for (u32 g = 0; g < warp->top; g++) {
            Group *group = &warp->g[g];
            if (group->state != GROUP_BARRIER || group->barrier != id) continue;
            const Op *o = &x->ops[group->pc];
            x->base[0] = warp->regs;
            if (o->mod == BARRIER_POPC) put32(x, o->d, (V32)bar->popc, group->mask);
            else if (o->mod == BARRIER_AND) put_pred(x, o->d, bar->all ? ALL : 0, group->mask);
            else if (o->mod == BARRIER_OR) put_pred(x, o->d, bar->any ? ALL : 0, group->mask);
            if (UNLIKELY(x->sanitizer != 0)) sanitizer_leave_barrier(x, cta, warp, id, group->mask);
            group->state = GROUP_READY;
            group->pc++;
        }
    }
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_barrier_complete(x, cta, id);
    if (UNLIKELY(cta->phases != 0)) ++*phase_of(x, cta, SYNC_BARRIERS + id);
    memcpy(x->base, keep, sizeof keep);
    reset(bar);
    cta->barriers &= ~(1u << id);
}

static void recheck(Ctx *x, Cta *cta, u32 id) {
    Barrier *bar = &cta->bar[id];
    if (!bar->used) return;
    for (u32 w = 0; w < cta->nwarps; w++) {
        u32 live = cta->warps[w].live;
        if (bar->partial[w] && (bar->partial[w] & live) == live) {
            bar->arrived++;
            bar->partial[w] = 0;
        }
    }
    if (bar->arrived && bar->arrived >= (bar->count ? (bar->count + 31) / 32 : cta->left)) release(x, cta, id);
}

// Check again after lanes exited.
void recheck_barriers(Ctx *x, Cta *cta) {
    for (u32 id = 0; id < 16; id++) if (cta->barriers >> id & 1) recheck(x, cta, id);
}

void arrive_barrier(Ctx *x, const Op *o, u32 m) {
    u32 lane = (u32)__builtin_ctz(m), id = ((u32 *)R(x, o->a))[lane], count = o->b == NONE ? 0 : ((u32 *)R(x, o->b))[lane];
    if (id > 15) { raise_fault(x, FAULT_BARRIER_ID, lane, id, 0); return; }
    if (UNLIKELY(x->barriers != 0)) x->barriers[(u64)x->ninstr * (x->cta->rank * x->nwarps + x->warp->index) + o->instr] |= (u16)(1u << id);
    Barrier *bar = &x->cta->bar[id];
    if (!bar->used) { reset(bar); bar->used = 1; bar->count = count; x->cta->barriers |= 1u << id; }
    if (bar->count != count || count % 32 || (o->b != NONE && !count)) { raise_fault(x, FAULT_BARRIER_COUNT, lane, id, (u64)bar->count << 32 | count); return; }
    if (o->mod >= BARRIER_POPC) {
        u32 yes = (PRED(x, o->c) ^ (u32)o->imm) & m;
        bar->popc += (u32)__builtin_popcount(yes);
        bar->all &= yes == m;
        bar->any |= yes != 0;
    }
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_arrive_barrier(x, id, m);
    if (UNLIKELY(x->cta->phases != 0)) synchronized(x, SYNC_ARRIVES, x->cta, SYNC_BARRIERS + id, 0, m);
    Warp *w = x->warp;
    bar->partial[w->index] |= m;
    if (o->mod != BARRIER_ARRIVE) {
        Group *g = &w->g[w->cur];
        g->state = GROUP_BARRIER;
        g->barrier = id;
        g->mask = m;
        g->pc = x->pc;
    }
    recheck(x, x->cta, id);
}
