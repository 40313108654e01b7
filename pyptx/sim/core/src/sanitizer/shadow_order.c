// Ordering of two accesses of the same bytes: unordered pairs, and pairs without the required fences, become findings.
#include "sanitizer/clocks.h"

// Test whether an accessor knows the clock of another cluster, from its own acquire or from that of a thread it knows.
static int knows_foreign(const Sanitizer *w, const Accessor *a, const ClusterClock *f) {
    u32 own = bits32((S32)(f->since[a->p->index] != 0)), lanes = live(a->p);
    if (a->lane < LANES ? own >> a->lane & 1 : a->lane == ANY_LANE ? own : (own & lanes) == lanes) return 1;
    return knows_cluster(w, f, a->clock);
}
static int foreign_before(const Sanitizer *w, const Accessor *a, const Record *r, u32 code) {
    u32 mask = code < LANES ? 1u << code : r->mask;
    for (u32 k = 0; k < a->c->nforeign; k++) {
        const ClusterClock *f = &a->c->foreign[k];
        if (f->cluster == r->cluster && !(bits32((S32)(f->rows[r->row] < r->time)) & mask) && knows_foreign(w, a, f)) return 1;
    }
    return 0;
}

// mbarrier.init, by lane `base` of warp `by`.
static int is_init(const Record *r) { return r->flags & SEEN_MBARRIER && r->how == SEEN_WRITE; }

