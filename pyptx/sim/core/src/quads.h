// Quads: the four words per lane that one `ld.v4` or `st.v4` moves, and the f32 operations that compute them.
//
// In registers, a quad is four rows, one for each position, with the words of all lanes. In memory, the four words of a lane are
// together. If the values that an `st.v4` stores come from operations on quads, its step executes these too, in machine registers,
// and transposes once: the operations are not executed where they are. A quad from an `ld.v4` that only such operations read is
// not transposed at all: it remains as in memory (by lane), which is a matter of the order in which equal operations take place.
// Rows are by lane only when all lanes of the warp execute the line.
#ifndef PYPTX_QUADS_H
#define PYPTX_QUADS_H
#include "chain.h"

enum { QUAD_OPERATIONS = 6, QUAD_LOADS = 2 * QUAD_OPERATIONS + 1 };

// What a store computes: from `first`, operation by operation, those from `by_lane` on after the transposition. The operands are
// those of the four positions.
struct Quad {
    u32 n, by_lane, loaded;                                             // loaded: `first` is by lane, nothing is transposed
    u32 first[4];
    struct { u32 kind, b[4], c[4]; } step[QUAD_OPERATIONS];
    u32 operations[4 * QUAD_OPERATIONS], noperations;                   // the same in the order of the program
    u32 loads[QUAD_LOADS], nloads;                                      // the loads of quads that are by lane
};

int open_quads(Ctx *x, const u8 *stop, u8 *leader, const Uses *uses);    // quad_derivation.c; 0: out of memory
Step quad_load_step(const Op *o);                                       // quads.c
Step quad_store_step(const Op *o);
STEP(skipped);                                                          // Link.same operations that a store executes
#endif
