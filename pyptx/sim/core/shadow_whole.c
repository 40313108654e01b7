// Whole warps that read 16 bytes of the shared memory of their CTA: each cell has a place for each warp, so that a read is
// one store where several readers would be a list. Where that says less than the list would, the older read goes there.
#include "clocks.h"

// What was written, in all parts of a cell.
static void check(Ctx *x, Agent *a, const Cell *c, u32 size, const Shadow *s, u64 offset) {
    if (UNLIKELY(c->write == SPLIT)) {
        const Cell *part = x->watch->kids[c->reads];
        for (u32 k = 0; k < 4; k++) check(x, a, &part[k], size / 4, s, offset + k * size / 4);
        return;
    }
    if (LIKELY(c->write >> 6 == a->passed && !c->reads)) return;
    shadow_follow(x, a, c, s, offset, size);
    if (c->write && is_sure(a, c->write)) a->passed = c->write >> 6;
}

// Does a newer read of the warp stand for the one there was?
static int stands_for(const Watch *w, const Agent *a, u32 old) {
    const Record *r = &w->records[old >> 6];
    u32 code = old & 63;
    if (code == (a->value & 63) && (code == SEVERAL || (r->base == a->base && r->shape == a->shape))) return 1;
    return !bits32((S32)(a->p->common[r->row] < r->time));
}

// A reader that is to be found in the cell itself.
static void put(Ctx *x, Cell *c, u32 value) {
    if (c->write != SPLIT) { c->reads = c->reads ? new_node(x, value, c->reads) : value; return; }
    for (u32 k = 0; k < 4; k++) put(x, &x->watch->kids[c->reads][k], value);
}

void shadow_read_whole(Ctx *x, Agent *a, Shadow *s, u64 offset, u64 bytes) {
    u32 *place = &s->readers[(offset >> 4) * s->warps + a->p->index % s->warps];
    for (u64 at = offset; at < offset + bytes; at += 16, place += s->warps) {
        Cell *c = &s->cells[at >> 4];
        if (UNLIKELY(c->write >> 6 != a->passed || c->reads)) check(x, a, c, 16, s, at);
        if (*place && UNLIKELY(*place != a->stood_for)) {
            if (stands_for(x->watch, a, *place)) a->stood_for = *place; else put(x, c, *place);
        }
        *place = a->value;
    }
}

// A write or an atomic after the reads of whole warps. What is written in part keeps them in its cells.
void shadow_after_readers(Ctx *x, Agent *a, Shadow *s, u64 cell, u64 offset, u32 bytes) {
    u32 *place = &s->readers[cell * s->warps];
    for (u32 k = 0; k < s->warps; k++) {
        if (!place[k]) continue;
        if (!is_sure(a, place[k])) follows(x, a, place[k], s, offset, bytes);
        if (a->how != SEEN_WRITE) continue;
        if (bytes < 16) put(x, &s->cells[cell], place[k]);
        place[k] = 0;
    }
}
