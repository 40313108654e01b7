// The context of a launch: created from the arguments of Python (`Launch` of abi.h), destroyed at the end.
#include "chain.h"
#include "debug.h"
#include "sanitizer/sanitizer.h"

void core_close(Ctx *x);

static char *copy(const void *from, u64 bytes) {
    char *p = aligned(bytes + 256);
    if (p && bytes) memcpy(p, from, bytes);
    return p;
}

// Patterns are the largest allocation of a small launch, and mapping their pages takes longer than running it, so one
// allocation is cached between launches. Its size is stored 256 bytes before the patterns.
enum { MAX_CACHED_BYTES = 1 << 22 };
static char *cached_patterns;
static Pattern *acquire_patterns(u64 n) {
    u64 bytes = sizeof(Pattern) * n;
    char *p = __atomic_exchange_n(&cached_patterns, 0, __ATOMIC_ACQ_REL);
    if (p && *(u64 *)p < bytes) { release_aligned(p); p = 0; }
    if (!p) {
        if (!(p = aligned_room(bytes + 256))) return 0;
        *(u64 *)p = bytes;
    }
    return (Pattern *)(p + 256);
}
static void release_patterns(Pattern *pattern) {
    if (!pattern) return;
    char *p = (char *)pattern - 256;
    if (*(u64 *)p <= MAX_CACHED_BYTES) p = __atomic_exchange_n(&cached_patterns, p, __ATOMIC_ACQ_REL);
    release_aligned(p);
}

// Test that no computation with the sizes of a launch can overflow, and that its warps and CTAs fit the fixed arrays.
static int sizes_fit(const Launch *l) {
    const u64 most = (u64)1 << 40, threads[] = {l->block[0], l->block[1], l->block[2]};
    const u64 sizes[] = {l->const_bytes, l->warp_special_bytes, l->param_bytes, l->local_bytes, l->reg_bytes, l->smem_bytes,
                         l->max_resident};
    for (u32 k = 0; k < sizeof sizes / sizeof *sizes; k++) if (sizes[k] > most) return 0;
    u64 ctas = 1, n = 1;
    for (u32 k = 0; k < 3; k++) {
        if (threads[k] < 1 || threads[k] > LANES * LANES || l->cluster[k] < 1 || l->cluster[k] > CLUSTER_CTAS) return 0;
        if (l->grid[k] >> 32 || l->grid[k] % l->cluster[k] || (l->last_cluster && !l->grid[k])) return 0;
        n *= threads[k];
        ctas *= l->cluster[k];
    }
    return n <= LANES * LANES && ctas <= CLUSTER_CTAS && l->nops < 1u << 31 && l->nshared < 1u << 31 && l->ninitial < 1u << 31;
}

// What is of one run: its segments, its counters, and the patterns of its accesses.
static void start_run(Ctx *x, const Launch *l) {
    x->segments = l->segments; x->next_cluster = l->next_cluster;
    x->issues = l->issues; x->lanes = l->lanes; x->divergent = l->divergent; x->conflicts = l->conflicts;
    x->requests = l->requests; x->sectors = l->sectors; x->excess = l->excess;
    x->waits = l->waits; x->async_operations = l->async_operations; x->tma_bytes = l->tma_bytes; x->tensor_flops = l->tensor_flops;
    for (u64 k = 0; k < 2 * ((u64)x->nops + 1); k++) x->pattern[k].valid = x->pattern[k].mask = x->pattern[k].segment = 0;
}

