// Tensor memory: 128 lanes x 512 columns of 32 bits for each CTA, allocated in blocks of 32 columns.
//
// An address is lane << 16 | column. Instructions that one thread starts (mma, cp, shift) are asynchronous operations of
// TRACK_TC, which land in the order a thread started them; tcgen05.commit comes after all of them. Stores of a warp land
// at tcgen05.wait::st, loads at once. tcgen05.cta_group::2 works on the CTAs 2k and 2k + 1 of a cluster, the even one first.
// Source: PTX ISA, "TensorCore 5th Generation Family Instructions".
#ifndef PYPTX_TMEM_H
#define PYPTX_TMEM_H
#include "watch.h"
#include "tensor.h"
#include "tile.h"

enum { TMEM_LANES = 128, TMEM_COLUMNS = 512, TMEM_BLOCK = 32, TMEM_BLOCKS = TMEM_COLUMNS / TMEM_BLOCK };

struct Tmem {
    u32 used;                                                            // blocks, a bit each
    u32 blocks[TMEM_BLOCKS];                                             // of the allocation that begins there
    u32 pc[TMEM_BLOCKS], warp[TMEM_BLOCKS];                              // who allocated it
    u32 group;                                                           // cta_group of all instructions, 0: none yet
    u32 relinquished, exclusive;                                         // exclusive: the one allocation there is, is
    u32 wanted, granted;                                                 // cta_group::2: columns; address + 1 the peer got for it
    u32 cell[TMEM_LANES][TMEM_COLUMNS];
};

// What is wrong, in the order of sim/layouts/tmem_problems.py.
enum { TM_NONE, TM_COLUMNS, TM_RELINQUISHED, TM_NOT_ALLOCATED, TM_SIZE, TM_LEAK, TM_UNALLOCATED, TM_WARP, TM_LANE, TM_UNEVEN,
       TM_PAIR, TM_MIXED, TM_PAIR_SIZE, TM_TYPE, TM_SHAPE, TM_SPARSE, TM_RESERVED, TM_K96, TM_TRANSPOSE, TM_VERSION, TM_LAYOUT,
       TM_SCALE_ID, TM_SHIFT, TM_ALIGNMENT, TM_SELECTOR, TM_ASHIFT, TM_NEGATE, TM_ABSOLUTE, TM_TARGET, TM_EXCLUSIVE,
       TM_BLOCKS };
void tmem_fault(Ctx *x, u32 lane, u32 problem, u64 about);

static inline u32 tmem_column(u32 address) { return address & 0xffff; }
static inline u32 tmem_lane(u32 address) { return address >> 16; }
// The columns from that of an address on are allocated in this CTA. 0: a fault was raised.
int tmem_holds(Ctx *x, const Cta *cta, u32 lane, u32 address, u32 columns);
// The CTAs an instruction of a group works on: how many, 0: a fault was raised.
u32 tmem_ctas(Ctx *x, u32 lane, u32 group, Cta **ctas);
// The descriptor of a matrix in shared memory; `elements` are tf32 (1) or others. 0: a fault was raised.
int tcgen05_tile(Ctx *x, u32 lane, u64 descriptor, u32 mn, u32 tf32, Tile *t);
void poison_cells(Ctx *x, Cta *cta, u32 lane, u32 column, u32 columns);  // unless schedule is eager

u32 extremum_f32(u32 a, u32 b, int maximum, int nan);                    // warpops.c
#endif
