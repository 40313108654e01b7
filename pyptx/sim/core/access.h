// A memory access of a warp after its addresses were checked.
#ifndef PYPTX_ACCESS_H
#define PYPTX_ACCESS_H
#include "core.h"

enum { GENERIC, GLOBAL, SHARED, LOCAL, CONST, PARAM, MIXED, CLUSTER };  // CLUSTER: shared memory of any CTA of the cluster
enum { SCATTERED, CONTIGUOUS, UNIFORM, HALVES, TWICE };                  // HALVES: lanes 0-15 and 16-31 each uniform;
                                                                        // TWICE: both halves the same 16 in a row
enum { A_SIGNED = 1 << 8, A_64 = 1 << 16, A_NONE = 1 << 17 };

typedef struct {
    u64 addr[LANES] __attribute__((aligned(128)));
    u8 *host;                   // host + addr[lane] + lane * stride is the memory of a lane
    u64 lo, stride, window;
    u32 space, bytes, kind, remote;    // remote: MIXED, but all of it shared memory of the cluster
    Pattern *pattern;
} Access;

int resolve(Ctx *x, const Op *o, u32 m, Access *t, int writes);          // 0: a fault was raised
u8 *lane_host(Ctx *x, const Op *o, Access *t, u32 lane, int writes);     // for MIXED
Segment *segment_of(Ctx *x, u64 va, u64 bytes);                           // NULL: not all of it in one
void account(Ctx *x, const Op *o, u32 m, Access *t);
#endif
