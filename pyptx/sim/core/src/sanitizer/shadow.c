// Shadow memory: the last accesses of each byte, checked against the next one.
//
// A cell stands for 16 bytes: their last write and the reads since. Where parts differ it is split into four cells of 4 bytes,
// and these into bytes; then `write` is SPLIT and `reads` the number of the four. An access is a value: record << 6 | lane
// (SEVERAL: several lanes of the record; PLACE: the lanes whose bytes they are). Several readers are a list of nodes,
// TOP | number; a reader that precedes a newer one leaves the list, because whatever follows the newer one follows it. Atomics
// are among the readers, since they do not conflict with each other; they stay until a newer atomic or a write. Reads of shared
// memory by whole warps and by products are stored separately: shadow_warp.c.
#include "sanitizer/sanitizer.h"

enum { MOST_READERS = 40, MOST_GLOBAL = 4 };

// An access by the lanes of a warp whose previous one had the same shape and place.
static inline int comes_again(const Sanitizer *w, const Accessor *a, u32 value) {
    const Record *r = &w->records[value >> 6];
    return a->wide && (value & 63) == PLACE && r->row == a->row && r->cluster == a->c->id && r->base == a->base && r->shape == a->shape;
}

// Add `a` to the readers of `set`.
static u32 add_reader(Ctx *x, u32 set, Accessor *a, u32 most) {
    Sanitizer *w = x->sanitizer;
    u32 value = a->value, keep[MOST_READERS], n = 0, result, h = (set * 0x9E3779B1u ^ value * 0x85EBCA6Bu) >> 18;
    if (!set) return value;
    if (most == MOST_GLOBAL && set & TOP && w->nodes[set & ~TOP].size >= MOST_GLOBAL) return set;       // enough to report
    if (set == value || set == ((value & ~63u) | SEVERAL)) return set;
    if (w->memo[h].set == set && w->memo[h].value == value) return w->memo[h].result;
    for (u32 k = set;;) {
        u32 v = k & TOP ? w->nodes[k & ~TOP].value : k;
        if (v >> 6 == value >> 6) { if (v != value) value = (value & ~63u) | SEVERAL; }
        else if (n < most && ((w->records[v >> 6].how == SEEN_ATOMIC && a->how != SEEN_ATOMIC)
                              || !(comes_again(w, a, v) || happens_before(w, a, &w->records[v >> 6], v & 63)))) keep[n++] = v;
        else if (n == most) w->unproven = 1;
        if (!(k & TOP)) break;
        k = w->nodes[k & ~TOP].next;
    }
    result = value;
    for (u32 k = 0; k < n; k++) result = new_node(x, keep[k], result);
    w->memo[h].set = set; w->memo[h].value = a->value; w->memo[h].result = result;
    return result;
}

// Test for atomics among the accesses of a cell since its last write.
static inline int has_atomics(const Sanitizer *w, u32 set) {
    return set & TOP ? w->nodes[set & ~TOP].atomic : set && w->records[set >> 6].how == SEEN_ATOMIC;
}

// Test for a list of readers so long that `add_reader` leaves out others.
static inline int is_incomplete(const Sanitizer *w, u32 set) { return set & TOP && w->nodes[set & ~TOP].size >= MOST_GLOBAL; }

static void follows_all(Ctx *x, Accessor *a, u32 set, const Shadow *s, u64 offset, u32 bytes) {
    Sanitizer *w = x->sanitizer;
    int anywhere = 1;
    for (u32 rest = set;;) {
        u32 v = rest & TOP ? w->nodes[rest & ~TOP].value : rest;
        if (a->how != SEEN_READ || w->records[v >> 6].how == SEEN_ATOMIC) anywhere &= follows(x, a, v, s, offset, bytes);
        if (!(rest & TOP)) break;
        rest = w->nodes[rest & ~TOP].next;
    }
    if (anywhere) a->good_reads = set;
}

