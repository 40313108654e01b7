// What was accessed last, byte accurate, and whether the next access comes after it.
//
// A cell stands for 16 bytes: who wrote them last and who has read them since. Where parts differ it is split into four
// cells of 4 bytes, and these into bytes: `write` is SPLIT then and `reads` the number of the four. An access is a value:
// record << 6 | lane (SEVERAL: more than one of the record's lanes). Several readers are a list of nodes, TOP | number;
// readers that come before a newer one leave it, for who comes after the newer one comes after them. Atomics are among
// the readers, as they are in no conflict with each other; they stay until a newer atomic or a write.
#include "watch.h"

enum { MOST_READERS = 40, MOST_GLOBAL = 4 };

static const V32 *foreign_rows(const WatchCluster *c, u32 cluster) {
    for (u32 k = 0; k < c->nforeign; k++) if (c->foreign[k].cluster == cluster) return c->foreign[k].rows;
    return 0;
}

// Is what the record says known to have happened before `a`?
int comes_before(const Watch *w, const Agent *a, const Record *r, u32 code) {
    const V32 *clock = a->clock;
    if (UNLIKELY(r->cluster != a->c->id)) {
        clock = foreign_rows(a->c, r->cluster);
        if (!clock) return 0;
    }
    const u32 *known = (const u32 *)&clock[r->row];
    if (r->row < w->barrier_row && r->row % w->warps == a->p->index && r->cluster == a->c->id && a->lane != NO_LANE) {
        u32 kind = w->kind_of[r->row / w->warps];
        int own = kind == ROW_THREAD || (kind == a->kind && (kind == ROW_TC || kind == ROW_WGMMA));      // in order
        const u32 *done = (const u32 *)&a->p->done[kind];
        if (kind == ROW_WGMMA && (own || done[a->lane % LANES] >= r->time)) return 1;                            // one for all lanes
        if (code < LANES) {
            if (code == a->lane || a->lane == ANY_LANE) { if (own || done[code] >= r->time) return 1; }
        } else if (a->lane == ANY_LANE) {
            if (own) return 1;
            for (u32 m = r->mask; m; m &= m - 1) { u32 i = (u32)__builtin_ctz(m); if (done[i] < r->time && known[i] < r->time) return 0; }
            return 1;
        } else {
            for (u32 m = r->mask; m; m &= m - 1) {
                u32 i = (u32)__builtin_ctz(m);
                if (known[i] < r->time && !(i == a->lane && (own || done[i] >= r->time))) return 0;
            }
            return 1;
        }
    }
    if (code < LANES) return known[code] >= r->time;
    return !(bits32((S32)(clock[r->row] < r->time)) & r->mask);
}

// Has a write of the generic proxy passed a fence before an access of the asynchronous one?
static int is_fenced(const Watch *w, const Agent *a, const Record *r, u32 code) {
    if (r->cluster != a->c->id || !w->proxy_rows || r->row >= w->barrier_row) return 1;
    u32 kind = w->kind_of[r->row / w->warps], wi = r->row % w->warps, cp = kind == ROW_CP;
    if (kind > ROW_CP) return 1;
    const u32 *known = (const u32 *)&a->clock[w->rows + (cp ? w->warps : 0) + wi], *own = (const u32 *)&a->p->fenced[cp];
    u32 mask = code < LANES ? 1u << code : r->mask;
    for (; mask; mask &= mask - 1) {
        u32 i = (u32)__builtin_ctz(mask);
        if (known[i] >= r->time) continue;
        if (wi == a->p->index && a->lane != NO_LANE && (a->lane == i || a->lane == ANY_LANE) && own[i] >= r->time) continue;
        return 0;
    }
    return 1;
}

// tcgen05: that an operation of another thread is done has to be known before the last fence::after_thread_sync, too, and
// that thread has passed a fence::before_thread_sync or a commit in between. Whether that is held against loads and stores
// Python decides: compilers do not fence those.
static int is_after(const Watch *w, const Agent *a, const Record *r, u32 code) {
    if (!a->tensor || r->cluster != a->c->id || r->row >= w->barrier_row) return 1;
    u32 kind = w->kind_of[r->row / w->warps], warp = r->row % w->warps;
    if (kind < ROW_TC) return 1;
    if (kind == ROW_TC ? a->kind == ROW_TC && r->row == a->row : warp == a->p->index) return 1;          // of one thread, in order
    const u32 *known = (const u32 *)&a->tensor[(kind - ROW_TC) * w->warps + warp];
    for (u32 mask = code < LANES ? 1u << code : r->mask; mask; mask &= mask - 1) if (known[__builtin_ctz(mask)] < r->time) return 0;
    return 1;
}

// An access of an ordinary instruction after one that all lanes of its warp know of, as they have found out before.
static inline int is_sure(const Agent *a, u32 value) { return a->p->sure[value >> 6 & 255] == value >> 6 && !(a->flags & SEEN_ASYNC) && !a->tensor; }

