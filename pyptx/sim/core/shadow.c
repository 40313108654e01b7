// What was accessed last, byte accurate, and whether the next access comes after it.
//
// A cell stands for 16 bytes: who wrote them last and who has read them since. Where parts differ it is split into four
// cells of 4 bytes, and these into bytes: `write` is SPLIT then and `reads` the number of the four. An access is a value:
// record << 6 | lane (SEVERAL: more than one of the record's lanes; PLACE: those whose bytes they are). Several readers
// are a list of nodes, TOP | number; readers that come before a newer one leave it, for who comes after the newer one
// comes after them. Atomics are among the readers, as they are in no conflict with each other; they stay until a newer
// atomic or a write. Whole warps that read shared memory are kept elsewhere: shadow_whole.c.
#include "watch.h"

enum { MOST_READERS = 40, MOST_GLOBAL = 4 };

// Lanes of a warp, each at its place, where they were before.
static inline int comes_again(const Watch *w, const Agent *a, u32 value) {
    const Record *r = &w->records[value >> 6];
    return a->wide && (value & 63) == PLACE && r->row == a->row && r->cluster == a->c->id && r->base == a->base && r->shape == a->shape;
}

// The readers of `set` and `a`.
static u32 add_reader(Ctx *x, u32 set, Agent *a, u32 most) {
    Watch *w = x->watch;
    u32 value = a->value, keep[MOST_READERS], n = 0, result, h = (set * 0x9E3779B1u ^ value * 0x85EBCA6Bu) >> 18;
    if (!set) return value;
    if (most == MOST_GLOBAL && set & TOP && w->nodes[set & ~TOP].size >= MOST_GLOBAL) return set;       // enough to tell
    if (set == value || set == ((value & ~63u) | SEVERAL)) return set;
    if (w->memo[h].set == set && w->memo[h].value == value) return w->memo[h].result;
    for (u32 k = set;;) {
        u32 v = k & TOP ? w->nodes[k & ~TOP].value : k;
        if (v >> 6 == value >> 6) { if (v != value) value = (value & ~63u) | SEVERAL; }
        else if (n < most && ((w->records[v >> 6].how == SEEN_ATOMIC && a->how != SEEN_ATOMIC)
                              || !(comes_again(w, a, v) || comes_before(w, a, &w->records[v >> 6], v & 63)))) keep[n++] = v;
        if (!(k & TOP)) break;
        k = w->nodes[k & ~TOP].next;
    }
    result = value;
    for (u32 k = 0; k < n; k++) result = new_node(x, keep[k], result);
    w->memo[h].set = set; w->memo[h].value = a->value; w->memo[h].result = result;
    return result;
}

// Are there atomics among those who accessed a cell since it was written?
static inline int has_atomics(const Watch *w, u32 set) {
    return set & TOP ? w->nodes[set & ~TOP].atomic : set && w->records[set >> 6].how == SEEN_ATOMIC;
}

static void follows_all(Ctx *x, Agent *a, u32 set, const Shadow *s, u64 offset, u32 bytes) {
    Watch *w = x->watch;
    int anywhere = 1;
    for (u32 rest = set;;) {
        u32 v = rest & TOP ? w->nodes[rest & ~TOP].value : rest;
        if (a->how != SEEN_READ || w->records[v >> 6].how == SEEN_ATOMIC) anywhere &= follows(x, a, v, s, offset, bytes);
        if (!(rest & TOP)) break;
        rest = w->nodes[rest & ~TOP].next;
    }
    if (anywhere) a->good_reads = set;
}

// What was written before is lost, and nobody has read it.
static void written_twice(Ctx *x, Agent *a, u32 value, const Shadow *s, u64 offset) {
    const Record *r = &x->watch->records[value >> 6];
    if ((r->flags | a->flags) & SEEN_MAP) return;                        // fields of it; and who uses it is not among the readers
    if (value >> 6 != a->value >> 6) watch_found(x, FOUND_DEAD, a, r, value & 63, s, offset);
}

// What was there before, for an access of all of a cell.
void shadow_follow(Ctx *x, Agent *a, const Cell *c, const Shadow *s, u64 offset, u32 bytes) {
    int atomics = has_atomics(x->watch, c->reads), anywhere = 1;
    if (UNLIKELY(a->flags & SEEN_IMAGE) && c->write) {                   // whoever wrote it, and whatever came between
        watch_found(x, FOUND_IMAGE, a, &x->watch->records[c->write >> 6], c->write & 63, s, offset);
        return;
    }
    if (c->write != a->good) {
        if (c->write) { if (!is_sure(a, c->write)) anywhere = follows(x, a, c->write, s, offset, bytes); }
        else if (a->how != SEEN_WRITE && !(a->flags & SEEN_STORE) && !atomics && s->fresh) watch_found(x, FOUND_UNINITIALISED, a, 0, 0, s, offset);
        if (anywhere) a->good = c->write;
    }
    if (c->reads && c->reads != a->good_reads && (a->how != SEEN_READ || atomics)) follows_all(x, a, c->reads, s, offset, bytes);
}

// A read of a cell that looks as one did a moment ago.
static inline int is_alike(const Agent *a, const Cell *c) {
    return a->how == SEEN_READ && c->write >> 6 == a->sure && c->reads == a->set && a->with == a->value;
}

