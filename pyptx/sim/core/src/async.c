// The asynchronous engine: operations that were issued and have not completed. See async.h.
#include "debug.h"

Async new_async(Ctx *x, Land land, u32 lanes) {
    return (Async){.land = land, .cta = x->cta, .warp = x->warp, .pc = x->pc, .lanes = lanes, .track = TRACK_NONE, .stages = 1};
}

// Execute the remaining stages of `a`, up to `stages` in all, in the context of the warp that issued it; then signal its mbarrier.
static void finish(Ctx *x, Async *a, u32 stages) {
    Cta *cta = x->cta;
    Warp *warp = x->warp;
    u32 pc = x->pc;
    char *keep[4];
    memcpy(keep, x->base, sizeof keep);
    x->cta = a->cta; x->warp = a->warp; x->pc = a->pc;
    x->base[0] = a->warp->regs; x->base[2] = a->cta->sregs; x->base[3] = a->warp->sregs;
    while (x->status == STATUS_RUNNING && a->stage < stages) { a->land(x, a); a->stage++; }
    if (x->status == STATUS_RUNNING && a->stage == a->stages && a->signals) {
        if (UNLIKELY(a->at->phases != 0)) synchronized(x, SYNC_COMPLETES, a->at, a->barrier, a->phase, a->lanes);
        signal_mbarrier(x, a->at, a->barrier, (u32)__builtin_ctz(a->lanes), a->tx, a->arrivals);
    }
    if (x->status != STATUS_RUNNING) return;                                   // the fault names the issuing warp
    if (UNLIKELY(x->debug != 0)) debug_landed(x, a);
    x->cta = cta; x->warp = warp; x->pc = pc;
    memcpy(x->base, keep, sizeof keep);
}

// Test whether `early` completes before `a`. Arrivals of tcgen05.commit happen in the order of the commits.
static int is_before(const Async *early, const Async *a) {
    int commits = a->after == 1u << TRACK_TCGEN05 && early->after == a->after && a->track == TRACK_NONE && early->track == TRACK_NONE;
    return (commits || a->after >> early->track & 1) && early->warp == a->warp && early->lanes & a->lanes;
}

static void land(Ctx *x, Cluster *cluster, Async *a, u32 stages);

// Complete the operations ordered before `a`, which may already be in the list.
static void land_earlier(Ctx *x, Cluster *cluster, Async *a) {
    for (Async *early = a->after ? cluster->first : 0; early && early != a;) {
        if (!is_before(early, a)) { early = early->next; continue; }
        land(x, cluster, early, early->stages);
        if (x->status != STATUS_RUNNING) return;
        early = cluster->first;                                         // landing may remove several from the list
    }
}

// Execute an operation of the list up to stage `stages`, after those ordered before it. Completed ones leave the list.
static void land(Ctx *x, Cluster *cluster, Async *a, u32 stages) {
    if (stages > a->stages) stages = a->stages;
    land_earlier(x, cluster, a);
    if (x->status != STATUS_RUNNING) return;
    if (stages == a->stages) {
        if (a->before) a->before->next = a->next; else cluster->first = a->next;
        if (a->next) a->next->before = a->before; else cluster->last = a->before;
        cluster->pending--;
    }
    x->landed = 1;
    finish(x, a, stages);
    if (a->stage < a->stages && x->status == STATUS_RUNNING) return;
    if (stages == a->stages) { free(a->data); free(a); }
}

void issue_async(Ctx *x, Async *a) {
    a->signals = a->at != 0;
    if (UNLIKELY(a->signals && a->at->phases)) a->phase = *phase_of(x, a->at, a->barrier);
    x->async_operations[x->ops[x->pc].instr] += (u32)__builtin_popcount(a->lanes);
    if (UNLIKELY(x->debug != 0)) debug_issued(x, a);
    if (x->schedule == SCHEDULE_EAGER || x->ops[x->pc].flags & F_LAND_EAGERLY) {
        if (x->schedule != SCHEDULE_EAGER) land_earlier(x, a->cta->cluster, a);
        if (x->status == STATUS_RUNNING) finish(x, a, a->stages);
        free(a->data);
        return;
    }
    Cluster *cluster = a->cta->cluster;
    Async *kept = malloc(sizeof *kept);
    if (!kept) { x->status = STATUS_FAULT; x->fault = FAULT_MEMORY; return; }
    u32 lanes = a->lanes;
    *kept = *a;
    while (a->track != TRACK_NONE && lanes) {                           // one operation for each group of lanes
        u32 group = a->warp->committed[a->track][__builtin_ctz(lanes)], same = 0;
        for (u32 k = lanes; k; k &= k - 1) if (a->warp->committed[a->track][__builtin_ctz(k)] == group) same |= k & -k;
        kept->group = group;
        kept->lanes = same;
        lanes &= ~same;
        if (lanes) {
            Async *other = malloc(sizeof *other);
            if (!other) { x->status = STATUS_FAULT; x->fault = FAULT_MEMORY; free(kept); return; }
            *other = *a;
            if (a->data) {
                if (!(other->data = malloc(a->data_bytes))) { x->status = STATUS_FAULT; x->fault = FAULT_MEMORY; free(other); other = 0; }
                else memcpy(other->data, a->data, a->data_bytes);
            }
            if (!other) { free(kept->data); free(kept); return; }
            kept->next = 0; kept->before = cluster->last;
            if (cluster->last) cluster->last->next = kept; else cluster->first = kept;
            cluster->last = kept;
            cluster->pending++;
            kept = other;
        }
    }
    kept->next = 0;
    kept->before = cluster->last;
    if (cluster->last) cluster->last->next = kept; else cluster->first = kept;
    cluster->last = kept;
    cluster->pending++;
}

