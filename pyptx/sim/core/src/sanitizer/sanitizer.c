// Start and end of the sanitizer, for a launch and for each cluster. See sanitizer.h.
#include "sanitizer/clocks.h"

static int has(const Ctx *x, const char *name) {
    u32 code = core_op_code(name);
    for (u32 k = 0; k < x->nops; k++) if (x->ops[k].code == code) return 1;
    return 0;
}

int sanitizer_open(Ctx *x, const u32 *info, u64 most_bytes) {
    Sanitizer *w = calloc(1, sizeof *w);
    if (!w) return 0;
    x->sanitizer = w;
    w->info = info;
    int bulk = has(x, "bulk") || has(x, "tensor_copy"), wgmma = has(x, "wgmma"), tc = has(x, "tcgen05_mma") || has(x, "tmem_ld") || has(x, "tmem_st") || has(x, "tmem_cp");
    w->kinds = 1u << ROW_THREAD | (has(x, "cp_async") ? 1u << ROW_CP_ASYNC : 0) | (bulk ? 1u << ROW_BULK | 1u << ROW_BULK_READ : 0)
        | (wgmma ? 1u << ROW_WGMMA : 0) | (tc ? 7u << ROW_TCGEN05 : 0);
    w->warps = x->nwarps * x->cluster[0] * x->cluster[1] * x->cluster[2];
    u32 n = 0;
    for (u32 k = 0; k < ROW_KINDS; k++) if (w->kinds >> k & 1) { w->slot[k] = n; w->kind_of[n++] = k; }
    w->barrier_row = n * w->warps;
    int mbarriers = has(x, "mbarrier_init") || has(x, "mbarrier_arrive") || has(x, "mbarrier_wait") || has(x, "mbarrier_test");
    w->rows = w->barrier_row + (mbarriers ? 2 * x->cluster[0] * x->cluster[1] * x->cluster[2] : 0);
    w->proxy_rows = bulk || wgmma || tc ? w->warps * (1 + (w->kinds >> ROW_CP_ASYNC & 1)) : 0;
    w->tensor_rows = tc ? 3 * w->warps : 0;
    for (u32 k = 0; k < x->nops; k++) {
        u32 word = info[x->ops[k].instr];
        if ((word >> 8 & 15) == FENCE_PROXY) w->proxy_spaces |= word >> 14 & 7;
        u32 scope = word >> 4 & 15, narrow = (word & 15) == ORDER_RELAXED || ((word & 15) == ORDER_ACQUIRE && scope == SCOPE_CTA);
        if (narrow && word >> 13 & 1 && w->warps > x->nwarps) w->narrow_waits = 1;
        u32 sc = (word >> 8 & 15) == FENCE_MEMORY && word >> 12 & 1;
        if (sc && scope >= SCOPE_GPU) w->sc_scopes |= SC_GPU;
        if (sc && scope == SCOPE_CLUSTER && w->warps > x->nwarps) w->sc_scopes |= SC_CLUSTER;
    }
    w->sc_rows = w->rows * (u32)__builtin_popcount(w->sc_scopes);
    Record none = {0};
    w->scratch = (V32 *)aligned(sizeof(V32) * (total(w) + w->tensor_rows));
    w->nothing = (V32 *)aligned(sizeof(V32) * total(w));
    w->last = (V32 *)aligned(sizeof(V32) * total(w));
    w->global = calloc(x->nsegments + 1, sizeof *w->global);
    w->room_of_shapes = calloc(MOST_SHAPES + 1, sizeof *w->shapes);     // unused pages are never mapped
    w->shapes = (Shape *)(((uintptr_t)w->room_of_shapes + sizeof(V32) - 1) & ~(uintptr_t)(sizeof(V32) - 1));
    w->shape = calloc(2 * (x->nops + 1), sizeof *w->shape);
    if (!w->room_of_shapes || !w->shape || !w->global || !w->scratch || !w->nothing || !w->last) return 0;
    u64 cells = 0;
    for (u64 k = 0; k < x->nsegments; k++) {
        Segment *s = &x->segments[k];
        w->global[k] = (Shadow){s->read_only ? 0 : calloc(s->bytes / 16 + 2, sizeof(Cell)), s->bytes, s->host, IN_GLOBAL, (u32)k};
        if (!s->read_only && !w->global[k].cells) return 0;
        if (!s->read_only) cells += s->bytes / 16;
    }
    sanitizer_limits(w, most_bytes, cells);
    new_record(x, &none);                                                // value 0: no access
    if (!w->records) return 0;
    return 1;
}

