// Plan which linear forms are written where: those that may be written before all others, those of each group of operations, and the
// late ones. See linear.h.
#include "linear_program.h"

static void names(Forms *s, u32 place, u32 pc) {
    u32 row = place / 128;
    if (!(place & 127) && place < s->x->reg_bytes && !s->first[row]) s->first[row] = pc + 1;
}
void note_names(Forms *s, u32 pc) {
    Ctx *x = s->x;
    const Op *o = &x->ops[pc];
    u32 places[NAMED], n = named_places(o, &x->link[pc], places);
    for (u32 k = 0; k < n; k++) names(s, places[k], pc);
    int moves = (o->flags & F_GUARDED ? guarded_step(o, x->pool) : memory_step(o, x->pool)) != 0;
    for (u32 k = 0; moves && k < (o->mod >> 4 & 15); k++) names(s, x->pool[o->aux + k], pc);
}

static Linear compiled(const Forms *s, u32 pc) {
    const Op *o = &s->x->ops[pc];
    const Form *v = &s->form[pc];
    Linear r = {pc, o->d, linear_result(o), s->read[pc], o->flags & F_FULL, 0, 0, v->k0, v->kl, {{0}}};
    for (u32 k = 0; k < SPECIALS; k++) {
        if (!v->k[k]) continue;
        r.term[r.terms].factor = v->k[k];
        r.term[r.terms].place = s->special[k].place;
        r.term[r.terms++].shift = s->special[k].shift;
    }
    return r;
}

// Whether the value of an operation may be written before all others: its register has no other value before or after.
static int alone(const Forms *s, u32 pc) {
    u32 row = s->x->ops[pc].d / 128, to = linear_result(&s->x->ops[pc]);
    if (to >= TO_LT || s->read[pc] <= READ_GUARDED_LOAD) return 0;
    for (u32 k = row; k <= row + (to == TO_64); k++) if (s->writes[k] != 1) return 0;
    return s->first[row] == pc + 1 && (to != TO_64 || !s->first[row + 1]);
}

static int equal_terms(const Linear *a, const Linear *b) { return a->terms == b->terms && !memcmp(a->term, b->term, sizeof a->term); }

// Write the forms first that may be written before all others, those with equal terms side by side. Returns their number.
static u32 plan_early(Forms *s, u32 end) {
    enum { NEAR = 32 };                                                 // forms to search for equal terms
    Linear *v = s->x->linear;
    u32 n = 0;
    for (u32 pc = 0; pc < end; pc++) {
        if (!s->x->run[pc].linear || !alone(s, pc)) continue;
        Linear one = compiled(s, pc);
        u32 at = n, least = n > NEAR ? n - NEAR : 0;
        while (at > least && !equal_terms(&v[at - 1], &one)) at--;
        if (at == least) at = n;
        memmove(&v[at + 1], &v[at], (n - at) * sizeof *v);
        v[at] = one;
        n++;
    }
    return n;
}

// Plan the steps of operations `from` to `end` (all with a form), of which `n` forms are written before; `late` is the first late one.
static u32 plan_group(Forms *s, u32 from, u32 end, u32 n, u32 *late) {
    Ctx *x = s->x;
    for (u32 pc = from; pc < end; pc++) {
        Link *f = &x->link[pc];
        f->d = n;
        f->a = *late;
        if (s->read[pc] == READ_GUARDED_LOAD) x->linear[(*late)++] = compiled(s, pc);
        else if (s->read[pc] && !alone(s, pc)) x->linear[n++] = compiled(s, pc);
    }
    for (u32 pc = from; pc < end; pc++) {
        Link *f = &x->link[pc];
        f->c = n;
        f->b = *late;
        f->same = end - pc;
        f->next = x->run[pc].step = linear_forms;
        x->run[pc].fused = from;
    }
    return n;
}

void plan_forms(Forms *s, u32 end, u32 found) {
    Ctx *x = s->x;
    u32 late = found, n = plan_early(s, end);
    for (u32 k = 1; k < n; k++) x->linear[k].again = equal_terms(&x->linear[k - 1], &x->linear[k]);
    for (u32 pc = 0; pc < end; pc++) late -= x->run[pc].linear && s->read[pc] == READ_GUARDED_LOAD;
    u32 first_late = late;
    for (u32 pc = 0, early = n; pc < end;) {
        u32 from = pc;
        while (pc < end && x->run[pc].linear) pc++;
        n = plan_group(s, from, pc, n, &late);
        if (pc == from) pc++;
        else if (early) { x->link[from].d = 0; early = 0; }             // with those that are written before all others
    }
    for (u32 k = 0; k < found; k++) if (k < n || k >= first_late) s->read[x->linear[k].op] = k;      // from here on
    for (u32 pc = 0; pc < end; pc++) {
        Link *f = &x->link[pc];
        u32 from = s->loaded[pc], last = from + (x->ops[pc].mod >> 4 & 15) - 2;     // the first operation + 1, and the last
        if (s->address[pc]) f->d = s->read[s->address[pc] - 1];
        if (from) {
            f->b = x->link[from - 1].a;
            f->c = (x->link[last].same > 1 ? x->link[last + 1].a : x->link[last].b) - f->b;
        }
    }
}
