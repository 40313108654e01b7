// mbarriers: each has a clock that arrivals join and one of the completed phases, which waits acquire. See sanitizer.h.
#include "sanitizer/clocks.h"

SanitizerMbarrier *mbarrier_clocks(Ctx *x, Cta *at, u32 barrier) {
    SanitizerCluster *c = cluster_of(at);
    u16 *slot = &c->slot[at->rank][(barrier - x->smem_start) / 8];
    if (!*slot) {
        if (!sanitizer_room(&c->barriers, &c->barriers_room, c->nbarriers, 32, sizeof *c->barriers)) {
            sanitizer_no_memory(x);
            x->sanitizer->placeholder = (SanitizerMbarrier){.pending = x->sanitizer->last, .done = x->sanitizer->last, .at = barrier, .rank = at->rank, .row = x->sanitizer->barrier_row};
            return &x->sanitizer->placeholder;
        }
        u32 n = c->nbarriers++, rows = x->sanitizer->rows - x->sanitizer->barrier_row;
        c->barriers[n] = (SanitizerMbarrier){.pending = new_clock(x), .done = new_clock(x), .at = barrier, .rank = at->rank,
                                    .own_pending = x->sanitizer->narrow_waits ? new_clock(x) : 0, .own_done = x->sanitizer->narrow_waits ? new_clock(x) : 0,
                                    .row = x->sanitizer->barrier_row + n / LANES % rows, .lane = n % LANES};
        *slot = (u16)(n + 1);
    }
    return &c->barriers[*slot - 1];
}

void sanitizer_init_mbarrier(Ctx *x, Cta *at, u32 barrier, u32 lane) {
    SanitizerMbarrier *b = mbarrier_clocks(x, at, barrier);
    sanitizer_warp(x)->inits |= 1u << lane;
    b->init_pc = x->pc;
    b->init_by = sanitizer_warp(x)->index;
    b->init_lane = lane;
    b->init_time = sanitizer_warp(x)->time;
    b->fenced = b->released = 0;
    b->phase += 2 + (b->phase & 1);                                      // earlier phases are complete
    b->waited = b->copies = b->remote[0] = b->remote[1] = 0;
    b->first = b->phase;
    barrier_word(x, at, barrier, lane, SEEN_WRITE, SEEN_MBARRIER);
}
void sanitizer_inval_mbarrier(Ctx *x, Cta *at, u32 barrier, u32 lane) { barrier_word(x, at, barrier, lane, SEEN_WRITE, 0); }

void sanitizer_signal(Ctx *x, Cta *at, u32 barrier, u32 lane, u32 kind) {
    SanitizerMbarrier *b = mbarrier_clocks(x, at, barrier);
    SanitizerWarp *p = sanitizer_warp(x);
    Sanitizer *w = x->sanitizer;
    u32 info = info_of(x), scope = info >> 4 & 15, scoped = info >> 13 & 1, remote = kind == ROW_THREAD && at != x->cta;
    barrier_word(x, at, barrier, lane, SEEN_ATOMIC, SEEN_MBARRIER);
    if (remote) {
        access_peer(x, p, at->rank, lane);
        if (scoped && scope == SCOPE_CTA) return;                        // the scope excludes the waiting CTA
        b->remote[0] |= scoped ? REMOTE_SCOPED : REMOTE_DEFAULT;
        b->remote_pc = x->pc; b->remote_by = p->index; b->remote_lane = lane;
    }
    for (u32 own = 0; own < (b->own_pending && !remote ? 2 : 1); own++) {
        V32 *to = own ? b->own_pending : b->pending;
        if (kind == ROW_THREAD && (info & 15) == ORDER_RELAXED) { give_fence(x, p, lane, remote ? SCOPE_CLUSTER : SCOPE_CTA, to); continue; }
        give(x, p, 1u << lane, to);
        if (kind != ROW_CP_ASYNC && kind != ROW_TCGEN05) continue;
        raise(&to[row_of(w, kind, p)], p->newest[kind], 1u << lane);     // all operations so far
        if (kind == ROW_TCGEN05) raise(&to[tensor_row(w, kind, p)], p->newest[kind], 1u << lane);
        raise(&p->tracked[kind], p->newest[kind], 1u << lane);
    }
}
void sanitizer_signaled(Ctx *x) { sanitizer_warp(x)->time++; }

