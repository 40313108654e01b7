// Stopping before an instruction, and looking at what is there. See debug.h.
#include "debug.h"
#include "tmem.h"

static void keep(Debug *d, Event e) { if (d->events_room) d->events[d->nevents++ % d->events_room] = e; }

// Of the warp that runs, at the instruction it is in.
void debug_event(Ctx *x, u32 kind, u32 lanes, u64 a, u64 b) {
    Debug *d = x->debug;
    u32 instr = x->pc < x->nops ? x->ops[x->pc].instr : x->ninstr;
    keep(d, (Event){d->step ? d->step - 1 : 0, x->cta->id, kind, x->warp->index, instr, lanes, a, b});
}
void debug_issued(Ctx *x, Async *a) {
    a->serial = ++x->debug->serial;
    debug_event(x, EV_ISSUED, a->lanes, a->serial | (u64)a->track << 56, a->signals ? (u64)1 << 63 | a->at->id << 32 | a->barrier : 0);
}
void debug_landed(Ctx *x, const Async *a) { debug_event(x, EV_LANDED, a->lanes, a->serial, a->stage < a->stages); }

// Lanes found a phase over; those of one warp that ask together are told once.
void debug_waited(Ctx *x, u32 lanes, u64 barrier, u32 phase) {
    Debug *d = x->debug;
    Event *last = d->events_room && d->nevents ? &d->events[(d->nevents - 1) % d->events_room] : 0;
    if (last && last->kind == EV_WAITED && last->step + 1 == d->step && last->a == barrier && last->cta == x->cta->id && last->warp == x->warp->index)
        last->lanes |= lanes;
    else debug_event(x, EV_WAITED, lanes, barrier, phase);
}

// What the lanes of a warp do, a bit each: 1 can go on, 2 wait at a barrier of the CTA, 4 for other lanes, 8 otherwise; 16 exited.
static u32 doing(const Warp *w) {
    u32 bits = 0;
    for (u32 k = 0; k < w->top; k++) if (w->g[k].state != FREE) bits |= w->g[k].state == WAITING ? 8 : 1u << w->g[k].state;
    return w->live ? bits : 16;
}
static u32 waits_at(Ctx *x, const Warp *w) {
    for (u32 k = 0; k < w->top; k++)
        if (w->g[k].state != FREE && w->g[k].state != READY && w->g[k].pc < x->nops) return x->ops[w->g[k].pc].instr;
    return w->g[w->cur].pc < x->nops ? x->ops[w->g[w->cur].pc].instr : x->ninstr;
}

int debug_turn(Ctx *x, Cta *c, Warp *w, u32 *n, u64 left) {
    Debug *d = x->debug;
    w->issued -= *n;                                                     // counted at the end of a turn only
    d->turn += *n;
    if (x->status == STOPPED) {
        c->stopped = w->index + 1;
        c->left_of_turn = left - *n;
        return 1;
    }
    *n = (u32)d->turn;
    w->issued += d->turn;
    d->turn = c->stopped = 0;
    if (d->follow == FOLLOW_WARP && !w->live && c->id == d->cta && w->index == d->warp) d->follow = FOLLOW_ALL;
    if (d->runs) keep(d, (Event){d->step, c->id, EV_LEFT, w->index, waits_at(x, w), w->live, doing(w), 0});
    d->runs = 0;
    return 0;
}

