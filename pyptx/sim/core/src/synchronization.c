// A hash of how the threads of a launch synchronized: in which phase of an mbarrier or of a barrier each arrival counted and
// each wait ended. Two runs of a kernel without atomics have the same happens-before relation if their hashes are equal.
//
// The hash is a sum over lanes, so that it depends neither on the order of the threads nor on how a warp is split. Phases of
// one mbarrier or barrier only grow within a thread, so the sum need not know the order of its events. Operations that complete
// later, in any order, are told apart by the phase in which they were issued.
#include "async.h"

enum { WEIGHT = 0x9E3779B1u };

static u64 mixed(u64 v) {                                                // the finalizer of splitmix64
    v = (v ^ v >> 30) * 0xBF58476D1CE4E5B9ull;
    v = (v ^ v >> 27) * 0x94D049BB133111EBull;
    return v ^ v >> 31;
}
static u64 weight(u32 lanes) {
    u64 sum = 0;
    for (; lanes; lanes &= lanes - 1) sum += mixed((u64)__builtin_ctz(lanes) + WEIGHT) | 1;
    return sum;
}

// The number of phases that an mbarrier (its offset in shared memory) or, from SYNC_BARRIERS on, a barrier of the CTA completed.
u32 *phase_of(Ctx *x, const Cta *at, u32 place) {
    return &at->phases[place >= SYNC_BARRIERS ? x->smem_bytes / 8 + 1 + (place - SYNC_BARRIERS) : (place - x->smem_start) / 8];
}
// Lanes of a warp arrive at, wait for, or test a phase; `issued`: the phase in which an asynchronous operation was issued.
void synchronized(Ctx *x, u32 event, const Cta *at, u32 place, u32 issued, u32 lanes) {
    u64 what = mixed(at->id << 3 ^ mixed((u64)place << 3 | event)), phase = mixed((u64)issued << 32 | *phase_of(x, at, place));
    u64 who = mixed((x->cta->id << 5 | x->warp->index) ^ (u64)x->pc << 40);
    x->synchronization += mixed(what ^ mixed(phase ^ who)) * weight(lanes);
}
