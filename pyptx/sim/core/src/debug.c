// Stops before an instruction, events and watched bytes of a debugged launch. See debug.h.
#include "debug.h"
#include "tmem.h"

static void keep(Debug *d, Event e) { if (d->events_room) d->events[d->nevents++ % d->events_room] = e; }

// Record an event of the running warp at its instruction.
void debug_event(Ctx *x, u32 kind, u32 lanes, u64 a, u64 b) {
    Debug *d = x->debug;
    u32 instr = x->pc < x->nops ? x->ops[x->pc].instr : x->ninstr;
    keep(d, (Event){d->step ? d->step - 1 : 0, x->cta->id, kind, x->warp->index, instr, lanes, a, b});
}
void debug_issued(Ctx *x, Async *a) {
    a->serial = ++x->debug->serial;
    debug_event(x, EVENT_ISSUED, a->lanes, a->serial | (u64)a->track << 56, a->signals ? (u64)1 << 63 | a->at->id << 32 | a->barrier : 0);
}
void debug_landed(Ctx *x, const Async *a) { debug_event(x, EVENT_LANDED, a->lanes, a->serial, a->stage < a->stages); }

// Lanes found a phase complete; one event for the lanes of a warp that test together.
void debug_waited(Ctx *x, u32 lanes, u64 barrier, u32 phase) {
    Debug *d = x->debug;
    Event *last = d->events_room && d->nevents ? &d->events[(d->nevents - 1) % d->events_room] : 0;
    if (last && last->kind == EVENT_WAITED && last->step + 1 == d->step && last->a == barrier && last->cta == x->cta->id && last->warp == x->warp->index)
        last->lanes |= lanes;
    else debug_event(x, EVENT_WAITED, lanes, barrier, phase);
}

// The states of the lanes of a warp, one bit each: 1 ready, 2 at a CTA barrier, 4 waiting for lanes, 8 waiting otherwise, 16 exited.
static u32 doing(const Warp *w) {
    u32 bits = 0;
    for (u32 k = 0; k < w->top; k++) if (w->g[k].state != GROUP_FREE) bits |= w->g[k].state == GROUP_WAITING ? 8 : 1u << w->g[k].state;
    return w->live ? bits : 16;
}
static u32 waits_at(Ctx *x, const Warp *w) {
    for (u32 k = 0; k < w->top; k++)
        if (w->g[k].state != GROUP_FREE && w->g[k].state != GROUP_READY && w->g[k].pc < x->nops) return x->ops[w->g[k].pc].instr;
    return w->g[w->cur].pc < x->nops ? x->ops[w->g[w->cur].pc].instr : x->ninstr;
}

int debug_turn(Ctx *x, Cta *c, Warp *w, u32 *n, u64 left) {
    Debug *d = x->debug;
    w->issued -= *n;                                                     // counted at the end of the turn
    d->turn += *n;
    if (x->status == STATUS_STOPPED) {
        c->stopped = w->index + 1;
        c->left_of_turn = left - *n;
        return 1;
    }
    *n = (u32)d->turn;
    w->issued += d->turn;
    d->turn = c->stopped = 0;
    if (d->follow == FOLLOW_WARP && !w->live && c->id == d->cta && w->index == d->warp) d->follow = FOLLOW_ALL;
    if (d->in_turn) keep(d, (Event){d->step, c->id, EVENT_TURN_ENDED, w->index, waits_at(x, w), w->live, doing(w), 0});
    d->in_turn = 0;
    return 0;
}

static const u8 *place_of(Ctx *x, const Cta *c, const WatchedBytes *v) {
    switch (v->space) {
    case WATCH_REGISTERS: return (const u8 *)c->warps[v->warp].regs + v->offset;
    case WATCH_LOCAL: return c->warps[v->warp].local + v->offset;
    case WATCH_SHARED: return v->offset + v->bytes <= x->smem_bytes ? c->smem + v->offset : 0;
    case WATCH_TENSOR: return c->tmem ? (const u8 *)c->tmem->cell + v->offset : 0;
    }
    return v->host;
}
static void find(Ctx *x, const Cta *c, WatchedBytes *v) {
    v->host = place_of(x, c, v);
    if (v->host) memcpy(v->current, v->host, v->bytes);
}
void debug_start(Ctx *x, Cta *c) {
    Debug *d = x->debug;
    memset(c->memory, 0, (size_t)x->reg_bytes * x->nwarps);              // unwritten registers do not show values of another CTA
    c->stopped = 0;
    keep(d, (Event){d->step, c->id, EVENT_CTA_STARTED, 0, 0, 0, c->cluster->id, c->rank});
    for (u64 k = 0; k < d->nwatched; k++)
        if (d->watched[k].space != WATCH_GLOBAL && d->watched[k].cta == c->id) find(x, c, &d->watched[k]);
}
void debug_cluster_ended(Ctx *x, Cluster *cluster) {
    Debug *d = x->debug;
    for (u32 r = 0; r < cluster->size; r++) {
        keep(d, (Event){d->step, cluster->cta[r]->id, EVENT_CTA_ENDED, 0, 0, 0, cluster->id, r});
        for (u64 k = 0; k < d->nwatched; k++)
            if (d->watched[k].space != WATCH_GLOBAL && d->watched[k].cta == cluster->cta[r]->id) d->watched[k].host = 0;
    }
}

