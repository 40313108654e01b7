// mbarriers: each has a clock that arrivals are joined to, and one of the phases that are over, which waits take. See
// watch.h.
#include "clocks.h"

Barriers *barrier_at(Ctx *x, Cta *at, u32 barrier) {
    WatchCluster *c = cluster_of(at);
    u16 *slot = &c->slot[at->rank][(barrier - x->smem_start) / 8];
    if (!*slot) {
        if (!watch_room(&c->barriers, &c->barriers_room, c->nbarriers, 32, sizeof *c->barriers)) {
            watch_no_memory(x);
            x->watch->nobody = (Barriers){.pending = x->watch->last, .done = x->watch->last, .at = barrier, .rank = at->rank, .row = x->watch->barrier_row};
            return &x->watch->nobody;
        }
        u32 n = c->nbarriers++, rows = x->watch->rows - x->watch->barrier_row;
        c->barriers[n] = (Barriers){.pending = new_clock(x), .done = new_clock(x), .at = barrier, .rank = at->rank,
                                    .row = x->watch->barrier_row + n / LANES % rows, .lane = n % LANES};
        *slot = (u16)(n + 1);
    }
    return &c->barriers[*slot - 1];
}

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
    b->first = b->phase;
}
void watch_inval(Ctx *x, Cta *at, u32 barrier, u32 lane) { barrier_word(x, at, barrier, lane, SEEN_WRITE, 0); }

void watch_signal(Ctx *x, Cta *at, u32 barrier, u32 lane, u32 kind) {
    Barriers *b = barrier_at(x, at, barrier);
    Watched *p = watched(x);
    Watch *w = x->watch;
    barrier_word(x, at, barrier, lane, SEEN_ATOMIC, 0);
    if (kind == ROW_THREAD && at != x->cta) uses_peer(x, p, at->rank, lane);
    give(x, p, 1u << lane, b->pending);
    if (kind != ROW_CP && kind != ROW_TC) return;
    raise(&b->pending[row_of(w, kind, p)], p->newest[kind], 1u << lane); // all so far
    if (kind == ROW_TC) raise(&b->pending[tensor_row(w, kind, p)], p->newest[kind], 1u << lane);
    raise(&p->tracked[kind], p->newest[kind], 1u << lane);
}
void watch_signalled(Ctx *x) { watched(x)->time++; }

void watch_phase(Ctx *x, Cta *at, u32 barrier) {
    Barriers *b = barrier_at(x, at, barrier);
    b->phase++;
    b->over_pc = x->pc;
    b->over_by = watched(x)->index;
    join(b->done, b->pending, total(x->watch));
    memset(b->pending, 0, sizeof(V32) * total(x->watch));
    ((u32 *)&b->done[b->row])[b->lane] = b->phase;
}
// A thread that knows of n phases waits for phase n, or, by its parity, for the one before, which is over. When phase
// n + 1 is over as well, phases have passed that it did not wait for: the parity says nothing, or the wait goes on for a
// later one.
void watch_asks(Ctx *x, Cta *at, u32 barrier, u32 lane, u32 parity) {
    Barriers *b = barrier_at(x, at, barrier);
    u32 known = ((const u32 *)&clock_of(watched(x), lane)[b->row])[b->lane];
    if (known < b->first) known = b->first;
    if ((known & 1) != parity || b->phase < known + 2) return;
    Agent a = agent_of(x, lane);
    a.how = SEEN_READ;
    Record over = {.pc = b->over_pc, .how = SEEN_WRITE, .by = (u16)b->over_by, .mask = 1, .row = (u16)b->over_by, .cluster = a.c->id};
    watch_found(x, FOUND_MISSED, &a, &over, 0, &a.c->shared[at->rank], barrier - x->smem_start);
}
void watch_waited(Ctx *x, Cta *at, u32 barrier, u32 lanes) {
    Barriers *b = barrier_at(x, at, barrier);
    barrier_word(x, at, barrier, (u32)__builtin_ctz(lanes), SEEN_ATOMIC, 0);
    b->waited = b->phase;
    take(x, watched(x), lanes, b->done);
}
