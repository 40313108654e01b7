// mbarriers: 8 bytes of shared memory, see MB_WORD in core.h and reference/mbarrier.py.
//
// Op: a, imm and bits 12-17 of mod the address as for loads; b the count or the bytes (32 bits, NONE: 1), or the
// phase of a wait (64 bits: the state, 32 bits: the parity); d the state or the predicate (NONE: unused); mod: MBARRIER_ flags.
#include "sanitizer/sanitizer.h"
#include "debug.h"

enum { MOST = 0xfffff, MOST_V1 = 511 };

static u8 *place_of(Ctx *x, const Op *o, u32 lane, Cta **owner, u32 *offset) {
    u64 address = lane_address(x, o, lane);
    u32 flags = ((o->mod >> 12 & 15) == SPACE_GENERIC ? ADDRESS_GENERIC : 0) | (o->mod & MBARRIER_OWN ? ADDRESS_OWN : 0);
    u8 *host = shared_place(x, lane, address, 8, 8, flags, owner);
    if (host) *offset = (u32)(host - (*owner)->smem + x->smem_start);
    return host;
}

// Add `expect` to the tx-count, subtract `complete`, count arrivals, of which `drop` leave all later phases. 0: a fault was raised.
static int update(Ctx *x, Cta *at, u32 barrier, u32 lane, i64 expect, i64 complete, i64 arrivals, i64 drop, int stays, u64 *old) {
    u8 *host = at->smem + (barrier - x->smem_start);
    u64 word, where = barrier | at->base;
    memcpy(&word, host, 8);
    if (old) *old = word;
    if (!MB_IS(word)) { raise_fault(x, FAULT_NO_MBARRIER, lane, where, word); return 0; }
    if (UNLIKELY(x->links != 0)) link_mbarrier(x, barrier, 0);
    i64 pending = MB_PENDING(word) - arrivals, expected = MB_EXPECTED(word) - drop, tx = MB_TX(word) + expect - complete;
    u32 phase = MB_PHASE(word);
    if (pending < 0 || pending > MOST || expected < 0) { raise_fault(x, FAULT_MBARRIER_UNDERFLOW, lane, where, word); return 0; }
    if (tx < -MOST || tx > MOST) { raise_fault(x, FAULT_TX_RANGE, lane, where, (u64)tx); return 0; }
    if (!pending && !tx) {
        if (stays) { raise_fault(x, FAULT_NO_COMPLETE, lane, where, word); return 0; }
        phase ^= 1;
        pending = expected;
        if (UNLIKELY(x->sanitizer != 0)) sanitizer_complete_phase(x, at, barrier);
        if (UNLIKELY(at->phases != 0)) ++*phase_of(x, at, barrier);
        if (UNLIKELY(x->debug != 0)) debug_event(x, EVENT_PHASE, 0, at->id << 32 | barrier, phase);
    }
    word = MB_WORD(pending, expected, tx, phase, MB_LAYOUT(word));
    memcpy(host, &word, 8);
    x->landed = 1;
    return 1;
}

int signal_mbarrier(Ctx *x, Cta *at, u32 barrier, u32 lane, u32 tx, u32 arrivals) {
    return update(x, at, barrier, lane, 0, tx, arrivals, 0, 0, 0);
}
int check_mbarrier(Ctx *x, Cta *at, u32 barrier, u32 lane) {
    u64 word;
    memcpy(&word, at->smem + (barrier - x->smem_start), 8);
    if (!MB_IS(word)) raise_fault(x, FAULT_NO_MBARRIER, lane, barrier | at->base, word);
    return x->status == STATUS_RUNNING;
}

static u32 count_of(Ctx *x, const Op *o, u32 lane) { return o->b == NONE ? 1 : ((const u32 *)R(x, o->b))[lane]; }

#define EACH(i, m) for (u32 rest_ = m, i; rest_ && (i = (u32)__builtin_ctz(rest_), 1); rest_ &= rest_ - 1)

