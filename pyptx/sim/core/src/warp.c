// One warp: groups of converged lanes, run one at a time, which reconverge at the immediate post-dominator of the branch
// that split them. The reference engine (reference/scheduling.py) makes the same decisions in the same order.
#include "chain.h"
#include "debug.h"
#include "linear.h"
#include "quads.h"

static u32 free_group(Warp *w) {
    u32 g = 0;
    while (w->g[g].state != GROUP_FREE) g++;
    if (g >= w->top) w->top = g + 1;
    return g;
}
static i32 free_join(Warp *w) {
    i32 j = 0;
    while (w->j[j].used) j++;
    w->joins++;
    return j;
}

// Switch to the next ready group after the current one, itself last; 0: none is ready.
static int next_group(Warp *w) {
    for (u32 k = 1, g = w->cur; k <= w->top; k++) {
        g = g + 1 >= w->top ? 0 : g + 1;
        if (w->g[g].state == GROUP_READY) { w->cur = g; return 1; }
    }
    return 0;
}

// The reconvergence point at `pc` of lanes `mask`: that of the group if it has the same pc, else a new one.
static i32 join_at(Warp *w, u32 pc, u32 mask, const Group *g) {
    if (pc == NONE || (g->join >= 0 && w->j[g->join].pc == pc)) return g->join;
    i32 j = free_join(w);
    w->j[j] = (Join){pc, mask, 0, g->join, 1, g->frame};
    return j;
}

// Lanes `m` of the current group execute the operation at `pc`, which may block; the others wait for them after it.
static void split_off(Warp *w, Group *g, u32 pc, u32 m) {
    g->join = join_at(w, pc + 1, g->mask, g);
    w->j[g->join].arrived |= g->mask & ~m;
    g->mask = m;
}

void spawn(Warp *w, u32 pc, u32 mask, i32 join, i32 frame) {
    u32 g = free_group(w);
    w->g[g] = (Group){pc, mask, join, GROUP_READY, 0, frame};
}

// Release reconvergence points that are complete because lanes exited.
void settle_joins(Warp *w) {
    for (int again = w->joins != 0; again;) {
        again = 0;
        for (u32 k = 0; k <= LANES; k++) {
            Join *j = &w->j[k];
            if (!j->used) continue;
            if (!j->expected) { j->used = 0; w->joins--; continue; }
            if (j->arrived == j->expected) {
                j->used = 0;
                w->joins--;
                spawn(w, j->pc, j->arrived, j->parent, j->frame);
                again = 1;
            }
        }
    }
}

static void resume_join(Warp *w, Join *j) {
    u32 waiting = j->arrived;
    j->expected &= ~waiting;
    j->arrived = 0;
    spawn(w, j->pc, waiting, j->parent, j->frame);
}
// A group has run for long while others wait at its reconvergence point. It may itself wait for them (a lock), so let
// them continue without it.
static void yield_join(Warp *w, Group *g) {
    if (g->join >= 0 && w->j[g->join].arrived) resume_join(w, &w->j[g->join]);
}

// Resume the lanes at the nearest reconvergence point or return where some wait for a group. 0: there are none.
static int resume_nearest(Ctx *x, Warp *w, const Group *g) {
    for (i32 join = g->join, frame = g->frame;;) {
        for (; join >= 0; join = w->j[join].parent) if (w->j[join].arrived) { resume_join(w, &w->j[join]); return 1; }
        if (frame < 0) return 0;
        if (w->frames[frame].arrived) { resume_returned(x, w, (u32)frame); return 1; }
        join = w->frames[frame].join;
        frame = w->frames[frame].parent;
    }
}

// Let lanes continue that wait for a blocked group to reconverge or to return. A group that polls memory may wait for them, and
// so may one at bar.warp.sync or at a barrier without .aligned, which lanes execute in different places. Other .sync operations
// and barriers wait for threads that have not exited, so lanes that reconverge at an exit do exit; other lanes stay, because a
// collective that only part of the warp executes is a mistake to report; so is bar.warp.sync in a check, because CUDA C++ leaves
// it undefined. 0: there are none.
int free_held(Ctx *x, Warp *w) {
    int found = 0;
    for (u32 k = 0; k < w->top; k++) {
        Group *g = &w->g[k];
        if (g->state == GROUP_FREE || g->state == GROUP_READY) continue;
        int apart = x->ops[g->pc].flags & F_DIVERGENT && !(x->sanitizer && g->state == GROUP_PARKED);
        if (g->state == GROUP_WAITING || apart) { found |= resume_nearest(x, w, g); continue; }
        if (g->join < 0 || !w->j[g->join].arrived || (x->ops[w->j[g->join].pc].flags & (F_EXIT | F_GUARDED)) != F_EXIT) continue;
        resume_join(w, &w->j[g->join]);
        found = 1;
    }
    return found;
}

