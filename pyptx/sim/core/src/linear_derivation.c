// Derivation of the linear forms of a program. See linear.h.
//
// Only operations before the first place to which lanes may jump or where they reconverge are treated, so all lanes of the warp
// execute them once, and each value of a register has one writer.
#include "linear_program.h"

enum { MOST = 1 << 12, ROOM = 1 << 20 };                               // operations; values of special registers

enum { IS_MOVE, IS_SUM, IS_DIFFERENCE, IS_PRODUCT, IS_MULTIPLY_ADD, IS_LEFT_SHIFT, IS_RIGHT_SHIFT, IS_AND, IS_COMPARISON };
// What an operation computes: of 64-bit operands (`wide`) or widened ones (`widens`), which are signed or not.
typedef struct { const char *name; u8 what, wide, widens, is_signed, to; } Meaning;
static const Meaning meanings[] = {
    {"mov_32", IS_MOVE, 0, 0, 0, TO_32}, {"mov_64", IS_MOVE, 1, 0, 0, TO_64}, {"zx_64", IS_MOVE, 0, 1, 0, TO_64},
    {"sx_64", IS_MOVE, 0, 1, 1, TO_64}, {"lo_32", IS_MOVE, 1, 0, 0, TO_32}, {"add_32", IS_SUM, 0, 0, 0, TO_32},
    {"add_64", IS_SUM, 1, 0, 0, TO_64}, {"sub_32", IS_DIFFERENCE, 0, 0, 0, TO_32}, {"sub_64", IS_DIFFERENCE, 1, 0, 0, TO_64},
    {"mul_32", IS_PRODUCT, 0, 0, 0, TO_32}, {"mul_64", IS_PRODUCT, 1, 0, 0, TO_64}, {"mulwide_u32", IS_PRODUCT, 0, 1, 0, TO_64},
    {"mulwide_s32", IS_PRODUCT, 0, 1, 1, TO_64}, {"mad_32", IS_MULTIPLY_ADD, 0, 0, 0, TO_32},
    {"mad_64", IS_MULTIPLY_ADD, 1, 0, 0, TO_64}, {"madwide_u32", IS_MULTIPLY_ADD, 0, 1, 0, TO_64},
    {"madwide_s32", IS_MULTIPLY_ADD, 0, 1, 1, TO_64}, {"shl_32", IS_LEFT_SHIFT, 0, 0, 0, TO_32},
    {"shl_64", IS_LEFT_SHIFT, 1, 0, 0, TO_64}, {"shr_u32", IS_RIGHT_SHIFT, 0, 0, 0, TO_32}, {"and_32", IS_AND, 0, 0, 0, TO_32},
    {"lt_u32", IS_COMPARISON, 0, 0, 0, TO_LT}, {"le_u32", IS_COMPARISON, 0, 0, 0, TO_LE}, {"lt_s32", IS_COMPARISON, 0, 0, 1, TO_LT},
    {"le_s32", IS_COMPARISON, 0, 0, 1, TO_LE}, {"eq_32", IS_COMPARISON, 0, 0, 0, TO_EQ}, {"ne_32", IS_COMPARISON, 0, 0, 0, TO_NE}};
static const Meaning *meaning[1024];                                    // filled when the library is loaded

__attribute__((constructor)) static void find_meanings(void) {
    for (u32 k = 0; k < sizeof meanings / sizeof *meanings; k++) meaning[core_op_code(meanings[k].name)] = &meanings[k];
}

u32 linear_result(const Op *o) { return meaning[o->code]->to; }

