// Textures and surfaces: their records (ObjectWord in abi.py) and their memory. The table of records is the last segment, which
// has no bytes, so that no other access finds it.
#ifndef PYPTX_TEXTURE_H
#define PYPTX_TEXTURE_H
#include "core.h"

static const u8 dims_of[] = {1, 2, 3, 1, 2, 2, 2, 2, 2};

enum { MOST_SECTORS = 2048 };
// An access of a warp, and the memory sectors it touches.
typedef struct {
    Ctx *x;
    const Op *o;
    const u64 *r;               // the record of the lane that runs
    Segment *near;
    u64 handle;
    u32 lane, count;
    u64 sector[MOST_SECTORS];   // a hash table of sector + 1
} Fetch;

int object_begin(Fetch *f, Ctx *x, const Op *o);                          // 1
const u64 *object_at(Ctx *x, u64 handle, u32 *problem);                  // NULL: `problem`
int object_of(Fetch *f, u32 kind, u32 geometry);                         // finds f->r; 0: a fault was raised
void object_fault(Fetch *f, u32 problem, u32 axis, u32 value);
u8 *object_memory(Fetch *f, u64 va, u32 bytes, u32 how);                 // SEEN_...; NULL: a fault was raised
void object_account(Fetch *f, u32 m);
static inline u64 in_level(const u64 *l, u64 step, u64 x, u64 y, u64 z, u64 layer, u64 sample) {
    return l[L_ADDRESS] + x * step + y * l[L_ROW] + z * l[L_SLICE] + layer * l[L_LAYER] + sample * l[L_SAMPLE];
}
#endif
