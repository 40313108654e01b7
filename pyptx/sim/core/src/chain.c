// Construction of the chains of a program, and the steps of operations without a specialized one. See chain.h.
#include "chain.h"
#include "linear.h"
#include "quads.h"
#include "sanitizer/sanitizer.h"

STEP(chain_end) { (void)regs; (void)x; (void)m; return f; }

// Any operation, for the lanes of the group or (temporaries) for all lanes.
static STEP(step_call) {
    const Op *o = &x->ops[f->pc];
    x->pc = f->pc;
    o->fn(x, o, m);
    if (UNLIKELY(x->status != STATUS_RUNNING)) return f;
    NEXT;
}
static STEP(step_full) {
    const Op *o = &x->ops[f->pc];
    x->pc = f->pc;
    o->fn(x, o, ALL);
    if (UNLIKELY(x->status != STATUS_RUNNING)) return f;
    NEXT;
}
// Under a guard: its lanes are counted here because they may differ from those of the line.
static STEP(step_guarded) {
    const Op *o = &x->ops[f->pc];
    u32 lanes = m & (PRED(x, o->guard) ^ o->flip);
    x->pc = f->pc;
    if (o->flags & F_COUNT) x->lanes[o->instr] += (u32)__builtin_popcount(lanes);
    o->fn(x, o, o->flags & F_FULL ? ALL : lanes);
    if (UNLIKELY(x->status != STATUS_RUNNING)) return f;
    NEXT;
}
// An operation of all 32 lanes of the warp; run_warp gathers them if they are not converged.
static STEP(step_sync) {
    if (UNLIKELY(m != ALL)) return f;
    const Op *o = &x->ops[f->pc];
    x->pc = f->pc;
    if (o->fn) o->fn(x, o, m);
    if (UNLIKELY(x->status != STATUS_RUNNING)) return f;
    NEXT;
}

static Step step_of(Ctx *x, const Op *o) {
    u32 special = o->flags & F_SPECIAL, guarded = o->flags & F_GUARDED;
    if (special == F_SYNC && !guarded && (o->e & 3) == 1 && *(u32 *)R(x, o->e) == ALL) {
        Step own = x->sanitizer ? 0 : butterfly_step(x, o);
        return own ? own : step_sync;
    }
    if (special || o->fn == read_clock) return chain_end;
    if (guarded) {
        Step own = x->marks || x->sanitizer ? 0 : guarded_step(o, x->pool);
        return own ? own : step_guarded;
    }
    Step own = quick_step(o);
    if (!own && !x->marks && !x->sanitizer) own = memory_step(o, x->pool);
    if (!own && !x->marks && x->sanitizer && !(x->sanitizer->info[o->instr] & 15)) own = sanitized_step(o, x->pool);
    return own ? own : o->flags & F_FULL ? step_full : step_call;
}

// The fields that may name a register: those of the operation, and operands of its link that were copy-propagated.
u32 named_places(const Op *o, const Link *f, u32 *places) {
    u32 own[] = {o->d, o->a, o->b, o->c, o->e, o->guard, o->aux, o->aux2}, n = sizeof own / sizeof *own;
    memcpy(places, own, sizeof own);
    if (f->a != o->a) places[n++] = f->a;
    if (f->b != o->b) places[n++] = f->b;
    if (f->c != o->c) places[n++] = f->c;
    return n;
}

// The uses of each 32-bit register row in the program.
static Uses *uses(const Ctx *x, u64 npool) {
    u64 rows = x->reg_bytes / 128 + 1;
    Uses *r = calloc(rows, sizeof(Uses));
    for (u32 pc = 0; r && pc < x->nops; pc++) {
        u32 places[NAMED], n = named_places(&x->ops[pc], &x->link[pc], places);
        for (u32 k = 0; k < n; k++) {
            if (places[k] & 127 || places[k] >= x->reg_bytes) continue;
            r[places[k] / 128].named++;
            r[places[k] / 128].last = pc;
        }
    }
    for (u64 k = 0; r && k < npool; k++) if (!(x->pool[k] & 127) && x->pool[k] < x->reg_bytes) r[x->pool[k] / 128].listed++;
    return r;
}

