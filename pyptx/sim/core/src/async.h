// Asynchronous operations: copies, matrix products and arrivals that a thread issues and the hardware completes later.
//
// Issue. Fill an Async and pass it to issue_async, after all checks that can fail, so that a fault names the instruction:
//
//     Async a = new_async(x, land, lanes);        issued by the warp for the operation at x->pc and these lanes
//     a.p[0] = ...; a.p[1] = ...;                 arguments of `land`: host pointers, sizes, coordinates, descriptors
//     a.track = TRACK_BULK;                       counted by wait_group; or:
//     a.at = cta; a.barrier = offset; a.tx = n;   complete_tx(n) on the mbarrier of that CTA (offset: 0x400 is the first
//     a.arrivals = 1;                             byte of shared memory) and/or this many arrivals on completion
//     poison(x, host, bytes);                     the destination, if it is shared memory or registers
//     issue_async(x, &a);
//
// schedule=eager completes it at issue, without a copy of `a`; so does every schedule for an operation with F_LAND_EAGERLY.
// late and random append it to the cluster's list until a wait requires it (see below) or its CTA ends. A multicast operation
// is one Async for each destination CTA, in the order of their ranks.
//
// Landing (completion). `land(x, a)` moves the data; x->cta, x->warp, x->pc and the register segments are those of the issuing
// warp, so registers can be accessed and faults raised. With a.stages = 2 it is called twice: with a->stage 0 it reads the
// source into a->data (malloc; freed by the engine), with 1 it writes. cp.async.bulk.wait_group.read requires the first stage
// only. Afterwards the mbarrier is signaled.
// Order: operations land in any order, except that operations of the tracks in a.after (a bit mask) that the same warp issued
// earlier with a common lane land first: TRACK_CP_ASYNC for cp.async.mbarrier.arrive, TRACK_WGMMA for wgmma.
//
// Waiting for groups never blocks: land_groups completes the operations that a wait_group requires.
//     commit_group(x, TRACK_BULK, lanes);  land_groups(x, TRACK_BULK, lanes, n, whole);  land_track(x, TRACK_TCGEN05_LD, lanes)
//
// Waiting for other threads does: the handler of an operation with F_WAIT (abi.py) sets x->not_yet = 1 and changes nothing
// else when it cannot proceed; the lanes then wait and the handler is retried at the next turn of the warp. It is counted
// once. Its operands are registers or constants, since temporaries may be overwritten before a retry.
// Example: mbarrier.c, f_mbarrier_wait.
#ifndef PYPTX_ASYNC_H
#define PYPTX_ASYNC_H
#include "access.h"

typedef struct Async Async;
typedef void (*Land)(Ctx *x, Async *a);

struct Async {
    Async *next, *before;
    Land land;
    Cta *cta;                   // the issuer
    Warp *warp;
    u32 pc, lanes;
    u32 track, group;           // its counter; `group` is set at issue
    u32 after;                  // bits of tracks
    u32 stage, stages;
    u32 signals, barrier;       // it signals an mbarrier: its offset in the shared memory of `at`
    Cta *at;
    u32 tx, arrivals;
    u32 phase;                  // of the mbarrier at issue, see synchronization.c
    u64 p[20];
    u8 *data;                   // malloc-ed; `data_bytes` if it is set at issue
    u64 data_bytes;
    u64 serial;                 // a debugged launch: the number of the operation
};

Async new_async(Ctx *x, Land land, u32 lanes);
void issue_async(Ctx *x, Async *a);
void commit_group(Ctx *x, u32 track, u32 lanes);
void land_groups(Ctx *x, u32 track, u32 lanes, u32 most, u32 stages);    // all but the `most` newest; stages: 1 or 2
void land_track(Ctx *x, u32 track, u32 lanes);                          // committed or not
int track_empty(Ctx *x, u32 track, u32 lanes);                          // no operation of the warp is in flight
void land_cta(Ctx *x, Cta *cta);                                        // all operations issued by a CTA
int land_oldest(Ctx *x, Cluster *cluster);                              // 0: there is none
void land_drawn(Ctx *x, Cluster *cluster);                              // random schedule: one stage of one of them, or nothing
void land_for(Ctx *x, Cta *at, u32 barrier);                            // those that complete the phase of an mbarrier
void free_async(Cluster *cluster);
static inline void poison(Ctx *x, void *host, u64 bytes) { if (x->schedule != SCHEDULE_EAGER) memset(host, 0xff, bytes); }

// Memory for asynchronous operations; NULL: a fault was raised. `address` is in the shared window or, with ADDRESS_GENERIC,
// generic; `owner` is the CTA of the cluster that owns it (ADDRESS_OWN: must be x->cta).
enum { ADDRESS_GENERIC = 1, ADDRESS_OWN = 2, ADDRESS_WRITES = 4 };
// The address of an operation with `a`, `imm` and the bits of `mod` that loads have.
u64 lane_address(Ctx *x, const Op *o, u32 lane);
u8 *shared_place(Ctx *x, u32 lane, u64 address, u64 bytes, u64 align, u32 flags, Cta **owner);
u8 *global_place(Ctx *x, u32 lane, u64 address, u64 bytes, u64 align, u32 flags);

// mbarrier.c. `barrier`: offset in the shared memory of the CTA. 0: a fault was raised.
int signal_mbarrier(Ctx *x, Cta *at, u32 barrier, u32 lane, u32 tx, u32 arrivals);
int check_mbarrier(Ctx *x, Cta *at, u32 barrier, u32 lane);

u64 apply_atomic(u64 old, u64 b, u64 c, u32 operation, u32 type, int ftz);                       // atomics.c

static inline u64 draw(Cluster *c) {                                    // splitmix64, as in reference/asynchronous.py
    u64 z = c->random += 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
}
#endif
