// Profiled runs (pyptx/sim/profile.py) also record the executions of each instruction by warp, the bytes of global memory that
// were accessed, and the mbarriers that each instruction used.
#include "chain.h"

// Set the bits of bytes that are read for the first time, and have been written before.
static void mark_returned(u8 **marks, u64 offset, u64 end) {
    const u8 *read = marks[0], *written = marks[1];
    for (u64 k = offset >> 3; k <= (end - 1) >> 3; k++) {
        if (!written[k]) continue;
        u32 own = 0xff;
        if (k == offset >> 3) own &= 0xff << (offset & 7);
        if (k == (end - 1) >> 3) own &= 0xff >> (7 - ((end - 1) & 7));
        marks[2][k] |= (u8)(own & written[k] & ~read[k]);
    }
}

// Set bits [offset, offset + bytes) of the bytes read, or written, of a segment.
void mark(Ctx *x, const Segment *s, u64 offset, u64 bytes, int writes) {
    u8 **marks = x->marks + MARKS * (s - x->segments), *bits = marks[writes != 0];
    u64 end = offset + bytes;
    if (!bits || !bytes) return;
    if (writes) marks[3] = bits;
    else if (marks[3]) mark_returned(marks, offset, end);
    if (offset >> 3 == (end - 1) >> 3) {
        bits[offset >> 3] |= (u8)(((1u << bytes) - 1) << (offset & 7));
        return;
    }
    if (offset & 7) { bits[offset >> 3] |= (u8)(0xff << (offset & 7)); offset = (offset | 7) + 1; }
    memset(bits + (offset >> 3), 0xff, (end >> 3) - (offset >> 3));
    if (end & 7) bits[end >> 3] |= (u8)((1u << (end & 7)) - 1);
}

static int is_linked(Ctx *x, u32 barrier) {
    for (u32 k = 0; k < x->ninstr * OBSERVED_LINKS; k++)
        if ((x->links[k] & ~(1u << 31)) == barrier) return 1;
    return 0;
}
// `free`: a wait for the phase before the current one, which is complete. Before any other use of the mbarrier it is the
// phase before the first, complete from the start; stored in the highest bit.
void link_mbarrier(Ctx *x, u32 barrier, u32 free) {
    u32 *row = x->links + OBSERVED_LINKS * x->ops[x->pc].instr;
    for (u32 k = 0; k < OBSERVED_LINKS; k++) {
        if ((row[k] & ~(1u << 31)) == barrier) return;
        if (!row[k]) { row[k] = barrier | (free && !is_linked(x, barrier) ? 1u << 31 : 0); return; }
    }
}