// Test whether an operation of a line may write these bytes of the registers.
static int writes(Ctx *x, const Op *o, u32 row, u32 bytes) {
    if (memory_step(o, x->pool)) return memory_writes(o, x->pool, row, bytes);
    if (o->flags & F_SPECIAL && butterfly_step(x, o)) return o->d < row + bytes && row < o->d + 128;
    return quick_writes(o, row, bytes);
}

// Copy propagation: operands that an earlier `mov` of the same block copied are read from the source, which avoids a
// store-to-load dependency. The copy itself is still made.
static void pass_copies(Ctx *x, const u8 *leader) {
    enum { MOST = 16 };
    u32 to[MOST], from[MOST], n = 0;
    for (u32 pc = 0; pc < x->nops; pc++) {
        const Op *o = &x->ops[pc];
        Link *f = &x->link[pc];
        if (leader[pc] || x->run[pc].step == chain_end) n = 0;
        int narrow = quick_narrow(o) && !memory_step(o, x->pool), shuffle = o->flags & F_SPECIAL && n && butterfly_step(x, o);
        for (u32 k = 0; (narrow || shuffle) && k < n; k++) {
            if (f->a == to[k]) f->a = from[k];
            if (narrow && f->b == to[k]) f->b = from[k];
            if (narrow && f->c == to[k]) f->c = from[k];
        }
        for (u32 k = 0; k < n;) {
            if (!writes(x, o, to[k], 128) && !writes(x, o, from[k], 128)) { k++; continue; }
            n--;
            to[k] = to[n];
            from[k] = from[n];
        }
        if (quick_copies(o) && f->a != f->d && n < MOST) { to[n] = f->d; from[n++] = f->a; }
    }
}

// For loads and stores: an earlier one in the same line whose addresses differ by a constant that preserves banks and
// sectors, so that its analysis holds for this one.
static u32 same_addresses(Ctx *x, const u8 *stop, u32 pc) {
    const Op *o = &x->ops[pc];
    if (!memory_step(o, x->pool) || o->flags & F_GUARDED || stop[pc]) return NONE;
    u32 row = o->mod >> 16 & 1 ? 256 : 128;
    for (u32 k = pc; k-- > 0;) {
        const Op *p = &x->ops[k];
        if (x->run[k].step == chain_end || writes(x, p, o->a, row)) return NONE;
        if (!(p->flags & F_GUARDED) && memory_step(p, x->pool) && p->a == o->a && !((p->mod ^ o->mod) & 0x3f0ff)
            && (p->imm - o->imm) % 32 == 0) return x->link[k].same == NONE ? k : x->link[k].same;
        if (stop[k]) return NONE;
    }
    return NONE;
}

// The number of warps whose executions are counted apart.
static u64 counted_apart(const Ctx *x) {
    return x->warp_issues ? (u64)x->cluster[0] * x->cluster[1] * x->cluster[2] * x->nwarps : 1;
}