// Report a write that overwrites an unread one.
static void written_twice(Ctx *x, Accessor *a, u32 value, const Shadow *s, u64 offset) {
    const Record *r = &x->sanitizer->records[value >> 6];
    if ((r->flags | a->flags) & SEEN_MAP) return;                        // fields of a map; its uses are not recorded as reads
    if (value >> 6 != a->value >> 6) report_finding(x, FINDING_DEAD, a, r, value & 63, s, offset);
}

// Report an ordinary access of a live mbarrier.
static int is_mbarrier(Ctx *x, const Accessor *a, u32 write, const Shadow *s, u64 offset) {
    const Record *r = &x->sanitizer->records[write >> 6];
    if (LIKELY(!(r->flags & SEEN_MBARRIER)) || a->flags & SEEN_MBARRIER || s->space != IN_SHARED) return 0;
    report_finding(x, FINDING_LIVE_MBARRIER, a, r, write & 63, s, offset);
    return 1;
}

// Check an access of a whole cell against the previous ones.
void shadow_follow(Ctx *x, Accessor *a, const Cell *c, const Shadow *s, u64 offset, u32 bytes) {
    int atomics = has_atomics(x->sanitizer, c->reads), anywhere = 1;
    a->others = c->reads;
    if (UNLIKELY(a->flags & SEEN_IMAGE) && c->write) {                   // regardless of the writer and of synchronization
        report_finding(x, FINDING_IMAGE, a, &x->sanitizer->records[c->write >> 6], c->write & 63, s, offset);
        return;
    }
    if (c->write != a->good) {
        if (c->write) { if (!(a->how == SEEN_READ && s->space == IN_SHARED && is_mbarrier(x, a, c->write, s, offset)) && !is_sure(a, c->write)) anywhere = follows(x, a, c->write, s, offset, bytes); }
        else if (a->how != SEEN_WRITE && !(a->flags & SEEN_STORE) && !atomics && s->fresh) report_finding(x, FINDING_UNINITIALIZED, a, 0, 0, s, offset);
        if (anywhere) a->good = c->write;
    }
    if (c->reads && c->reads != a->good_reads && (a->how != SEEN_READ || atomics)) follows_all(x, a, c->reads, s, offset, bytes);
}

// A read of a cell with the same contents as the last one.
static inline int is_alike(const Accessor *a, const Cell *c) {
    return a->how == SEEN_READ && c->write >> 6 == a->sure && c->reads == a->set && a->with == a->value;
}

static void whole(Ctx *x, Accessor *a, Cell *c, const Shadow *s, u64 offset, u32 bytes) {
    if (LIKELY(is_alike(a, c))) { c->reads = a->added; return; }
    if (a->how != SEEN_READ && c->write) is_mbarrier(x, a, c->write, s, offset);
    if (a->how != SEEN_READ && s->space == IN_GLOBAL && is_incomplete(x->sanitizer, c->reads)) x->sanitizer->unproven = 1;
    shadow_follow(x, a, c, s, offset, bytes);
    if (a->how != SEEN_WRITE) {
        if (c->reads == a->value) return;
        u32 set = c->reads;
        c->reads = add_reader(x, set, a, s->space == IN_GLOBAL ? MOST_GLOBAL : MOST_READERS);
        int settled = a->how == SEEN_READ && !has_atomics(x->sanitizer, set) && (c->write ? is_sure(a, c->write) : !s->fresh);
        a->sure = settled ? c->write >> 6 : NONE;
        a->set = set; a->added = c->reads; a->with = a->value;
        return;
    }
    if (UNLIKELY(s->space == IN_GLOBAL && c->write && !c->reads)) written_twice(x, a, c->write, s, offset);
    c->write = a->value;
    c->reads = 0;
}

static void visit(Ctx *x, Accessor *a, Cell *c, u32 size, u32 lo, u32 hi, const Shadow *s, u64 offset);

// Access bytes lo to hi of the four cells that replace one of `size` bytes.
static void inside(Ctx *x, Accessor *a, u32 kids, u32 size, u32 lo, u32 hi, const Shadow *s, u64 offset) {
    u32 part = size / 4;
    for (u32 k = lo / part; k * part < hi; k++) {
        u32 first = lo > k * part ? lo - k * part : 0, last = hi < (k + 1) * part ? hi - k * part : part;
        Cell c = x->sanitizer->kids[kids][k];                                // the table may move
        visit(x, a, &c, part, first, last, s, offset + k * part);
        x->sanitizer->kids[kids][k] = c;
    }
}

