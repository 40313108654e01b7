// Derivation of the quads of a program. See quads.h.
//
// One pass over the operations keeps, for each row of the registers, the operation that wrote it last. At a store of four words, the
// values are followed backwards through operations whose results only the next one reads. All of this lies in one region, between
// places that lanes enter or leave, so that the same lanes execute it.
#include "quads.h"

typedef struct { u32 of[4]; } Writers;                                  // of an operation: those of its operands a, b, c; of a load: of its four registers, before it

typedef struct {
    Ctx *x;
    const Uses *uses;
    const u8 *sunk;                                                     // operations that a store executes
    u32 *writer;                                                        // of each row: 1 + the last operation that wrote it
    Writers *before;
    u32 start;                                                          // of the region
    u32 returns;                                                        // after this operation, lanes only go forward
} Program;

// A chain of operations that ends with a value to store, from its end: which of the operands goes on, and the others.
typedef struct { u32 n, pc[QUAD_OPERATIONS], kind[QUAD_OPERATIONS], value[QUAD_OPERATIONS], b[QUAD_OPERATIONS], c[QUAD_OPERATIONS]; } Chain;

static int is_row(const Program *s, u32 place) { return !(place & 127) && place < s->x->reg_bytes; }
static const u32 *operand(const Link *f, u32 k) { return k == 0 ? &f->a : k == 1 ? &f->b : &f->c; }

// The kind of an operation that a store may execute, or FOLD_NONE.
static u32 sinkable(const Program *s, u32 pc) {
    const Op *o = &s->x->ops[pc];
    u32 kind = is_row(s, o->d) && !s->sunk[pc] ? fold_kind(o) : FOLD_NONE;
    return kind == FOLD_EX2 ? FOLD_NONE : kind;
}
static u32 operands(u32 kind) { return kind == FOLD_FMA ? 3 : 2; }

// The operand (0: a, ...) through which the chain goes on: one that an operation of the region computes for this one alone.
static u32 continued(const Program *s, u32 pc, u32 kind) {
    const Link *f = &s->x->link[pc];
    for (u32 n = kind == FOLD_SUB ? 1 : operands(kind); n-- > 0;) {
        u32 place = *operand(f, n), w = s->before[pc].of[n];
        if (is_row(s, place) && w > s->start && sinkable(s, w - 1)) return n;
    }
    return kind == FOLD_FMA ? 2 : 0;                                    // by default
}

static void follow(const Program *s, u32 row, u32 writer, Chain *r) {
    for (r->n = 0; r->n < QUAD_OPERATIONS && is_row(s, row) && writer > s->start; r->n++) {
        u32 pc = writer - 1;
        u32 kind = sinkable(s, pc);
        if (!kind || s->x->link[pc].d != row) return;
        const Link *f = &s->x->link[pc];
        u32 by = continued(s, pc, kind), other[2], n = 0;
        for (u32 k = 0; k < operands(kind); k++) if (k != by) other[n++] = k;
        r->pc[r->n] = pc;
        r->kind[r->n] = kind == FOLD_FMA && by != 2 ? FOLD_HORNER : kind;
        r->value[r->n] = by;
        r->b[r->n] = other[0];
        r->c[r->n] = n > 1 ? other[1] : NONE;
        row = *operand(f, by);
        writer = s->before[pc].of[by];
    }
}

static u32 uses_of(const Program *s, u32 row) { return s->uses[row / 128].named + s->uses[row / 128].listed; }

static u32 times_named(const Program *s, u32 pc, u32 row) {
    u32 places[NAMED], n = named_places(&s->x->ops[pc], &s->x->link[pc], places), times = 0;
    for (u32 k = 0; k < n; k++) times += places[k] == row;
    return times;
}

static int unchanged(const Program *s, u32 pc, u32 k) {
    u32 place = *operand(&s->x->link[pc], k);
    return place & 3 || (is_row(s, place) && s->before[pc].of[k] == s->writer[place / 128]);
}

