// One warp: groups of lanes at different places, run one at a time, reconverging at the immediate post-dominator of
// the branch that split them. The reference engine (reference/warp.py) takes the same decisions in the same order.
#include "chain.h"
#include "debug.h"

static u32 free_group(Warp *w) {
    u32 g = 0;
    while (w->g[g].state != FREE) g++;
    if (g >= w->top) w->top = g + 1;
    return g;
}
static i32 free_join(Warp *w) {
    i32 j = 0;
    while (w->j[j].used) j++;
    w->joins++;
    return j;
}

// The next ready group after the current one, itself last; 0 when there is none.
static int next_group(Warp *w) {
    for (u32 k = 1, g = w->cur; k <= w->top; k++) {
        g = g + 1 >= w->top ? 0 : g + 1;
        if (w->g[g].state == READY) { w->cur = g; return 1; }
    }
    return 0;
}

// A new place to meet at `pc` for all of `mask`, unless the group already meets there.
static i32 join_at(Warp *w, u32 pc, u32 mask, const Group *g) {
    if (pc == NONE || (g->join >= 0 && w->j[g->join].pc == pc)) return g->join;
    i32 j = free_join(w);
    w->j[j] = (Join){pc, mask, 0, g->join, 1, g->frame};
    return j;
}

void spawn(Warp *w, u32 pc, u32 mask, i32 join, i32 frame) {
    u32 g = free_group(w);
    w->g[g] = (Group){pc, mask, join, READY, 0, frame};
}

// Joins that are complete because lanes exited.
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

// A group has run for long while others wait for it at its meeting point; perhaps it waits for them (a lock): let
// them go on alone.
static void yield_join(Warp *w, Group *g) {
    if (g->join < 0 || !w->j[g->join].arrived) return;
    Join *j = &w->j[g->join];
    u32 waiting = j->arrived;
    j->expected &= ~waiting;
    j->arrived = 0;
    spawn(w, j->pc, waiting, j->parent, j->frame);
}