static void exit_lanes(Ctx *x, Warp *w, u32 m) {
    w->live &= ~m;
    if (w->joins) for (u32 k = 0; k <= LANES; k++) if (w->j[k].used) w->j[k].expected &= ~m;
    for (u32 k = 0; k < w->nframes; k++) w->frames[k].expected &= ~m;
}

static void count(Ctx *x, const Op *o, u32 m) {
    x->issues[o->instr]++;
    x->lanes[o->instr] += (u32)__builtin_popcount(m);
}

// The lanes of `m` at a .sync operation whose membermask is that of the first of them.
static u32 same_members(Ctx *x, const Op *o, u32 m) {
    const u32 *members = (const u32 *)R(x, o->e);
    u32 wanted = members[__builtin_ctz(m)], same = m;
    for (u32 k = m; k; k &= k - 1) if (members[__builtin_ctz(k)] != wanted) same &= ~(k & -k);
    return same;
}
static int waits_with(const Ctx *x, const Group *other, const Op *o, u32 members) {
    const Op *p = &x->ops[other->pc];
    if (other->state != GROUP_PARKED || (p != o && !(p->flags & o->flags & F_DIVERGENT))) return 0;
    return ((const u32 *)R(x, p->e))[__builtin_ctz(other->mask)] == members;
}

// Lanes `m` of the current group, which have the same membermask, wait at a .sync operation until every live lane of the
// mask has arrived. 1: executed, the current group continues after it.
static int synchronize(Ctx *x, Warp *w, Group *g, const Op *o, u32 m) {
    u32 lane = (u32)__builtin_ctz(m), members = ((u32 *)R(x, o->e))[lane], need = members & w->live, have = m;
    if (m & ~members) { raise_fault(x, FAULT_MEMBERMASK, (u32)__builtin_ctz(m & ~members), members, m); return 0; }
    if ((m & need) != need)
        for (u32 k = 0; k < LANES; k++)
            if (&w->g[k] != g && waits_with(x, &w->g[k], o, members)) have |= w->g[k].mask;
    if ((have & need) != need) {
        g->state = GROUP_PARKED; g->mask = m; g->pc = x->pc;
        return 0;
    }
    have &= need | m;
    u32 here = have;
    if (o->fn) o->fn(x, o, have);
    for (u32 k = 0; have != m && k < LANES; k++) {
        Group *other = &w->g[k];
        if (other == g || !waits_with(x, other, o, members) || (other->mask & ~have)) continue;
        int elsewhere = other->pc != x->pc;
        if (elsewhere) { count(x, &x->ops[other->pc], other->mask); here &= ~other->mask; }
        other->state = GROUP_READY;
        other->pc++;
        if (!elsewhere && other->join == g->join) { g->mask |= other->mask; other->state = GROUP_FREE; }
    }
    count(x, o, here);
    return 1;
}

// Lanes exited: those that are parked check again whether all they wait for have arrived.
static void recheck_parked(Ctx *x, Warp *w) {
    for (u32 k = 0; k < LANES; k++) if (w->g[k].state == GROUP_PARKED) w->g[k].state = GROUP_READY;
}

// The warp cannot run in this turn: count it for each of its groups at a barrier.
static void count_waits(Ctx *x, Warp *w) {
    for (u32 k = 0; k < w->top; k++) if (w->g[k].state == GROUP_BARRIER) x->waits[x->ops[w->g[k].pc].instr]++;
}

// Execute the chain at `pc` up to the end of a turn that ends within the line: a chain_end is planted there for this execution.
// A fused step is executed as a whole, so the end is the start of the one that contains it, unless the line was entered within
// that step. Return the link where the chain ended, that of `pc` if the next operation must be executed by itself.
static __attribute__((noinline)) const Link *run_until_turn_ends(Ctx *x, char *regs, u32 pc, u64 left, u32 active) {
    const Run *run = x->run;
    u32 target = run[pc].before + (u32)left, end = pc, after = x->nops;  // run[end].before <= target < run[after].before
    while (after - end > 1) {
        u32 middle = end + (after - end) / 2;
        if (run[middle].before <= target) end = middle; else after = middle;
    }
    if (run[end].fused >= pc) end = run[end].fused;
    else if (run[end].fused == run[pc].fused && (run[end].linear || run[end].step == skipped)) end = pc;   // executed as a whole
    if (end == pc) return &x->link[pc];
    Step planted = x->link[end].next;
    x->link[end].next = chain_end;
    const Link *reached = run[pc].step(regs, &x->link[pc], x, active);
    x->link[end].next = planted;
    return reached;
}