static void whole(Ctx *x, Agent *a, Cell *c, const Shadow *s, u64 offset, u32 bytes) {
    if (LIKELY(is_alike(a, c))) { c->reads = a->added; return; }
    shadow_follow(x, a, c, s, offset, bytes);
    if (a->how != SEEN_WRITE) {
        if (c->reads == a->value) return;
        u32 set = c->reads;
        c->reads = add_reader(x, set, a, s->space == IN_GLOBAL ? MOST_GLOBAL : MOST_READERS);
        int settled = a->how == SEEN_READ && !has_atomics(x->watch, set) && (c->write ? is_sure(a, c->write) : !s->fresh);
        a->sure = settled ? c->write >> 6 : NONE;
        a->set = set; a->added = c->reads; a->with = a->value;
        return;
    }
    if (UNLIKELY(s->space == IN_GLOBAL && c->write && !c->reads)) written_twice(x, a, c->write, s, offset);
    c->write = a->value;
    c->reads = 0;
}

static void visit(Ctx *x, Agent *a, Cell *c, u32 size, u32 lo, u32 hi, const Shadow *s, u64 offset);

// Bytes lo to hi of the four cells that stand for one of `size` bytes.
static void inside(Ctx *x, Agent *a, u32 kids, u32 size, u32 lo, u32 hi, const Shadow *s, u64 offset) {
    u32 part = size / 4;
    for (u32 k = lo / part; k * part < hi; k++) {
        u32 first = lo > k * part ? lo - k * part : 0, last = hi < (k + 1) * part ? hi - k * part : part;
        Cell c = x->watch->kids[kids][k];                                // the table may move
        visit(x, a, &c, part, first, last, s, offset + k * part);
        x->watch->kids[kids][k] = c;
    }
}

static void visit(Ctx *x, Agent *a, Cell *c, u32 size, u32 lo, u32 hi, const Shadow *s, u64 offset) {
    if (LIKELY(c->write != SPLIT)) {
        if (LIKELY(!lo && hi == size)) { whole(x, a, c, s, offset, size); return; }
        u32 kids = new_kids(x, *c);
        if (!kids) return;
        c->write = SPLIT;
        c->reads = kids;
    }
    inside(x, a, c->reads, size, lo, hi, s, offset);
    if (a->how != SEEN_WRITE) return;
    if (lo || hi != size) {                                              // perhaps all parts are alike again
        const Cell *part = x->watch->kids[c->reads];
        if (!a->wide || part[0].write != a->value || part[0].reads) return;
        for (u32 k = 1; k < 4; k++) if (part[k].write != a->value || part[k].reads) return;
    }
    free_kids(x->watch, c->reads);                                       // all of it was written: alike again
    c->write = a->value;
    c->reads = 0;
}

// Bytes of four cells, or of one, that nobody wrote: how many; *first is the first of them.
static u64 unwritten(const Watch *w, const Cell *cells, u64 n, u64 size, u64 at, u64 *first) {
    u64 count = 0;
    for (u64 k = 0; k < n; k++, at += size) {
        if (cells[k].write == SPLIT) { count += unwritten(w, w->kids[cells[k].reads], 4, size / 4, at, first); continue; }
        if (cells[k].write || has_atomics(w, cells[k].reads)) continue;
        if (at < *first) *first = at;
        count += size;
    }
    return count;
}
u64 shadow_unwritten(const Watch *w, const Shadow *s, u64 *first) {
    Cell last = s->cells[s->bytes / 16];
    u64 whole = s->bytes / 16, rest = s->bytes % 16, count;
    *first = s->bytes;
    count = unwritten(w, s->cells, whole, 16, 0, first);
    for (u64 k = 0; k < rest; k++) {                                     // the last cell reaches past the end
        Cell c = last;
        for (u64 size = 16, at = k; c.write == SPLIT; at %= size / 4, size /= 4) c = w->kids[c.reads][at / (size / 4)];
        count += unwritten(w, &c, 1, 1, whole * 16 + k, first);
    }
    return count;
}

void shadow_touch(Ctx *x, Agent *a, Shadow *s, u64 offset, u64 bytes) {
    if (UNLIKELY(x->watch->full) || !s->cells) return;
    if (UNLIKELY(offset > s->bytes || bytes > s->bytes - offset)) return;
    for (u64 at = offset, end = offset + bytes; at < end;) {
        u32 lo = (u32)(at & 15), hi = end - (at - lo) < 16 ? (u32)(end - (at - lo)) : 16;
        Cell *c = &s->cells[at >> 4];
        if (s->readers && a->how != SEEN_READ) shadow_after_readers(x, a, s, at >> 4, at, hi - lo);
        if (hi - lo == 16 && is_alike(a, c)) {                           // many in a row
            do { c->reads = a->added; c++; at += 16; } while (at + 16 <= end && is_alike(a, c));
            continue;
        }
        if (!lo && hi == 16 && c->write != SPLIT) whole(x, a, c, s, at, 16);
        else visit(x, a, c, 16, lo, hi, s, at - lo);
        at += hi - lo;
    }
}

void shadow_forget(Watch *w, Shadow *s, u64 offset, u64 bytes) {
    for (u64 at = offset >> 4; s->cells && at < (offset + bytes + 15) >> 4; at++) {
        if (s->cells[at].write == SPLIT) free_kids(w, s->cells[at].reads);
        s->cells[at] = (Cell){0, 0};
        if (s->readers) memset(s->readers + at * s->warps, 0, s->warps * sizeof *s->readers);
    }
}
