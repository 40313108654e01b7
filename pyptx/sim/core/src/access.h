// A memory access of a warp whose addresses have been checked.
#ifndef PYPTX_ACCESS_H
#define PYPTX_ACCESS_H
#include "core.h"

enum { SCATTERED, CONTIGUOUS, UNIFORM, HALVES, TWICE };                  // HALVES: lanes 0-15 and 16-31 are each uniform;
                                                                        // TWICE: both halves access the same 16 consecutive elements
typedef struct {
    u64 addr[LANES] __attribute__((aligned(128)));
    u64 host;                   // the memory of a lane is at host + addr[lane] + lane * stride (modulo 2^64)
    u64 lo, stride, window;
    u32 space, bytes, kind, writes, remote;    // remote: SPACE_MIXED, all of it in shared memory of the cluster
    Pattern *pattern;
} Access;

static inline u8 *host_at(u64 host, u64 address) { return (u8 *)(uintptr_t)(host + address); }
static inline u8 *host_of_lane(const Access *t, u32 lane) { return host_at(t->host, t->addr[lane] + lane * t->stride); }

int resolve(Ctx *x, const Op *o, u32 m, Access *t, int writes);          // 0: a fault was raised
u8 *lane_host(Ctx *x, const Op *o, Access *t, u32 lane, int writes);     // for SPACE_MIXED
Segment *segment_of(Ctx *x, u64 va, u64 bytes);                           // NULL: not within one segment
void account(Ctx *x, const Op *o, u32 m, Access *t);
u32 wavefronts(const u64 *addr, u32 m, u32 bytes);                        // of shared memory, beyond one for each phase
#endif
