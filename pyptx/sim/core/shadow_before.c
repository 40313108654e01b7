// Two accesses of the same bytes: does the first one come before the second, with the fences it needs? What does not is
// kept as found.
#include "watch.h"

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

u32 lanes_at(const Watch *w, u32 base, u32 shape, u64 offset, u32 bytes) {
    const Shape *s = &w->shapes[shape];
    V32 at = s->offset + base - (u32)offset;                             // modulo 2^32
    return bits32((S32)(at < bytes) | (S32)(-at < s->bytes));
}

// Each lane of `a` that accesses some of the bytes.
static int each_follows(Ctx *x, const Agent *a, u32 value, const Shadow *s, u64 offset, u32 bytes) {
    const Shape *shape = &x->watch->shapes[a->shape];
    for (u32 m = lanes_at(x->watch, a->base, a->shape, offset, bytes); m; m &= m - 1) {
        Agent one = *a;
        one.wide = 0;
        one.lane = (u32)__builtin_ctz(m);
        one.value = (a->value & ~63u) | one.lane;
        u64 lo = offset + (u32)(shape->offset[one.lane] + a->base - (u32)offset), hi;
        if (lo - offset >= bytes) lo -= (u64)1 << 32;                    // it begins before these bytes
        hi = lo + shape->bytes;
        if ((i64)lo < (i64)offset) lo = offset;
        if (hi > offset + bytes) hi = offset + bytes;
        follows(x, &one, value, s, lo, (u32)(hi - lo));
    }
    return 0;
}

int follows(Ctx *x, Agent *a, u32 value, const Shadow *s, u64 offset, u32 bytes) {
    Watch *w = x->watch;
    const Record *r = &w->records[value >> 6];
    u32 code = value & 63, anywhere = code != PLACE;
    Record narrow;
    if ((value >> 6) == (a->value >> 6)) return !a->wide || code == PLACE;               // the same instruction
    if (r->flags & a->flags & SEEN_STRONG) return 1;
    if (is_sure(a, value)) return 1;
    if (r->cluster == a->c->id && !(a->flags & SEEN_ASYNC) && !a->tensor && !(bits32((S32)(a->p->common[r->row] < r->time)) & r->mask)) {
        a->p->sure[value >> 6 & 255] = value >> 6;
        return 1;
    }
    if (a->wide && r->row < w->barrier_row && r->row % w->warps == a->p->index && r->cluster == a->c->id) {    // the same warp
        if (code == PLACE && r->row == a->row && r->base == a->base && r->shape == a->shape && w->shapes[a->shape].apart) return 1;
        return each_follows(x, a, value, s, offset, bytes);
    }
    if (code == PLACE) {
        narrow = *r;
        narrow.mask &= lanes_at(w, r->base, r->shape, offset, bytes);
        code = narrow.mask & (narrow.mask - 1) ? SEVERAL : (u32)__builtin_ctz(narrow.mask | 1u << 31);
        r = &narrow;
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
    return anywhere && !a->wide;
}

// Two writes of the same bytes by different threads are no race that anybody could see.
void settle_doubts(Ctx *x) {
    Watch *w = x->watch;
    for (u32 k = 0; k < w->ndoubts; k++)
        if (memcmp(w->doubt[k].was, w->doubt[k].s->host + w->doubt[k].offset, w->doubt[k].bytes))
            watch_found(x, FOUND_RACE, &w->doubt[k].a, &w->doubt[k].before, w->doubt[k].code, w->doubt[k].s, w->doubt[k].offset);
    w->ndoubts = 0;
}

void watch_found(Ctx *x, u32 rule, const Agent *a, const Record *before, u32 code, const Shadow *s, u64 offset) {
    Watch *w = x->watch;
    u32 kind = 0, thread = NONE, lane = a->lane < LANES ? a->lane : a->value & 63;
    if (a->wide) lane = (u32)__builtin_ctz(lanes_at(w, a->base, a->shape, offset, 1) | 1u << 31);
    if (before) {
        if (code == PLACE) code = (u32)__builtin_ctz(lanes_at(w, before->base, before->shape, offset, 1) | 1u << 31);
        kind = before->row >= w->barrier_row ? ROW_MBARRIER : w->kind_of[before->row / w->warps];
        thread = before->by * LANES + (kind == ROW_MBARRIER ? 0 : code < LANES ? code : (u32)__builtin_ctz(before->mask | 1u << 31));
    }
    u32 pc = before ? before->pc : NONE, how = before ? before->how : SEEN_READ;
    for (u32 k = 0; k < w->nfound; k++) {
        Found *f = &w->found[k];
        if (f->rule == rule && f->pc[0] == pc && f->pc[1] == a->pc && f->how[0] == how && f->how[1] == a->how) { f->count++; return; }
    }
    if (w->nfound == sizeof w->found / sizeof *w->found) { w->unlisted++; return; }
    w->found[w->nfound++] = (Found){.rule = rule, .pc = {pc, a->pc}, .how = {how, a->how}, .kind = {kind, a->kind},
        .thread = {thread, a->p->index * LANES + (lane < LANES ? lane : 0)}, .space = s ? s->space : IN_SHARED, .place = s ? s->id : 0,
        .count = 1, .cta = a->p->cta->id, .offset = offset};
}
