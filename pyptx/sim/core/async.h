// Asynchronous operations: copies, matrix products and arrivals that a thread starts and somebody else finishes.
//
// How to start one. Fill an Async and hand it over; all checks that can fail are made before, so that a fault names
// the instruction:
//
//     Async a = new_async(x, land, lanes);        who starts it: the warp, the operation at x->pc, these lanes
//     a.p[0] = ...; a.p[1] = ...;                 what `land` needs: host pointers, sizes, coordinates, descriptors
//     a.track = TRACK_BULK;                       a wait_group counts it; or:
//     a.at = cta; a.barrier = offset; a.tx = n;   complete_tx(n) on the mbarrier of that CTA (offset: 0x400 is the first
//     a.arrivals = 1;                             byte of shared memory), and / or so many arrivals, once it has landed
//     poison(x, host, bytes);                     what it will write, when it writes shared memory or registers
//     issue_async(x, &a);
//
// schedule=eager lands it at once, without a copy of `a`, as an operation with F_PROMPT is in every schedule. late and
// random keep it in the cluster's list until somebody
// asks for it (see below); what nobody asks for lands when its CTA ends. An operation that several CTAs receive
// (multicast) is one Async for each of them, in the order of their ranks.
//
// Landing. `land(x, a)` moves the data; x->cta, x->warp, x->pc and the register segments are those of the warp that
// started it, so that registers can be read and written (a.warp) and a fault can be raised. With a.stages = 2 it is
// called twice, first with a->stage 0 (read the source, keep it in a->data: malloc, freed for you), then with 1 (write).
// cp.async.bulk.wait_group.read asks for the first stage only. Afterwards the mbarrier is told.
// Order: operations land in any order, except that those named by a.after (bits of tracks) land before it when the same
// warp started them earlier, with a lane in common: TRACK_CP for cp.async.mbarrier.arrive, TRACK_WGMMA for wgmma.
//
// Waiting for groups never blocks: land_groups lands what a wait_group asks for, and then it is so.
//     commit_group(x, TRACK_BULK, lanes);  land_groups(x, TRACK_BULK, lanes, n, whole);  land_track(x, TRACK_TC_LD, lanes)
//
// Waiting for others does: an operation with F_WAIT (core.h) has a handler that sets x->not_yet = 1 when it cannot go
// on, having changed nothing else; the lanes then wait and the handler is asked again at the next turn of the warp.
// It is counted once. Its operands are registers or constants, no temporaries (these may be gone when it is asked again).
// Example: mbarrier.c, f_mbarrier_wait.
#ifndef PYPTX_ASYNC_H
#define PYPTX_ASYNC_H
#include "access.h"

enum { EAGER = 0, LATE = 1, RANDOM = 2 };                               // Ctx.schedule

typedef struct Async Async;
typedef void (*Land)(Ctx *x, Async *a);

struct Async {
    Async *next, *before;
    Land land;
    Cta *cta;                   // who started it
    Warp *warp;
    u32 pc, lanes;
    u32 track, group;           // what a wait_group counts it in; `group` is filled in
    u32 after;                  // bits of tracks
    u32 stage, stages;
    u32 signals, barrier;       // an mbarrier is told: its offset in the shared memory of `at`
    Cta *at;
    u32 tx, arrivals;
    u64 p[20];
    u8 *data;                   // malloc-ed, `data_bytes` of it when it is there at issue
    u64 data_bytes;
    u64 serial;                 // a debugged launch: which one of all that were started
};

Async new_async(Ctx *x, Land land, u32 lanes);
void issue_async(Ctx *x, Async *a);
void commit_group(Ctx *x, u32 track, u32 lanes);
void land_groups(Ctx *x, u32 track, u32 lanes, u32 most, u32 stages);    // all but the `most` newest; stages: 1 or 2
void land_track(Ctx *x, u32 track, u32 lanes);                          // committed or not
int track_empty(Ctx *x, u32 track, u32 lanes);                          // nothing of the warp's is under way
void land_cta(Ctx *x, Cta *cta);                                        // all that a CTA started
int land_oldest(Ctx *x, Cluster *cluster);                              // 0: there is none
void land_drawn(Ctx *x, Cluster *cluster);                              // random: one stage of one of them, perhaps
void land_for(Ctx *x, Cta *at, u32 barrier);                            // those that complete the phase of an mbarrier
void free_async(Cluster *cluster);
static inline void poison(Ctx *x, void *host, u64 bytes) { if (x->schedule != EAGER) memset(host, 0xff, bytes); }

// Memory for asynchronous operations; NULL: a fault was raised. `address` is in the shared window or, with A_GENERIC,
// generic; `owner` is the CTA of the cluster it lies in (own: only x->cta will do).
enum { ADDRESS_GENERIC = 1, ADDRESS_OWN = 2, ADDRESS_WRITES = 4 };
// The address of an operation with `a`, `imm` and A_64, A_NONE as loads have them; A_OWN, A_ANY below in `mod`.
u64 lane_address(Ctx *x, const Op *o, u32 lane);
u8 *shared_place(Ctx *x, u32 lane, u64 address, u64 bytes, u64 align, u32 flags, Cta **owner);
u8 *global_place(Ctx *x, u32 lane, u64 address, u64 bytes, u64 align, u32 flags);

// mbarrier.c. `barrier`: offset in the shared memory of the CTA. 0: a fault was raised.
int signal_mbarrier(Ctx *x, Cta *at, u32 barrier, u32 lane, u32 tx, u32 arrivals);
int check_mbarrier(Ctx *x, Cta *at, u32 barrier, u32 lane);

u64 apply_atomic(u64 old, u64 b, u64 c, u32 operation, u32 type, int ftz);                       // atomic.c

static inline u64 draw(Cluster *c) {                                    // splitmix64; reference/asynchronous.py has the same
    u64 z = c->random += 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
}
#endif