void sanitizer_close(Ctx *x) {
    Sanitizer *w = x->sanitizer;
    if (!w) return;
    for (u64 k = 0; w->global && k < x->nsegments; k++) free(w->global[k].cells);
    free(w->global);
    for (u32 k = 0; k < 4096; k++)
        for (Sync *s = w->sync[k], *next; s; s = next) {
            next = s->next;
            drop_clock(w, s->clock);
            drop_clock(w, s->sc);
            free(s->clusters);
            free(s);
        }
    for (u32 k = 0; k < w->nspare; k++) release_aligned(w->spare[k]);
    for (u32 k = 0; k < w->ndone; k++) {
        for (u32 i = 0; i < w->done[k].nforeign; i++) drop_clock(w, w->done[k].foreign[i].rows), drop_clock(w, w->done[k].foreign[i].since);
        free(w->done[k].foreign);
    }
    release_aligned(w->scratch);
    free(w->room_of_shapes);
    sanitizer_maps_close(w);
    free(w->shape);
    release_aligned(w->nothing);
    release_aligned(w->last);
    free(w->done); free(w->spare); free(w->records); free(w->kids); free(w->nodes);
    free(w);
    x->sanitizer = 0;
}

void sanitizer_start_cluster(Ctx *x, Cluster *cluster) {
    Sanitizer *w = x->sanitizer;
    SanitizerCluster *c = calloc(1, sizeof *c);
    if (!c) { sanitizer_no_memory(x); return; }
    cluster->sanitizer = c;
    c->id = (u32)cluster->id;
    c->warp = (SanitizerWarp *)aligned(sizeof *c->warp * w->warps);
    if (!c->warp) { sanitizer_no_memory(x); return; }
    c->warps = w->warps;
    for (u32 k = 0; k < cluster->size; k++) {
        c->slot[k] = calloc(x->smem_bytes / 8 + 2, 2);
        c->shared[k] = (Shadow){calloc(x->smem_bytes / 16 + 2, sizeof(Cell)), x->smem_bytes, cluster->cta[k]->smem, IN_SHARED, k, 1, x->nwarps,
                                 calloc((x->smem_bytes / 16 + 2) * x->nwarps, sizeof(u32))};
        c->tensor[k] = (Shadow){w->kinds >> ROW_TCGEN05 & 1 ? calloc(8 * 512 / 4 + 2, sizeof(Cell)) : 0, 8 * 512 * 4, 0, IN_TENSOR, k, 1};
        if (!c->slot[k] || !c->shared[k].cells || !c->shared[k].readers || (w->kinds >> ROW_TCGEN05 & 1 && !c->tensor[k].cells)) sanitizer_no_memory(x);
        for (u32 i = 0; i < x->nwarps; i++) {
            SanitizerWarp *p = &c->warp[k * x->nwarps + i];
            p->cta = cluster->cta[k];
            p->index = k * x->nwarps + i;
            p->time = 1;
            p->common = new_clock(x);
            p->record = calloc(x->nops + 1, sizeof *p->record);
            if (!p->record) sanitizer_no_memory(x);
        }
    }
}

