// Matrix descriptors: tiles of shared memory that are operands of asynchronous products.
//
// Shared memory is read in chunks of 16 bytes. With S the chunks of a row of the swizzle pattern (1 without), T the
// elements of a chunk, `row` the index along M or N, the offset of chunk c of a row or of a line of k is
//
//     K-major    row % 8 * 16 * S + row / 8 * stride + c % S * 16 + c / S * leading                     (c along k)
//     MN-major   k % 8 * 16 * S + c % S * 16 + (S == 1: k / 8 * leading + c * stride
//                                               else:   k / 8 * stride + c / S * leading)               (c along rows)
//
// from the start; then log2(S) bits of the address from bit 4 on are XORed with those from bit 7 on. With 32-byte atoms
// (`wide`) the pattern has 4 lines of k instead of 8, and bits 5, 6 are XORed with bits 7, 8.
// Source: PTX ISA, "Shared Memory Matrix Layout", "Matrix Descriptor Format"; tcgen05 has the same rules.
#ifndef PYPTX_TILE_H
#define PYPTX_TILE_H
#include "matrix_product.h"

typedef struct {
    u32 start, leading, stride;                                          // bytes
    u32 chunks;                                                          // S: 1, 2, 4, 8
    u32 phase;                                                           // row of the pattern at its start
    u32 mn;                                                              // MN-major, else K-major
    u32 wide;                                                            // atoms of 32 bytes
} Tile;

Tile wgmma_tile(u64 descriptor, u32 mn);
// Decode rows row..row+rows (a multiple of 8) and all `k` columns of a tile in the shared memory of `cta` to out[row][k], or
// `across` to out[k][row], with a line pitch of `ld` floats; B1 always to out[row][word]. 0: a fault was raised.
int read_tile(Ctx *x, const Cta *cta, const Tile *t, u32 format, u32 row, u32 rows, u32 k, int across, float *out, u32 ld);
void sanitizer_tile(Ctx *x, void *accessor, const Cta *cta, const Tile *t, u32 format, u32 row, u32 rows, u32 k);       // for sanitizer/sanitizer.h
const u8 *tile_chunk(Ctx *x, const Cta *cta, const Tile *t, u32 row, u32 c);             // K-major; NULL: a fault
#endif
