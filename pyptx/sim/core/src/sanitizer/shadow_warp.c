// Reads of 16 bytes of shared memory by whole warps and by the products that a warp issues: each cell has an entry for each warp
// of the CTA, so that a read is one store instead of a list of readers. Where the entry would lose information, the older read
// moves to the list.
#include "sanitizer/clocks.h"

// Check a read against the writes in all parts of a cell.
static void check(Ctx *x, Accessor *a, const Cell *c, u32 size, const Shadow *s, u64 offset) {
    if (UNLIKELY(c->write == SPLIT)) {
        const Cell *part = x->sanitizer->kids[c->reads];
        for (u32 k = 0; k < 4; k++) check(x, a, &part[k], size / 4, s, offset + k * size / 4);
        return;
    }
    if (LIKELY((c->write >> 6 == a->passed || c->write == a->good) && !c->reads)) return;
    shadow_follow(x, a, c, s, offset, size);
    if (c->write && is_sure(a, c->write)) a->passed = c->write >> 6;
}

// Test whether a newer read of the warp covers the older one: those of a row are in order.
static int stands_for(const Sanitizer *w, const Accessor *a, u32 old) {
    const Record *r = &w->records[old >> 6];
    u32 code = old & 63;
    if (r->row == a->row && code == (a->value & 63) && (code != PLACE || (r->base == a->base && r->shape == a->shape))) return 1;
    return !bits32((S32)(a->p->common[r->row] < r->time));
}

// Move a reader to the cell itself.
static void put(Ctx *x, Cell *c, u32 value) {
    if (c->write != SPLIT) { c->reads = c->reads ? new_node(x, value, c->reads) : value; return; }
    for (u32 k = 0; k < 4; k++) put(x, &x->sanitizer->kids[c->reads][k], value);
}

void shadow_read_whole(Ctx *x, Accessor *a, Shadow *s, u64 offset, u64 bytes) {
    u32 *place = &s->readers[(offset >> 4) * s->warps + a->p->index % s->warps];
    for (u64 at = offset; at < offset + bytes; at += 16, place += s->warps) {
        Cell *c = &s->cells[at >> 4];
        if (UNLIKELY((c->write >> 6 != a->passed && c->write != a->good) || c->reads)) check(x, a, c, 16, s, at);
        if (*place && UNLIKELY(*place != a->stood_for)) {
            if (stands_for(x->sanitizer, a, *place)) a->stood_for = *place; else put(x, c, *place);
        }
        *place = a->value;
    }
}

// A write or an atomic after reads of whole warps; partially written cells keep these reads.
void shadow_after_readers(Ctx *x, Accessor *a, Shadow *s, u64 cell, u64 offset, u32 bytes) {
    Sanitizer *w = x->sanitizer;
    u32 *place = &s->readers[cell * s->warps];
    for (u32 k = 0; k < s->warps; k++) {
        u32 value = place[k], h = value >> 6 & 255;
        if (!value) continue;
        if (!(w->known[h].value == value && w->known[h].number == a->number) && !is_sure(a, value) && follows(x, a, value, s, offset, bytes)) {
            w->known[h].value = value;
            w->known[h].number = a->number;
        }
        if (a->how != SEEN_WRITE) continue;
        if (bytes < 16) put(x, &s->cells[cell], place[k]);
        place[k] = 0;
    }
}
