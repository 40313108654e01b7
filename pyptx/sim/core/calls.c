// Calls: lanes that called together meet again behind the call. reference/calls.py takes the same decisions.
//
// Op of a call: a the address of the function (NONE: imm is its first operation); otherwise aux is the first of imm
// places in the pool, the first operation of each function by number or NONE; aux2 a list in the pool of rows to put
// aside: how many, then offset and bytes of each (NONE: nothing).
#include "core.h"

enum { STRIDE = 16 };                                                    // of the addresses of functions

static i32 free_frame(Warp *w) {
    u32 f = 0;
    while (f < w->nframes && w->frames[f].used) f++;
    if (f == w->frames_room) {
        u32 room = w->frames_room ? 2 * w->frames_room : 16;
        Frame *more = realloc(w->frames, room * sizeof *more);
        if (!more) return -1;
        memset(more + w->frames_room, 0, (room - w->frames_room) * sizeof *more);
        w->frames = more;
        w->frames_room = room;
    }
    if (f == w->nframes) w->nframes++;
    return (i32)f;
}

static int put_aside(Ctx *x, Warp *w, Frame *f, const u32 *rows) {
    u64 bytes = 0;
    for (u32 k = 0; k < rows[0]; k++) bytes += rows[2 + 2 * k];
    char *to = f->kept = malloc(bytes);
    if (!to) { raise_fault(x, FAULT_MEMORY, 0, 0, 0); return 0; }
    for (u32 k = 0; k < rows[0]; to += rows[2 + 2 * k++]) memcpy(to, w->regs + rows[1 + 2 * k], rows[2 + 2 * k]);
    return 1;
}

static void put_back(Warp *w, const Frame *f, const u32 *rows) {
    const char *from = f->kept;
    S32 lanes = expand32(f->arrived);
    for (u32 k = 0; k < rows[0]; from += rows[2 + 2 * k++]) {
        char *row = w->regs + rows[1 + 2 * k];
        u32 bytes = rows[2 + 2 * k];
        if (bytes == 4) {
            *(u32 *)row = (*(u32 *)row & ~f->arrived) | (*(const u32 *)from & f->arrived);
        } else if (bytes == 128) {
            V32 old;
            memcpy(&old, from, 128);
            *(V32 *)row = (old & (V32)lanes) | (*(V32 *)row & ~(V32)lanes);
        } else for (u32 half = 0; half < bytes; half += 256) {
            V64 old;
            memcpy(&old, from + half, 256);
            S64 wide = expand64(f->arrived);
            *(V64 *)(row + half) = (old & (V64)wide) | (*(V64 *)(row + half) & ~(V64)wide);
        }
    }
}

// Lanes `m` of the group go into a function. 0: a fault.
int call_function(Ctx *x, Warp *w, Group *g, const Op *o, u32 m) {
    u32 start[LANES], lanes[LANES], n = 0;
    if (o->a == NONE) {
        start[0] = (u32)o->imm; lanes[0] = m; n = 1;
    } else for (u32 rest = m; rest; n++) {
        u32 lane = (u32)__builtin_ctz(rest), same = 0;
        u64 address = ROW(V64, x, o->a)[lane], number = (address - x->function_window) / STRIDE;
        u32 to = address < x->function_window || address % STRIDE || number >= o->imm ? NONE : x->pool[o->aux + number];
        if (to == NONE) { raise_fault(x, FAULT_FUNCTION, lane, address, 0); return 0; }
        for (u32 k = rest; k; k &= k - 1) {
            u32 i = (u32)__builtin_ctz(k);
            if (ROW(V64, x, o->a)[i] == address) same |= 1u << i;
        }
        start[n] = to; lanes[n] = same;
        rest &= ~same;
    }
    if (n > 1) x->divergent[o->instr]++;
    i32 f = free_frame(w);
    if (f < 0) { raise_fault(x, FAULT_MEMORY, 0, 0, 0); return 0; }
    w->frames[f] = (Frame){x->pc + 1, m, 0, 1, g->frame, g->join, 0};
    if (o->aux2 != NONE && !put_aside(x, w, &w->frames[f], x->pool + o->aux2)) return 0;
    g->pc = start[0]; g->mask = lanes[0]; g->join = -1; g->frame = f;
    for (u32 k = 1; k < n; k++) spawn(w, start[k], lanes[k], -1, f);
    return 1;
}

// Let go on behind their call the lanes that have all returned, calls in the order they were made.
void settle_frames(Ctx *x, Warp *w) {
    for (u32 k = 0; k < w->nframes; k++) {
        Frame *f = &w->frames[k];
        if (!f->used || f->arrived != f->expected) continue;
        if (f->expected) {
            if (f->kept) put_back(w, f, x->pool + x->ops[f->pc - 1].aux2);
            spawn(w, f->pc, f->arrived, f->join, f->parent);
        }
        free(f->kept);
        *f = (Frame){0};
    }
    while (w->nframes && !w->frames[w->nframes - 1].used) w->nframes--;
}

// Lanes `m`, no longer of the group, return from its call.
void return_lanes(Ctx *x, Warp *w, Group *g, u32 m) {
    for (u32 k = 0; w->joins && k <= LANES; k++)
        if (w->j[k].used && w->j[k].frame == g->frame) w->j[k].expected &= ~m;
    w->frames[g->frame].arrived |= m;
    if (w->joins) settle_joins(w);
    settle_frames(x, w);
}