// Memory for asynchronous operations

u64 lane_address(Ctx *x, const Op *o, u32 lane) {
    if (o->mod & ACCESS_ABSOLUTE) return o->imm + ((o->mod >> 12 & 15) == SPACE_GENERIC ? 0 : x->cta->base);
    if (o->mod & ACCESS_WIDE) return ((const u64 *)R(x, o->a))[lane] + o->imm;
    return ((const u32 *)R(x, o->a))[lane] + (u32)o->imm;
}

u8 *shared_place(Ctx *x, u32 lane, u64 address, u64 bytes, u64 align, u32 flags, Cta **owner) {
    u64 at = flags & ADDRESS_GENERIC ? address - x->shared_window : address, offset = at & (((u64)1 << RANK_SHIFT) - 1);
    Cluster *cluster = x->cta->cluster;
    if (at >> RANK_SHIFT >= cluster->size || offset < x->smem_start || offset - x->smem_start > x->smem_bytes
        || bytes > x->smem_bytes - (offset - x->smem_start)) {
        raise_fault(x, FAULT_BOUNDS, lane, address, bytes);
        return 0;
    }
    if (at % align) { raise_fault(x, FAULT_ALIGNMENT, lane, address, align); return 0; }
    Cta *cta = cluster->cta[at >> RANK_SHIFT];
    if (flags & ADDRESS_OWN && cta != x->cta) { raise_fault(x, FAULT_REMOTE, lane, address, bytes); return 0; }
    if (owner) *owner = cta;
    return cta->smem + (offset - x->smem_start);
}

u8 *global_place(Ctx *x, u32 lane, u64 address, u64 bytes, u64 align, u32 flags) {
    if (address % align) { raise_fault(x, FAULT_ALIGNMENT, lane, address, align); return 0; }
    Segment *s = segment_of(x, address, bytes);
    if (!s) { raise_fault(x, FAULT_BOUNDS, lane, address, bytes); return 0; }
    if (flags & ADDRESS_WRITES && s->read_only) { raise_fault(x, FAULT_READ_ONLY, lane, address, bytes); return 0; }
    touch(x, s, address, bytes, flags & ADDRESS_WRITES);
    return s->host + (address - s->va);
}

void commit_group(Ctx *x, u32 track, u32 lanes) {
    if (x->schedule == SCHEDULE_EAGER) return;
    x->warp->tracked = 1;
    for (u32 k = lanes; k; k &= k - 1) x->warp->committed[track][__builtin_ctz(k)]++;
}

// The first operation of the warp that a wait of these lanes requires.
static Async *asked(Ctx *x, u32 track, u32 lanes, u32 most, u32 stages) {
    for (Async *a = x->cta->cluster->first; a; a = a->next) {
        if (a->track != track || a->warp != x->warp || !(a->lanes & lanes)) continue;
        if (a->stage >= (stages < a->stages ? stages : a->stages)) continue;
        if (most == NONE) return a;
        for (u32 k = a->lanes & lanes; k; k &= k - 1)
            if ((u64)a->group + most < x->warp->committed[track][__builtin_ctz(k)]) return a;
    }
    return 0;
}

void land_groups(Ctx *x, u32 track, u32 lanes, u32 most, u32 stages) {
    Async *a;
    while (x->status == STATUS_RUNNING && (a = asked(x, track, lanes, most, stages))) land(x, x->cta->cluster, a, stages);
}
void land_track(Ctx *x, u32 track, u32 lanes) { land_groups(x, track, lanes, NONE, 2); }
int track_empty(Ctx *x, u32 track, u32 lanes) { return !asked(x, track, lanes, NONE, 2); }

void land_cta(Ctx *x, Cta *cta) {
    for (Async *a = cta->cluster->first; a && x->status == STATUS_RUNNING;) {
        if (a->cta != cta) { a = a->next; continue; }
        land(x, cta->cluster, a, 2);
        a = cta->cluster->first;
    }
}

int land_oldest(Ctx *x, Cluster *cluster) {
    if (!cluster->first) return 0;
    land(x, cluster, cluster->first, 2);
    return 1;
}

void land_drawn(Ctx *x, Cluster *cluster) {
    if (!cluster->pending || draw(cluster) % 4) return;
    Async *a = cluster->first;
    for (u64 k = draw(cluster) % cluster->pending; k; k--) a = a->next;
    land(x, cluster, a, a->stage + 1);
}

void free_async(Cluster *cluster) {
    for (Async *a = cluster->first, *next; a; a = next) { next = a->next; free(a->data); free(a); }
    cluster->first = cluster->last = 0;
    cluster->pending = 0;
}

// Complete operations that signal an mbarrier, in the order of issue, until its phase is complete; none if they are too few.
void land_for(Ctx *x, Cta *at, u32 barrier) {
    Cluster *cluster = at->cluster;
    u32 count = 0, wanted = 0;
    u64 word;
    memcpy(&word, at->smem + (barrier - x->smem_start), 8);
    i64 pending = MB_PENDING(word), tx = MB_TX(word);
    for (Async *a = cluster->first; a && !wanted; a = a->next) {
        if (!a->signals || a->at != at || a->barrier != barrier) continue;
        count++;
        tx -= a->tx;
        pending -= a->arrivals;
        if (!tx && !pending) wanted = count;
    }
    for (; wanted && x->status == STATUS_RUNNING; wanted--) {
        Async *a = cluster->first;
        while (a && (!a->signals || a->at != at || a->barrier != barrier)) a = a->next;
        if (!a) return;                                                 // completed as a predecessor of another one
        land(x, cluster, a, 2);
    }
}