static const u8 *place_of(Ctx *x, const Cta *c, const Spot *v) {
    switch (v->space) {
    case SPOT_REGISTERS: return (const u8 *)c->warps[v->warp].regs + v->offset;
    case SPOT_LOCAL: return c->warps[v->warp].local + v->offset;
    case SPOT_SHARED: return v->offset + v->bytes <= x->smem_bytes ? c->smem + v->offset : 0;
    case SPOT_TENSOR: return c->tmem ? (const u8 *)c->tmem->cell + v->offset : 0;
    }
    return v->host;
}
static void find(Ctx *x, const Cta *c, Spot *v) {
    v->host = place_of(x, c, v);
    if (v->host) memcpy(v->kept, v->host, v->bytes);
}
void debug_start(Ctx *x, Cta *c) {
    Debug *d = x->debug;
    memset(c->memory, 0, (size_t)x->reg_bytes * x->nwarps);              // what nobody wrote yet is not of another CTA
    c->stopped = 0;
    keep(d, (Event){d->step, c->id, EV_STARTED, 0, 0, 0, c->cluster->id, c->rank});
    for (u64 k = 0; k < d->nspots; k++)
        if (d->spots[k].space != SPOT_GLOBAL && d->spots[k].cta == c->id) find(x, c, &d->spots[k]);
}
void debug_retire(Ctx *x, Cluster *cluster) {
    Debug *d = x->debug;
    for (u32 r = 0; r < cluster->size; r++) {
        keep(d, (Event){d->step, cluster->cta[r]->id, EV_ENDED, 0, 0, 0, cluster->id, r});
        for (u64 k = 0; k < d->nspots; k++)
            if (d->spots[k].space != SPOT_GLOBAL && d->spots[k].cta == cluster->cta[r]->id) d->spots[k].host = 0;
    }
}

static int changed(Ctx *x, Debug *d) {
    for (u64 k = 0; k < d->nspots; k++) {
        Spot *v = &d->spots[k];
        if (!v->host) {
            if (v->space == SPOT_TENSOR && v->cta == x->cta->id) v->host = place_of(x, x->cta, v);
            if (!v->host) continue;
        }
        if (LIKELY(!memcmp(v->kept, v->host, v->bytes))) continue;
        memcpy(v->before, v->kept, v->bytes);
        memcpy(v->kept, v->host, v->bytes);
        d->changed = k;
        return 1;
    }
    return 0;
}

static int found(Ctx *x, Debug *d) {
    if (!x->watch || x->watch->nfound <= d->found) return 0;
    d->found = x->watch->nfound;
    return d->stops_found != 0;
}

static u64 why(Ctx *x, Debug *d, u32 marks) {
    int fresh = found(x, d);
    if (d->step >= d->until) return BY_STEP;
    if (fresh) return BY_FOUND;
    if (UNLIKELY(d->nspots) && changed(x, d)) return BY_CHANGE;
    if (d->follow) {
        int own = x->cta->id == d->cta && x->warp->index == d->warp;
        if (d->follow == FOLLOW_WARP && own && !(marks & MARK_PASS)) return BY_WARP;
        if (d->follow == FOLLOW_ALL || (d->follow == FOLLOW_OTHERS && !own)) return BY_OTHER;
    }
    return marks & MARK_STOP ? BY_MARK : BY_NOTHING;
}

static STEP(debug_step) {
    (void)regs;
    Debug *d = x->debug;
    const Op *o = &x->ops[f->pc];
    Warp *w = x->warp;
    if (o->flags & F_WAIT && w->g[w->cur].barrier == ASKS_AGAIN) return f;                  // begun already
    u32 marks = d->marks[o->instr];
    x->pc = f->pc;
    if (d->goes_on) d->goes_on = 0;
    else if (UNLIKELY((d->reason = why(x, d, marks)) != BY_NOTHING)) {
        x->active = m;
        x->status = STOPPED;
        return f;
    }
    if (!d->runs) {
        const Event *last = d->events_room && d->nevents ? &d->events[(d->nevents - 1) % d->events_room] : 0;
        d->runs = 1;
        if (last && last->kind == EV_LEFT && last->cta == x->cta->id && last->warp == w->index && last->a & 1) d->nevents--;
        else keep(d, (Event){d->step, x->cta->id, EV_RUN, w->index, o->instr, m, 0, 0});
    }
    d->step++;
    d->last_cta = x->cta->id; d->last_warp = w->index; d->last_instr = o->instr;
    if (marks & MARK_LOG) {
        u32 lanes = o->flags & F_GUARDED ? m & (PRED(x, o->guard) ^ o->guard_flip) : m;
        if (lanes) debug_event(x, EV_EXECUTED, lanes, 0, 0);
    }
    if (d->trail && x->cta->id == d->cta && w->index == d->warp) d->trail[d->ntrail++ % d->trail_room] = (Begun){d->step - 1, o->instr};
    return f;
}