int open_chains(Ctx *x, u64 npool) {
    u32 n = x->nops;
    x->link = (Link *)aligned(sizeof(Link) * (n + 1));
    x->run = (Run *)aligned(sizeof(Run) * (n + 1));
    x->executed = x->all_executed = (Executed *)aligned(sizeof(Executed) * (n + 2) * counted_apart(x));
    u8 *stop = calloc(2 * (n + 2), 1), *leader = stop + n + 2;          // lanes may reconverge here; lanes may jump here
    if (!x->link || !x->run || !x->executed || !stop) { free(stop); return 0; }
    for (u32 pc = 0; pc < n; pc++) {
        const Op *o = &x->ops[pc];
        if (o->flags & (F_BRANCH | F_JUMP_TABLE) && o->aux2 < n) stop[o->aux2] = leader[o->aux2] = 1;
        if (o->flags & F_BRANCH && o->aux < n) leader[o->aux] = 1;
        for (u64 k = 0; o->flags & F_JUMP_TABLE && k < o->imm; k++) if (x->pool[o->aux + k] < n) leader[x->pool[o->aux + k]] = 1;
        if (o->flags & (F_SYNC | F_BARRIER | F_WAIT) && o->flags & F_GUARDED) stop[pc + 1] = 1;
        if (o->flags & F_SYNC && (o->e & 3) != 1) stop[pc + 1] = 1;      // membermasks may differ
    }
    stop[n] = 1;
    x->link[n].next = x->run[n].step = chain_end;
    u32 before = 0;
    for (u32 pc = 0; pc < n; pc++) {
        const Op *o = &x->ops[pc];
        Step step = x->run[pc].step = step_of(x, o);
        x->run[pc].before = before;
        x->run[pc].fused = pc;
        before += (o->flags & F_COUNT) != 0;
        x->link[pc] = (Link){stop[pc] ? chain_end : step, o->d, o->a, o->b, o->c, pc, NONE};
        x->link[pc].same = same_addresses(x, stop, pc);
    }
    x->run[n].before = before;
    pass_copies(x, leader);
    if (!x->debug && !x->sanitizer && !x->marks && !open_linear(x, stop, leader, npool)) { free(stop); return 0; }
    Uses *named = uses(x, npool);
    if (!named || (!x->debug && !x->sanitizer && !x->marks && !open_quads(x, stop, leader, named))) { free(named); free(stop); return 0; }
    for (u32 pc = 0; pc + 4 <= n; pc++) {
        Step step = fused_fma_step(&x->link[pc]);
        if (step && x->run[pc].step == x->link[pc].next) {
            x->run[pc].step = x->link[pc].next = step;
            for (u32 k = 0; k < 4; k++) {
                leader[pc + k] = 1;                                     // not part of a fold
                x->run[pc + k].fused = pc;
            }
            pc += 3;
        }
    }
    if (!x->debug) fuse_steps(x, leader, named);
    free(named);
    for (u32 pc = n; pc-- > 0;) {
        if (x->run[pc].step == chain_end) continue;
        x->run[pc].count = ((x->ops[pc].flags & F_COUNT) != 0) + (stop[pc + 1] ? 0 : x->run[pc + 1].count);
    }
    free(stop);
    return 1;
}

void close_chains(Ctx *x) {
    release_aligned(x->link);
    release_aligned(x->run);
    release_aligned(x->all_executed);
    release_aligned(x->linear);
    release_aligned(x->quads);
}

// The counters and the differences of a warp of a cluster, in a profiled run.
void count_for_warp(Ctx *x, u64 warp) {
    x->issues = x->warp_issues + x->ninstr * warp;
    x->executed = x->all_executed + (x->nops + 2ull) * warp;
}

static void settle(Ctx *x) {
    u64 issues = 0, lanes = 0;
    for (u32 pc = 0; pc < x->nops; pc++) {
        const Op *o = &x->ops[pc];
        issues += x->executed[pc].issues;
        lanes += x->executed[pc].lanes;
        if (!(o->flags & F_COUNT)) continue;
        x->issues[o->instr] += issues;
        if (!(o->flags & F_GUARDED)) x->lanes[o->instr] += lanes;
    }
    memset(x->executed, 0, sizeof(Executed) * (x->nops + 1));
}

// A chain adds its count at its start and subtracts it at its end; prefix sums give the executions of each operation.
void settle_counts(Ctx *x) {
    if (!x->warp_issues) { settle(x); return; }
    for (u64 warp = 0; warp < counted_apart(x); warp++) {
        count_for_warp(x, warp);
        settle(x);
    }
}
