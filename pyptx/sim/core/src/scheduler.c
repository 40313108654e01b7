// The CTA scheduler. CTAs start in order, cluster by cluster, and run one at a time until they finish, all their threads wait or
// their quantum ends, so that CTAs that wait for each other all make progress. reference/engine.py makes the same decisions in
// the same order.
#include "sanitizer/sanitizer.h"
#include "debug.h"

char *aligned_room(size_t bytes) {
    void *p = 0;
    if (bytes > ~(size_t)255) return 0;
    bytes = (bytes + 255) & ~(size_t)255;
#ifdef _WIN32
    p = _aligned_malloc(bytes ? bytes : 256, 256);
#else
    if (posix_memalign(&p, 256, bytes ? bytes : 256)) p = 0;
#endif
    return (char *)p;
}
char *aligned(size_t bytes) {
    char *p = aligned_room(bytes);
    if (p) memset(p, 0, bytes);
    return p;
}
void release_aligned(void *p) {
#ifdef _WIN32
    _aligned_free(p);
#else
    free(p);
#endif
}

// Cta.memory: registers, special registers, shared memory, local memory.
static size_t sreg_bytes(const Ctx *x) { return (CTA_SPECIAL_ROWS + (size_t)x->nshared) * 128; }
static size_t shared_bytes(const Ctx *x) { return (x->smem_bytes + 255) & ~(size_t)255; }
static size_t local_bytes(const Ctx *x) { return ((size_t)x->local_bytes * LANES + 255) / 256 * 256 * x->nwarps; }
u64 cta_bytes(const Ctx *x) { return (u64)x->reg_bytes * x->nwarps + sreg_bytes(x) + shared_bytes(x) + local_bytes(x); }