// Coefficients are computed modulo 2^64; the range is exact.
static i64 plus(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
static i64 times(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }

static int within(const Form *v) { return v->lo >= -((i64)1 << 60) && v->hi <= (i64)1 << 60; }

// Shift the form by a multiple of 2^32, so that its range lies in that of a number; 0: impossible.
static int fit(Form *v, int is_signed) {
    i64 least = is_signed ? -((i64)1 << 31) : 0, by = ((v->lo - least) >> 32) * ((i64)1 << 32);
    v->k0 = plus(v->k0, -by); v->lo -= by; v->hi -= by;
    return v->hi - least < (i64)1 << 32;
}

static int constant_of(const Form *v) { return v->lo == v->hi; }

static int sum(Form *r, const Form *a, const Form *b, i64 sign) {
    if (!within(a) || !within(b)) return 0;
    r->k0 = plus(a->k0, times(b->k0, sign));
    r->kl = plus(a->kl, times(b->kl, sign));
    for (u32 k = 0; k < SPECIALS; k++) r->k[k] = plus(a->k[k], times(b->k[k], sign));
    r->lo = a->lo + (sign > 0 ? b->lo : -b->hi);
    r->hi = a->hi + (sign > 0 ? b->hi : -b->lo);
    return within(r);
}
static int scaled(Form *r, const Form *a, i64 by) {
    i64 most = (i64)1 << 60;
    if (by && (a->lo < -(most / llabs(by)) || a->hi > most / llabs(by))) return 0;
    *r = *a;
    r->k0 = times(a->k0, by);
    r->kl = times(a->kl, by);
    for (u32 k = 0; k < SPECIALS; k++) r->k[k] = times(a->k[k], by);
    r->lo = by < 0 ? a->hi * by : a->lo * by;
    r->hi = by < 0 ? a->lo * by : a->hi * by;
    return 1;
}
// One of the factors must be a constant; a 32-bit one is taken as the smaller of the numbers that it can be.
static int product(Form *r, const Form *a, const Form *b, int narrow) {
    if (!constant_of(b)) { const Form *keep = a; a = b; b = keep; }
    if (!constant_of(b)) return 0;
    return scaled(r, a, narrow ? (i32)(u32)b->k0 : b->k0);
}

// The part of the form below 2^bits, and the rest divided by 2^bits; 0: they are not linear.
static int split(const Form *v, u32 bits, Form *low, Form *high) {
    i64 unit = (i64)1 << bits;
    *low = *high = (Form){0};
    low->k0 = v->k0 & (unit - 1);
    high->k0 = v->k0 >> bits;
    low->kl = v->kl;
    for (u32 k = 0; k < SPECIALS; k++) {
        if (v->k[k] & (unit - 1)) return 0;
        high->k[k] = v->k[k] >> bits;
    }
    if (!(v->kl & (unit - 1))) { high->kl = v->kl >> bits; low->kl = 0; }
    i64 far = plus(low->k0, times(LANES - 1, low->kl));
    low->lo = low->k0 < far ? low->k0 : far;
    low->hi = low->k0 < far ? far : low->k0;
    if (low->lo < 0 || low->hi >= unit) return 0;
    high->lo = v->lo >> bits;
    high->hi = v->hi >> bits;
    return 1;
}

// The form of a special register: of the CTA the same in all lanes, of the warp with a distance between lanes.
static int special_form(Forms *s, u32 place, Form *r) {
    Ctx *x = s->x;
    Special v = {place, 0, 0, 0};
    i64 step = 0;
    u32 row = (place & ~3u) / 128;
    if ((place & 3) == 2) {
        u32 ctas = x->cluster[0] * x->cluster[1] * x->cluster[2];
        if (row < 3) v.hi = x->grid[row] - 1;
        else if (row < 6) v.hi = x->grid[row - 3] - 1;
        else if (row < 10) v.hi = ctas - 1;
        else if (row >= CTA_SPECIAL_ROWS) {
            v.lo = x->shared_addresses[row - CTA_SPECIAL_ROWS];
            v.hi = v.lo + ((i64)(ctas - 1) << RANK_SHIFT);
        } else return 0;
    } else {
        u32 bits = 0;
        const char *rows = x->warp_specials + (place & ~3u);
        v.lo = ROOM;
        step = (i64)((const u32 *)rows)[1] - (i64)((const u32 *)rows)[0];
        for (u32 w = 0; w < x->nwarps; w++, rows += x->warp_special_bytes) {
            const u32 *lane = (const u32 *)rows;
            if (lane[0] >= ROOM || __builtin_reduce_or(*(const V32 *)rows ^ (lane[0] + iota32() * (u32)step))) return 0;
            bits |= lane[0];
            if (lane[0] < v.lo) v.lo = lane[0];
            if (lane[0] > v.hi) v.hi = lane[0];
        }
        v.shift = bits ? (u32)__builtin_ctz(bits) : 0;
        v.lo >>= v.shift;
        v.hi >>= v.shift;
    }
    if (v.lo == v.hi && !step) {
        *r = (Form){.k0 = v.lo << v.shift, .lo = v.lo << v.shift, .hi = v.lo << v.shift};
        return 1;
    }
    u32 k = 0;
    while (k < s->nspecials && s->special[k].place != place) k++;
    if (k == SPECIALS) return 0;
    if (k == s->nspecials) s->special[s->nspecials++] = v;
    *r = (Form){.kl = step, .lo = v.lo << v.shift, .hi = v.hi << v.shift};
    r->k[k] = (i64)1 << v.shift;
    r->hi += step > 0 ? (LANES - 1) * step : 0;
    r->lo += step < 0 ? (LANES - 1) * step : 0;
    return 1;
}

static int form_of(Forms *s, u32 place, int wide, Form *r) {
    Ctx *x = s->x;
    if ((place & 3) == 0) {
        u32 from = place % 128 || place >= x->reg_bytes ? 0 : s->newest[place / 128];
        if (!from || wide != (meaning[x->ops[from - 1].code]->to == TO_64)) return 0;
        *r = s->form[from - 1];
        return 1;
    }
    if ((place & 3) != 1) return !wide && special_form(s, place, r);
    *r = (Form){0};
    if (wide) {
        V64 v = ROW(V64, x, place);
        if (__builtin_reduce_or(v ^ v[0])) return 0;
        r->k0 = (i64)v[0];
    } else {
        V32 v = ROW(V32, x, place);
        if (__builtin_reduce_or(v ^ v[0])) return 0;
        r->k0 = v[0];
    }
    r->lo = r->hi = r->k0;
    return within(r);
}

// The form of the result of an operation (of a comparison, that of the difference); 0: it is not linear.
static int derive(Forms *s, const Op *o, const Meaning *q, Form *r) {
    Form a, b, c, low, high;
    int two = q->what != IS_MOVE, three = q->what == IS_MULTIPLY_ADD, exact = q->widens || q->what >= IS_RIGHT_SHIFT;
    if (!form_of(s, o->a, q->wide, &a) || (two && !form_of(s, o->b, q->wide, &b))) return 0;
    if (three && !form_of(s, o->c, q->to == TO_64, &c)) return 0;
    if (exact && (!fit(&a, q->is_signed) || (two && !fit(&b, q->is_signed)))) return 0;
    switch (q->what) {
    case IS_MOVE: *r = a; return 1;
    case IS_SUM: return sum(r, &a, &b, 1);
    case IS_DIFFERENCE: case IS_COMPARISON: return sum(r, &a, &b, -1);
    case IS_PRODUCT: return product(r, &a, &b, q->to == TO_32);
    case IS_MULTIPLY_ADD: return product(&low, &a, &b, q->to == TO_32) && sum(r, &low, &c, 1);
    case IS_LEFT_SHIFT: return constant_of(&b) && (u32)b.k0 < (q->wide ? 40u : 32u) && scaled(r, &a, (i64)1 << (u32)b.k0);
    case IS_RIGHT_SHIFT: return constant_of(&b) && (u32)b.k0 < 32 && split(&a, (u32)b.k0, &low, r);
    default:
        if (!constant_of(&b)) { Form keep = a; a = b; b = keep; }
        return constant_of(&b) && !(b.k0 & (b.k0 + 1)) && split(&a, (u32)__builtin_popcountll((u64)b.k0), r, &high);
    }
}

void read_row(Forms *s, u32 place, u32 how) {
    u32 from = place % 128 || place >= s->x->reg_bytes ? 0 : s->newest[place / 128];
    if (from && s->read[from - 1] < how) s->read[from - 1] = how;
}
static void forget(Forms *s, u32 place, u32 bytes) {
    for (u32 row = place / 128; row < (place + bytes) / 128 && (u64)row * 128 < s->x->reg_bytes; row++) {
        s->newest[row] = 0;
        s->writes[row]++;
    }
}
// An operation without a form writes at least the first row at `place`, and may write some more.
static void overwritten(Forms *s, const Op *o, u32 place) {
    if (place % 128) return;
    forget(s, place, 128);
    for (u32 row = place + 128; row < place + 512; row += 128) {
        if (!quick_writes(o, row, 128)) continue;
        read_row(s, row, READ_ALL);
        forget(s, row, 128);
    }
}

// Guarded loads under whose guard few lanes may be: before these, the values of the registers are needed. They are written then
// only, if consecutive operations compute them.
static u32 guarded_load(Forms *s, const u32 *data, u32 count) {
    u32 first = NONE, together = 1, from[LANES];
    for (u32 k = 0; k < count; k++) {
        from[k] = s->newest[data[k] / 128];
        if (from[k] < first) first = from[k];
    }
    for (u32 k = 0; k < count; k++) together &= first != 0 && from[k] - first < count;
    for (u32 k = 0; k < count; k++) read_row(s, data[k], together ? READ_GUARDED_LOAD : READ_ALL);
    return together ? first : 0;
}

// What an operation without a form does with registers; 0: unknown.
static int other(Forms *s, u32 pc) {
    Ctx *x = s->x;
    const Op *o = &x->ops[pc];
    const Link *f = &x->link[pc];
    const u32 *data = x->pool + o->aux;
    u32 count = o->mod >> 4 & 15, guarded = o->flags & F_GUARDED, row = o->a / 128;
    if (guarded ? guarded_step(o, x->pool) != 0 : memory_step(o, x->pool) != 0) {
        s->address[pc] = s->newest[row];
        read_row(s, o->a, READ_FIRST);
        if (o->code != load_code) for (u32 k = 0; k < count; k++) read_row(s, data[k], READ_ALL);
        else {
            if (guarded) s->loaded[pc] = guarded_load(s, data, count);
            for (u32 k = 0; k < count; k++) forget(s, data[k], 128);
        }
        return 1;
    }
    if (o->flags & F_SPECIAL ? !butterfly_step(x, o) : o->code >= load_code) return 0;
    u32 read[] = {o->a, o->b, o->c, o->e, f->a, f->b, f->c, guarded ? o->d : NONE};
    for (u32 k = 0; k < sizeof read / sizeof *read; k++) read_row(s, read[k], READ_ALL);
    overwritten(s, o, o->d);
    overwritten(s, o, o->e);
    return 1;
}

// The values that registers have after `end` are read by the operations there.
static void read_outside(Forms *s, u32 end, u64 npool) {
    Ctx *x = s->x;
    for (u32 pc = end; pc < x->nops; pc++) {
        u32 places[NAMED], n = named_places(&x->ops[pc], &x->link[pc], places);
        for (u32 k = 0; k < n; k++) read_row(s, places[k], READ_ALL);
        read_row(s, x->ops[pc].a + 256, READ_ALL);                      // the second half of 128 bits
    }
    for (u64 k = 0; k < npool; k++) read_row(s, x->pool[k], READ_ALL);
}

int open_linear(Ctx *x, const u8 *stop, const u8 *leader, u64 npool) {
    u32 end = 0, rows = (u32)(x->reg_bytes / 128) + 4, found = 0;
    while (end < x->nops && end < MOST && x->run[end].step != chain_end && !stop[end] && !leader[end]) end++;
    if (end < 2) return 1;
    Forms s = {.x = x};
    s.form = (Form *)aligned_room(sizeof(Form) * end);
    s.newest = calloc(3 * rows + 3 * end, sizeof(u32));
    if (!s.form || !s.newest) { release_aligned(s.form); free(s.newest); return 0; }
    s.writes = s.newest + rows;
    s.first = s.writes + rows;
    s.read = s.first + rows;
    s.address = s.read + end;
    s.loaded = s.address + end;
    for (u32 pc = 0; pc < end; pc++) {
        const Op *o = &x->ops[pc];
        const Meaning *q = meaning[o->code];
        note_names(&s, pc);
        if (q && !o->mod && !(o->flags & (F_SPECIAL | F_GUARDED)) && !(o->d & 3) && derive(&s, o, q, &s.form[pc])) {
            x->run[pc].linear = 1;
            found++;
            if (q->to >= TO_LT) { s.read[pc] = READ_ALL; continue; }
            forget(&s, o->d, q->to == TO_64 ? 256 : 128);
            s.newest[o->d / 128] = pc + 1;
        } else if (!other(&s, pc)) {
            end = pc;
        }
    }
    read_outside(&s, end, npool);
    x->linear = found ? (Linear *)aligned_room(sizeof(Linear) * found) : 0;
    if (x->linear) plan_forms(&s, end, found);
    free(s.newest);
    release_aligned(s.form);
    return !found || x->linear;
}
