// The 128 bytes of a tensor map (pyptx/tensor_map/_layout.py), and copies with it.
#ifndef PYPTX_TENSOR_MAP_H
#define PYPTX_TENSOR_MAP_H
#include "core.h"

typedef struct {
    char magic[8];
    u8 version, rank, type, interleave, swizzle, atomicity, fill, promotion;
    u64 address, stride[4];     // stride[k]: bytes, of dimension k + 1; dimensions count from the innermost
    u32 last[5], box[5];        // size - 1; box of im2col: channels, pixels
    int16_t lower[3], upper[3];     // corners: w, h, d
    u8 step[5], mode, zero[14];
} TensorMap;
_Static_assert(sizeof(TensorMap) == 128, "the layout of a tensor map");

// A tensor copy as an instruction requests it.
typedef struct {
    u8 direction, mode, rank, operation;    // operation of reductions: as in atomics.c
    u8 offsets, inside, override, spare;    // number of offsets; im2col_no_offs::w ends at the first pixel out of bounds
    i32 at[5];
    u16 offset[3];                          // of im2col; wHalo and wOffset of the w modes
    u64 map, base;                          // generic address of the map; address instead of the map's own (override)
} TensorCopy;

// The layout of a box in shared memory. A row runs along dimension 0. A unit is indivisible: an element, a slice of interleaved
// channels, the sixteen elements of a padded type.
typedef struct {
    u32 global_unit, shared_unit, per_unit, units, step, rows, pitch;
    u64 size, transaction, footprint;       // units of dimension 0; bytes for an mbarrier; bytes of shared memory
} Geometry;

const u8 *tensor_map_at(Ctx *x, u64 address, u64 *about, u32 *problem);
u32 tensor_geometry(const TensorMap *m, const TensorCopy *c, Geometry *g);                       // the problem, or 0
u32 tensor_check(Ctx *x, const TensorMap *m, const TensorCopy *c, const Geometry *g, u64 shared, u64 *about);
u32 tensor_move(Ctx *x, const TensorMap *m, const TensorCopy *c, const Geometry *g, u8 *smem, u64 shared, u64 *about);
void tensor_copy_accesses(Ctx *x, const TensorMap *m, const TensorCopy *c, const Geometry *g, void *accessor);       // see sanitizer/sanitizer.h
u64 apply_atomic(u64 old, u64 b, u64 c, u32 operation, u32 type, int ftz);                       // atomics.c
#endif
