// Tensor maps that a kernel modifies. Copies read them through the tensormap proxy: a modification must be released
// (fence.proxy.tensormap::generic.release, or tensormap.cp_fenceproxy, which does both) and then acquired for the address
// (fence.proxy.tensormap::generic.acquire) before a copy uses the map.
#include "sanitizer/clocks.h"

enum { MAP_BYTES = 128, MOST_MAP_FENCES = 1024 };

// The clock of lanes at a fence, including their own times.
typedef struct MapFence { Record by; V32 *clock; u64 address; u32 acquires; } MapFence;

static int knows(const MapFence *f, const Record *r, u32 lane) { return ((const u32 *)&f->clock[r->row])[lane] >= r->time; }
static u32 lane_of(const Record *r, u32 code) { return code < LANES ? code : (u32)__builtin_ctz(r->mask | 1u << 31); }

// Test whether `a` is one of the lanes at the fence, or knows one of them.
static int before(const Accessor *a, const MapFence *f) {
    if (f->by.cluster != a->c->id) return 0;
    if (f->by.by == a->p->index && (a->lane >= LANES || f->by.mask >> a->lane & 1)) return 1;
    return (bits32((S32)(a->clock[f->by.row] >= f->by.time)) & f->by.mask) != 0;
}

static void add_fence(Ctx *x, u32 m, u64 address, u32 acquires) {
    Sanitizer *w = x->sanitizer;
    Accessor a = accessor_of(x, (u32)__builtin_ctz(m));
    a.row = row_of(w, ROW_THREAD, a.p);
    MapFence *f = 0;
    for (u32 k = 0; k < w->nmap_fences && !f; k++) {                     // a newer fence of the same lanes replaces it
        MapFence *old = &w->map_fences[k];
        if (old->address == address && old->acquires == acquires && old->by.by == a.p->index && old->by.cluster == a.c->id && !(old->by.mask & ~m)) f = old;
    }
    if (!f && w->nmap_fences == MOST_MAP_FENCES) { f = &w->map_fences[0]; }
    if (!f) {
        if (!sanitizer_room(&w->map_fences, &w->map_fences_room, w->nmap_fences, 16, sizeof *f)) { sanitizer_no_memory(x); return; }
        f = &w->map_fences[w->nmap_fences++];
        f->clock = 0;
    }
    free_clock(w, f->clock);
    f->clock = new_clock(x);
    give(x, a.p, m, f->clock);
    f->by = record_of(x, &a, m);
    f->address = address;
    f->acquires = acquires;
}

void sanitizer_map_release(Ctx *x, u32 m) { add_fence(x, m, 0, 0); }
void sanitizer_map_acquire(Ctx *x, u32 m, const u64 *address) {
    while (m) {
        u32 first = (u32)__builtin_ctz(m), same = 0;
        for (u32 k = m; k; k &= k - 1) if (address[__builtin_ctz(k)] == address[first]) same |= k & -k;
        add_fence(x, same, address[first], 1);
        m &= ~same;
    }
    sanitizer_warp(x)->time++;
}

// Test for an acquire of the map before `a` that follows a release of the write.
static int is_acquired(const Sanitizer *w, const Accessor *a, u64 address, const Record *r, u32 lane) {
    for (u32 k = 0; k < w->nmap_fences; k++) {
        const MapFence *f = &w->map_fences[k];
        if (!f->acquires || f->address != address || !before(a, f) || !knows(f, r, lane)) continue;
        if (r->flags & SEEN_RELEASED) return 1;
        for (u32 i = 0; i < w->nmap_fences; i++) {
            const MapFence *given = &w->map_fences[i];
            if (given->acquires || !knows(given, r, lane)) continue;
            if (given->by.cluster == f->by.cluster && bits32((S32)(f->clock[given->by.row] >= given->by.time)) & given->by.mask) return 1;
        }
    }
    return 0;
}

// A copy uses the tensor map at an address.
void sanitizer_map(Ctx *x, const Accessor *copy, u64 address) {
    Sanitizer *w = x->sanitizer;
    Segment *segment = segment_of(x, address, MAP_BYTES);
    if (!segment || segment->read_only || w->full) return;
    const Shadow *s = &w->global[segment - x->segments];
    Accessor a = *copy;
    a.how = SEEN_READ;
    a.kind = ROW_THREAD;                                                 // ordered as an access of the issuing thread
    a.flags = 0;
    a.row = row_of(w, ROW_THREAD, a.p);
    a.good = NONE;
    for (u64 at = address - segment->va, end = at + MAP_BYTES; at < end; at += 16) {
        const Cell *c = &s->cells[at >> 4];
        if (c->write == SPLIT) c = w->kids[c->reads];                    // the first part represents all
        if (!c->write || c->write == SPLIT) continue;
        const Record *r = &w->records[c->write >> 6];
        u32 code = c->write & 63, lane = code == PLACE ? (u32)__builtin_ctz(lanes_at(w, r->base, r->shape, at, 1) | 1u << 31) : lane_of(r, code);
        if (r->cluster != a.c->id || r->row >= w->warps) continue;
        if (happens_before(w, &a, r, lane) && is_acquired(w, &a, address, r, lane)) continue;
        report_finding(x, FINDING_MAP, &a, r, lane, s, at);
        return;
    }
}

// tensormap.replace, tensormap.cp_fenceproxy: a whole map is written, in global memory or in the CTA's shared memory.
void sanitizer_map_written(Ctx *x, u32 lane, const u8 *host, u32 released) {
    Accessor a = sanitizer_async(x, lane, ROW_THREAD, SEEN_WRITE);
    x->sanitizer->records[a.value >> 6].flags = a.flags = SEEN_MAP | (released ? SEEN_RELEASED : 0);
    u64 offset = (u64)(host - x->cta->smem);
    if (offset < x->smem_bytes) { sanitizer_shared(x, &a, x->cta, offset, MAP_BYTES); return; }
    for (u64 k = 0; k < x->nsegments; k++)
        if ((u64)(host - x->segments[k].host) < x->segments[k].bytes)
            shadow_touch(x, &a, &x->sanitizer->global[k], (u64)(host - x->segments[k].host), MAP_BYTES);
}
void sanitizer_map_copied(Ctx *x, const u8 *from, const u8 *to, u32 lane) {
    sanitizer_warp_sync(x, x->sanitizer ? x->warp->live : 0);
    Accessor a = sanitizer_async(x, ANY_LANE, ROW_THREAD, SEEN_READ);
    a.flags = 0;
    sanitizer_shared(x, &a, x->cta, (u64)(from - x->cta->smem), MAP_BYTES);
    sanitizer_map_written(x, lane, to, 1);
    sanitizer_warp_sync(x, x->warp->live);
}
void sanitizer_maps_close(Sanitizer *w) {
    for (u32 k = 0; k < w->nmap_fences; k++) drop_clock(w, w->map_fences[k].clock);
    free(w->map_fences);
}
