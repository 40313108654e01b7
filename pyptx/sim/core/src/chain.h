// Chains: a straight line of operations that a group of lanes executes without returning to run_warp.
//
// This is threaded code: each operation has a step, which executes it and tail-calls the step of the next operation. That costs
// one indirect jump per operation, with its own entry in the branch predictor, and keeps registers, lanes and context in
// machine registers. A chain ends where another operation than the next may follow: a branch, a barrier, a reconvergence
// point, a fault.
#ifndef PYPTX_CHAIN_H
#define PYPTX_CHAIN_H
#include "core.h"

typedef const Link *(*Step)(char *regs, const Link *f, Ctx *x, u32 m);   // returns the link where the chain ended

// The part of an operation that steps need; two fit in a cache line.
struct Link {
    Step next;                  // the step, or chain_end where lanes may reconverge
    u32 d, a, b, c;
    u32 pc;
    u32 same;                   // memory: an earlier operation of the line with the same address register, or NONE; fused_steps.c
};

// The data that run_warp needs to enter a chain at an operation.
struct Run {
    Step step;
    u32 before, count;          // instructions before it; from it to the end of the line
    u32 fused;                  // the first operation of the fused step that contains it, or itself
    u32 linear;                 // it has a linear form, and is not executed: linear.c
};

#define NEXT __attribute__((musttail)) return f[1].next(regs, f + 1, x, m)
#define STEP(NAME) const Link *NAME(char *regs, const Link *f, Ctx *x, u32 m)
#define AT(T, o) (*(T *)(regs + (o)))                                   // an operand that is a register

STEP(chain_end);
Step quick_step(const Op *o);                                           // arithmetic_steps.c; 0: none
Step memory_step(const Op *o, const u32 *pool);                         // memory_steps.c; 0: none
Step sanitized_step(const Op *o, const u32 *pool);                           // the same, reporting to the sanitizer
Step guarded_step(const Op *o, const u32 *pool);                        // the same, under a guard
int quick_writes(const Op *o, u32 row, u32 bytes);                      // 1: it may write these bytes; arithmetic_steps.c
int memory_writes(const Op *o, const u32 *pool, u32 row, u32 bytes);     // the same, of loads and stores with a step
Step fused_fma_step(const Link *f);                                      // four operations in one; arithmetic_steps.c
// f32 operations that fused steps execute on a running value v: v + b, v - b, v * b, a * b + v, v * b + c, ...
enum { FOLD_NONE, FOLD_ADD, FOLD_SUB, FOLD_MUL, FOLD_FMA, FOLD_HORNER, FOLD_MAX, FOLD_MIN, FOLD_EX2 };
u32 fold_kind(const Op *o);                                             // fused_steps.c; of one with FOLD_HORNER: FOLD_FMA
extern u32 load_code, store_code;                                       // memory_steps.c; operations with a smaller code write d and e only
typedef struct { u32 named, listed, last; } Uses;                        // of a row: by operations, in operand lists; the last of the former
void fuse_steps(Ctx *x, const u8 *leader, const Uses *uses);            // fused_steps.c
enum { NAMED = 11 };
u32 named_places(const Op *o, const Link *f, u32 *places);              // up to NAMED fields that may name a register; chain.c
int quick_narrow(const Op *o);
int quick_copies(const Op *o);
Step butterfly_step(Ctx *x, const Op *o);                               // warp_collectives.c; 0: none
int open_chains(Ctx *x, u64 npool);                                              // 0: out of memory
void close_chains(Ctx *x);
void settle_counts(Ctx *x);
#endif