static void f_mbarrier_init(Ctx *x, const Op *o, u32 m) {
    EACH(i, m) {
        Cta *at;
        u32 offset, n = count_of(x, o, i);
        u8 *host = place_of(x, o, i, &at, &offset);
        if (!host) return;
        if (n < 1 || n > (o->mod & MBARRIER_V1 ? MOST_V1 : MOST)) { raise_fault(x, FAULT_MBARRIER_COUNT, i, offset | at->base, n); return; }
        u64 word = MB_WORD(n, n, 0, 0, o->mod & MBARRIER_V1 ? 2 : 1);
        memcpy(host, &word, 8);
        if (UNLIKELY(x->sanitizer != 0)) sanitizer_init_mbarrier(x, at, offset, i);
        if (UNLIKELY(at->phases != 0)) ++*phase_of(x, at, offset);
    }
}
static void f_mbarrier_inval(Ctx *x, const Op *o, u32 m) {
    EACH(i, m) {
        Cta *at;
        u32 offset;
        u8 *host = place_of(x, o, i, &at, &offset);
        if (!host || !check_mbarrier(x, at, offset, i)) return;
        memset(host, 0, 8);
        if (UNLIKELY(x->sanitizer != 0)) sanitizer_inval_mbarrier(x, at, offset, i);
    }
}
// mbarrier.arrive, arrive_drop; expect_tx and complete_tx (MBARRIER_COMPLETE) count no arrival.
static void f_mbarrier_arrive(Ctx *x, const Op *o, u32 m) {
    EACH(i, m) {
        Cta *at;
        u32 offset, n = count_of(x, o, i), bytes = o->mod & (MBARRIER_EXPECT | MBARRIER_COMPLETE);
        i64 arrivals = bytes ? (i64)o->aux : n;
        if (!place_of(x, o, i, &at, &offset)) return;
        if (!bytes && (n < 1 || n > MOST)) { raise_fault(x, FAULT_MBARRIER_COUNT, i, offset | at->base, n); return; }
        if (bytes && n > MOST) { raise_fault(x, FAULT_TX_RANGE, i, offset | at->base, n); return; }
        u64 old;
        if (UNLIKELY(x->sanitizer != 0) && check_mbarrier(x, at, offset, i)) sanitizer_signal(x, at, offset, i, ROW_THREAD);
        if (UNLIKELY(at->phases != 0)) synchronized(x, SYNC_ARRIVES, at, offset, 0, 1u << i);
        if (!update(x, at, offset, i, o->mod & MBARRIER_EXPECT ? n : 0, o->mod & MBARRIER_COMPLETE ? n : 0, arrivals,
                    o->mod & MBARRIER_DROP ? arrivals : 0, o->mod & MBARRIER_NO_COMPLETE, &old)) return;
        if (o->d != NONE) ((u64 *)R(x, o->d))[i] = old;
    }
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_signaled(x);
}

