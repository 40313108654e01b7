// What Python calls: names of operations, loading a program, running, looking at the state when something went wrong.
#include "chain.h"
#include "watch.h"
#include "debug.h"

static const Entry *const tables[] = {integer_ops, logic_ops, float_ops, double_ops, half_ops, convert_ops, memory_ops,
                                      atomic_ops, warp_ops, control_ops, tensor_ops, wgmma_ops, matrix_ops, mbarrier_ops, cluster_ops, copy_ops, tma_ops,
                                      tmem_ops, tcgen05_ops, object_ops, texture_ops, surface_ops};

static void f_nop(Ctx *x, const Op *o, u32 m) { (void)x; (void)o; (void)m; }
void read_clock(Ctx *x, const Op *o, u32 m) {                            // instructions this warp issued; mod 1: 64 bits
    u64 now = x->turn_end - x->turn_left;
    if (o->mod) put64(x, o->d, (V64)now, m); else put32(x, o->d, (V32)(u32)(now >> o->imm), m);
}
const Entry control_ops[] = {{"nop", f_nop}, {"clock", read_clock}, {0, 0}};

void raise_fault(Ctx *x, u32 kind, u32 lane, u64 address, u64 extra) {
    x->status = FAULT;
    x->fault = kind;
    x->fault_lane = lane;
    x->fault_address = address;
    x->fault_extra = extra;
}

// The name of operation `code`, NULL past the last.
const char *core_op_name(u32 code) {
    for (u32 t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const Entry *e = tables[t]; e->name; e++) if (!code--) return e->name;
    return 0;
}
static Handler handlers[1024];
__attribute__((constructor)) static void fill_handlers(void) {
    u32 n = 0;
    for (u32 t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const Entry *e = tables[t]; e->name; e++) handlers[n++] = e->fn;
}
u32 core_sizes(u32 what) {
    static const u32 sizes[] = {sizeof(Op), sizeof(Ctx), sizeof(Segment), sizeof(Pattern), sizeof(Warp), sizeof(Group)};
    return what < sizeof sizes / sizeof *sizes ? sizes[what] : 0;
}

typedef struct {
    Op *ops; u32 *pool; Segment *segments; u8 *param; u32 *zeros; char *consts, *place_sregs;
    u64 *issues, *lanes, *divergent, *conflicts, *requests, *sectors, *excess, *waits, *async_operations, *tma_bytes, *tensor_flops, *next_cta;
    u32 *shared_addresses; u64 *warp_issues; u8 **marks; u32 *links; u16 *named; const u32 *watch; Debug *debug;
    u64 nops, const_bytes, place_sreg_bytes, nsegments, param_bytes, smem_start, smem_bytes, local_bytes, reg_bytes, zero_count;
    u64 shared_window, local_window, const_window, param_window, max_steps, cta_quantum, warp_quantum, last_cta, max_resident, yields, function_window, tensor_hw, schedule, seed, nshared, maxnreg, ninstr, watch_bytes, npool;
    u64 grid[3], block[3], cluster[3], left[2];
} Launch;

void core_close(Ctx *x);

static char *copy(const void *from, u64 bytes) {
    char *p = aligned(bytes + 256);
    if (p && bytes) memcpy(p, from, bytes);
    return p;
}

// Patterns are large beside all else of a small launch, and asking the system for their pages each time takes longer than
// running it: those of one launch are kept for the next. Their bytes stand 256 before them.
enum { MOST_KEPT = 1 << 22 };
static char *kept_patterns;
static Pattern *take_patterns(u64 n) {
    u64 bytes = sizeof(Pattern) * n;
    char *p = __atomic_exchange_n(&kept_patterns, 0, __ATOMIC_ACQ_REL);
    if (p && *(u64 *)p < bytes) { release_aligned(p); p = 0; }
    if (!p) {
        if (!(p = aligned_room(bytes + 256))) return 0;
        *(u64 *)p = bytes;
    }
    Pattern *pattern = (Pattern *)(p + 256);
    for (u64 k = 0; k < n; k++) pattern[k].valid = pattern[k].mask = pattern[k].segment = 0;
    return pattern;
}
static void give_patterns(Pattern *pattern) {
    if (!pattern) return;
    char *p = (char *)pattern - 256;
    if (*(u64 *)p <= MOST_KEPT) p = __atomic_exchange_n(&kept_patterns, p, __ATOMIC_ACQ_REL);
    release_aligned(p);
}

