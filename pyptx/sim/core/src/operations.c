// The table of operations: the name and the handler of each, numbered in the order of the tables below.
#include "chain.h"

static const Entry *const tables[] = {
    integer_ops, logic_ops, float_ops, double_ops, half_ops, convert_ops, memory_ops, atomic_ops, warp_ops, control_ops, tensor_ops,
    wgmma_ops, matrix_ops, mbarrier_ops, cluster_ops, copy_ops, tma_ops, tmem_ops, tcgen05_ops, object_ops, texture_ops, surface_ops};

void f_nop(Ctx *x, const Op *o, u32 m) { (void)x; (void)o; (void)m; }

void raise_fault(Ctx *x, u32 kind, u32 lane, u64 address, u64 extra) {
    x->status = STATUS_FAULT;
    x->fault = kind;
    x->fault_lane = lane;
    x->fault_address = address;
    x->fault_extra = extra;
}

// Instructions that this warp issued; mod 1: 64 bits.
void read_clock(Ctx *x, const Op *o, u32 m) {
    u64 now = x->turn_end - x->turn_left;
    if (o->mod) put64(x, o->d, (V64)now, m); else put32(x, o->d, (V32)(u32)(now >> o->imm), m);
}
const Entry control_ops[] = {{"nop", f_nop}, {"clock", read_clock}, {0, 0}};

// The name of operation `code`, NULL past the last.
const char *core_op_name(u32 code) {
    for (u32 t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const Entry *e = tables[t]; e->name; e++) if (!code--) return e->name;
    return 0;
}

u32 core_op_code(const char *name) {
    u32 code = 0;
    for (u32 t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const Entry *e = tables[t]; e->name; e++, code++) if (!strcmp(e->name, name)) return code;
    return NONE;
}

static Handler handlers[1024];
__attribute__((constructor)) static void fill_handlers(void) {
    u32 n = 0;
    for (u32 t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const Entry *e = tables[t]; e->name; e++) handlers[n++] = e->fn;
}

// The handler of an operation, NULL for those that run_warp executes itself.
Handler handler_of(const Op *o) {
    return o->flags & (F_BRANCH | F_EXIT | F_BARRIER | F_TRAP | F_JUMP_TABLE | F_CALL | F_RETURN | F_HOST) ? 0 : handlers[o->code];
}
