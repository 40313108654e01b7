// Tensor memory: 128 lanes x 512 columns of 32 bits for each CTA, allocated in blocks of 32 columns.
//
// An address is lane << 16 | column. Instructions issued by one thread (mma, cp, shift) are asynchronous operations of
// TRACK_TCGEN05, which land in the order of issue; tcgen05.commit comes after all of them. Stores of a warp land at
// tcgen05.wait::st, loads at issue. tcgen05.cta_group::2 uses the CTAs 2k and 2k + 1 of a cluster, the even one first.
// Source: PTX ISA, "TensorCore 5th Generation Family Instructions".
#ifndef PYPTX_TMEM_H
#define PYPTX_TMEM_H
#include "sanitizer/sanitizer.h"
#include "fragments.h"
#include "matrix_descriptor.h"

enum { TMEM_LANES = 128, TMEM_COLUMNS = 512, TMEM_BLOCK = 32, TMEM_BLOCKS = TMEM_COLUMNS / TMEM_BLOCK };

struct Tmem {
    u32 used;                                                            // blocks, a bit each
    u32 blocks[TMEM_BLOCKS];                                             // size of the allocation that begins at each block
    u32 pc[TMEM_BLOCKS], warp[TMEM_BLOCKS];                              // the operation and warp that allocated it
    u32 group;                                                           // cta_group of all instructions, 0: none yet
    u32 relinquished, exclusive;                                         // exclusive: the current allocation is .exclusive
    u32 wanted, granted;                                                 // cta_group::2: columns; address + 1 the peer got for it
    u32 cell[TMEM_LANES][TMEM_COLUMNS];
};

void tmem_fault(Ctx *x, u32 lane, u32 problem, u64 about);

static inline u32 tmem_column(u32 address) { return address & 0xffff; }
static inline u32 tmem_lane(u32 address) { return address >> 16; }
// Check that the columns from an address on are allocated in this CTA. 0: a fault was raised.
int tmem_holds(Ctx *x, const Cta *cta, u32 lane, u32 address, u32 columns);
// The CTAs that an instruction with this cta_group uses; returns their number, 0: a fault was raised.
u32 tmem_ctas(Ctx *x, u32 lane, u32 group, Cta **ctas);
// The descriptor of a matrix in shared memory; `elements` are tf32 (1) or others. 0: a fault was raised.
int tcgen05_tile(Ctx *x, u32 lane, u64 descriptor, u32 mn, u32 tf32, Tile *t);
void poison_cells(Ctx *x, Cta *cta, u32 lane, u32 column, u32 columns);  // unless schedule is eager

u32 extremum_f32(u32 a, u32 b, int maximum, int nan);                    // warp_collectives.c
#endif
