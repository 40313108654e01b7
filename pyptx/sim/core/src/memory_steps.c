// Steps of loads and stores of 32-bit words. See fast_access.h.
#include "fast_access.h"
#include "sanitizer/sanitizer.h"

#define REST(FOUND) do { \
    if (LIKELY(host)) { FOUND; NEXT; } \
    if (UNLIKELY(!access_generally(x, f, o, m, m))) return f; \
    NEXT; } while (0)
#define REG(k) ((u32 *)(regs + data[k]))
#define SOURCE(k) ((const u32 *)R(x, data[k]))
// TELL is empty, or reports the access to the sanitizer.
#define MOVES(PRE, SPACE, SHARED_, TELL) \
    static STEP(PRE##load_1_##SPACE) { const Op *o = &x->ops[f->pc]; const u32 *data = x->pool + o->aux; const Pattern *p; \
        u8 *host = place(regs, f, x, o, m, 4, SHARED_, 0, &p); REST(TELL(SHARED_, 4, SEEN_READ) load_1(REG(0), host, p)); } \
    static STEP(PRE##load_4_##SPACE) { const Op *o = &x->ops[f->pc]; const u32 *data = x->pool + o->aux; const Pattern *p; \
        u8 *host = place(regs, f, x, o, m, 16, SHARED_, 0, &p); REST(TELL(SHARED_, 16, SEEN_READ) load_4(REG(0), REG(1), REG(2), REG(3), host, p)); } \
    static STEP(PRE##store_1_##SPACE) { const Op *o = &x->ops[f->pc]; const u32 *data = x->pool + o->aux; const Pattern *p; \
        u8 *host = place(regs, f, x, o, m, 4, SHARED_, 1, &p); REST(TELL(SHARED_, 4, SEEN_WRITE) store_1(SOURCE(0), host, p)); } \
    static STEP(PRE##store_4_##SPACE) { const Op *o = &x->ops[f->pc]; const u32 *data = x->pool + o->aux; const Pattern *p; \
        u8 *host = place(regs, f, x, o, m, 16, SHARED_, 1, &p); \
        REST(TELL(SHARED_, 16, SEEN_WRITE) store_4(SOURCE(0), SOURCE(1), SOURCE(2), SOURCE(3), host, p)); }
#define UNTOLD(SHARED_, BYTES, HOW)
#define TOLD(SHARED_, BYTES, HOW) x->pc = f->pc; sanitizer_fast_access(x, p, SHARED_, host, BYTES, HOW);
MOVES(, shared, 1, UNTOLD)
MOVES(, global, 0, UNTOLD)
MOVES(told_, shared, 1, TOLD)
MOVES(told_, global, 0, TOLD)

// Under a guard that is true in all lanes, as without one.
#define GUARDED(NAME) static STEP(guarded_##NAME) { \
    const Op *o = &x->ops[f->pc]; \
    u32 lanes = guarded_lanes(x, o, m); \
    if (LIKELY(lanes == ALL)) __attribute__((musttail)) return NAME(regs, f, x, ALL); \
    if (UNLIKELY(!access_generally(x, f, o, m, lanes))) return f; \
    NEXT; }
GUARDED(load_1_shared) GUARDED(load_4_shared) GUARDED(load_1_global) GUARDED(load_4_global)
GUARDED(store_1_shared) GUARDED(store_4_shared) GUARDED(store_1_global) GUARDED(store_4_global)

u32 load_code, store_code;

__attribute__((constructor)) static void find_codes(void) {
    load_code = core_op_code("ld");
    store_code = core_op_code("st");
}

enum { UNWATCHED, WATCHED, IF_GUARDED };
static Step moves(const Op *o, const u32 *pool, int how) {
    static const Step steps[3][2][2][2] = {
        {{{load_1_shared, load_4_shared}, {load_1_global, load_4_global}},
         {{store_1_shared, store_4_shared}, {store_1_global, store_4_global}}},
        {{{told_load_1_shared, told_load_4_shared}, {told_load_1_global, told_load_4_global}},
         {{told_store_1_shared, told_store_4_shared}, {told_store_1_global, told_store_4_global}}},
        {{{guarded_load_1_shared, guarded_load_4_shared}, {guarded_load_1_global, guarded_load_4_global}},
         {{guarded_store_1_shared, guarded_store_4_shared}, {guarded_store_1_global, guarded_store_4_global}}}};
    u32 count = o->mod >> 4 & 15, space = o->mod >> 12 & 15, wide = o->mod & ACCESS_WIDE, store = o->code == store_code;
    if ((o->code != load_code && !store) || o->flags & F_SPECIAL || (o->mod & 15) != 2 || (o->mod >> 9 & 7) != 2) return 0;
    if (o->mod & ACCESS_ABSOLUTE || o->a & 3 || (count != 1 && count != 4)) return 0;
    if (!(space == SPACE_SHARED && !wide) && !(space == SPACE_GLOBAL && wide)) return 0;
    for (u32 k = 0; k < count; k++) if (pool[o->aux + k] == NONE) return 0;
    return steps[how][store][space == SPACE_GLOBAL][count == 4];
}
Step memory_step(const Op *o, const u32 *pool) { return moves(o, pool, UNWATCHED); }
Step sanitized_step(const Op *o, const u32 *pool) { return moves(o, pool, WATCHED); }
Step guarded_step(const Op *o, const u32 *pool) { return moves(o, pool, IF_GUARDED); }

int memory_writes(const Op *o, const u32 *pool, u32 row, u32 bytes) {
    for (u32 k = 0; o->code == load_code && k < (o->mod >> 4 & 15); k++)
        if (pool[o->aux + k] < row + bytes && row < pool[o->aux + k] + 128) return 1;
    return 0;
}
