// CTAs: started in order, run one at a time until done or until the quantum is over, so that CTAs that wait for each
// other all get their turn.
#include "chain.h"

char *aligned(size_t bytes) {
    void *p = 0;
    bytes = (bytes + 255) & ~(size_t)255;
#ifdef _WIN32
    p = _aligned_malloc(bytes ? bytes : 256, 256);
#else
    if (posix_memalign(&p, 256, bytes ? bytes : 256)) p = 0;
#endif
    if (p) memset(p, 0, bytes);
    return (char *)p;
}
void release_aligned(void *p) {
#ifdef _WIN32
    _aligned_free(p);
#else
    free(p);
#endif
}

enum { CTA_ROWS = 16 };                                                  // special registers of a CTA, see fill_sregs

Cta *new_cta(Ctx *x) {
    Cta *c = calloc(1, sizeof *c);
    if (!c) return 0;
    size_t regs = (size_t)x->reg_bytes * x->nwarps, locals = ((size_t)x->local_bytes * LANES + 255) / 256 * 256 * x->nwarps;
    size_t sregs = CTA_ROWS * 128, smem = (x->smem_bytes + 255) & ~(size_t)255;
    c->nwarps = x->nwarps;
    c->warps = calloc(x->nwarps, sizeof(Warp));
    c->memory = aligned(regs + locals + sregs + smem);
    if (!c->warps || !c->memory) { free_cta(c); return 0; }
    c->sregs = c->memory + regs;
    c->smem = (u8 *)c->sregs + sregs;
    for (u32 w = 0; w < x->nwarps; w++) {
        c->warps[w].regs = c->memory + (size_t)x->reg_bytes * w;
        c->warps[w].sregs = x->place_sregs + x->place_sreg_bytes * w;
        c->warps[w].local = (u8 *)c->smem + smem + locals / x->nwarps * w;
        c->warps[w].index = w;
    }
    return c;
}
void free_cta(Cta *c) {
    if (!c) return;
    for (u32 w = 0; c->warps && w < c->nwarps; w++) {
        for (u32 k = 0; k < c->warps[w].nframes; k++) free(c->warps[w].frames[k].kept);
        free(c->warps[w].frames);
    }
    free(c->warps);
    release_aligned(c->memory);
    free(c);
}

static void fill_sregs(Ctx *x, Cta *c) {
    u32 at[3] = {(u32)(c->id % x->grid[0]), (u32)(c->id / x->grid[0] % x->grid[1]), (u32)(c->id / x->grid[0] / x->grid[1])};
    V32 *row = (V32 *)c->sregs;
    u32 rank = 0, scale = 1;
    for (u32 k = 0; k < 3; k++) {
        row[k] = (V32)at[k];                                             // %ctaid
        row[3 + k] = (V32)(at[k] / x->cluster[k]);                       // %clusterid
        row[6 + k] = (V32)(at[k] % x->cluster[k]);                       // %cluster_ctaid
        rank += at[k] % x->cluster[k] * scale;
        scale *= x->cluster[k];
    }
    row[9] = (V32)rank;                                                  // %cluster_ctarank
}

void start_cta(Ctx *x, Cta *c, u64 id) {
    u32 threads = x->block[0] * x->block[1] * x->block[2];
    c->id = id;
    c->next = c->barriers = 0;
    c->left = x->nwarps;
    memset(c->bar, 0, sizeof c->bar);
    memset(c->smem, 0, x->smem_bytes);
    fill_sregs(x, c);
    for (u32 w = 0; w < x->nwarps; w++) {
        Warp *p = &c->warps[w];
        u32 n = threads - w * LANES, live = n >= LANES ? ALL : (1u << n) - 1;
        p->live = live;
        p->cur = 0;
        p->issued = 0;
        for (u32 g = 1; g < LANES; g++) p->g[g].state = FREE;
        p->top = 1;
        if (p->joins) for (u32 j = 0; j <= LANES; j++) p->j[j].used = 0;
        p->joins = 0;
        p->g[0] = (Group){0, live, -1, READY, 0, -1};
        p->nframes = 0;
        for (u32 k = 0; k < x->zero_count; k += 2) memset(p->regs + x->zeros[k], 0, x->zeros[k + 1]);
        if (x->local_bytes) memset(p->local, 0, x->local_bytes * LANES);
    }
}

// 1: the CTA is done; 0: its quantum is over or the status is no longer RUNNING.
static int run_cta(Ctx *x, Cta *c, u64 quantum) {
    x->cta = c;
    x->base[2] = c->sregs;
    u64 used = 0;
    u32 idle = 0;
    while (c->left) {
        Warp *w = &c->warps[c->next];
        u32 n = w->live ? run_warp(x, w, x->warp_quantum) : 0;
        used += n;
        x->steps += n;
        if (x->status != RUNNING) return 0;
        if (x->steps > x->max_steps) { x->status = STEPS; return 0; }
        idle = n ? 0 : idle + 1;
        c->next = c->next + 1 == c->nwarps ? 0 : c->next + 1;
        if (idle > c->nwarps) { x->status = DEADLOCK; return 0; }
        if (used >= quantum) return c->left == 0;
    }
    return 1;
}

// The next CTA of the grid into a slot; 0: there is none left, or no memory. Threads of a launch take CTAs one by one
// from the same count, so that none idles while another has a queue, and each pays for one context only.
static int admit(Ctx *x, u32 slot) {
    u64 id = __atomic_fetch_add(x->next_cta, 1, __ATOMIC_RELAXED);
    if (id >= x->last_cta) return 0;
    Cta *c = x->spare ? x->spare : new_cta(x);
    if (!c) { x->status = FAULT; x->fault = FAULT_MEMORY; return 0; }
    x->spare = 0;
    start_cta(x, c, id);
    x->ctas[slot] = c;
    return 1;
}

// Run about `budget` warp-instructions; the status afterwards.
u32 core_run(Ctx *x, u64 budget) {
    u64 until = x->steps + budget;
    while (x->status == RUNNING && x->steps < until) {
        if (x->current >= x->resident) {
            if (x->resident < x->max_resident && admit(x, x->resident)) {
                x->resident++;
            } else if (x->status != RUNNING) {
                break;
            } else if (x->resident == 0) {
                settle_counts(x);
                x->status = DONE;
                break;
            } else {
                x->current = 0;
            }
        }
        Cta *c = x->ctas[x->current];
        int done = run_cta(x, c, x->cta_quantum);
        if (x->status == HOST) x->current++;                             // a call of the driver ends the turn
        if (x->status != RUNNING) break;
        if (!done) { x->current++; continue; }
        if (x->spare) free_cta(c); else x->spare = c;
        if (!admit(x, x->current)) {
            if (x->status != RUNNING) break;
            for (u32 k = x->current + 1; k < x->resident; k++) x->ctas[k - 1] = x->ctas[k];
            x->resident--;
        }
    }
#ifdef __AVX__
    __builtin_ia32_vzeroupper();                                         // once here, not at the end of every step
#endif
    return x->status;
}