// Lanes that wait at the meeting point of a group that waits itself go on alone: it may wait for them. 0: there are none.
int free_held(Warp *w) {
    int found = 0;
    for (u32 k = 0; k < w->top; k++) {
        Group *g = &w->g[k];
        if (g->state != WAITING || g->join < 0 || !w->j[g->join].arrived) continue;
        yield_join(w, g);
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

// Of lanes `m` at a .sync operation those that name the same lanes as the first of them.
static u32 alike(Ctx *x, const Op *o, u32 m) {
    const u32 *members = (const u32 *)R(x, o->e);
    u32 wanted = members[__builtin_ctz(m)], same = m;
    for (u32 k = m; k; k &= k - 1) if (members[__builtin_ctz(k)] != wanted) same &= ~(k & -k);
    return same;
}
static int waits_with(const Ctx *x, const Group *other, const Op *o, u32 members) {
    return other->state == PARKED && other->pc == x->pc && ((const u32 *)R(x, o->e))[__builtin_ctz(other->mask)] == members;
}

// Lanes `m` of the current group, which name the same lanes, wait at a .sync operation until every live one of these is
// there. 1: executed, the current group goes on behind it.
static int synchronize(Ctx *x, Warp *w, Group *g, const Op *o, u32 m) {
    u32 lane = (u32)__builtin_ctz(m), members = ((u32 *)R(x, o->e))[lane], need = members & w->live, have = m;
    if (m & ~members) { raise_fault(x, FAULT_MEMBERMASK, (u32)__builtin_ctz(m & ~members), members, m); return 0; }
    if ((m & need) != need)
        for (u32 k = 0; k < LANES; k++)
            if (&w->g[k] != g && waits_with(x, &w->g[k], o, members)) have |= w->g[k].mask;
    if ((have & need) != need) {
        g->state = PARKED; g->mask = m; g->pc = x->pc;
        return 0;
    }
    have &= need | m;
    count(x, o, have);
    if (o->fn) o->fn(x, o, have);
    for (u32 k = 0; have != m && k < LANES; k++) {
        Group *other = &w->g[k];
        if (other == g || !waits_with(x, other, o, members) || (other->mask & ~have)) continue;
        other->state = READY;
        other->pc++;
        if (other->join == g->join) { g->mask |= other->mask; other->state = FREE; }
    }
    return 1;
}

// Exited lanes no longer hold up the ones that are parked.
static void recheck_parked(Ctx *x, Warp *w) {
    for (u32 k = 0; k < LANES; k++) if (w->g[k].state == PARKED) w->g[k].state = READY;      // they ask again
}

// A turn in which the warp can do nothing: one more turn waited for each of its groups at a barrier.
static void count_waits(Ctx *x, Warp *w) {
    for (u32 k = 0; k < w->top; k++) if (w->g[k].state == AT_BARRIER) x->waits[x->ops[w->g[k].pc].instr]++;
}

u32 run_warp(Ctx *x, Warp *w, u64 quantum) {
    if (w->waiting && !x->cta->stopped) {                               // they ask again, see F_WAIT; not in the middle of a turn
        for (u32 k = 0; k < w->top; k++) if (w->g[k].state == WAITING) w->g[k].state = READY, w->g[k].barrier = ASKS_AGAIN;
        w->waiting = 0;
    }
    if (w->g[w->cur].state != READY && !next_group(w)) { count_waits(x, w); return 0; }
    x->warp = w;
    x->base[0] = w->regs;
    x->base[3] = w->sregs;
    if (UNLIKELY(x->warp_issues != 0)) count_for_warp(x);
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
            if (j->arrived != j->expected) { g->state = FREE; goto switch_group; }
            j->used = 0;
            w->joins--;
            active = g->mask = j->arrived;
            g->join = j->parent;
            meet = g->join >= 0 ? w->j[g->join].pc : NONE;
        }
        const Run *run = &x->run[pc];
        if (LIKELY(left >= run->count)) {                               // else it ends within the line: one at a time
            x->chain_start = pc;
            const Link *end = run->step(w->regs, &x->link[pc], x, active);
            u32 to = (u32)(end - x->link);
            if (LIKELY(to != pc)) {
                u64 lanes = (u32)__builtin_popcount(active);
                x->executed[pc].issues++; x->executed[pc].lanes += lanes;
                x->executed[to].issues--; x->executed[to].lanes -= lanes;
                left -= x->run[to].before - run->before;
                pc = to;
            }
            if (UNLIKELY(x->status != RUNNING)) { g->pc = pc; goto out; }
            if (to != run - x->run) continue;
        }
        const Op *o = &ops[pc];
        u32 m = active, flags = o->flags;
        if (flags & F_GUARDED) m &= PRED(x, o->guard) ^ o->guard_flip;
        if (flags & F_COUNT && !(flags & F_WAIT && g->barrier == ASKS_AGAIN)) {
            if (UNLIKELY(left == 0)) { g->pc = pc; goto out_of_time; }
            left--;
            if (!(flags & F_SYNC)) count(x, o, m);
        }
        if (LIKELY(!(flags & F_SPECIAL))) {
            x->pc = pc;
            x->turn_left = left;
            o->fn(x, o, flags & F_FULL ? ALL : m);
            if (UNLIKELY(x->status != RUNNING)) { g->pc = pc; goto out; }
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
        case F_JUMP_TABLE: {                                            // aux: first target in the pool, imm: how many
            if (!m) { pc++; continue; }
            u32 first = NONE, rest = m, stay = active & ~m, target_pc[LANES], target_mask[LANES], n = 0;
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
            (void)first;
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
            if (!active) g->state = FREE;
            settle_joins(w);
            if (w->nframes) settle_frames(x, w);
            recheck_parked(x, w);
            if (!w->live) x->cta->left--;
            if (x->cta->barriers) recheck_barriers(x, x->cta);
            if (x->cta->cluster->came) recheck_cluster(x, x->cta->cluster);
            if (!active) goto switch_group;
            pc++;
            continue;
        case F_SYNC:
            if (LIKELY(m == ALL && (o->e & 3) == 1 && *(u32 *)R(x, o->e) == ALL)) {          // everybody is here
                count(x, o, m);
                if (o->fn) o->fn(x, o, m);
                if (UNLIKELY(x->status != RUNNING)) { g->pc = pc; goto out; }
                pc++;
                continue;
            }
            if (!m) { count(x, o, 0); pc++; continue; }
            if (m != active) {                                          // the others go on and meet again behind it
                i32 j = join_at(w, pc + 1, active, g);
                g->join = j;
                if (j >= 0 && w->j[j].pc == pc + 1) w->j[j].arrived |= active & ~m;
                else spawn(w, pc + 1, active & ~m, j, g->frame);
                meet = j >= 0 ? w->j[j].pc : NONE;
                active = g->mask = m;
            }
            if ((o->e & 3) != 1 && (active = alike(x, o, m)) != m) {     // groups of a warp, each with a mask of its own
                i32 j = join_at(w, pc + 1, m, g);
                g->join = j;
                spawn(w, pc, m & ~active, j, g->frame);
                meet = j >= 0 ? w->j[j].pc : NONE;
                m = g->mask = active;
            }
            if (synchronize(x, w, g, o, m)) {
                if (UNLIKELY(x->status != RUNNING)) { g->pc = pc; goto out; }
                active = g->mask;
                pc++;
                continue;
            }
            if (UNLIKELY(x->status != RUNNING)) { g->pc = pc; goto out; }
            goto switch_group;
        case F_BARRIER:
            if (!m) { pc++; continue; }
            if (m != active && o->mod != 1) {
                i32 j = join_at(w, pc + 1, active, g);
                g->join = j;
                if (j >= 0 && w->j[j].pc == pc + 1) w->j[j].arrived |= active & ~m;
                else spawn(w, pc + 1, active & ~m, j, g->frame);
                meet = j >= 0 ? w->j[j].pc : NONE;
                active = g->mask = m;
            }
            g->pc = pc;
            arrive_barrier(x, o, m);
            if (UNLIKELY(x->status != RUNNING)) goto out;
            if (o->mod == 1) { pc++; continue; }
            if (g->state == READY) { pc = g->pc; continue; }            // it was the last to arrive
            goto switch_group;
        case F_WAIT: {
            u32 again = g->barrier == ASKS_AGAIN;
            g->barrier = 0;
            if (!m) { pc++; continue; }
            if (m != active) {
                i32 j = join_at(w, pc + 1, active, g);
                g->join = j;
                if (j >= 0 && w->j[j].pc == pc + 1) w->j[j].arrived |= active & ~m;
                else spawn(w, pc + 1, active & ~m, j, g->frame);
                meet = j >= 0 ? w->j[j].pc : NONE;
                active = g->mask = m;
            }
            g->pc = pc;
            x->not_yet = 0;
            o->fn(x, o, m);
            if (UNLIKELY(x->status != RUNNING)) goto out;
            if (x->not_yet) {
                x->waits[o->instr] += again;
                g->state = WAITING;
                w->waiting++;
                goto switch_group;
            }
            if (again) x->landed = 1;                                   // that counts as something that happened
            pc++;
            continue;
        }
        case F_CALL: {
            if (!m) { pc++; continue; }
            if (m != active) {                                          // the others wait behind the call
                i32 j = join_at(w, pc + 1, active, g);
                g->join = j;
                if (w->j[j].pc == pc + 1) w->j[j].arrived |= active & ~m;
                g->mask = m;
            }
            g->pc = pc;
            if (!call_function(x, w, g, o, m)) goto out;
            pc = g->pc; active = g->mask; meet = NONE;
            continue;
        }
        case F_RETURN:
            if (!m) { pc++; continue; }
            active = g->mask = active & ~m;
            if (!active) g->state = FREE;
            g->pc = pc + 1;
            return_lanes(x, w, g, m);
            if (!active) goto switch_group;
            pc++;
            continue;
        case F_HOST:
            if (!m) { pc++; continue; }
            g->pc = pc + 1;
            x->active = m;
            x->status = HOST;
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
    if (UNLIKELY(x->warp_issues != 0)) settle_counts(x);
    w->issued += quantum - left;
    return (u32)(quantum - left);
}
