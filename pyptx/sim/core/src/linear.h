// Integer values that are linear in the lane and in special registers: linear.c.
#ifndef PYPTX_LINEAR_H
#define PYPTX_LINEAR_H
#include "chain.h"

int open_linear(Ctx *x, const u8 *stop, const u8 *leader, u64 npool);    // 0: out of memory
void linear_alone(Ctx *x, u32 pc, u32 m);
void write_linears(Ctx *x, u32 first, u32 n, u32 m);                    // all lanes of `m` of these forms
#endif
