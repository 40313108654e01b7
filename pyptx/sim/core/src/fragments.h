// Fragments: matrices distributed over the registers of a warp, gathered and scattered through tables computed by
// pyptx/sim/layouts/fragments.py. A gather table holds the source of each element of the dense matrix,
// (register * elements + element) * 32 + lane; a scatter table holds, in that order, the position of the element.
#ifndef PYPTX_TENSOR_H
#define PYPTX_TENSOR_H
#include "matrix_product.h"

enum { MAX_TILE = 16 * 128 };                                            // elements of A or B of mma and wmma

// Gather the registers `rows` into a dense matrix of `count` elements, b1 as words.
void gather_fragment(Ctx *x, const u32 *rows, u32 registers, u32 format, const u32 *table, u32 count, float *out);
// The standard accumulator of 16 rows: f32 or s32 (four registers for eight columns) or f16 (two) as [16][n] floats or
// integers, and back.
void load_accumulator(Ctx *x, const u32 *rows, u32 n, u32 format, float *out);
void store_accumulator(Ctx *x, const u32 *rows, u32 n, u32 format, const float *in);
// The same as [n][16].
void load_accumulator_across(Ctx *x, const u32 *rows, u32 n, u32 format, float *out);
void store_accumulator_across(Ctx *x, const u32 *rows, u32 n, u32 format, const float *in);
// Sparse A: `stored` [m][k / 2] as dense [m][k]; the table holds the lane and shift (lane | shift << 8) of each chunk of
// each row in the metadata register `row`.
void expand_sparse(float *out, const float *stored, u32 m, u32 k, const u32 *row, const u32 *table, u32 chunks);
int whole_warp(Ctx *x, u32 m);                                           // 0: a fault was raised
#endif
