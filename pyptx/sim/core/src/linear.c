// Evaluation of linear forms by a warp. See linear.h.
#include "linear.h"

static inline u64 sum_of_terms(Ctx *x, const Linear *v) {
    u64 sum = 0;
    for (u32 k = 0; k < v->terms; k++) sum += (u64)v->term[k].factor * (*(u32 *)R(x, v->term[k].place) >> v->term[k].shift);
    return sum;
}
static inline i64 first_lane(Ctx *x, const Linear *v) { return (i64)((u64)v->k0 + sum_of_terms(x, v)); }

static inline int holds(u32 kind, i64 difference) {
    return kind == TO_LT ? difference < 0 : kind == TO_LE ? difference <= 0 : kind == TO_EQ ? difference == 0 : difference != 0;
}
static u32 compared(const Linear *v, i64 value) {
    i64 last = (i64)((u64)value + (LANES - 1) * (u64)v->kl);
    if (LIKELY(v->kind <= TO_LE || !v->kl)) {
        int first = holds(v->kind, value);
        if (first == holds(v->kind, last)) return first ? ALL : 0;      // monotonic
    }
    u32 bits = 0;
    for (u32 i = 0; i < LANES; i++) bits |= (u32)holds(v->kind, (i64)((u64)value + i * (u64)v->kl)) << i;
    return bits;
}

static void write_linear(Ctx *x, const Linear *v, u32 m) {
    if (v->full) m = ALL;
    i64 value = first_lane(x, v);
    if (v->kind == TO_32) put32(x, v->row, (u32)value + iota32() * (u32)v->kl, m);
    else if (v->kind == TO_64) put64(x, v->row, (u64)value + __builtin_convertvector(iota32(), V64) * (u64)v->kl, m);
    else put_pred(x, v->row, compared(v, value), m);
}
void write_linears(Ctx *x, u32 first, u32 n, u32 m) { for (u32 k = 0; k < n; k++) write_linear(x, &x->linear[first + k], m); }

// The operations from `f` on whose results are linear forms.
STEP(linear_forms) {
    const Linear *v = x->linear + f->d, *end = x->linear + f->c;
    if (UNLIKELY(m != ALL)) {
        write_linears(x, f->d, f->c - f->d, m);
        write_linears(x, f->a, f->b - f->a, m);
    } else
        for (u64 sum = 0; v < end; v++) {
            if (!v->again) sum = sum_of_terms(x, v);
            i64 value = (i64)((u64)v->k0 + sum);
            if (v->kind >= TO_LT) AT(u32, v->row) = compared(v, value);
            else if (v->read == READ_ALL) write_linear(x, v, ALL);
            else if (v->kind == TO_64) AT(u64, v->row) = (u64)value;
            else AT(u32, v->row) = (u32)value;
        }
    u32 n = f->same;
    __attribute__((musttail)) return f[n].next(regs, f + n, x, m);
}

// The operation alone, at the end of a turn.
void linear_alone(Ctx *x, u32 pc, u32 m) {
    const Link *f = &x->link[pc];
    write_linears(x, f->d, (f->same > 1 ? f[1].d : f->c) - f->d, m);
    write_linears(x, f->a, (f->same > 1 ? f[1].a : f->b) - f->a, m);
}
