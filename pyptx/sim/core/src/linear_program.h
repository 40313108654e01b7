// The linear forms of a program, as derived (linear_derivation.c) and as planned (linear_plan.c).
#ifndef PYPTX_LINEAR_PROGRAM_H
#define PYPTX_LINEAR_PROGRAM_H
#include "linear.h"

enum { SPECIALS = LINEAR_SPECIALS };
typedef struct { u32 place, shift; i64 hi, lo; } Special;              // its values >> shift, from lo to hi
// lo, hi: the range over all threads. A 32-bit register has the form modulo 2^32.
typedef struct { i64 k0, kl, k[SPECIALS], lo, hi; } Form;

typedef struct {
    Ctx *x;
    Special special[SPECIALS];
    u32 nspecials;
    Form *form;                                                         // of each operation
    u32 *newest;                                                        // of each row of the registers: 1 + the operation with its form
    u32 *read;                                                          // of each operation: how its form is read
    u32 *writes, *first;                                                // of each row: how often it is written; 1 + the operation that names it first
    u32 *address, *loaded;      // of each load and store: 1 + the operation with the form of its address; that of what it loads into
} Forms;

u32 linear_result(const Op *o);                                         // TO_..., of an operation with a form
void read_row(Forms *s, u32 place, u32 how);
void note_names(Forms *s, u32 pc);
void plan_forms(Forms *s, u32 end, u32 found);                          // x->linear has room for `found` forms
#endif
