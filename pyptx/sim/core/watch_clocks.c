// Clocks: what each thread knows has happened. See watch.h.
#include "clocks.h"

V32 *new_clock(Ctx *x) {
    Watch *w = x->watch;
    u64 bytes = sizeof(V32) * total(w);
    V32 *v = w->nspare ? w->spare[--w->nspare] : 0;
    if (!v) {
        v = (V32 *)aligned(bytes);
        if (!v) { watch_no_memory(x); v = w->last; }
        else if ((w->clock_bytes += bytes) > w->most_bytes) watch_full(x);
    }
    memset(v, 0, bytes);
    return v;
}
void free_clock(Watch *w, V32 *v) {
    if (!v || v == w->last) return;
    if (!watch_room(&w->spare, &w->spare_room, w->nspare, 256, sizeof *w->spare)) { release_aligned(v); return; }
    w->spare[w->nspare++] = v;
}

V32 *own_clock(Ctx *x, Watched *p, u32 lane) {
    if (!(p->own >> lane & 1)) {
        if (!p->lane[lane]) p->lane[lane] = new_clock(x);
        memcpy(p->lane[lane], p->common, sizeof(V32) * total(x->watch));
        p->own |= 1u << lane;
    }
    return p->lane[lane];
}

// What lanes did themselves.
void give_own(Ctx *x, const Watched *p, u32 m, V32 *to) {
    Watch *w = x->watch;
    raise(&to[row_of(w, ROW_THREAD, p)], (V32)p->time, m);
    for (u32 k = ROW_CP; k < ROW_KINDS; k++)
        if (w->kinds >> k & 1) raise(&to[row_of(w, k, p)], p->done[k], k == ROW_WGMMA ? ALL : m);
    if (!w->proxy_rows) return;
    raise(&to[w->rows + p->index], p->fenced[0], m);
    if (w->kinds >> ROW_CP & 1) raise(&to[w->rows + w->warps + p->index], p->fenced[1], m);
    if (w->tensor_rows) for (u32 k = ROW_TC; k <= ROW_TC_ST; k++) raise(&to[tensor_row(w, k, p)], p->before[k - ROW_TC], m);
}
// That, and what they know.
void give(Ctx *x, const Watched *p, u32 m, V32 *to) {
    if (m & ~p->own) join(to, p->common, total(x->watch));
    for (u32 k = m & p->own; k; k &= k - 1) join(to, p->lane[__builtin_ctz(k)], total(x->watch));
    give_own(x, p, m, to);
}
void take(Ctx *x, Watched *p, u32 m, const V32 *from) {
    Watch *w = x->watch;
    if ((m & live(p)) == live(p)) {
        join(p->common, from, total(w));
        for (u32 k = m & p->own; k; k &= k - 1) join(p->lane[__builtin_ctz(k)], from, total(w));
    } else for (u32 k = m; k; k &= k - 1) join(own_clock(x, p, (u32)__builtin_ctz(k)), from, total(w));
    p->time++;
}
// The same, when `from` holds all that the lanes know.
void take_all(Ctx *x, Watched *p, u32 m, const V32 *from) {
    if ((m & live(p)) != live(p)) { take(x, p, m, from); return; }
    join(p->common, from, total(x->watch));
    p->own = 0;
    p->time++;
}