// The exit behind the last instruction, which is none itself: the last place where a warp has its registers.
static STEP(debug_end) {
    (void)regs;
    Debug *d = x->debug;
    x->pc = f->pc;
    d->reason = BY_NOTHING;
    if (d->goes_on) d->goes_on = 0;
    else if (found(x, d)) d->reason = BY_FOUND;
    else if (d->nspots && changed(x, d)) d->reason = BY_CHANGE;
    else if (d->follow == FOLLOW_WARP && x->cta->id == d->cta && x->warp->index == d->warp) d->reason = BY_WARP;
    if (d->reason == BY_NOTHING) return f;
    x->active = m;
    x->status = STOPPED;
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

// What Python looks at; `slot` counts the CTAs that run. 0: there is none. ---------------------------------------------

u32 core_status(const Ctx *x) { return x->status; }

u32 core_debug_cta(const Ctx *x, u32 slot, u64 *out) {
    if (slot >= x->resident) return 0;
    const Cta *c = x->ctas[slot];
    u64 all[] = {c->id, c->cluster->id, c->rank, c->left, c->registers, (u64)c->smem, (u64)c->sregs, c->barriers, c->tmem ? (u64)c->tmem->cell : 0,
                 c->tmem ? c->tmem->used : 0};
    memcpy(out, all, sizeof all);
    return 1;
}
u32 core_debug_warp(const Ctx *x, u32 slot, u32 w, u64 *out) {
    if (slot >= x->resident || w >= x->nwarps) return 0;
    const Warp *p = &x->ctas[slot]->warps[w];
    u64 all[] = {(u64)p->regs, (u64)p->sregs, (u64)p->local, p->live, p->cur, p->registers, x->local_bytes};
    memcpy(out, all, sizeof all);
    return 1;
}
// As core_group, of any CTA.
u32 core_debug_group(Ctx *x, u32 slot, u32 w, u32 g, u64 *out) {
    if (slot >= x->resident) return 0;
    Cta *c = x->ctas[slot], *own = x->cta;
    char *bases[4];
    memcpy(bases, x->base, sizeof bases);
    u32 found = group_of(x, c, w, g, out);
    memcpy(x->base, bases, sizeof bases);
    x->cta = own;
    return found;
}
u32 core_debug_barrier(const Ctx *x, u32 slot, u32 id, u64 *out) {
    if (slot >= x->resident || id > 15 || !x->ctas[slot]->bar[id].used) return 0;
    const Cta *c = x->ctas[slot];
    const Barrier *b = &c->bar[id];
    out[0] = b->arrived;
    out[1] = b->count ? (b->count + 31) / 32 : c->left;
    out[2] = b->count;
    return 1;
}
// The k-th operation under way of the cluster of a CTA.
u32 core_debug_async(const Ctx *x, u32 slot, u32 k, u64 *out) {
    if (slot >= x->resident) return 0;
    const Async *a = x->ctas[slot]->cluster->first;
    while (a && k) { a = a->next; k--; }
    if (!a) return 0;
    u64 all[] = {a->serial, x->ops[a->pc].instr, a->cta->id, a->warp->index, a->lanes, a->track, a->group, a->stage, a->stages, a->signals,
                 a->signals ? a->at->id : 0, a->barrier, a->tx, a->arrivals};
    memcpy(out, all, sizeof all);
    return 1;
}
// A Spot that was added while the launch runs.
void core_debug_spot(Ctx *x, u64 k) {
    Spot *v = &x->debug->spots[k];
    if (v->space == SPOT_GLOBAL) { memcpy(v->kept, v->host, v->bytes); return; }
    v->host = 0;
    for (u32 slot = 0; slot < x->resident; slot++) if (x->ctas[slot]->id == v->cta) find(x, x->ctas[slot], v);
}