static void follows(Ctx *x, Agent *a, u32 value, const Shadow *s, u64 offset, u32 bytes) {
    Watch *w = x->watch;
    const Record *r = &w->records[value >> 6];
    u32 code = value & 63;
    if ((value >> 6) == (a->value >> 6)) return;                         // the same instruction
    if (r->flags & a->flags & SEEN_STRONG) return;
    if (is_sure(a, value)) return;
    if (r->cluster == a->c->id && !(a->flags & SEEN_ASYNC) && !a->tensor && !(bits32((S32)(a->p->common[r->row] < r->time)) & r->mask)) {
        a->p->sure[value >> 6 & 255] = value >> 6;
        return;
    }
    if (!comes_before(w, a, r, code)) {
        if (r->how == SEEN_WRITE && a->how == SEEN_WRITE && a->kind == ROW_THREAD && s->host && w->ndoubts < sizeof w->doubt / sizeof *w->doubt) {
            u32 k = w->ndoubts++;                                        // it may write what is there already
            w->doubt[k].a = *a; w->doubt[k].before = *r; w->doubt[k].code = code; w->doubt[k].bytes = bytes;
            w->doubt[k].s = s; w->doubt[k].offset = offset;
            memcpy(w->doubt[k].was, s->host + offset, bytes);
        } else watch_found(x, FOUND_RACE, a, r, code, s, offset);
    }
    else if (a->flags & SEEN_ASYNC && !(r->flags & SEEN_ASYNC) && r->how != SEEN_READ && !is_fenced(w, a, r, code))
        watch_found(x, FOUND_PROXY, a, r, code, s, offset);
    else if (s->space == IN_TENSOR && !is_after(w, a, r, code)) watch_found(x, FOUND_FENCE_AFTER, a, r, code, s, offset);
}

// Two writes of the same bytes by different threads are no race that anybody could see.
void settle_doubts(Ctx *x) {
    Watch *w = x->watch;
    for (u32 k = 0; k < w->ndoubts; k++)
        if (memcmp(w->doubt[k].was, w->doubt[k].s->host + w->doubt[k].offset, w->doubt[k].bytes))
            watch_found(x, FOUND_RACE, &w->doubt[k].a, &w->doubt[k].before, w->doubt[k].code, w->doubt[k].s, w->doubt[k].offset);
    w->ndoubts = 0;
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
                              || !comes_before(w, a, &w->records[v >> 6], v & 63))) keep[n++] = v;
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
    a->good_reads = set;
    for (;;) {
        u32 v = set & TOP ? w->nodes[set & ~TOP].value : set;
        if (a->how != SEEN_READ || w->records[v >> 6].how == SEEN_ATOMIC) follows(x, a, v, s, offset, bytes);
        if (!(set & TOP)) return;
        set = w->nodes[set & ~TOP].next;
    }
}

// What was written before is lost, and nobody has read it.
static void written_twice(Ctx *x, Agent *a, u32 value, const Shadow *s, u64 offset) {
    const Record *r = &x->watch->records[value >> 6];
    if (value >> 6 != a->value >> 6) watch_found(x, FOUND_DEAD, a, r, value & 63, s, offset);
}

static void whole(Ctx *x, Agent *a, Cell *c, const Shadow *s, u64 offset, u32 bytes) {
    Watch *w = x->watch;
    if (LIKELY(a->how == SEEN_READ && c->write >> 6 == a->sure && c->reads == a->set && a->with == a->value)) { c->reads = a->added; return; }
    int atomics = has_atomics(w, c->reads);
    if (c->write != a->good) {
        if (c->write) { if (!is_sure(a, c->write)) follows(x, a, c->write, s, offset, bytes); }
        else if (a->how != SEEN_WRITE && !atomics && s->fresh) watch_found(x, FOUND_UNINITIALISED, a, 0, 0, s, offset);
        a->good = c->write;
    }
    if (c->reads && c->reads != a->good_reads && (a->how != SEEN_READ || atomics)) follows_all(x, a, c->reads, s, offset, bytes);
    if (a->how != SEEN_WRITE) {
        if (c->reads == a->value) return;
        u32 set = c->reads;
        c->reads = add_reader(x, set, a, s->space == IN_GLOBAL ? MOST_GLOBAL : MOST_READERS);
        a->sure = c->write && !atomics && a->how == SEEN_READ && is_sure(a, c->write) ? c->write >> 6 : NONE;
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
    if (a->how != SEEN_WRITE || lo || hi != size) return;
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
        if (!lo && hi == 16 && c->write != SPLIT) whole(x, a, c, s, at, 16);
        else visit(x, a, c, 16, lo, hi, s, at - lo);
        at += hi - lo;
    }
}

void shadow_forget(Watch *w, Shadow *s, u64 offset, u64 bytes) {
    for (u64 at = offset >> 4; s->cells && at < (offset + bytes + 15) >> 4; at++) {
        if (s->cells[at].write == SPLIT) free_kids(w, s->cells[at].reads);
        s->cells[at] = (Cell){0, 0};
    }
}

void watch_found(Ctx *x, u32 rule, const Agent *a, const Record *before, u32 code, const Shadow *s, u64 offset) {
    Watch *w = x->watch;
    u32 kind = 0, thread = NONE;
    if (before) {
        kind = before->row >= w->barrier_row ? ROW_MBARRIER : w->kind_of[before->row / w->warps];
        thread = before->by * LANES + (kind == ROW_MBARRIER ? 0 : code < LANES ? code : (u32)__builtin_ctz(before->mask | 1u << 31));
    }
    u32 pc = before ? before->pc : NONE, how = before ? before->how : SEEN_READ;
    for (u32 k = 0; k < w->nfound; k++) {
        Found *f = &w->found[k];
        if (f->rule == rule && f->pc[0] == pc && f->pc[1] == a->pc && f->how[0] == how && f->how[1] == a->how) { f->count++; return; }
    }
    if (w->nfound == sizeof w->found / sizeof *w->found) { w->unlisted++; return; }
    u32 lane = a->lane < LANES ? a->lane : a->value & 63;
    w->found[w->nfound++] = (Found){.rule = rule, .pc = {pc, a->pc}, .how = {how, a->how}, .kind = {kind, a->kind},
        .thread = {thread, a->p->index * LANES + (lane < LANES ? lane : 0)}, .space = s ? s->space : IN_SHARED, .place = s ? s->id : 0,
        .count = 1, .cta = a->p->cta->id, .offset = offset};
}