static int changed(Ctx *x, Debug *d) {
    for (u64 k = 0; k < d->nwatched; k++) {
        WatchedBytes *v = &d->watched[k];
        if (!v->host) {
            if (v->space == WATCH_TENSOR && v->cta == x->cta->id) v->host = place_of(x, x->cta, v);
            if (!v->host) continue;
        }
        if (LIKELY(!memcmp(v->current, v->host, v->bytes))) continue;
        memcpy(v->before, v->current, v->bytes);
        memcpy(v->current, v->host, v->bytes);
        d->changed = k;
        return 1;
    }
    return 0;
}

static int found(Ctx *x, Debug *d) {
    if (!x->sanitizer || x->sanitizer->nfindings <= d->findings) return 0;
    d->findings = x->sanitizer->nfindings;
    return d->stop_at_findings != 0;
}

static u64 why(Ctx *x, Debug *d, u32 marks) {
    int fresh = found(x, d);
    if (d->step >= d->until) return STOPPED_BY_STEP;
    if (fresh) return STOPPED_BY_FINDING;
    if (UNLIKELY(d->nwatched) && changed(x, d)) return STOPPED_BY_CHANGE;
    if (d->follow) {
        int own = x->cta->id == d->cta && x->warp->index == d->warp;
        if (d->follow == FOLLOW_WARP && own && !(marks & MARK_PASS)) return STOPPED_BY_WARP;
        if (d->follow == FOLLOW_ALL || (d->follow == FOLLOW_OTHERS && !own)) return STOPPED_BY_OTHER;
    }
    return marks & MARK_STOP ? STOPPED_BY_MARK : STOPPED_BY_NONE;
}

static STEP(debug_step) {
    (void)regs;
    Debug *d = x->debug;
    const Op *o = &x->ops[f->pc];
    Warp *w = x->warp;
    if (o->flags & F_WAIT && w->g[w->cur].barrier == GROUP_RETRIES) return f;                  // it has begun
    u32 marks = d->marks[o->instr];
    x->pc = f->pc;
    if (d->resuming) d->resuming = 0;
    else if (UNLIKELY((d->reason = why(x, d, marks)) != STOPPED_BY_NONE)) {
        x->active = m;
        x->status = STATUS_STOPPED;
        return f;
    }
    if (!d->in_turn) {
        const Event *last = d->events_room && d->nevents ? &d->events[(d->nevents - 1) % d->events_room] : 0;
        d->in_turn = 1;
        if (last && last->kind == EVENT_TURN_ENDED && last->cta == x->cta->id && last->warp == w->index && last->a & 1) d->nevents--;
        else keep(d, (Event){d->step, x->cta->id, EVENT_TURN_STARTED, w->index, o->instr, m, 0, 0});
    }
    d->step++;
    d->last_cta = x->cta->id; d->last_warp = w->index; d->last_instr = o->instr;
    if (marks & MARK_LOG) {
        u32 lanes = o->flags & F_GUARDED ? m & (PRED(x, o->guard) ^ o->flip) : m;
        if (lanes) debug_event(x, EVENT_EXECUTED, lanes, 0, 0);
    }
    if (d->trail && x->cta->id == d->cta && w->index == d->warp) d->trail[d->ntrail++ % d->trail_room] = (TrailEntry){d->step - 1, o->instr};
    return f;
}

// The implicit exit after the last instruction: the last point where a warp has registers.
static STEP(debug_end) {
    (void)regs;
    Debug *d = x->debug;
    x->pc = f->pc;
    d->reason = STOPPED_BY_NONE;
    if (d->resuming) d->resuming = 0;
    else if (found(x, d)) d->reason = STOPPED_BY_FINDING;
    else if (d->nwatched && changed(x, d)) d->reason = STOPPED_BY_CHANGE;
    else if (d->follow == FOLLOW_WARP && x->cta->id == d->cta && x->warp->index == d->warp) d->reason = STOPPED_BY_WARP;
    if (d->reason == STOPPED_BY_NONE) return f;
    x->active = m;
    x->status = STATUS_STOPPED;
    return f;
}

void debug_chains(Ctx *x) {
    for (u32 pc = 0; pc < x->nops; pc++) {
        u32 flags = x->ops[pc].flags, first = (flags & F_COUNT) != 0;
        x->run[pc].step = first ? debug_step : flags & F_EXIT ? debug_end : chain_end;
        x->run[pc].count = first;
        x->link[pc].next = chain_end;
    }
}

// Watched bytes that were added while the launch runs.
void core_debug_watch(Ctx *x, u64 k) {
    WatchedBytes *v = &x->debug->watched[k];
    if (v->space == WATCH_GLOBAL) { memcpy(v->current, v->host, v->bytes); return; }
    v->host = 0;
    for (u32 slot = 0; slot < x->resident; slot++) if (x->ctas[slot]->id == v->cta) find(x, x->ctas[slot], v);
}
