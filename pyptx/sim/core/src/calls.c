// Calls: lanes that called together reconverge after the call. reference/calls.py makes the same decisions.
//
// Op of a call: a the address of the function (NONE: imm is its first operation); otherwise aux is the index in the pool of
// imm entries, the first operation of each function or NONE; aux2 the index of the list of rows to save: their number, then
// offset and bytes of each (NONE: nothing).
#include "core.h"

static i32 free_frame(Warp *w) {
    u32 f = w->first_free;
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
    w->first_free = f + 1;
    return (i32)f;
}

u64 saved_bytes(const u32 *rows) {
    u64 bytes = 0;
    for (u32 k = 0; k < rows[0]; k++) bytes += rows[2 + 2 * k];
    return bytes;
}

static int save_registers(Ctx *x, Warp *w, Frame *f, const u32 *rows) {
    char *to = f->kept = malloc(f->bytes);
    if (!to) { raise_fault(x, FAULT_MEMORY, 0, 0, 0); return 0; }
    for (u32 k = 0; k < rows[0]; to += rows[2 + 2 * k++]) memcpy(to, w->regs + rows[1 + 2 * k], rows[2 + 2 * k]);
    return 1;
}

static void restore_registers(Warp *w, const Frame *f, const u32 *rows) {
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

// Lanes `m` of the group call a function. 0: a fault was raised.
int call_function(Ctx *x, Warp *w, Group *g, const Op *o, u32 m) {
    u32 start[LANES], lanes[LANES], n = 0;
    if (o->a == NONE) {
        start[0] = (u32)o->imm; lanes[0] = m; n = 1;
    } else for (u32 rest = m; rest; n++) {
        u32 lane = (u32)__builtin_ctz(rest), same = 0;
        u64 address = ROW(V64, x, o->a)[lane], number = (address - x->function_window) / FUNCTION_STRIDE;
        u32 to = address < x->function_window || address % FUNCTION_STRIDE || number >= o->imm ? NONE : x->pool[o->aux + number];
        if (to == NONE) { raise_fault(x, FAULT_FUNCTION, lane, address, 0); return 0; }
        for (u32 k = rest; k; k &= k - 1) {
            u32 i = (u32)__builtin_ctz(k);
            if (ROW(V64, x, o->a)[i] == address) same |= 1u << i;
        }
        start[n] = to; lanes[n] = same;
        rest &= ~same;
    }
    if (n > 1) x->divergent[o->instr]++;
    u64 bytes = o->aux2 == NONE ? 0 : saved_bytes(x->pool + o->aux2);
    if (bytes < MIN_FRAME_BYTES) bytes = MIN_FRAME_BYTES;
    if (w->stack_bytes + bytes > CALL_STACK_BYTES) { raise_fault(x, FAULT_CALL_DEPTH, (u32)__builtin_ctz(m), w->nframes, 0); return 0; }
    i32 f = free_frame(w);
    if (f < 0) { raise_fault(x, FAULT_MEMORY, 0, 0, 0); return 0; }
    w->frames[f] = (Frame){x->pc + 1, m, 0, 1, g->frame, g->join, 0, bytes};
    w->stack_bytes += bytes;
    if (o->aux2 != NONE && !save_registers(x, w, &w->frames[f], x->pool + o->aux2)) return 0;
    g->pc = start[0]; g->mask = lanes[0]; g->join = -1; g->frame = f;
    for (u32 k = 1; k < n; k++) spawn(w, start[k], lanes[k], -1, f);
    return 1;
}

static void resume(Ctx *x, Warp *w, const Frame *f) {
    if (f->kept) restore_registers(w, f, x->pool + x->ops[f->pc - 1].aux2);
    spawn(w, f->pc, f->arrived, f->join, f->parent);
}

// Resume those lanes of a frame that have returned, without the others.
void resume_returned(Ctx *x, Warp *w, u32 k) {
    Frame *f = &w->frames[k];
    resume(x, w, f);
    f->expected &= ~f->arrived;
    f->arrived = 0;
}

// Resume the lanes of a frame after their call if all have returned.
static void settle_frame(Ctx *x, Warp *w, u32 k) {
    Frame *f = &w->frames[k];
    if (!f->used || f->arrived != f->expected) return;
    if (f->expected) resume(x, w, f);
    w->stack_bytes -= f->bytes;
    free(f->kept);
    *f = (Frame){0};
    if (k < w->first_free) w->first_free = k;
}
static void drop_free_frames(Warp *w) {
    while (w->nframes && !w->frames[w->nframes - 1].used) w->nframes--;
}

// Resume lanes of all frames, after lanes exited.
void settle_frames(Ctx *x, Warp *w) {
    for (u32 k = 0; k < w->nframes; k++) settle_frame(x, w, k);
    drop_free_frames(w);
}

// Lanes `m`, which have left the group, return from its call.
void return_lanes(Ctx *x, Warp *w, Group *g, u32 m) {
    for (u32 k = 0; w->joins && k <= LANES; k++)
        if (w->j[k].used && w->j[k].frame == g->frame) w->j[k].expected &= ~m;
    w->frames[g->frame].arrived |= m;
    u32 frame = (u32)g->frame;
    if (w->joins) settle_joins(w);
    settle_frame(x, w, frame);
    drop_free_frames(w);
}
