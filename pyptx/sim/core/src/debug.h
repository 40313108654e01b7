// A launch that can stop between instructions; its structures are in abi_structures.py.
//
// In a debugged launch each instruction is entered through debug_step, a chain that ends immediately and may set the status
// STATUS_STOPPED; core_run then returns within a turn and the next call resumes that turn. Scheduling does not depend on stops.
// Other launches have ordinary chains.
#ifndef PYPTX_DEBUG_H
#define PYPTX_DEBUG_H
#include "chain.h"
#include "async.h"

void debug_chains(Ctx *x);
int debug_turn(Ctx *x, Cta *c, Warp *w, u32 *n, u64 left);               // 1: stopped within a turn
void debug_start(Ctx *x, Cta *c);
void debug_cluster_ended(Ctx *x, Cluster *cluster);
void debug_issued(Ctx *x, Async *a);
void debug_landed(Ctx *x, const Async *a);
void debug_waited(Ctx *x, u32 lanes, u64 barrier, u32 phase);
void retire_cluster(Ctx *x, Cluster *cluster);
Cluster *reuse_retired(Ctx *x);
void debug_event(Ctx *x, u32 kind, u32 lanes, u64 a, u64 b);
#endif
