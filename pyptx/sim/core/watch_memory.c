// Memory of the sanitizer: tables that grow, records and lists of readers that nobody names any more, and the limit.
// A table that may not grow any more ends the watch: that is reported (FOUND_LIMIT). Where the machine has no memory left
// the launch fails; who asked for it goes on with a place that serves everybody until then.
#include "clocks.h"

enum { MOST_RECORDS = 1 << 25, MOST_NODES = 1 << 27, OFTEN = 1 << 20 };  // a record's number has 25 bits, see shadow.c

void watch_no_memory(Ctx *x) {
    if (x->status == RUNNING) raise_fault(x, FAULT_WATCH, 0, 0, 0);
}
// From here on accesses are not watched.
void watch_full(Ctx *x) {
    Watch *w = x->watch;
    if (w->full) return;
    w->full = 1;
    w->full_pc = x->pc < x->nops ? x->pc : 0;
    w->full_steps = x->steps;
}

void watch_limits(Watch *w, u64 most_bytes, u64 cells) {
    u64 most = most_bytes / sizeof(Record) / 16, often = cells / 8 > OFTEN ? cells / 8 : OFTEN;
    w->most_bytes = most_bytes;
    w->often = w->collect_records = w->collect_nodes = (u32)(often < most ? often : most);
}

// Room for one more than `used` entries of `size` bytes in *(void **)list. 0: there is no memory.
int watch_room(void *list, u32 *room, u32 used, u32 first, u64 size) {
    if (used < *room) return 1;
    u32 wanted = *room ? 2 * *room : first;
    void *more = wanted > *room ? realloc(*(void **)list, wanted * size) : 0;
    if (!more) return 0;
    *(void **)list = more;
    *room = wanted;
    return 1;
}

// The same in a table that may hold `most` entries. 0: it is full.
static int more_room(Ctx *x, void *list, u32 *room, u32 used, u32 first, u64 size, u64 most) {
    if (LIKELY(used < *room)) return 1;
    u64 limit = x->watch->most_bytes / size;
    if (limit > most) limit = most;
    if (!x->watch->full && used < limit && watch_room(list, room, used, first < limit ? first : (u32)limit, size)) return 1;
    watch_full(x);
    return 0;
}

u32 new_record(Ctx *x, const Record *r) {
    Watch *w = x->watch;
    if (UNLIKELY(!more_room(x, &w->records, &w->records_room, w->nrecords, 1 << 14, sizeof *r, MOST_RECORDS))) return w->nrecords - 1;
    w->records[w->nrecords] = *r;
    return w->nrecords++;
}

u32 new_kids(Ctx *x, Cell all) {
    Watch *w = x->watch;
    u32 k = w->free_kid;
    if (k) w->free_kid = w->kids[k][0].reads;
    else {
        if (!more_room(x, &w->kids, &w->kids_room, w->nkids, 1 << 12, sizeof *w->kids, 1u << 31)) return 0;
        if (!w->nkids) w->nkids = 1;                                     // 0 is none
        k = w->nkids++;
    }
    for (u32 i = 0; i < 4; i++) w->kids[k][i] = all;
    return k;
}
void free_kids(Watch *w, u32 k) {
    for (u32 i = 0; i < 4; i++) if (w->kids[k][i].write == SPLIT) free_kids(w, w->kids[k][i].reads);
    w->kids[k][0].reads = w->free_kid;
    w->free_kid = k;
}

u32 new_node(Ctx *x, u32 value, u32 next) {
    Watch *w = x->watch;
    if (UNLIKELY(!more_room(x, &w->nodes, &w->nodes_room, w->nnodes, 1 << 14, sizeof *w->nodes, MOST_NODES))) return value;
    w->nodes[w->nnodes].value = value;
    w->nodes[w->nnodes].next = next;
    w->nodes[w->nnodes].size = 1 + (next & TOP ? w->nodes[next & ~TOP].size : 1);
    w->nodes[w->nnodes].atomic = w->records[value >> 6].how == SEEN_ATOMIC
        || (next & TOP ? w->nodes[next & ~TOP].atomic : w->records[next >> 6].how == SEEN_ATOMIC);
    return TOP | w->nnodes++;
}

// Records and nodes that are in use: their new numbers; while they are looked for, 1.
typedef struct { u32 *record, *node; } Kept;