// Create the context of a launch; NULL: out of memory. The arrays remain the caller's and must outlive the context.
Ctx *core_open(const Launch *l) {
    Ctx *x = sizes_fit(l) ? (Ctx *)aligned(sizeof(Ctx)) : 0;
    if (!x) return 0;
    x->ops = l->ops;
    for (u64 k = 0; k < l->nops; k++) {
        Op *o = &l->ops[k];
        o->fn = handler_of(o);
    }
    x->pool = l->pool; x->param = l->param; x->initial = l->initial;
    x->nops = (u32)l->nops; x->nsegments = l->nsegments; x->param_bytes = l->param_bytes; x->smem_start = l->smem_start;
    x->smem_bytes = l->smem_bytes; x->local_bytes = l->local_bytes; x->reg_bytes = l->reg_bytes;
    x->ninitial = (u32)l->ninitial;
    x->initial_threads[0] = l->initial_threads[0]; x->initial_threads[1] = l->initial_threads[1];
    x->shared_window = l->shared_window; x->local_window = l->local_window; x->const_window = l->const_window;
    x->param_window = l->param_window; x->function_window = l->function_window;
    x->max_steps = l->max_steps; x->cta_quantum = l->cta_quantum; x->warp_quantum = l->warp_quantum;
    x->last_cluster = l->last_cluster; x->max_resident = (u32)l->max_resident; x->yields = (u32)l->yields; x->tensor_cores = (u32)l->tensor_cores;
    for (u32 k = 0; k < 3; k++) {
        x->grid[k] = (u32)l->grid[k]; x->block[k] = (u32)l->block[k]; x->cluster[k] = (u32)l->cluster[k];
    }
    x->schedule = (u32)l->schedule; x->seed = l->seed; x->nshared = (u32)l->nshared; x->shared_addresses = l->shared_addresses;
    x->maxnreg = (u32)l->maxnreg;
    x->ninstr = (u32)l->ninstr; x->warp_issues = l->warp_issues; x->marks = l->marks; x->links = l->links; x->barriers = l->barriers;
    x->lines = l->lines; x->bank_passes = l->bank_passes; x->wide_passes = l->wide_passes;
    x->fresh_loads = l->fresh_loads; x->recent = l->recent; x->masked_sectors = l->masked_sectors; x->atomic_turns = l->atomic_turns; x->atomic_passes = l->atomic_passes;
    x->read_segments = l->read_segments;
    x->synchronizations = l->synchronizations;
    x->nwarps = (x->block[0] * x->block[1] * x->block[2] + LANES - 1) / LANES;
    x->warp_special_bytes = l->warp_special_bytes;
    x->consts = copy(l->consts, l->const_bytes);
    x->warp_specials = copy(l->warp_specials, l->warp_special_bytes * x->nwarps);
    x->pattern = acquire_patterns(2 * (l->nops + 1));
    x->ctas = (Cta **)aligned(sizeof *x->ctas * (x->max_resident + 1));
    if (!x->consts || !x->warp_specials || !x->pattern || !x->ctas) { core_close(x); return 0; }
    start_run(x, l);
    x->base[1] = x->consts;
    if (l->sanitizer && !sanitizer_open(x, l->sanitizer, l->sanitizer_bytes)) { core_close(x); return 0; }
    for (u32 k = 0; l->sanitizer && k < x->nops; k++)                        // fences order accesses
        if (l->ops[k].fn == f_nop && l->sanitizer[l->ops[k].instr] >> 8 & 15) l->ops[k].fn = sanitizer_fence;
    x->debug = l->debug;
    if (!open_chains(x, l->npool)) { core_close(x); return 0; }
    if (x->debug) debug_chains(x);
    return x;
}

// Start the same launch again, after it is done, over other arrays of the same sizes at the same addresses, with other counters.
void core_reopen(Ctx *x, const Launch *l) {
    x->status = STATUS_RUNNING;
    x->steps = x->current = 0;
    start_run(x, l);
}

// The memory that a context occupies, about.
u64 core_bytes(const Ctx *x) {
    u64 ctas = (u64)x->cluster[0] * x->cluster[1] * x->cluster[2];
    return ctas * (cta_bytes(x) + x->nwarps * sizeof(Warp)) + x->nops * (2 * sizeof(Pattern) + sizeof(Link) + sizeof(Run) + sizeof(Executed));
}

void core_close(Ctx *x) {
    if (!x) return;
    if (x->synchronizations) __atomic_fetch_add(x->synchronizations, x->synchronization, __ATOMIC_RELAXED);
    if (x->ctas) close_clusters(x);
    release_aligned(x->ctas);
    release_aligned(x->consts);
    release_aligned(x->warp_specials);
    release_patterns(x->pattern);
    sanitizer_close(x);
    close_chains(x);
    release_aligned(x);
}
