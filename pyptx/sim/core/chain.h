// Chains: a straight line of operations that a group of lanes runs without coming back to run_warp in between.
//
// Each operation has a step; a step does its work and jumps to that of the next operation (a guaranteed tail call), so
// there is one indirect jump an operation, with its own history in the branch predictor, and registers, lanes and
// context stay in machine registers. A chain ends where something other than the next operation may follow: a branch,
// a barrier, a place where lanes meet, a fault.
#ifndef PYPTX_CHAIN_H
#define PYPTX_CHAIN_H
#include "core.h"

typedef const Link *(*Step)(char *regs, const Link *f, Ctx *x, u32 m);   // where the chain ended

// What steps need of an operation, two to a cache line.
struct Link {
    Step next;                  // reached from the operation before; chain_end where lanes may meet
    u32 d, a, b, c;
    u32 pc;
    u32 same;                   // memory: an earlier operation of the line with the same address register, or NONE; fold.c
};

// What run_warp needs to enter a chain at an operation.
struct Run { Step step; u32 before, count; };                           // instructions before it; from it to the end

#define NEXT __attribute__((musttail)) return f[1].next(regs, f + 1, x, m)
#define STEP(NAME) const Link *NAME(char *regs, const Link *f, Ctx *x, u32 m)
#define AT(T, o) (*(T *)(regs + (o)))                                   // an operand known to be a register

STEP(chain_end);
Step quick_step(const Op *o);                                           // steps.c; 0: none
Step memory_step(const Op *o, const u32 *pool);                         // access.c; 0: none
Step told_step(const Op *o, const u32 *pool);                           // the same, telling the sanitizer
Step guarded_step(const Op *o, const u32 *pool);                        // the same, under a guard
int quick_writes(const Op *o, u32 row, u32 bytes);                      // may it write there? steps.c
int memory_writes(const Op *o, const u32 *pool, u32 row, u32 bytes);     // the same, of loads and stores with a step
Step together_step(const Link *f);                                      // four operations in one; steps.c
int make_folds(Ctx *x, const u8 *leader, u64 npool);                    // fold.c; 0: out of memory
int quick_narrow(const Op *o);
int quick_copies(const Op *o);
Step butterfly_step(Ctx *x, const Op *o);                               // warpops.c; 0: none
int open_chains(Ctx *x, u64 npool);                                              // 0: out of memory
void close_chains(Ctx *x);
void settle_counts(Ctx *x);
#endif
