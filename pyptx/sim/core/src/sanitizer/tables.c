// Memory of the sanitizer: growing tables with a size limit, and garbage collection of records and lists of readers. When a table
// reaches its limit, watching ends and FINDING_LIMIT is reported. When the machine is out of memory, the launch fails; until
// then callers continue with a shared placeholder.
#include "sanitizer/clocks.h"

enum { MOST_RECORDS = 1 << 25, MOST_NODES = 1 << 27, OFTEN = 1 << 20 };  // the number of a record has 25 bits, see shadow.c

void sanitizer_no_memory(Ctx *x) {
    if (x->status == STATUS_RUNNING) raise_fault(x, FAULT_SANITIZER, 0, 0, 0);
}
// Stop watching accesses.
void sanitizer_full(Ctx *x) {
    Sanitizer *w = x->sanitizer;
    if (w->full) return;
    w->full = 1;
    w->full_pc = x->pc < x->nops ? x->pc : 0;
    w->full_steps = x->steps;
}

void sanitizer_limits(Sanitizer *w, u64 most_bytes, u64 cells) {
    u64 most = most_bytes / sizeof(Record) / 16, often = cells / 8 > OFTEN ? cells / 8 : OFTEN;
    w->most_bytes = most_bytes;
    w->often = w->collect_records = w->collect_nodes = (u32)(often < most ? often : most);
}

// Make room for one more than `used` entries of `size` bytes in *(void **)list. 0: out of memory.
int sanitizer_room(void *list, u32 *room, u32 used, u32 first, u64 size) {
    if (used < *room) return 1;
    u32 wanted = *room ? 2 * *room : first;
    void *more = wanted > *room ? realloc(*(void **)list, wanted * size) : 0;
    if (!more) return 0;
    *(void **)list = more;
    *room = wanted;
    return 1;
}

// The same for a table of at most `most` entries. 0: it is full.
static int more_room(Ctx *x, void *list, u32 *room, u32 used, u32 first, u64 size, u64 most) {
    if (LIKELY(used < *room)) return 1;
    u64 limit = x->sanitizer->most_bytes / size;
    if (limit > most) limit = most;
    if (!x->sanitizer->full && used < limit && sanitizer_room(list, room, used, first < limit ? first : (u32)limit, size)) return 1;
    sanitizer_full(x);
    return 0;
}

u32 new_record(Ctx *x, const Record *r) {
    Sanitizer *w = x->sanitizer;
    if (UNLIKELY(!more_room(x, &w->records, &w->records_room, w->nrecords, 1 << 14, sizeof *r, MOST_RECORDS))) return w->nrecords - 1;
    w->records[w->nrecords] = *r;
    return w->nrecords++;
}

u32 new_kids(Ctx *x, Cell all) {
    Sanitizer *w = x->sanitizer;
    u32 k = w->free_kid;
    if (k) w->free_kid = w->kids[k][0].reads;
    else {
        if (!more_room(x, &w->kids, &w->kids_room, w->nkids, 1 << 12, sizeof *w->kids, 1u << 31)) return 0;
        if (!w->nkids) w->nkids = 1;                                     // 0: none
        k = w->nkids++;
    }
    for (u32 i = 0; i < 4; i++) w->kids[k][i] = all;
    return k;
}
void free_kids(Sanitizer *w, u32 k) {
    for (u32 i = 0; i < 4; i++) if (w->kids[k][i].write == SPLIT) free_kids(w, w->kids[k][i].reads);
    w->kids[k][0].reads = w->free_kid;
    w->free_kid = k;
}

u32 new_node(Ctx *x, u32 value, u32 next) {
    Sanitizer *w = x->sanitizer;
    if (UNLIKELY(!more_room(x, &w->nodes, &w->nodes_room, w->nnodes, 1 << 14, sizeof *w->nodes, MOST_NODES))) return value;
    w->nodes[w->nnodes].value = value;
    w->nodes[w->nnodes].next = next;
    w->nodes[w->nnodes].size = 1 + (next & TOP ? w->nodes[next & ~TOP].size : 1);
    w->nodes[w->nnodes].atomic = w->records[value >> 6].how == SEEN_ATOMIC
        || (next & TOP ? w->nodes[next & ~TOP].atomic : w->records[next >> 6].how == SEEN_ATOMIC);
    return TOP | w->nnodes++;
}

// The new numbers of live records and nodes; 1 during marking.
typedef struct { u32 *record, *node; } Live;

