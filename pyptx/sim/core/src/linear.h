// Integer values that are linear in the lane and in special registers, which most addresses and bounds are.
//
// A kernel starts with operations on %tid, %ctaid and the parameters. For each of them that computes a linear form, the sum
// k0 + factor 0 * special 0 + factor 1 * special 1 + ... + kl * lane, the form is derived when the launch starts, from the sizes of the
// grid and the values of the parameters (linear_derivation.c). These operations are not executed: a warp evaluates the forms that
// other operations read, in scalars (linear.c). An address needs no more than the value of the first lane, because the distances
// between lanes are known.
#ifndef PYPTX_LINEAR_H
#define PYPTX_LINEAR_H
#include "chain.h"

enum { LINEAR_SPECIALS = 4 };                                           // in one form
enum { READ_NONE, READ_GUARDED_LOAD, READ_FIRST, READ_ALL };           // how the value is read, in rising order; the second one is late
enum { TO_32, TO_64, TO_LT, TO_LE, TO_EQ, TO_NE };                      // what a form is written as

// A form to evaluate and to write to `row`. A comparison has that of the difference.
struct Linear {
    u32 op, row, kind, read, full, terms, again;                        // full: written for all lanes; again: the terms of the one before
    i64 k0, kl;
    struct { i64 factor; u32 place, shift; } term[LINEAR_SPECIALS];     // a special register >> shift
};

// An operation with a form, and the ones after it up to the next without: the forms to write are from `d` to `c`, and the late ones,
// which only a guarded load reads that few lanes execute, from `a` to `b` of its link.
int open_linear(Ctx *x, const u8 *stop, const u8 *leader, u64 npool);    // linear_derivation.c; 0: out of memory
STEP(linear_forms);
void linear_alone(Ctx *x, u32 pc, u32 m);
void write_linears(Ctx *x, u32 first, u32 n, u32 m);                    // all lanes of `m` of these forms
#endif