static void visit(Ctx *x, Accessor *a, Cell *c, u32 size, u32 lo, u32 hi, const Shadow *s, u64 offset) {
    if (LIKELY(c->write != SPLIT)) {
        if (LIKELY(!lo && hi == size)) { whole(x, a, c, s, offset, size); return; }
        u32 kids = new_kids(x, *c);
        if (!kids) return;
        c->write = SPLIT;
        c->reads = kids;
    }
    inside(x, a, c->reads, size, lo, hi, s, offset);
    if (a->how != SEEN_WRITE) return;
    if (lo || hi != size) {                                              // the parts may be equal again
        const Cell *part = x->sanitizer->kids[c->reads];
        if (!a->wide || part[0].write != a->value || part[0].reads) return;
        for (u32 k = 1; k < 4; k++) if (part[k].write != a->value || part[k].reads) return;
    }
    free_kids(x->sanitizer, c->reads);                                       // all of it was written: the parts are equal again
    c->write = a->value;
    c->reads = 0;
}

// Count the bytes of a cell that were never written; *first is the first of them.
static u64 unwritten(const Sanitizer *w, const Cell *cells, u64 n, u64 size, u64 at, u64 *first) {
    u64 count = 0;
    for (u64 k = 0; k < n; k++, at += size) {
        if (cells[k].write == SPLIT) { count += unwritten(w, w->kids[cells[k].reads], 4, size / 4, at, first); continue; }
        if (cells[k].write || has_atomics(w, cells[k].reads)) continue;
        if (at < *first) *first = at;
        count += size;
    }
    return count;
}
u64 shadow_unwritten(const Sanitizer *w, const Shadow *s, u64 *first) {
    Cell last = s->cells[s->bytes / 16];
    u64 whole = s->bytes / 16, rest = s->bytes % 16, count;
    *first = s->bytes;
    count = unwritten(w, s->cells, whole, 16, 0, first);
    for (u64 k = 0; k < rest; k++) {                                     // the last cell extends past the end
        Cell c = last;
        for (u64 size = 16, at = k; c.write == SPLIT; at %= size / 4, size /= 4) c = w->kids[c.reads][at / (size / 4)];
        count += unwritten(w, &c, 1, 1, whole * 16 + k, first);
    }
    return count;
}

void shadow_touch(Ctx *x, Accessor *a, Shadow *s, u64 offset, u64 bytes) {
    if (UNLIKELY(x->sanitizer->full) || !s->cells) return;
    if (UNLIKELY(offset > s->bytes || bytes > s->bytes - offset)) return;
    for (u64 at = offset, end = offset + bytes; at < end;) {
        u32 lo = (u32)(at & 15), hi = end - (at - lo) < 16 ? (u32)(end - (at - lo)) : 16;
        Cell *c = &s->cells[at >> 4];
        if (s->readers && a->how != SEEN_READ) shadow_after_readers(x, a, s, at >> 4, at, hi - lo);
        if (hi - lo == 16 && is_alike(a, c)) {                           // runs of equal cells
            do { c->reads = a->added; c++; at += 16; } while (at + 16 <= end && is_alike(a, c));
            continue;
        }
        if (!lo && hi == 16 && c->write != SPLIT) whole(x, a, c, s, at, 16);
        else visit(x, a, c, 16, lo, hi, s, at - lo);
        at += hi - lo;
    }
}

void shadow_forget(Sanitizer *w, Shadow *s, u64 offset, u64 bytes) {
    for (u64 at = offset >> 4; s->cells && at < (offset + bytes + 15) >> 4; at++) {
        if (s->cells[at].write == SPLIT) free_kids(w, s->cells[at].reads);
        s->cells[at] = (Cell){0, 0};
        if (s->readers) memset(s->readers + at * s->warps, 0, s->warps * sizeof *s->readers);
    }
}
