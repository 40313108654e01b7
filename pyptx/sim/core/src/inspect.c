// The state of a launch as Python reads it: the fault, the lanes that wait, and the resident CTAs of a debugged launch.
// `slot` numbers the resident CTAs. Functions return 0 where there is nothing of that number.
#include "chain.h"
#include "debug.h"
#include "tmem.h"

u32 core_status(const Ctx *x) { return x->status; }
void core_resume(Ctx *x) { x->status = STATUS_RUNNING; }

void core_fault(const Ctx *x, FaultInfo *out) {
    *out = (FaultInfo){x->fault, x->fault_lane, x->pc, x->warp ? x->warp->index : 0, x->active, x->cta ? x->cta->id : 0,
                       x->fault_address, x->fault_extra};
}

void core_host_call(const Ctx *x, HostCall *out) { *out = (HostCall){x->pc, x->active, (u8 *)x->warp->regs}; }

// Memory of a lane of the warp that runs, by generic address; NULL: there is none.
u8 *core_lane_memory(Ctx *x, u32 lane, u64 address, u64 bytes) { return lane_memory(x, x->warp, lane, address, bytes); }

// The size of the cluster that runs, and the number in the grid of its CTA `rank`.
u32 core_cluster(const Ctx *x, u32 rank, u64 *id) {
    if (!x->cta) return 0;
    if (rank < x->cta->cluster->size) *id = x->cta->cluster->cta[rank]->id;
    return x->cta->cluster->size;
}

static u32 expected_warps(const Cta *c, const Barrier *b) { return b->count ? (b->count + 31) / 32 : c->left; }

static u32 inspect_group(Ctx *x, Cta *c, u32 w, u32 g, GroupInfo *out) {
    if (!c || !c->left || w >= c->nwarps || g >= LANES || c->warps[w].g[g].state == GROUP_FREE) return 0;
    const Warp *warp = &c->warps[w];
    const Group *group = &warp->g[g];
    const Barrier *b = &c->bar[group->barrier & 15];
    *out = (GroupInfo){.state = group->state, .op = group->pc, .lanes = group->mask, .barrier = group->barrier,
                       .arrived = b->arrived, .expected = expected_warps(c, b), .live = warp->live,
                       .missing = warp->live & ~warp->cluster_arrived, .registers = warp->registers, .free = c->registers};
    if (group->state == GROUP_WAITING) describe_mbarrier(x, c, &c->warps[w], group, out);
    return 1;
}

// Group `g` of warp `w` of a CTA of the cluster that runs.
u32 core_group(Ctx *x, u32 rank, u32 w, u32 g, GroupInfo *out) {
    return inspect_group(x, x->cta ? x->cta->cluster->cta[rank] : 0, w, g, out);
}

u32 core_debug_group(Ctx *x, u32 slot, u32 w, u32 g, GroupInfo *out) {
    if (slot >= x->resident) return 0;
    Cta *own = x->cta;
    char *bases[4];
    memcpy(bases, x->base, sizeof bases);
    u32 found = inspect_group(x, x->ctas[slot], w, g, out);
    memcpy(x->base, bases, sizeof bases);
    x->cta = own;
    return found;
}

u32 core_debug_cta(const Ctx *x, u32 slot, CtaInfo *out) {
    if (slot >= x->resident) return 0;
    const Cta *c = x->ctas[slot];
    *out = (CtaInfo){.id = c->id, .cluster = c->cluster->id, .rank = c->rank, .left = c->left, .registers = c->registers,
                     .shared = c->smem, .specials = (u8 *)c->sregs, .barriers = c->barriers,
                     .tensor = c->tmem ? (u8 *)c->tmem->cell : 0, .tensor_blocks = c->tmem ? c->tmem->used : 0};
    return 1;
}

u32 core_debug_warp(const Ctx *x, u32 slot, u32 w, WarpInfo *out) {
    if (slot >= x->resident || w >= x->nwarps) return 0;
    const Warp *p = &x->ctas[slot]->warps[w];
    *out = (WarpInfo){(u8 *)p->regs, (u8 *)p->sregs, p->local, p->live, p->cur, p->registers, x->local_bytes};
    return 1;
}

u32 core_debug_barrier(const Ctx *x, u32 slot, u32 id, BarrierInfo *out) {
    if (slot >= x->resident || id > 15 || !x->ctas[slot]->bar[id].used) return 0;
    const Cta *c = x->ctas[slot];
    const Barrier *b = &c->bar[id];
    *out = (BarrierInfo){b->arrived, expected_warps(c, b), b->count};
    return 1;
}

// Asynchronous operation `k` in flight of the cluster of a CTA.
u32 core_debug_async(const Ctx *x, u32 slot, u32 k, AsyncInfo *out) {
    if (slot >= x->resident) return 0;
    const Async *a = x->ctas[slot]->cluster->first;
    while (a && k) { a = a->next; k--; }
    if (!a) return 0;
    *out = (AsyncInfo){.serial = a->serial, .instr = x->ops[a->pc].instr, .cta = a->cta->id, .warp = a->warp->index, .lanes = a->lanes,
                       .track = a->track, .group = a->group, .stage = a->stage, .stages = a->stages, .signals = a->signals,
                       .barrier_cta = a->signals ? a->at->id : 0, .barrier = a->barrier, .tx = a->tx, .arrivals = a->arrivals};
    return 1;
}