// The arrays of the launch stay owned by the caller and must outlive the context. NULL: out of memory.
Ctx *core_open(const Launch *l) {
    Ctx *x = (Ctx *)aligned(sizeof(Ctx));
    if (!x) return 0;
    x->ops = l->ops;
    for (u64 k = 0; k < l->nops; k++) {
        Op *o = &l->ops[k];
        o->fn = o->flags & (F_BRANCH | F_EXIT | F_BARRIER | F_TRAP | F_JUMP_TABLE | F_CALL | F_RETURN | F_HOST) ? 0 : handlers[o->code];
    }
    x->pool = l->pool; x->segments = l->segments; x->param = l->param; x->zeros = l->zeros;
    x->issues = l->issues; x->lanes = l->lanes; x->divergent = l->divergent; x->conflicts = l->conflicts;
    x->requests = l->requests; x->sectors = l->sectors; x->excess = l->excess;
    x->nops = (u32)l->nops; x->nsegments = l->nsegments; x->param_bytes = l->param_bytes; x->smem_start = l->smem_start;
    x->smem_bytes = l->smem_bytes; x->local_bytes = l->local_bytes; x->reg_bytes = l->reg_bytes;
    x->zero_count = (u32)l->zero_count;
    x->left[0] = l->left[0]; x->left[1] = l->left[1];
    x->shared_window = l->shared_window; x->local_window = l->local_window; x->const_window = l->const_window;
    x->param_window = l->param_window; x->function_window = l->function_window;
    x->max_steps = l->max_steps; x->cta_quantum = l->cta_quantum; x->warp_quantum = l->warp_quantum;
    x->next_cta = l->next_cta; x->last_cta = l->last_cta; x->max_resident = (u32)l->max_resident; x->yields = (u32)l->yields; x->tensor_hw = (u32)l->tensor_hw;
    for (u32 k = 0; k < 3; k++) {
        x->grid[k] = (u32)l->grid[k]; x->block[k] = (u32)l->block[k]; x->cluster[k] = (u32)l->cluster[k];
    }
    x->waits = l->waits; x->async_operations = l->async_operations; x->tma_bytes = l->tma_bytes; x->tensor_flops = l->tensor_flops;
    x->schedule = (u32)l->schedule; x->seed = l->seed; x->nshared = (u32)l->nshared; x->shared_addresses = l->shared_addresses;
    x->maxnreg = (u32)l->maxnreg;
    x->ninstr = (u32)l->ninstr; x->warp_issues = l->warp_issues; x->marks = l->marks; x->links = l->links; x->named = l->named;
    x->nwarps = (x->block[0] * x->block[1] * x->block[2] + LANES - 1) / LANES;
    x->place_sreg_bytes = l->place_sreg_bytes;
    x->consts = copy(l->consts, l->const_bytes);
    x->place_sregs = copy(l->place_sregs, l->place_sreg_bytes * x->nwarps);
    x->pattern = take_patterns(2 * (l->nops + 1));
    x->ctas = (Cta **)aligned(sizeof *x->ctas * (x->max_resident + 1));
    if (!x->consts || !x->place_sregs || !x->pattern || !x->ctas) { core_close(x); return 0; }
    x->base[1] = x->consts;
    if (l->watch && !watch_open(x, l->watch, l->watch_bytes)) { core_close(x); return 0; }
    for (u32 k = 0; l->watch && k < x->nops; k++)                        // fences have something to do
        if (l->ops[k].fn == f_nop && l->watch[l->ops[k].instr] >> 8 & 15) l->ops[k].fn = watch_fence;
    x->debug = l->debug;
    if (!open_chains(x, l->npool)) { core_close(x); return 0; }
    if (x->debug) debug_chains(x);
    return x;
}

void core_close(Ctx *x) {
    if (!x) return;
    if (x->ctas) close_clusters(x);
    release_aligned(x->ctas);
    release_aligned(x->consts);
    release_aligned(x->place_sregs);
    give_patterns(x->pattern);
    watch_close(x);
    close_chains(x);
    release_aligned(x);
}

// Warp-instructions issued so far.
u64 core_steps(const Ctx *x) { return x->steps; }

// Where execution stopped: fault, lane, operation, warp, live lanes, CTA, address, extra.
void core_fault(const Ctx *x, u64 *out) {
    u64 all[] = {x->fault, x->fault_lane, x->pc, x->warp ? x->warp->index : 0, x->active, x->cta ? x->cta->id : 0,
                 x->fault_address, x->fault_extra};
    memcpy(out, all, sizeof all);
}

// A call of the driver: the operation, the lanes, and where the registers of the warp lie.
char *core_host_call(const Ctx *x, u64 *out) {
    out[0] = x->pc;
    out[1] = x->active;
    return x->warp->regs;
}
// Memory of a lane of the warp that runs, by generic address; NULL: there is none.
u8 *core_lane_memory(Ctx *x, u32 lane, u64 address, u64 bytes) { return lane_memory(x, x->warp, lane, address, bytes); }
void core_resume(Ctx *x) { x->status = RUNNING; }

// CTAs of the cluster that runs; the number of one in the grid.
u32 core_cluster(const Ctx *x, u32 rank, u64 *id) {
    if (!x->cta) return 0;
    if (rank < x->cta->cluster->size) *id = x->cta->cluster->cta[rank]->id;
    return x->cta->cluster->size;
}
// The group `g` of warp `w` of a CTA of the cluster that runs: state, place, lanes, barrier, and what it waits for (see
// Group in faults/deadlocks.py). 0: there is none.
u32 group_of(Ctx *x, Cta *c, u32 w, u32 g, u64 *out) {
    if (!c || !c->left || w >= c->nwarps || g >= LANES || c->warps[w].g[g].state == FREE) return 0;
    const Warp *warp = &c->warps[w];
    const Group *group = &warp->g[g];
    const Barrier *b = &c->bar[group->barrier & 15];
    u64 all[13] = {group->state, group->pc, group->mask, group->barrier, b->arrived, b->count ? (b->count + 31) / 32 : c->left,
                   warp->live, 0, 0, 0, warp->live & ~warp->cluster_here, warp->registers, c->registers};
    if (group->state == WAITING) describe_mbarrier(x, c, &c->warps[w], group, all + 7);
    memcpy(out, all, sizeof all);
    return 1;
}
u32 core_group(Ctx *x, u32 rank, u32 w, u32 g, u64 *out) { return group_of(x, x->cta ? x->cta->cluster->cta[rank] : 0, w, g, out); }
