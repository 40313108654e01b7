// Builds the chains of a program, and the steps for operations that have none of their own. See chain.h.
#include "chain.h"

STEP(chain_end) { (void)regs; (void)x; (void)m; return f; }

// Any operation, for the lanes of the group or (temporaries) for all.
static STEP(step_call) {
    const Op *o = &x->ops[f->pc];
    x->pc = f->pc;
    o->fn(x, o, m);
    if (UNLIKELY(x->status != RUNNING)) return f;
    NEXT;
}
static STEP(step_full) {
    const Op *o = &x->ops[f->pc];
    x->pc = f->pc;
    o->fn(x, o, ALL);
    if (UNLIKELY(x->status != RUNNING)) return f;
    NEXT;
}
// Under a guard: its lanes are counted here, for they may differ from those of the line.
static STEP(step_guarded) {
    const Op *o = &x->ops[f->pc];
    u32 lanes = m & (PRED(x, o->guard) ^ o->guard_flip);
    x->pc = f->pc;
    if (o->flags & F_COUNT) x->lanes[o->instr] += (u32)__builtin_popcount(lanes);
    o->fn(x, o, o->flags & F_FULL ? ALL : lanes);
    if (UNLIKELY(x->status != RUNNING)) return f;
    NEXT;
}
// An operation of all 32 lanes of the warp, when they are here; otherwise run_warp gathers them.
static STEP(step_sync) {
    if (UNLIKELY(m != ALL)) return f;
    const Op *o = &x->ops[f->pc];
    x->pc = f->pc;
    if (o->fn) o->fn(x, o, m);
    if (UNLIKELY(x->status != RUNNING)) return f;
    NEXT;
}

static Step step_of(Ctx *x, const Op *o) {
    u32 special = o->flags & F_SPECIAL, guarded = o->flags & F_GUARDED;
    if (special == F_SYNC && !guarded && (o->e & 3) == 1 && *(u32 *)R(x, o->e) == ALL) return step_sync;
    if (special) return chain_end;
    if (guarded) return step_guarded;
    Step own = quick_step(o);
    if (!own) own = memory_step(o, x->pool);
    return own ? own : o->flags & F_FULL ? step_full : step_call;
}

// For loads and stores: the nearest earlier one in the same line whose addresses differ by a constant that changes
// neither banks nor the place in a sector, so that what was found out about those holds for these.
static u32 same_addresses(Ctx *x, const u8 *stop, u32 pc) {
    const Op *o = &x->ops[pc];
    if (!memory_step(o, x->pool) || o->flags & F_GUARDED || stop[pc]) return NONE;
    u32 row = o->mod >> 16 & 1 ? 256 : 128;
    for (u32 k = pc; k-- > 0;) {
        const Op *p = &x->ops[k];
        if (p->flags & F_SPECIAL && x->run[k].step != step_sync) return NONE;
        if (memory_step(p, x->pool) ? memory_writes(p, x->pool, o->a, row) : quick_writes(p, o->a, row)) return NONE;
        if (!(p->flags & F_GUARDED) && memory_step(p, x->pool) && p->a == o->a && !((p->mod ^ o->mod) & 0x3f0ff)
            && (p->imm - o->imm) % 32 == 0) return x->link[k].same == NONE ? k : x->link[k].same;
        if (stop[k]) return NONE;
    }
    return NONE;
}

int open_chains(Ctx *x) {
    u32 n = x->nops;
    x->link = (Link *)aligned(sizeof(Link) * (n + 1));
    x->run = (Run *)aligned(sizeof(Run) * (n + 1));
    x->executed = (Executed *)aligned(sizeof(Executed) * (n + 2));
    u8 *stop = calloc(n + 2, 1);                                        // lanes may meet here
    if (!x->link || !x->run || !x->executed || !stop) { free(stop); return 0; }
    for (u32 pc = 0; pc < n; pc++) {
        const Op *o = &x->ops[pc];
        if (o->flags & (F_BRANCH | F_JUMP_TABLE) && o->aux2 < n) stop[o->aux2] = 1;
        if (o->flags & (F_SYNC | F_BARRIER) && o->flags & F_GUARDED) stop[pc + 1] = 1;
    }
    stop[n] = 1;
    x->link[n].next = x->run[n].step = chain_end;
    u32 before = 0;
    for (u32 pc = 0; pc < n; pc++) {
        const Op *o = &x->ops[pc];
        Step step = x->run[pc].step = step_of(x, o);
        x->run[pc].before = before;
        before += (o->flags & F_COUNT) != 0;
        x->link[pc] = (Link){stop[pc] ? chain_end : step, o->d, o->a, o->b, o->c, pc, NONE};
        x->link[pc].same = same_addresses(x, stop, pc);
    }
    x->run[n].before = before;
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
    release_aligned(x->executed);
}

// A chain counts once, at its start and with the opposite sign where it ended; sums from the first operation on give
// how often each one ran.
void settle_counts(Ctx *x) {
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