// Whether operand `k` of a member of the chain is still there at the store; a result of another member never is in its register.
static int available(const Program *s, const Chain *r, u32 n, u32 pc, u32 k) {
    for (u32 i = 0; i < n; i++) if (s->before[pc].of[k] == r->pc[i] + 1) return 0;
    return unchanged(s, pc, k);
}

// Whether the chain updates one register in place, with the same effect: nothing reads it after the store at `pc`, to which lanes do
// not return, nor between the first operation and the store.
static int in_place(const Program *s, const Chain *r, u32 n, u32 pc) {
    enum { MOST = 64 };
    u32 first = n ? r->pc[n - 1] : pc, row = n ? s->x->link[first].d : 0;
    if (!n || pc < s->returns || pc - first > MOST || s->uses[row / 128].last > r->pc[0] || s->writer[row / 128] != r->pc[0] + 1) return 0;
    for (u32 j = 0; j < n; j++) {
        const Link *f = &s->x->link[r->pc[j]];
        if (f->d != row || *operand(f, r->value[j]) != row || times_named(s, r->pc[j], row) != 2) return 0;
        if (!available(s, r, n, r->pc[j], r->b[j]) || (r->c[j] != NONE && !available(s, r, n, r->pc[j], r->c[j]))) return 0;
        for (u32 k = r->pc[j] + 1; k < (j ? r->pc[j - 1] : pc); k++) if (times_named(s, k, row)) return 0;
    }
    u32 from = s->before[first].of[r->value[n - 1]];                    // a load lists it too
    return s->uses[row / 128].listed == 1 + (u32)(from > s->start && s->x->ops[from - 1].code == load_code);
}

// Whether the last `n` operations of the chain can be executed at the store: nothing else reads their results, and what they read
// is still there.
static int sinks(const Program *s, const Chain *r, u32 n, u32 stored) {
    for (u32 j = 0; j < n; j++) {
        u32 row = s->x->link[r->pc[j]].d, times = row == stored;
        for (u32 i = 0; i < n; i++) times += times_named(s, r->pc[i], row);
        if (times != uses_of(s, row)) return 0;
        if (!available(s, r, n, r->pc[j], r->b[j]) || (r->c[j] != NONE && !available(s, r, n, r->pc[j], r->c[j]))) return 0;
    }
    return !n || unchanged(s, r->pc[n - 1], r->value[n - 1]);
}

static u32 depth(const Program *s, const Chain *chain, const u32 *stored, u32 pc) {
    u32 n = 0;
    while (n < QUAD_OPERATIONS) {
        for (u32 k = 0; k < 4; k++)
            if (n >= chain[k].n || chain[k].kind[n] != chain[0].kind[n] || chain[k].value[n] != chain[0].value[n]) goto found;
        n++;
    }
found:
    for (; n; n--) {
        u32 all = 1;
        for (u32 k = 0; k < 4 && all; k++) all = sinks(s, &chain[k], n, stored[k]) || in_place(s, &chain[k], n, pc);
        if (all) return n;
    }
    return 0;
}

// One constant for all lanes and positions.
static int same_constant(const Ctx *x, const u32 *places) {
    for (u32 k = 0; k < 4; k++) if ((places[k] & 3) != 1) return 0;
    V32 v = ROW(V32, x, places[0]), other = v ^ v[0];
    for (u32 k = 1; k < 4; k++) other |= ROW(V32, x, places[k]) ^ v[0];
    return !__builtin_reduce_or(other);
}

// The load of a quad (1 + its place in the program) whose registers are these, and that nothing reads but the operations or the store
// at `reader`; 0: there is none.
static u32 loaded_for(const Program *s, const u32 *places, const u32 *writers, const u32 *reader) {
    Ctx *x = s->x;
    u32 at = writers[0];
    if (at <= s->start) return 0;
    const Op *o = &x->ops[at - 1];
    if (!(o->flags & F_COUNT) || o->code != load_code || (o->mod >> 4 & 15) != 4) return 0;
    if (o->flags & F_GUARDED ? !guarded_step(o, x->pool) : !memory_step(o, x->pool)) return 0;
    for (u32 k = 0; k < 4; k++) {
        u32 row = places[k], times = 1;
        if (writers[k] != at || x->pool[o->aux + k] != row || !is_row(s, row) || s->writer[row / 128] != at) return 0;
        times += reader ? times_named(s, reader[k], row) : 1;
        if (o->flags & F_GUARDED) {                                     // lanes that do not load keep what was written before
            u32 first = s->before[at - 1].of[k];
            if (first <= s->start || !quick_narrow(&x->ops[first - 1]) || times_named(s, first - 1, row) != 1) return 0;
            times++;
        }
        if (times != uses_of(s, row)) return 0;
    }
    return at;
}