void sanitizer_complete_phase(Ctx *x, Cta *at, u32 barrier) {
    SanitizerMbarrier *b = mbarrier_clocks(x, at, barrier);
    b->phase++;
    b->over_pc = x->pc;
    b->over_by = sanitizer_warp(x)->index;
    b->remote[1] |= b->remote[0];
    b->remote[0] = 0;
    for (u32 own = 0; own < (b->own_pending ? 2 : 1); own++) {
        V32 *done = own ? b->own_done : b->done, *pending = own ? b->own_pending : b->pending;
        join(done, pending, total(x->sanitizer));
        memset(pending, 0, sizeof(V32) * total(x->sanitizer));
        ((u32 *)&done[b->row])[b->lane] = b->phase;
    }
}
// A thread that knows of n completed phases waits for phase n or, by parity, for the previous one, which is complete. If phase
// n + 1 is complete too, it missed a phase: the parity is ambiguous, or the wait continues for a later phase.
void sanitizer_test_phase(Ctx *x, Cta *at, u32 barrier, u32 lane, u32 parity) {
    SanitizerMbarrier *b = mbarrier_clocks(x, at, barrier);
    const SanitizerWarp *p = sanitizer_warp(x);
    u32 known = ((const u32 *)&clock_of(p, lane)[b->row])[b->lane];
    if (p->read[0][lane] && ((const u32 *)&p->read[0][lane][b->row])[b->lane] > known) known = ((const u32 *)&p->read[0][lane][b->row])[b->lane];
    if (known < b->first) known = b->first;
    if ((known & 1) != parity || b->phase < known + 2) return;
    Accessor a = accessor_of(x, lane);
    a.how = SEEN_READ;
    Record over = {.pc = b->over_pc, .how = SEEN_WRITE, .by = (u16)b->over_by, .mask = 1, .row = (u16)b->over_by, .cluster = a.c->id};
    report_finding(x, FINDING_MISSED, &a, &over, 0, &a.c->shared[at->rank], barrier - x->smem_start);
}
// An arrival of another CTA, or the wait for it, has no scope. The default, .cta, does not include the other CTA, but shipped
// kernels rely on the order.
static void default_scope(Ctx *x, Cta *at, SanitizerMbarrier *b, u32 lane) {
    Accessor a = accessor_of(x, lane);
    a.how = SEEN_READ;
    a.value = lane;
    Record arrival = {.pc = b->remote_pc, .how = SEEN_ATOMIC, .by = (u16)b->remote_by, .mask = 1u << b->remote_lane, .row = (u16)b->remote_by, .cluster = a.c->id};
    report_finding(x, FINDING_DEFAULT_SCOPE, &a, &arrival, b->remote_lane, &a.c->shared[at->rank], b->at - x->smem_start);
    b->remote[1] = 0;                                                       // once for each phase
}
void sanitizer_wait_phase(Ctx *x, Cta *at, u32 barrier, u32 lanes) {
    SanitizerMbarrier *b = mbarrier_clocks(x, at, barrier);
    SanitizerWarp *p = sanitizer_warp(x);
    barrier_word(x, at, barrier, (u32)__builtin_ctz(lanes), SEEN_ATOMIC, SEEN_MBARRIER);
    b->waited = b->phase;
    u32 info = info_of(x), scoped = info >> 13 & 1, narrow = scoped && (info >> 4 & 15) == SCOPE_CTA;
    const V32 *own = b->own_done ? b->own_done : b->done;
    if (!narrow && b->remote[1] & (scoped ? REMOTE_DEFAULT : REMOTE_DEFAULT | REMOTE_SCOPED)) default_scope(x, at, b, (u32)__builtin_ctz(lanes));
    if ((info & 15) != ORDER_RELAXED) { take(x, p, lanes, narrow ? own : b->done); return; }
    for (u32 k = lanes; k; k &= k - 1) {                                 // for the next fence, of CTA scope or of a wider one
        join(know(x, &p->read[0][__builtin_ctz(k)]), own, total(x->sanitizer));
        if (!narrow && own != b->done) join(know(x, &p->read[1][__builtin_ctz(k)]), b->done, total(x->sanitizer));
    }
    p->time++;
}