static void mark_set(const Sanitizer *w, const Live *live, u32 set) {
    for (; set & TOP; set = w->nodes[set & ~TOP].next) {
        if (live->node[set & ~TOP]) return;
        live->node[set & ~TOP] = 1;
        live->record[w->nodes[set & ~TOP].value >> 6] = 1;
    }
    live->record[set >> 6] = 1;
}
static void mark_cells(const Sanitizer *w, const Live *live, const Cell *cells, u64 n) {
    for (u64 k = 0; k < n; k++) {
        if (cells[k].write == SPLIT) mark_cells(w, live, w->kids[cells[k].reads], 4);
        else if (cells[k].write | cells[k].reads) live->record[cells[k].write >> 6] = 1, mark_set(w, live, cells[k].reads);
    }
}
static u32 renumbered(const Live *live, u32 value) {
    return value & TOP ? TOP | live->node[value & ~TOP] : live->record[value >> 6] << 6 | (value & 63);
}
static void renumber_cells(Sanitizer *w, const Live *live, Cell *cells, u64 n) {
    for (u64 k = 0; k < n; k++) {
        if (cells[k].write == SPLIT) renumber_cells(w, live, w->kids[cells[k].reads], 4);
        else if (cells[k].write | cells[k].reads) cells[k] = (Cell){renumbered(live, cells[k].write), renumbered(live, cells[k].reads)};
    }
}
static void each_shadow(Ctx *x, const Live *live, int renumber) {
    Sanitizer *w = x->sanitizer;
    u32 n = (u32)x->nsegments, all = n + 2 * x->resident;
    for (u32 k = 0; k < all; k++) {
        Shadow *s = &w->global[k];
        if (k >= n) {
            const Cta *cta = x->ctas[(k - n) / 2];
            s = (k - n) & 1 ? &cluster_of(cta)->tensor[cta->rank] : &cluster_of(cta)->shared[cta->rank];
        }
        if (!s->cells) continue;
        for (u64 i = 0; s->readers && i < (s->bytes + 15) / 16 * s->warps; i++) {
            if (renumber) s->readers[i] = renumbered(live, s->readers[i]); else live->record[s->readers[i] >> 6] = 1;
        }
        if (renumber) renumber_cells(w, live, s->cells, (s->bytes + 15) / 16); else mark_cells(w, live, s->cells, (s->bytes + 15) / 16);
    }
}

static u64 next_time(const Sanitizer *w, u64 used, u64 size, u64 most) {
    u64 limit = w->most_bytes / size, next = 2 * used > w->often ? 2 * used : w->often;
    if (limit > most) limit = most;
    return next < limit - limit / 8 ? next : used + (limit - used) / 2;
}

// Mark-and-compact collection of records and nodes that no cell refers to; between turns, when no numbers are held elsewhere.
void sanitizer_collect(Ctx *x) {
    Sanitizer *w = x->sanitizer;
    if (w->full) return;
    settle_doubts(x);
    Live live = {calloc(w->nrecords, 4), calloc(w->nnodes + 1, 4)};
    if (!live.record || !live.node) { free(live.record); free(live.node); sanitizer_full(x); return; }
    each_shadow(x, &live, 0);
    u32 records = 1, nodes = 0;
    for (u32 k = 1; k < w->nrecords; k++) if (live.record[k]) { w->records[records] = w->records[k]; live.record[k] = records++; }
    live.record[0] = 0;
    for (u32 k = 0; k < w->nnodes; k++) {
        if (!live.node[k]) continue;
        w->nodes[nodes] = w->nodes[k];
        w->nodes[nodes].value = renumbered(&live, w->nodes[k].value);
        w->nodes[nodes].next = renumbered(&live, w->nodes[k].next);         // an older node, which has its new number
        live.node[k] = nodes++;
    }
    each_shadow(x, &live, 1);
    for (u32 k = 0; k < x->resident; k++)
        for (u32 i = 0; i < x->nwarps; i++) {
            SanitizerWarp *p = &cluster_of(x->ctas[k])->warp[x->ctas[k]->rank * x->nwarps + i];
            for (u32 pc = 0; pc < x->nops; pc++) p->record[pc] = live.record[p->record[pc]];
            memset(p->sure, 0, sizeof p->sure);
        }
    memset(w->memo, 0, sizeof w->memo);
    w->nrecords = records;
    w->nnodes = nodes;
    free(live.record);
    free(live.node);
    w->collect_records = (u32)next_time(w, records, sizeof(Record), MOST_RECORDS);
    w->collect_nodes = (u32)next_time(w, nodes, sizeof *w->nodes, MOST_NODES);
    if (w->collect_records - records < w->often / 16) sanitizer_full(x);     // collecting more would not help
}