void sanitizer_end_cluster(Ctx *x, Cluster *cluster) {
    Sanitizer *w = x->sanitizer;
    SanitizerCluster *c = cluster->sanitizer;
    if (!c) return;
    for (u32 k = 0; k < c->warps; k++) {
        SanitizerWarp *p = &c->warp[k];
        free_clock(w, p->common);
        for (u32 i = 0; i < 2; i++) free_clock(w, p->proxy_fence[i].clock);
        for (u32 i = 0; i < LANES; i++) free_clock(w, p->lane[i]);
        for (u32 i = 0; i <= LANES; i++) {
            free_clock(w, p->after[i]);
            for (u32 level = 0; level < LEVELS; level++) free_clock(w, p->fence[level][i]);
            for (u32 level = 0; level < 2 && i < LANES; level++) free_clock(w, p->read[level][i]);
        }
        free(p->record);
        free(p->later);
    }
    release_aligned(c->warp);
    for (u32 k = 0; k < cluster->size; k++) {
        for (u32 id = 0; id < 16; id++) free_clock(w, c->bar[k][id]);
        shadow_forget(w, &c->shared[k], 0, c->shared[k].bytes);
        shadow_forget(w, &c->tensor[k], 0, c->tensor[k].bytes);
        free(c->slot[k]);
        free(c->shared[k].cells);
        free(c->shared[k].readers);
        free(c->tensor[k].cells);
    }
    for (u32 k = 0; k < c->nbarriers; k++) {
        SanitizerMbarrier *b = &c->barriers[k];
        free_clock(w, b->pending); free_clock(w, b->done); free_clock(w, b->own_pending); free_clock(w, b->own_done);
    }
    if (c->nforeign) {                                                   // later clusters may acquire it
        if (!sanitizer_room(&w->done, &w->done_room, w->ndone, 16, sizeof *w->done)) sanitizer_no_memory(x);
        else w->done[w->ndone++] = (EndedCluster){c->id, c->nforeign, c->foreign};
    }
    free(c->barriers);
    free_clock(w, c->arrived);
    free_clock(w, c->met);
    free(c);
    cluster->sanitizer = 0;
}

// Mark a buffer as uninitialized.
void core_mark_uninitialized(Ctx *x, u64 segment) { x->sanitizer->global[segment].fresh = 1; }
// Bytes of a buffer that were never written; *first: the first of them. 0 also if the sanitizer stopped watching.
u64 core_unwritten(const Ctx *x, u64 segment, u64 *first) {
    const Sanitizer *w = x->sanitizer;
    return w->full || !w->global[segment].cells ? 0 : shadow_unwritten(w, &w->global[segment], first);
}

// Test whether all conflicting accesses are ordered: there is no finding, and none may be missing because writes of equal values
// are not reported, because only some readers of a cell are listed, or because a write of the same instruction by another lane
// was the previous one.
u32 core_is_race_free(const Ctx *x) {
    const Sanitizer *w = x->sanitizer;
    return w && !w->full && !w->nfindings && !w->unproven;
}

// Finding `k`: those listed, then where the sanitizer stopped watching, then the number of unlisted ones. 0: no such finding.
u32 core_finding(const Ctx *x, u32 k, FindingInfo *out) {
    const Sanitizer *w = x->sanitizer;
    if (!w || k >= w->nfindings + (w->full != 0) + (w->unlisted != 0)) return 0;
    Finding limit = {.rule = FINDING_LIMIT, .pc = {NONE, w->full_pc}, .count = 1, .offset = w->full_steps};
    Finding more = {.rule = FINDING_MORE, .pc = {NONE, w->found[0].pc[1]}, .count = w->unlisted};
    const Finding *f = k < w->nfindings ? &w->found[k] : k == w->nfindings && w->full ? &limit : &more;
    *out = (FindingInfo){.rule = f->rule, .instr = {f->pc[0] == NONE ? NONE : x->ops[f->pc[0]].instr, x->ops[f->pc[1]].instr},
                         .access = {f->how[0], f->how[1]}, .accessor = {f->kind[0], f->kind[1]}, .thread = {f->thread[0], f->thread[1]}, .cluster = {f->cluster[0], f->cluster[1]},
                         .space = f->space, .place = f->place, .count = f->count, .cta = f->cta, .offset = f->offset,
                         .swizzle = {f->swizzle[0], f->swizzle[1]}};
    return 1;
}