static u64 phases(const Ctx *x) { return x->smem_bytes / 8 + 1 + 16; }      // of mbarriers and barriers
Cta *new_cta(Ctx *x) {
    Cta *c = calloc(1, sizeof *c);
    if (!c) return 0;
    size_t regs = (size_t)x->reg_bytes * x->nwarps, locals = local_bytes(x), smem = shared_bytes(x);
    c->nwarps = x->nwarps;
    c->warps = calloc(x->nwarps, sizeof(Warp));
    c->memory = aligned(cta_bytes(x));
    c->phases = x->synchronizations ? calloc(phases(x), sizeof *c->phases) : 0;
    if (!c->warps || !c->memory || (x->synchronizations && !c->phases)) { free_cta(c); return 0; }
    c->sregs = c->memory + regs;
    c->smem = (u8 *)c->sregs + sreg_bytes(x);
    for (u32 w = 0; w < x->nwarps; w++) {
        c->warps[w].regs = c->memory + (size_t)x->reg_bytes * w;
        c->warps[w].sregs = x->warp_specials + x->warp_special_bytes * w;
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
    free(c->phases);
    free_tmem(c);
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
    for (u32 k = 0; k < x->nshared; k++) row[CTA_SPECIAL_ROWS + k] = (V32)(x->shared_addresses[k] + c->base);
}

// Initialize a register that may be read before it is written: `value` is its offset, its bytes, and its word in the threads
// x->initial_threads of the grid (for a predicate: a bit for each lane).
static void set_initial_value(Ctx *x, Warp *p, const u32 *value, u64 thread) {
    memset(p->regs + value[0], 0, value[1]);
    if (!value[2]) return;
    for (u32 lane = 0; lane < LANES; lane++) {
        if (thread + lane < x->initial_threads[0] || thread + lane >= x->initial_threads[1]) continue;
        u32 bytes = value[1] / LANES;
        if (!bytes) { *(u32 *)(p->regs + value[0]) |= value[2] & 1u << lane; continue; }
        for (u32 k = 0; k < bytes; k += 4) memcpy(p->regs + value[0] + lane * bytes + k, &value[2], 4);
    }
}

// The registers of a warp that has just exited are in the cache: exchange them for those of a warp that starts, unless that one has
// initial values, or an asynchronous operation reads those of the other.
static void exchange_registers(const Ctx *x, const Cta *c, Warp *exited, Warp *starting) {
    if (x->ninitial || x->debug || x->sanitizer || c->cluster->first) return;
    char *registers = exited->regs;
    exited->regs = starting->regs;
    starting->regs = registers;
}

void start_cta(Ctx *x, Cta *c, u64 id) {
    u32 threads = x->block[0] * x->block[1] * x->block[2];
    c->id = id;
    c->next = c->barriers = 0;
    c->left = x->nwarps;
    c->turn = c->paused = 0;
    reset_tmem(c);
    c->registers = 0;
    for (u32 k = 0; k < x->nwarps; k++) c->order[k] = (u8)k;
    memset(c->bar, 0, sizeof c->bar);
    memset(c->smem, 0, x->smem_bytes);
    if (c->phases) memset(c->phases, 0, phases(x) * sizeof *c->phases);
    fill_sregs(x, c);
    exchange_registers(x, c, &c->warps[x->nwarps - 1], &c->warps[0]);
    for (u32 w = 0; w < x->nwarps; w++) {
        Warp *p = &c->warps[w];
        u32 n = threads - w * LANES, live = n >= LANES ? ALL : (1u << n) - 1;
        p->live = live;
        p->cur = 0;
        p->issued = 0;
        p->waiting = p->cluster_arrived = p->cluster_waiting = 0;
        p->registers = x->maxnreg;
        p->asked = 0;
        if (p->tracked) memset(p->committed, 0, sizeof p->committed);
        p->tracked = 0;
        for (u32 g = 1; g < LANES; g++) p->g[g].state = GROUP_FREE;
        p->top = 1;
        if (p->joins) for (u32 j = 0; j <= LANES; j++) p->j[j].used = 0;
        p->joins = 0;
        p->g[0] = (Group){0, live, -1, GROUP_READY, 0, -1};
        p->nframes = p->first_free = 0;
        p->stack_bytes = 0;
        for (u32 k = 0; k < x->ninitial; k += 3) set_initial_value(x, p, x->initial + k, id * threads + w * LANES);
        if (x->local_bytes) memset(p->local, 0, x->local_bytes * LANES);
    }
}

// The end of a CTA's turn: its quantum ended; it finished; all its threads wait; core_run returns to let Python check for
// signals, and the turn resumes later.
enum { OVER, ENDED, STUCK, PAUSED };

// `moved` is set on progress: an instruction, the end of a wait, an operation that landed.
static u32 run_cta(Ctx *x, Cta *c, u64 quantum, u32 *moved) {
    Cluster *cluster = c->cluster;
    u32 drawn = x->schedule == SCHEDULE_RANDOM, patience = drawn ? 2 * c->nwarps : c->nwarps;
    x->cta = c;
    x->base[2] = c->sregs;
    x->smem_origin = x->smem_start + c->base;
    u64 used = c->paused ? c->used : 0;
    u32 idle = c->paused ? c->idle : 0;
    if (c->paused) quantum = c->quantum;
    else if (drawn) quantum = (u64)1 << draw(cluster) % 14;
    c->paused = 0;
    while (c->left) {
        u64 turn = x->warp_quantum;
        u32 next = c->next;
        if (UNLIKELY(c->stopped)) {                                      // resume the turn
            next = c->stopped - 1;
            turn = c->left_of_turn;
        } else {
            x->landed = 0;
        }
        if (drawn && !c->stopped) {
            if (!c->turn)
                for (u32 k = c->nwarps; k-- > 1;) {
                    u32 j = (u32)(draw(cluster) % (k + 1));
                    u8 keep = c->order[k];
                    c->order[k] = c->order[j];
                    c->order[j] = keep;
                }
            next = c->order[c->turn];
            c->turn = c->turn + 1 == c->nwarps ? 0 : c->turn + 1;
            land_drawn(x, cluster);
            turn = (u64)1 << draw(cluster) % 9;
            if (x->status != STATUS_RUNNING) return OVER;
        }
        Warp *w = &c->warps[next];
        if (UNLIKELY(x->sanitizer != 0)) sanitizer_turn(x);
        u32 n = w->live ? run_warp(x, w, turn) : 0;
        if (UNLIKELY(x->debug != 0) && debug_turn(x, c, w, &n, turn)) {
            c->paused = 1; c->used = used; c->idle = idle; c->quantum = quantum;
            return OVER;
        }
        if (n && !w->live && next + 1 < c->nwarps && !w[1].issued) exchange_registers(x, c, w, w + 1);
        used += n;
        x->steps += n;
        if (x->status != STATUS_RUNNING) return OVER;
        if (x->steps > x->max_steps) { x->status = STATUS_STEP_LIMIT; return OVER; }
        *moved |= n || x->landed;
        idle = n || x->landed ? 0 : idle + 1;
        c->next = c->next + 1 == c->nwarps ? 0 : c->next + 1;
        if (idle > patience) return STUCK;
        if (used >= quantum) return c->left ? OVER : ENDED;
        if (UNLIKELY(x->steps >= x->until) && c->left) {
            c->paused = 1; c->used = used; c->idle = idle; c->quantum = quantum;
            return PAUSED;
        }
    }
    return ENDED;
}

static void free_cluster(Cluster *cluster) {
    if (!cluster) return;
    free_async(cluster);
    for (u32 k = 0; k < cluster->size; k++) free_cta(cluster->cta[k]);
    free(cluster);
}
void close_clusters(Ctx *x) {
    for (u32 k = 0, size; k < x->resident; k += size) {
        if (x->sanitizer) sanitizer_end_cluster(x, x->ctas[k]->cluster);
        size = x->ctas[k]->cluster->size;                                // the cluster is freed below
        free_cluster(x->ctas[k]->cluster);
    }
    free_cluster(x->spare);
    for (Cluster *c = x->retired, *next; c; c = next) { next = c->next_retired; free_cluster(c); }
}

static Cluster *new_cluster(Ctx *x) {
    Cluster *cluster = calloc(1, sizeof *cluster);
    if (!cluster) return 0;
    cluster->size = x->cluster[0] * x->cluster[1] * x->cluster[2];
    for (u32 k = 0; k < cluster->size; k++) {
        if (!(cluster->cta[k] = new_cta(x))) { free_cluster(cluster); return 0; }
        cluster->cta[k]->cluster = cluster;
        cluster->cta[k]->rank = k;
        cluster->cta[k]->base = k << RANK_SHIFT;
    }
    return cluster;
}

// The number in the grid of a CTA of a cluster.
static u64 cta_of(Ctx *x, u64 cluster, u32 rank) {
    u64 at[3];
    for (u32 k = 0; k < 3; k++) {
        u64 clusters = x->grid[k] / x->cluster[k];
        at[k] = cluster % clusters * x->cluster[k] + rank % x->cluster[k];
        cluster /= clusters;
        rank /= x->cluster[k];
    }
    return at[0] + x->grid[0] * (at[1] + x->grid[1] * at[2]);
}

// Start the next cluster of the grid in the slots from `slot` on; 0: none is left, or out of memory. The workers of a launch take
// clusters one by one from a shared counter, which balances their load.
static int admit(Ctx *x, u32 slot) {
    u64 id = __atomic_fetch_add(x->next_cluster, 1, __ATOMIC_RELAXED);
    if (id >= x->last_cluster) return 0;
    Cluster *cluster = x->spare ? x->spare : x->retired ? reuse_retired(x) : new_cluster(x);
    if (!cluster) { x->status = STATUS_FAULT; x->fault = FAULT_MEMORY; return 0; }
    x->spare = 0;
    cluster->id = id;
    cluster->random = x->seed + id * 0xD1342543DE82EF95ull;
    cluster->live = cluster->size;
    cluster->idle = cluster->arrived = 0;
    for (u32 k = 0; k < cluster->size; k++) {
        start_cta(x, cluster->cta[k], cta_of(x, id, k));
        x->ctas[slot + k] = cluster->cta[k];
        if (UNLIKELY(x->debug != 0)) debug_start(x, cluster->cta[k]);
    }
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_start_cluster(x, cluster);
    if (UNLIKELY(x->recent != 0)) memset(x->recent, 0, (u64)cluster->size * x->nwarps * (RECENT_SECTORS + 1) * sizeof *x->recent);
    return 1;
}

// All threads of a cluster wait: complete an operation in flight, or release lanes held at reconvergence points; 0: deadlock.
static int release(Ctx *x, Cluster *cluster) {
    if (land_oldest(x, cluster)) return 1;
    int found = 0;
    for (u32 k = 0; k < cluster->size; k++)
        for (u32 w = 0; w < cluster->cta[k]->nwarps; w++) found |= free_held(x, &cluster->cta[k]->warps[w]);
    return found;
}

static void run_grid(Ctx *x, u64 budget) {
    u64 until = x->until = x->steps + budget;
    u32 size = x->cluster[0] * x->cluster[1] * x->cluster[2];
    while (x->status == STATUS_RUNNING && x->steps < until) {
        if (x->current >= x->resident) {
            if (x->resident + size <= x->max_resident && admit(x, x->resident)) {
                x->resident += size;
            } else if (x->status != STATUS_RUNNING) {
                break;
            } else if (x->resident == 0) {
                settle_counts(x);
                x->status = STATUS_DONE;
                break;
            } else {
                x->current = 0;
            }
        }
        Cta *c = x->ctas[x->current];
        Cluster *cluster = c->cluster;
        if (!c->left) { x->current++; continue; }
        u32 moved = 0, end = run_cta(x, c, x->cta_quantum, &moved);
        if (UNLIKELY(x->status == STATUS_STOPPED) && moved) cluster->idle = 0;
        if (x->status != STATUS_RUNNING) break;
        if (moved) cluster->idle = 0;
        if (end == PAUSED) break;
        if (end != ENDED) {
            if (end == STUCK && ++cluster->idle >= cluster->live) {     // only the asynchronous engine can make progress
                cluster->idle = 0;
                if (!release(x, cluster)) x->status = STATUS_DEADLOCK;
            }
            x->current++;
            continue;
        }
        land_cta(x, c);
        if (UNLIKELY(x->sanitizer != 0) && x->status == STATUS_RUNNING) sanitizer_end_cta(x, c);
        if (x->status == STATUS_RUNNING) check_tmem(x, c);
        if (x->status != STATUS_RUNNING) break;
        cluster->idle = 0;
        if (--cluster->live) { x->current++; continue; }
        x->current -= c->rank;
        if (UNLIKELY(x->sanitizer != 0)) sanitizer_end_cluster(x, cluster);
        if (UNLIKELY(x->debug != 0)) debug_cluster_ended(x, cluster);
        if (!x->spare) x->spare = cluster;
        else if (UNLIKELY(x->debug != 0)) retire_cluster(x, cluster);
        else free_cluster(cluster);
        if (!admit(x, x->current)) {
            if (x->status != STATUS_RUNNING) { x->resident = 0; break; }
            for (u32 k = x->current + size; k < x->resident; k++) x->ctas[k - size] = x->ctas[k];
            x->resident -= size;
        }
    }
#ifdef __AVX__
    __builtin_ia32_vzeroupper();                                         // here, instead of at the end of every step
#endif
}

// Run about `budget` warp-instructions and return the status.
u32 core_run(Ctx *x, u64 budget) {
    u64 before = plain_arithmetic();
    run_grid(x, budget);
    restore_arithmetic(before);
    return x->status;
}