// Test whether the access of a record happens before `a`.
int happens_before(const Sanitizer *w, const Accessor *a, const Record *r, u32 code) {
    const V32 *clock = a->clock;
    if (UNLIKELY(r->cluster != a->c->id)) return foreign_before(w, a, r, code);
    const u32 *known = (const u32 *)&clock[r->row];
    if (is_init(r) && r->by == a->p->index && r->cluster == a->c->id && (a->lane == r->base || a->lane == ANY_LANE)) return 1;
    if (r->row < w->barrier_row && r->row % w->warps == a->p->index && r->cluster == a->c->id && a->lane != NO_LANE) {
        u32 kind = w->kind_of[r->row / w->warps];
        int own = kind == ROW_THREAD || (kind == a->kind && (kind == ROW_TCGEN05 || kind == ROW_WGMMA));      // in order
        const u32 *done = (const u32 *)&a->p->done[kind];
        if (kind == ROW_WGMMA && (own || done[a->lane % LANES] >= r->time)) return 1;                            // one time for all lanes
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

// Test whether a thread of the accessor's CTA executed a proxy fence after it knew of the write of another CTA.
static int is_fenced_here(const Sanitizer *w, const Accessor *a, const Record *r, u32 mask) {
    u32 nwarps = a->p->cta->nwarps, first = a->p->index / nwarps * nwarps;
    for (u32 i = first; i < first + nwarps; i++) {
        const SanitizerWarp *q = &a->c->warp[i];
        for (u32 k = 0; k < 2; k++) {
            const V32 *at = q->proxy_fence[k].clock;
            if (!at || !(q == a->p && a->lane != NO_LANE) && !(bits32((S32)(a->clock[i] >= q->proxy_fence[k].time)) & q->proxy_fence[k].mask)) continue;
            if (r->cluster == a->c->id) { if (!(bits32((S32)(at[r->row] < r->time)) & mask)) return 1; continue; }
            for (u32 n = 0; n < a->c->nforeign; n++) {
                const ClusterClock *f = &a->c->foreign[n];
                if (f->cluster == r->cluster && !(bits32((S32)(f->rows[r->row] < r->time)) & mask) && knows_cluster(w, f, at)) return 1;
            }
        }
    }
    return 0;
}
static int is_fenced_there(const Sanitizer *w, const Accessor *a, const Record *r, u32 row, u32 mask) {
    for (u32 n = 0; n < a->c->nforeign; n++) {
        const ClusterClock *f = &a->c->foreign[n];
        if (f->cluster == r->cluster && !(bits32((S32)(f->rows[row] < r->time)) & mask) && knows_foreign(w, a, f)) return 1;
    }
    return 0;
}

// Test whether a generic-proxy write has passed a proxy fence before an access of the async proxy.
enum { NOT_FENCED, FENCED, FENCED_ELSEWHERE };
static int is_fenced(const Sanitizer *w, const Accessor *a, const Record *r, u32 code) {
    if (!w->proxy_rows || r->row >= w->barrier_row) return FENCED;
    u32 kind = w->kind_of[r->row / w->warps], wi = r->row % w->warps, cp = kind == ROW_CP_ASYNC, nwarps = a->p->cta->nwarps;
    if (kind > ROW_CP_ASYNC) return FENCED;
    if (UNLIKELY(r->cluster != a->c->id || wi / nwarps != a->p->index / nwarps)) {
        u32 lanes = code < LANES ? 1u << code : r->mask, row = w->rows + (cp ? w->warps : 0) + wi;
        if (is_fenced_here(w, a, r, lanes)) return FENCED;
        int there = r->cluster != a->c->id ? is_fenced_there(w, a, r, row, lanes) : !(bits32((S32)(a->clock[row] < r->time)) & lanes);
        return there ? FENCED_ELSEWHERE : NOT_FENCED;
    }
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

// tcgen05: the completion of another thread's operation must also be known before the last fence::after_thread_sync, and that
// thread must have executed a fence::before_thread_sync or a commit in between. Python decides whether to report loads and
// stores, which compilers do not fence.
static int is_after(const Sanitizer *w, const Accessor *a, const Record *r, u32 code) {
    if (!a->tensor || r->cluster != a->c->id || r->row >= w->barrier_row) return 1;
    u32 kind = w->kind_of[r->row / w->warps], warp = r->row % w->warps;
    if (kind < ROW_TCGEN05) return 1;
    if (kind == ROW_TCGEN05 ? a->kind == ROW_TCGEN05 && r->row == a->row : warp == a->p->index) return 1;          // of one thread, in program order
    const u32 *known = (const u32 *)&a->tensor[(kind - ROW_TCGEN05) * w->warps + warp];
    for (u32 mask = code < LANES ? 1u << code : r->mask; mask; mask &= mask - 1) if (known[__builtin_ctz(mask)] < r->time) return 0;
    return 1;
}

u32 lanes_at(const Sanitizer *w, u32 base, u32 shape, u64 offset, u32 bytes) {
    const Shape *s = &w->shapes[shape];
    V32 at = s->offset + base - (u32)offset;                             // modulo 2^32
    return bits32((S32)(at < bytes) | (S32)(-at < s->bytes));
}

// Check each lane of `a` that accesses some of the bytes.
static int each_follows(Ctx *x, const Accessor *a, u32 value, const Shadow *s, u64 offset, u32 bytes) {
    const Shape *shape = &x->sanitizer->shapes[a->shape];
    for (u32 m = lanes_at(x->sanitizer, a->base, a->shape, offset, bytes); m; m &= m - 1) {
        Accessor one = *a;
        one.wide = 0;
        one.lane = (u32)__builtin_ctz(m);
        one.value = (a->value & ~63u) | one.lane;
        u64 lo = offset + (u32)(shape->offset[one.lane] + a->base - (u32)offset), hi;
        if (lo - offset >= bytes) lo -= (u64)1 << 32;                    // it starts before these bytes
        hi = lo + shape->bytes;
        if ((i64)lo < (i64)offset) lo = offset;
        if (hi > offset + bytes) hi = offset + bytes;
        follows(x, &one, value, s, lo, (u32)(hi - lo));
    }
    return 0;
}

// Report a race, of a byte and two lanes that are unordered: other lanes of the same instructions may be ordered.
static void report_race(Ctx *x, const Accessor *a, const Record *r, u32 code, const Shadow *s, u64 offset, u32 bytes) {
    const Sanitizer *w = x->sanitizer;
    int rows = r->row < w->barrier_row && r->cluster == a->c->id, same = rows && r->row % w->warps == a->p->index;
    for (u32 k = 0; k < bytes; k++) {
        u32 before = code == PLACE ? r->mask & lanes_at(w, r->base, r->shape, offset + k, 1) : code < LANES ? 1u << code : r->mask;
        u32 after = a->wide ? lanes_at(w, a->base, a->shape, offset + k, 1) : a->lane < LANES ? 1u << a->lane
            : (a->value & 63) < LANES ? 1u << (a->value & 63) : w->records[a->value >> 6].mask;
        for (; after; after &= after - 1) {
            Accessor one = *a;
            one.lane = (u32)__builtin_ctz(after);
            one.wide = 0;
            const V32 *clock = a->kind == ROW_THREAD ? clock_of(a->p, one.lane) : a->clock;
            u32 late = rows ? before & bits32((S32)(clock[r->row] < r->time)) : before;
            if (same && w->kind_of[r->row / w->warps] == ROW_THREAD) late &= ~(1u << one.lane);
            if (!late) continue;
            report_finding(x, FINDING_RACE, &one, r, (u32)__builtin_ctz(late), s, offset + k);
            return;
        }
    }
    report_finding(x, FINDING_RACE, a, r, code, s, offset);
}

// Test whether the scopes of two strong accesses include each other's thread; those of mbarriers and asynchronous operations do.
static int each_in_scope(const Record *q, const Record *r, u32 nwarps) {
    if ((r->flags | q->flags) & (SEEN_MBARRIER | SEEN_ASYNC) || !r->base || !q->base) return 1;
    u32 least = (r->base < q->base ? r->base : q->base) - 1;
    if (r->cluster != q->cluster) return least >= SCOPE_GPU;
    return least >= SCOPE_CLUSTER || r->by / nwarps == q->by / nwarps;
}

static u32 next_of(const Sanitizer *w, u32 *rest) {                      // of a list of accesses
    u32 value = *rest & TOP ? w->nodes[*rest & ~TOP].value : *rest;
    *rest = *rest & TOP ? w->nodes[*rest & ~TOP].next : 0;
    return value;
}
// Test whether a strong access observed a strong write before `a`, which orders that write, and nothing else of its thread,
// before `a`. Records are in the order of the accesses.
static int is_observed(const Sanitizer *w, const Accessor *a, u32 write) {
    const Record *r = &w->records[write >> 6];
    for (u32 rest = a->others; rest;) {
        u32 value = next_of(w, &rest), overwritten = 0;
        const Record *q = &w->records[value >> 6];
        if (value >> 6 <= write >> 6 || !(q->flags & SEEN_STRONG) || q->flags & SEEN_STORE) continue;
        if (!each_in_scope(q, r, a->p->cta->nwarps) || !happens_before(w, a, q, value & 63)) continue;
        for (u32 k = a->others; k;) {
            u32 other = next_of(w, &k) >> 6;
            overwritten |= other > write >> 6 && other < value >> 6 && w->records[other].flags & SEEN_STORE;
        }
        if (!overwritten) return 1;
    }
    return 0;
}

int follows(Ctx *x, Accessor *a, u32 value, const Shadow *s, u64 offset, u32 bytes) {
    Sanitizer *w = x->sanitizer;
    const Record *r = &w->records[value >> 6];
    u32 code = value & 63, anywhere = code != PLACE;
    Record narrow;
    if ((value >> 6) == (a->value >> 6)) {                                               // the same instruction
        if (a->how == SEEN_WRITE && (a->wide ? code != PLACE || !w->shapes[a->shape].apart : value != a->value)) w->unproven = 1;
        return !a->wide || code == PLACE;
    }
    if (r->flags & a->flags & SEEN_STRONG) {
        Record strong = {.flags = (u8)a->flags, .base = a->base, .cluster = a->c->id, .by = (u16)a->p->index};
        if (each_in_scope(&strong, r, a->p->cta->nwarps)) return 1;
    }
    if (is_sure(a, value)) return 1;
    if (r->cluster == a->c->id && !(a->flags & SEEN_ASYNC) && !a->tensor && !(bits32((S32)(a->p->common[r->row] < r->time)) & r->mask)) {
        a->p->sure[value >> 6 & 255] = value >> 6;
        return 1;
    }
    if (a->wide && r->row < w->barrier_row && r->row % w->warps == a->p->index && r->cluster == a->c->id) {    // the same warp
        if (code == PLACE && a->kind == ROW_THREAD && r->row == a->row && r->base == a->base && r->shape == a->shape && w->shapes[a->shape].apart) return 1;
        return each_follows(x, a, value, s, offset, bytes);
    }
    if (code == PLACE) {
        narrow = *r;
        narrow.mask &= lanes_at(w, r->base, r->shape, offset, bytes);
        code = narrow.mask & (narrow.mask - 1) ? SEVERAL : (u32)__builtin_ctz(narrow.mask | 1u << 31);
        r = &narrow;
    }
    if (!happens_before(w, a, r, code)) {
        if (r->flags & SEEN_STRONG && r->how == SEEN_ATOMIC && is_observed(w, a, value)) return 0;
        if (r->how == SEEN_WRITE && a->how == SEEN_WRITE && a->kind == ROW_THREAD && s->host && w->ndoubts < sizeof w->doubt / sizeof *w->doubt) {
            u32 k = w->ndoubts++;                                        // it may write the value that is already there
            w->unproven = 1;
            w->doubt[k].a = *a; w->doubt[k].before = w->records[value >> 6]; w->doubt[k].code = value & 63; w->doubt[k].bytes = bytes;
            w->doubt[k].s = s; w->doubt[k].offset = offset;
            memcpy(w->doubt[k].was, s->host + offset, bytes);
        } else report_race(x, a, &w->records[value >> 6], value & 63, s, offset, bytes);
    }
    else if (a->flags & SEEN_ASYNC && !(r->flags & SEEN_ASYNC) && r->how != SEEN_READ) {
        int fenced = w->proxy_spaces >> s->space & 1 ? is_fenced(w, a, r, code) : NOT_FENCED;
        if (fenced != FENCED) report_finding(x, fenced == NOT_FENCED ? FINDING_PROXY : FINDING_FENCE_ELSEWHERE, a, r, code, s, offset);
    }
    else if (s->space == IN_TENSOR && !is_after(w, a, r, code)) report_finding(x, FINDING_FENCE_AFTER, a, r, code, s, offset);
    return anywhere && !a->wide;
}

// Two unordered writes of the same value are not an observable race.
void settle_doubts(Ctx *x) {
    Sanitizer *w = x->sanitizer;
    for (u32 k = 0; k < w->ndoubts; k++)
        if (memcmp(w->doubt[k].was, w->doubt[k].s->host + w->doubt[k].offset, w->doubt[k].bytes))
            report_race(x, &w->doubt[k].a, &w->doubt[k].before, w->doubt[k].code, w->doubt[k].s, w->doubt[k].offset, w->doubt[k].bytes);
    w->ndoubts = 0;
}

void report_finding(Ctx *x, u32 rule, const Accessor *a, const Record *before, u32 code, const Shadow *s, u64 offset) {
    Sanitizer *w = x->sanitizer;
    u32 kind = 0, thread = NONE, lane = a->lane < LANES ? a->lane : a->value & 63;
    if (a->wide) lane = (u32)__builtin_ctz(lanes_at(w, a->base, a->shape, offset, 1) | 1u << 31);
    if (before) {
        if (code == PLACE) code = (u32)__builtin_ctz(lanes_at(w, before->base, before->shape, offset, 1) | 1u << 31);
        kind = before->row >= w->barrier_row ? ROW_MBARRIER : w->kind_of[before->row / w->warps];
        if (is_init(before)) { kind = ROW_THREAD; code = before->base; }
        thread = before->by * LANES + (kind == ROW_MBARRIER ? 0 : code < LANES ? code : (u32)__builtin_ctz(before->mask | 1u << 31));
    }
    u32 pc = before ? before->pc : NONE, how = before ? before->how : SEEN_READ;
    for (u32 k = 0; k < w->nfindings; k++) {
        Finding *f = &w->found[k];
        if (f->rule == rule && f->pc[0] == pc && f->pc[1] == a->pc && f->how[0] == how && f->how[1] == a->how) { f->count++; return; }
    }
    if (w->nfindings == sizeof w->found / sizeof *w->found) { w->unlisted++; return; }
    w->found[w->nfindings++] = (Finding){.rule = rule, .pc = {pc, a->pc}, .how = {how, a->how}, .kind = {kind, a->kind},
        .thread = {thread, a->p->index * LANES + (lane < LANES ? lane : 0)}, .cluster = {before ? before->cluster : 0, a->c->id}, .space = s ? s->space : IN_SHARED, .place = s ? s->id : 0,
        .count = 1, .cta = a->p->cta->id, .offset = offset};
}
