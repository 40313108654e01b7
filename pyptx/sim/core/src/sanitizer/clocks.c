// Vector clocks. See sanitizer.h.
#include "sanitizer/clocks.h"

V32 *new_clock(Ctx *x) {
    Sanitizer *w = x->sanitizer;
    u64 bytes = sizeof(V32) * total(w);
    V32 *v = w->nspare ? w->spare[--w->nspare] : 0;
    if (!v) {
        v = (V32 *)aligned(bytes);
        if (!v) { sanitizer_no_memory(x); v = w->last; }
        else if ((w->clock_bytes += bytes) > w->most_bytes) sanitizer_full(x);
    }
    memset(v, 0, bytes);
    return v;
}
void free_clock(Sanitizer *w, V32 *v) {
    if (!v || v == w->last) return;
    if (!sanitizer_room(&w->spare, &w->spare_room, w->nspare, 256, sizeof *w->spare)) { release_aligned(v); return; }
    w->spare[w->nspare++] = v;
}

V32 *own_clock(Ctx *x, SanitizerWarp *p, u32 lane) {
    if (!(p->own >> lane & 1)) {
        if (!p->lane[lane]) p->lane[lane] = new_clock(x);
        memcpy(p->lane[lane], p->common, sizeof(V32) * total(x->sanitizer));
        p->own |= 1u << lane;
    }
    return p->lane[lane];
}

// Join the lanes' own times to a clock.
void give_own(Ctx *x, const SanitizerWarp *p, u32 m, V32 *to) {
    Sanitizer *w = x->sanitizer;
    raise(&to[row_of(w, ROW_THREAD, p)], (V32)p->time, m);
    for (u32 k = ROW_CP_ASYNC; k < ROW_KINDS; k++)
        if (w->kinds >> k & 1) raise(&to[row_of(w, k, p)], p->done[k], k == ROW_WGMMA ? ALL : m);
    if (m & p->inits) {                                                  // its initializations of mbarriers
        const SanitizerCluster *c = cluster_of(p->cta);
        for (u32 k = 0; k < c->nbarriers; k++) {
            const SanitizerMbarrier *b = &c->barriers[k];
            u32 *time = &((u32 *)&to[b->row])[b->lane];
            if (b->init_by == p->index && m >> b->init_lane & 1 && *time < b->first) *time = b->first;
        }
    }
    if (!w->proxy_rows) return;
    raise(&to[w->rows + p->index], p->fenced[0], m);
    if (w->kinds >> ROW_CP_ASYNC & 1) raise(&to[w->rows + w->warps + p->index], p->fenced[1], m);
    if (w->tensor_rows) for (u32 k = ROW_TCGEN05; k <= ROW_TCGEN05_ST; k++) raise(&to[tensor_row(w, k, p)], p->before[k - ROW_TCGEN05], m);
}
// Join the lanes' own times and their clocks to a clock.
void give(Ctx *x, const SanitizerWarp *p, u32 m, V32 *to) {
    if (m & ~p->own) join(to, p->common, total(x->sanitizer));
    for (u32 k = m & p->own; k; k &= k - 1) join(to, p->lane[__builtin_ctz(k)], total(x->sanitizer));
    give_own(x, p, m, to);
}
// Join the lane's clock at its last memory fence of at least this scope.
void give_fence(Ctx *x, const SanitizerWarp *p, u32 lane, u32 scope, V32 *to) {
    Sanitizer *w = x->sanitizer;
    u32 level = scope < LEVELS ? scope : LEVELS - 1;
    const V32 *own = p->fence[level][lane], *all = p->fence[level][LANES];
    if (own) join(to, own, total(w));
    if (!all) return;
    join(to, all, total(w));
    for (u32 k = 0; k < ROW_KINDS; k++) if (w->kinds >> k & 1) raise(&to[row_of(w, k, p)], p->fence_own[level][k], 1u << lane);
}
void take(Ctx *x, SanitizerWarp *p, u32 m, const V32 *from) {
    Sanitizer *w = x->sanitizer;
    if ((m & live(p)) == live(p)) {
        join(p->common, from, total(w));
        for (u32 k = m & p->own; k; k &= k - 1) join(p->lane[__builtin_ctz(k)], from, total(w));
    } else for (u32 k = m; k; k &= k - 1) join(own_clock(x, p, (u32)__builtin_ctz(k)), from, total(w));
    p->time++;
}
// The same, if `from` includes all that the lanes know.
void take_all(Ctx *x, SanitizerWarp *p, u32 m, const V32 *from) {
    if ((m & live(p)) != live(p)) { take(x, p, m, from); return; }
    join(p->common, from, total(x->sanitizer));
    p->own = 0;
    p->time++;
}