static void keep_set(const Watch *w, const Kept *kept, u32 set) {
    for (; set & TOP; set = w->nodes[set & ~TOP].next) {
        if (kept->node[set & ~TOP]) return;
        kept->node[set & ~TOP] = 1;
        kept->record[w->nodes[set & ~TOP].value >> 6] = 1;
    }
    kept->record[set >> 6] = 1;
}
static void keep_cells(const Watch *w, const Kept *kept, const Cell *cells, u64 n) {
    for (u64 k = 0; k < n; k++) {
        if (cells[k].write == SPLIT) keep_cells(w, kept, w->kids[cells[k].reads], 4);
        else if (cells[k].write | cells[k].reads) kept->record[cells[k].write >> 6] = 1, keep_set(w, kept, cells[k].reads);
    }
}
static u32 renamed(const Kept *kept, u32 value) {
    return value & TOP ? TOP | kept->node[value & ~TOP] : kept->record[value >> 6] << 6 | (value & 63);
}
static void rename_cells(Watch *w, const Kept *kept, Cell *cells, u64 n) {
    for (u64 k = 0; k < n; k++) {
        if (cells[k].write == SPLIT) rename_cells(w, kept, w->kids[cells[k].reads], 4);
        else if (cells[k].write | cells[k].reads) cells[k] = (Cell){renamed(kept, cells[k].write), renamed(kept, cells[k].reads)};
    }
}
static void each_shadow(Ctx *x, const Kept *kept, int renames) {
    Watch *w = x->watch;
    u32 n = (u32)x->nsegments, all = n + 2 * x->resident;
    for (u32 k = 0; k < all; k++) {
        Shadow *s = &w->global[k];
        if (k >= n) {
            const Cta *cta = x->ctas[(k - n) / 2];
            s = (k - n) & 1 ? &cluster_of(cta)->tensor[cta->rank] : &cluster_of(cta)->shared[cta->rank];
        }
        if (!s->cells) continue;
        for (u64 i = 0; s->readers && i < (s->bytes + 15) / 16 * s->warps; i++) {
            if (renames) s->readers[i] = renamed(kept, s->readers[i]); else kept->record[s->readers[i] >> 6] = 1;
        }
        if (renames) rename_cells(w, kept, s->cells, (s->bytes + 15) / 16); else keep_cells(w, kept, s->cells, (s->bytes + 15) / 16);
    }
}

static u64 next_time(const Watch *w, u64 used, u64 size, u64 most) {
    u64 limit = w->most_bytes / size, next = 2 * used > w->often ? 2 * used : w->often;
    if (limit > most) limit = most;
    return next < limit - limit / 8 ? next : used + (limit - used) / 2;
}

// Between the turns of warps, when nobody holds numbers of records: what no cell names makes room.
void watch_collect(Ctx *x) {
    Watch *w = x->watch;
    if (w->full) return;
    settle_doubts(x);
    Kept kept = {calloc(w->nrecords, 4), calloc(w->nnodes + 1, 4)};
    if (!kept.record || !kept.node) { free(kept.record); free(kept.node); watch_full(x); return; }
    each_shadow(x, &kept, 0);
    u32 records = 1, nodes = 0;
    for (u32 k = 1; k < w->nrecords; k++) if (kept.record[k]) { w->records[records] = w->records[k]; kept.record[k] = records++; }
    kept.record[0] = 0;
    for (u32 k = 0; k < w->nnodes; k++) {
        if (!kept.node[k]) continue;
        w->nodes[nodes] = w->nodes[k];
        w->nodes[nodes].value = renamed(&kept, w->nodes[k].value);
        w->nodes[nodes].next = renamed(&kept, w->nodes[k].next);         // an older one: it has its new number
        kept.node[k] = nodes++;
    }
    each_shadow(x, &kept, 1);
    for (u32 k = 0; k < x->resident; k++)
        for (u32 i = 0; i < x->nwarps; i++) {
            Watched *p = &cluster_of(x->ctas[k])->warp[x->ctas[k]->rank * x->nwarps + i];
            for (u32 pc = 0; pc < x->nops; pc++) p->record[pc] = kept.record[p->record[pc]];
            memset(p->sure, 0, sizeof p->sure);
        }
    memset(w->memo, 0, sizeof w->memo);
    w->nrecords = records;
    w->nnodes = nodes;
    free(kept.record);
    free(kept.node);
    w->collect_records = (u32)next_time(w, records, sizeof(Record), MOST_RECORDS);
    w->collect_nodes = (u32)next_time(w, nodes, sizeof *w->nodes, MOST_NODES);
    if (w->collect_records - records < w->often / 16) watch_full(x);     // else it would be done again and again
}