static int is_over(Ctx *x, Cta *at, u32 offset, u32 phase) {
    u64 word;
    memcpy(&word, at->smem + (offset - x->smem_start), 8);
    return MB_PHASE(word) != phase;
}
// Lanes waited for a phase of an mbarrier, or found it complete.
static void waited(Ctx *x, Cta *at, u32 offset, u32 lanes) {
    if (!lanes) return;
    if (UNLIKELY(at->phases != 0)) synchronized(x, SYNC_WAITED, at, offset, 0, lanes);
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_wait_phase(x, at, offset, lanes);
}
// The lanes of m whose phase is complete; operations that complete it land now.
static u32 over(Ctx *x, const Op *o, u32 m) {
    u32 done = 0, alike = 0, place = 0;
    Cta *where = 0;
    EACH(i, m) {
        Cta *at;
        u32 offset, phase;
        if (!place_of(x, o, i, &at, &offset) || !check_mbarrier(x, at, offset, i)) return 0;
        if (o->mod & MBARRIER_PARITY) phase = ((const u32 *)R(x, o->b))[i] & 1;
        else phase = MB_PHASE(((const u64 *)R(x, o->b))[i]);
        if (UNLIKELY(x->links != 0)) link_mbarrier(x, offset, phase == 1 && is_over(x, at, offset, phase));
        if (UNLIKELY(x->sanitizer != 0) && o->mod & MBARRIER_PARITY) sanitizer_test_phase(x, at, offset, i, phase);
        if (!is_over(x, at, offset, phase)) {
            if (x->schedule == SCHEDULE_EAGER) continue;
            land_for(x, at, offset);
            if (x->status != STATUS_RUNNING) return 0;
            if (!is_over(x, at, offset, phase)) continue;
        }
        done |= 1u << i;
        if (UNLIKELY(x->debug != 0)) debug_waited(x, 1u << i, at->id << 32 | offset, phase);
        if (LIKELY(!x->sanitizer && !at->phases)) continue;
        if (where != at || place != offset) { waited(x, where, place, alike); alike = 0; }
        where = at; place = offset; alike |= 1u << i;
    }
    waited(x, where, place, alike);
    return done;
}
// A test or a wait that returns false in these lanes depends on the schedule.
static void not_yet(Ctx *x, u32 lanes) { if (UNLIKELY(x->synchronizations && lanes)) synchronized(x, SYNC_NOT_YET, x->cta, SYNC_BARRIERS, 0, lanes); }
static void f_mbarrier_test(Ctx *x, const Op *o, u32 m) {
    u32 done = over(x, o, m);
    not_yet(x, m & ~done);
    if (x->status == STATUS_RUNNING && o->d != NONE) put_pred(x, o->d, done, m);
}
// try_wait blocks until the phase of some lane is complete; it returns false in the other lanes, as after a timeout.
static void f_mbarrier_wait(Ctx *x, const Op *o, u32 m) {
    u32 done = over(x, o, m);
    if (x->status != STATUS_RUNNING) return;
    if (!done) x->not_yet = 1;
    else {
        not_yet(x, m & ~done);
        if (o->d != NONE) put_pred(x, o->d, done, m);
    }
}
void describe_mbarrier(Ctx *x, Cta *cta, Warp *w, const Group *g, GroupInfo *out) {
    const Op *o = &x->ops[g->pc];
    if (o->fn != f_mbarrier_wait) return;
    u32 lane = (u32)__builtin_ctz(g->mask);
    x->cta = cta;
    x->base[0] = w->regs; x->base[2] = cta->sregs; x->base[3] = w->sregs;
    u64 at = lane_address(x, o, lane) - ((o->mod >> 12 & 15) == SPACE_GENERIC ? x->shared_window : 0), offset = (at & 0xffffff) - x->smem_start;
    if (at >> RANK_SHIFT >= cta->cluster->size || offset > x->smem_bytes || x->smem_bytes - offset < 8) return;
    out->address = at;
    memcpy(&out->word, cta->cluster->cta[at >> RANK_SHIFT]->smem + offset, 8);
    out->phase = o->mod & MBARRIER_PARITY ? ((const u32 *)R(x, o->b))[lane] & 1 : MB_PHASE(((const u64 *)R(x, o->b))[lane]);
}
// Test for layout v1 (MBARRIER_V1) or v0.
static void f_mbarrier_layout(Ctx *x, const Op *o, u32 m) {
    u32 is = 0;
    EACH(i, m) {
        Cta *at;
        u32 offset;
        u64 word;
        u8 *host = place_of(x, o, i, &at, &offset);
        if (!host || !check_mbarrier(x, at, offset, i)) return;
        memcpy(&word, host, 8);
        if (MB_LAYOUT(word) == (o->mod & MBARRIER_V1 ? 2 : 1)) is |= 1u << i;
    }
    put_pred(x, o->d, is, m);
}
static void f_mbarrier_pending(Ctx *x, const Op *o, u32 m) {
    EACH(i, m) ((u32 *)R(x, o->d))[i] = (u32)MB_PENDING(((const u64 *)R(x, o->b))[i]);
}

// cp.async.mbarrier.arrive: an arrival on completion of the lane's copies; the pending count is incremented first unless
// MBARRIER_NOINC.
static void nothing(Ctx *x, Async *a) { (void)x; (void)a; }
static void f_cp_arrive(Ctx *x, const Op *o, u32 m) {
    while (m) {
        Cta *at, *other;
        u32 offset, again, same = 0, first = (u32)__builtin_ctz(m);
        if (!place_of(x, o, first, &at, &offset)) return;
        EACH(i, m) {
            if (!place_of(x, o, i, &other, &again)) return;
            if (other == at && again == offset) same |= 1u << i;
        }
        u32 n = (u32)__builtin_popcount(same);
        if (UNLIKELY(at->phases != 0)) synchronized(x, SYNC_ARRIVES, at, offset, 0, same);
        if (!(o->mod & MBARRIER_NOINC) && !update(x, at, offset, first, 0, 0, -(i64)n, 0, 0, 0)) return;
        if (!check_mbarrier(x, at, offset, first)) return;
        if (UNLIKELY(x->sanitizer != 0)) for (u32 k = same; k; k &= k - 1) sanitizer_signal(x, at, offset, (u32)__builtin_ctz(k), ROW_CP_ASYNC);
        Async a = new_async(x, nothing, same);
        a.after = 1u << TRACK_CP_ASYNC;
        a.at = at; a.barrier = offset; a.arrivals = n;
        issue_async(x, &a);
        if (x->status != STATUS_RUNNING) return;
        m &= ~same;
    }
}

#define E(n) {#n, f_##n}
const Entry mbarrier_ops[] = {E(mbarrier_init), E(mbarrier_inval), E(mbarrier_arrive), E(mbarrier_test), E(mbarrier_wait),
                              E(mbarrier_layout), E(mbarrier_pending), E(cp_arrive), {0, 0}};
