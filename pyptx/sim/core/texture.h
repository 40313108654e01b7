// Textures and surfaces: records of what they are, and the memory behind them. Records are laid out as memory/objects.py
// says; their table is the last segment, which has no bytes, so that no other access finds it.
#ifndef PYPTX_TEXTURE_H
#define PYPTX_TEXTURE_H
#include "core.h"

#define OBJECT_WINDOW 0x7f6000000000ull
#define OBJECT_STRIDE 4096

enum { O_KIND, O_GEOMETRY, O_CHANNELS, O_FORMAT, O_FLAGS, O_FILTER, O_MIP_FILTER, O_MODES, O_BORDER, O_BIAS = 12, O_LEAST, O_MOST,
       O_LEVELS, O_LAYERS, O_SAMPLES, O_BYTES, O_STEP, O_LEVEL = 24, O_COLOUR = 256, O_PLAIN = 384 };
enum { L_ADDRESS, L_WIDTH, L_HEIGHT, L_DEPTH, L_ROW, L_SLICE, L_LAYER, L_SAMPLE, L_WORDS };
enum { O_TEXTURE = 1, O_SURFACE = 2 };
enum { O_NORMALIZED = 1, O_NORMALIZED_FLOAT = 2, O_LINEAR = 8 };
enum { G_1D, G_2D, G_3D, G_A1D, G_A2D, G_CUBE, G_ACUBE, G_2DMS, G_A2DMS };
enum { C_U8, C_S8, C_U16, C_S16, C_U32, C_S32, C_F16, C_F32 };
// Problems, numbered as in faults/textures.py.
enum { XP_HANDLE = 1, XP_KIND, XP_GEOMETRY, XP_TYPE, XP_LAYER, XP_SAMPLE, XP_BOUNDS, XP_ALIGNMENT, XP_LINEAR, XP_CHANNELS, XP_FITS,
       XP_FORMAT, XP_LEVEL, XP_OFFSET, XP_MEMORY };

static const u8 dims_of[] = {1, 2, 3, 1, 2, 2, 2, 2, 2};

enum { MOST_SECTORS = 2048 };
// An access of a warp: which sectors of memory it touches.
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