// Whether an operand can be by lane: a constant, or a quad that was loaded for it. Lists the load.
static int can_be_by_lane(const Program *s, const u32 *places, const u32 *writers, const u32 *reader, u32 *loads, u32 *n) {
    if (same_constant(s->x, places)) return 1;
    u32 at = loaded_for(s, places, writers, reader);
    if (!at) return 0;
    for (u32 k = 0; k < *n; k++) if (loads[k] == at - 1) return 1;
    loads[(*n)++] = at - 1;
    return 1;
}

static void operands_of(const Program *s, const Chain *chain, u32 j, u32 k, u32 *places, u32 *writers, u32 *reader) {
    for (u32 i = 0; i < 4; i++) {
        reader[i] = chain[i].pc[j];
        places[i] = *operand(&s->x->link[reader[i]], k);
        writers[i] = s->before[reader[i]].of[k];
    }
}

// Plan the store at `pc`; 0: it remains what it is.
static int plan(const Program *s, u32 pc, Quad *q) {
    Ctx *x = s->x;
    const u32 *data = x->pool + x->ops[pc].aux;
    Chain chain[4];
    u32 writers[4], reader[4], unused[4];
    for (u32 k = 0; k < 4; k++) {
        if (!is_row(s, data[k])) return 0;
        follow(s, data[k], writers[k] = s->writer[data[k] / 128], &chain[k]);
    }
    u32 n = q->n = depth(s, chain, data, pc);
    memcpy(q->first, data, sizeof q->first);
    q->nloads = q->noperations = 0;
    q->by_lane = n;
    u32 lane = 1;                                                       // operations so far, from the last one on, are by lane
    for (u32 j = 0; j < n; j++) {
        u32 at = n - 1 - j, keep = q->nloads;
        operands_of(s, chain, j, chain[0].b[j], q->step[at].b, unused, reader);
        lane = lane && can_be_by_lane(s, q->step[at].b, unused, reader, q->loads, &q->nloads);
        if (chain[0].c[j] != NONE) {
            operands_of(s, chain, j, chain[0].c[j], q->step[at].c, unused, reader);
            lane = lane && can_be_by_lane(s, q->step[at].c, unused, reader, q->loads, &q->nloads);
        }
        q->step[at].kind = chain[0].kind[j];
        if (lane) q->by_lane = at; else q->nloads = keep;
        if (j == n - 1) operands_of(s, chain, j, chain[0].value[j], q->first, writers, reader);
        for (u32 k = 0; k < 4; k++) q->operations[q->noperations++] = chain[k].pc[j];
    }
    u32 loaded = lane ? loaded_for(s, q->first, writers, n ? reader : 0) : 0;
    q->loaded = loaded != 0;
    if (loaded) can_be_by_lane(s, q->first, writers, n ? reader : 0, q->loads, &q->nloads);
    for (u32 k = 1; k < q->noperations; k++)                            // in the order of the program
        for (u32 i = k; i && q->operations[i] < q->operations[i - 1]; i--) {
            u32 keep = q->operations[i];
            q->operations[i] = q->operations[i - 1];
            q->operations[i - 1] = keep;
        }
    return n || loaded;
}

static void set_step(Ctx *x, u32 pc, Step step) {
    x->run[pc].step = step;
    if (x->link[pc].next != chain_end) x->link[pc].next = step;
}