u32 run_warp(Ctx *x, Warp *w, u64 quantum) {
    if (w->waiting && !x->cta->stopped) {                               // they retry, see F_WAIT; not within a turn
        for (u32 k = 0; k < w->top; k++) if (w->g[k].state == GROUP_WAITING) w->g[k].state = GROUP_READY, w->g[k].barrier = GROUP_RETRIES;
        w->waiting = 0;
    }
    if (w->g[w->cur].state != GROUP_READY && !next_group(w)) { count_waits(x, w); return 0; }
    x->warp = w;
    x->base[0] = w->regs;
    x->base[3] = w->sregs;
    if (UNLIKELY(x->warp_issues != 0)) count_for_warp(x, (u64)x->cta->rank * x->nwarps + w->index);
    u64 left = quantum;
    x->turn_end = w->issued + quantum + (UNLIKELY(x->debug != 0) ? x->debug->turn : 0);
    const Op *ops = x->ops;
resume:;
    Group *g = &w->g[w->cur];
    u32 pc = g->pc, active = g->mask;
    u32 meet = g->join >= 0 ? w->j[g->join].pc : NONE;
    for (;;) {
        while (UNLIKELY(pc == meet)) {
            Join *j = &w->j[g->join];
            j->arrived |= active;
            if (j->arrived != j->expected) { g->state = GROUP_FREE; goto switch_group; }
            j->used = 0;
            w->joins--;
            active = g->mask = j->arrived;
            g->join = j->parent;
            meet = g->join >= 0 ? w->j[g->join].pc : NONE;
        }
        const Run *run = &x->run[pc];
        x->chain_start = pc;
        const Link *end = LIKELY(left >= run->count) ? run->step(w->regs, &x->link[pc], x, active)
                                                     : run_until_turn_ends(x, w->regs, pc, left, active);
        u32 to = (u32)(end - x->link);
        if (LIKELY(to != pc)) {
            u64 lanes = (u32)__builtin_popcount(active);
            x->executed[pc].issues++; x->executed[pc].lanes += lanes;
            x->executed[to].issues--; x->executed[to].lanes -= lanes;
            left -= x->run[to].before - run->before;
            pc = to;
        }
        if (UNLIKELY(x->status != STATUS_RUNNING)) { g->pc = pc; goto out; }
        if (to != run - x->run) continue;
        const Op *o = &ops[pc];
        u32 m = active, flags = o->flags;
        if (flags & F_GUARDED) m &= PRED(x, o->guard) ^ o->flip;
        if (flags & F_COUNT && !(flags & F_WAIT && g->barrier == GROUP_RETRIES)) {
            if (UNLIKELY(left == 0)) { g->pc = pc; goto out_of_time; }
            left--;
            if (!(flags & F_SYNC)) count(x, o, m);
        }
        if (LIKELY(!(flags & F_SPECIAL))) {
            x->pc = pc;
            x->turn_left = left;
            if (UNLIKELY(run->linear)) linear_alone(x, pc, m);
            else if (LIKELY(run->step != skipped)) o->fn(x, o, flags & F_FULL ? ALL : m);
            if (UNLIKELY(x->status != STATUS_RUNNING)) { g->pc = pc; goto out; }
            pc++;
            continue;
        }
        x->pc = pc;
        switch (flags & F_SPECIAL) {
        case F_BRANCH: {
            u32 stay = active & ~m;
            if (!stay) { pc = o->aux; continue; }
            if (!m) { pc++; continue; }
            x->divergent[o->instr]++;
            i32 j = join_at(w, o->aux2, active, g);
            g->join = j;
            meet = j >= 0 ? w->j[j].pc : NONE;
            active = g->mask = stay;
            if (o->aux == meet) w->j[j].arrived |= m;
            else spawn(w, o->aux, m, j, g->frame);
            pc++;
            continue;
        }
        case F_JUMP_TABLE: {                                            // aux: index of the targets in the pool, imm: their number
            if (!m) { pc++; continue; }
            u32 rest = m, stay = active & ~m, target_pc[LANES], target_mask[LANES], n = 0;
            for (; rest;) {
                u32 lane = (u32)__builtin_ctz(rest), index = ((u32 *)R(x, o->a))[lane], same = 0;
                if (index >= o->imm) { raise_fault(x, FAULT_JUMP, lane, index, o->imm); g->pc = pc; goto out; }
                for (u32 k = rest; k; k &= k - 1) {
                    u32 i = (u32)__builtin_ctz(k);
                    if (((u32 *)R(x, o->a))[i] == index) same |= 1u << i;
                }
                target_pc[n] = x->pool[o->aux + index];
                target_mask[n++] = same;
                rest &= ~same;
            }
            if (stay) { target_pc[n] = pc + 1; target_mask[n++] = stay; }
            if (n > 1) {
                x->divergent[o->instr]++;
                g->join = join_at(w, o->aux2, active, g);
                meet = g->join >= 0 ? w->j[g->join].pc : NONE;
                for (u32 k = 1; k < n; k++) spawn(w, target_pc[k], target_mask[k], g->join, g->frame);
            }
            active = g->mask = target_mask[0];
            pc = target_pc[0];
            continue;
        }
        case F_EXIT:
            if (!m) { pc++; continue; }
            exit_lanes(x, w, m);
            active = g->mask = active & ~m;
            if (!active) g->state = GROUP_FREE;
            settle_joins(w);
            if (w->nframes) settle_frames(x, w);
            recheck_parked(x, w);
            if (!w->live) x->cta->left--;
            if (x->cta->barriers) recheck_barriers(x, x->cta);
            if (x->cta->cluster->arrived) recheck_cluster(x, x->cta->cluster);
            if (!active) goto switch_group;
            pc++;
            continue;
        case F_SYNC:
            if (LIKELY(m == ALL && (o->e & 3) == 1 && *(u32 *)R(x, o->e) == ALL)) {          // all lanes are here
                count(x, o, m);
                if (o->fn) o->fn(x, o, m);
                if (UNLIKELY(x->status != STATUS_RUNNING)) { g->pc = pc; goto out; }
                pc++;
                continue;
            }
            if (!m) { count(x, o, 0); pc++; continue; }
            if (m != active) { split_off(w, g, pc, m); meet = pc + 1; active = m; }
            if ((o->e & 3) != 1 && (active = same_members(x, o, m)) != m) {     // several membermasks
                i32 j = join_at(w, pc + 1, m, g);
                g->join = j;
                spawn(w, pc, m & ~active, j, g->frame);
                meet = j >= 0 ? w->j[j].pc : NONE;
                m = g->mask = active;
            }
            if (synchronize(x, w, g, o, m)) {
                if (UNLIKELY(x->status != STATUS_RUNNING)) { g->pc = pc; goto out; }
                active = g->mask;
                pc++;
                continue;
            }
            if (UNLIKELY(x->status != STATUS_RUNNING)) { g->pc = pc; goto out; }
            goto switch_group;
        case F_BARRIER:
            if (!m) { pc++; continue; }
            if (m != active && o->mod != BARRIER_ARRIVE) { split_off(w, g, pc, m); meet = pc + 1; active = m; }
            g->pc = pc;
            arrive_barrier(x, o, m);
            if (UNLIKELY(x->status != STATUS_RUNNING)) goto out;
            if (o->mod == BARRIER_ARRIVE) { pc++; continue; }
            if (g->state == GROUP_READY) { pc = g->pc; continue; }            // it was the last to arrive
            goto switch_group;
        case F_WAIT: {
            u32 retries = g->barrier == GROUP_RETRIES;
            g->barrier = 0;
            if (!m) { pc++; continue; }
            if (m != active) { split_off(w, g, pc, m); meet = pc + 1; active = m; }
            g->pc = pc;
            x->not_yet = 0;
            o->fn(x, o, m);
            if (UNLIKELY(x->status != STATUS_RUNNING)) goto out;
            if (x->not_yet) {
                x->waits[o->instr] += retries;
                g->state = GROUP_WAITING;
                w->waiting++;
                goto switch_group;
            }
            if (retries) x->landed = 1;                                 // the end of a wait is progress
            pc++;
            continue;
        }
        case F_CALL: {
            if (!m) { pc++; continue; }
            if (m != active) split_off(w, g, pc, m);
            g->pc = pc;
            if (!call_function(x, w, g, o, m)) goto out;
            pc = g->pc; active = g->mask; meet = NONE;
            continue;
        }
        case F_RETURN:
            if (!m) { pc++; continue; }
            active = g->mask = active & ~m;
            if (!active) g->state = GROUP_FREE;
            g->pc = pc + 1;
            return_lanes(x, w, g, m);
            if (!active) goto switch_group;
            pc++;
            continue;
        case F_HOST:
            if (!m) { pc++; continue; }
            g->pc = pc + 1;
            x->active = m;
            x->status = STATUS_HOST_CALL;
            goto out;
        case F_TRAP:
            if (!m) { pc++; continue; }
            raise_fault(x, FAULT_TRAP, (u32)__builtin_ctz(m), 0, 0);
            g->pc = pc;
            goto out;
        }
    }
switch_group:
    if (next_group(w)) goto resume;
    goto out;
out_of_time:
    if (x->yields) yield_join(w, g);
    next_group(w);
out:
    w->issued += quantum - left;
    return (u32)(quantum - left);
}
