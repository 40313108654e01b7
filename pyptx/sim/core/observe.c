// What an observed run keeps beside the counters: how often each warp executed each instruction, which bytes of global
// memory were touched, and which mbarriers each instruction worked on (pyptx/sim/observe.py). Nothing of it is kept
// otherwise.
#include "chain.h"

// Bits [offset, offset + bytes) of what was read, or written, of a segment.
void mark(Ctx *x, const Segment *s, u64 offset, u64 bytes, int writes) {
    u8 *bits = x->marks[2 * (s - x->segments) + (writes != 0)];
    u64 end = offset + bytes;
    if (!bits || !bytes) return;
    if (offset >> 3 == (end - 1) >> 3) {
        bits[offset >> 3] |= (u8)(((1u << bytes) - 1) << (offset & 7));
        return;
    }
    if (offset & 7) { bits[offset >> 3] |= (u8)(0xff << (offset & 7)); offset = (offset | 7) + 1; }
    memset(bits + (offset >> 3), 0xff, (end >> 3) - (offset >> 3));
    if (end & 7) bits[end >> 3] |= (u8)((1u << (end & 7)) - 1);
}

enum { LINKS = 16 };                                                     // mbarriers of an instruction that are kept

// `free`: a wait for the phase before the first, which is over from the beginning; kept in the highest bit.
void link_mbarrier(Ctx *x, u32 barrier, u32 free) {
    u32 *row = x->links + LINKS * x->ops[x->pc].instr;
    for (u32 k = 0; k < LINKS; k++) {
        if ((row[k] & ~(1u << 31)) == barrier) return;
        if (!row[k]) { row[k] = barrier | free << 31; return; }
    }
}

// The counts since the last turn of a warp go to its own row.
void count_for_warp(Ctx *x) {
    x->issues = x->warp_issues + (u64)x->ninstr * (x->cta->rank * x->nwarps + x->warp->index);
}