static void enter(Ctx *x, const Quad *q, u32 pc, u32 number, u8 *sunk) {
    for (u32 k = 0; k < q->nloads; k++) set_step(x, q->loads[k], quad_load_step(&x->ops[q->loads[k]]));
    for (u32 k = 0; k < q->noperations; k++) sunk[q->operations[k]] = 1;
    set_step(x, pc, quad_store_step(&x->ops[pc]));
    x->link[pc].b = number;
}

// What an operation does to the rows; 0: unknown.
static int note_writes(Program *s, u32 pc) {
    Ctx *x = s->x;
    const Op *o = &x->ops[pc];
    const u32 *data = x->pool + o->aux;
    if (memory_step(o, x->pool) || guarded_step(o, x->pool)) {
        for (u32 k = 0; o->code == load_code && k < (o->mod >> 4 & 15); k++) {
            s->before[pc].of[k] = s->writer[data[k] / 128];
            s->writer[data[k] / 128] = pc + 1;
        }
        return 1;
    }
    if (o->code >= load_code || o->flags & F_SPECIAL) return 0;
    if (sinkable(s, pc))
        for (u32 k = 0; k < 3; k++) {
            u32 place = *operand(&x->link[pc], k);
            s->before[pc].of[k] = is_row(s, place) ? s->writer[place / 128] : 0;
        }
    if (is_row(s, o->d)) s->writer[o->d / 128] = pc + 1;
    if (is_row(s, o->e)) s->writer[o->e / 128] = pc + 1;
    for (u32 more = 128; more < 512; more += 128) {
        if (is_row(s, o->d + more) && quick_writes(o, o->d + more, 128)) s->writer[o->d / 128 + more / 128] = pc + 1;
        if (is_row(s, o->e + more) && quick_writes(o, o->e + more, 128)) s->writer[o->e / 128 + more / 128] = pc + 1;
    }
    return 1;
}

static int stores_quad(const Ctx *x, const Op *o) {
    return o->code == store_code && o->flags & F_COUNT && (o->mod >> 4 & 15) == 4
           && (o->flags & F_GUARDED ? guarded_step(o, x->pool) : memory_step(o, x->pool)) != 0;
}

// The last operation after which lanes may go back, or 0.
static u32 last_return(const Ctx *x) {
    u32 last = 0;
    for (u32 pc = 0; pc < x->nops; pc++) {
        const Op *o = &x->ops[pc];
        if (o->flags & (F_JUMP_TABLE | F_CALL | F_RETURN) || (o->flags & F_BRANCH && o->aux <= pc)) last = pc;
    }
    return last;
}

int open_quads(Ctx *x, const u8 *stop, u8 *leader, const Uses *uses) {
    u32 n = x->nops, rows = (u32)(x->reg_bytes / 128) + 1, stores = 0, found = 0;
    for (u32 pc = 0; pc < n; pc++) stores += (u32)stores_quad(x, &x->ops[pc]);
    if (!stores) return 1;
    u8 *sunk = calloc(n, 1);
    Program s = {x, uses, sunk, calloc(rows, sizeof(u32)), calloc(n, sizeof(Writers)), 0, last_return(x)};
    x->quads = (Quad *)aligned_room(sizeof(Quad) * stores);
    int enough = sunk && s.writer && s.before && x->quads;
    for (u32 pc = 0; enough && pc < n; pc++) {
        if (leader[pc] || stop[pc] || x->run[pc].step == chain_end) s.start = pc;
        if (stores_quad(x, &x->ops[pc]) && plan(&s, pc, &x->quads[found])) {
            enter(x, &x->quads[found], pc, found, sunk);
            found++;
        }
        if (!note_writes(&s, pc)) s.start = pc + 1;
    }
    for (u32 pc = n, to = n; enough && pc-- > 0;) {
        if (!sunk[pc]) { to = pc; continue; }
        set_step(x, pc, skipped);
        x->link[pc].same = to - pc;
    }
    for (u32 pc = 0; enough && pc < n; pc++)
        if (sunk[pc]) {
            x->run[pc].fused = pc && sunk[pc - 1] ? x->run[pc - 1].fused : pc;
            leader[pc] = 1;                                             // not part of another fused step
        }
    free(sunk);
    free(s.writer);
    free(s.before);
    return enough;
}
