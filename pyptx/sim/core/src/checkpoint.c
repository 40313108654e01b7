// Checkpoints of a debugged launch: its state, saved between two turns or at a stop and restored in place later.
//
// Clusters of a debugged launch are never freed, so pointers into them (also those of operations in flight) stay valid as long
// as the context; a finished one joins the list Ctx.retired and is reset when it is reused.
#include "debug.h"
#include "tmem.h"

typedef struct { Frame *frames; char **kept; } SavedFrames;               // of a warp: `nframes` of them
typedef struct {
    Cluster *cluster, copy;
    struct { Cta copy; Warp *warps; SavedFrames *frames; char *memory; Tmem *tmem; } cta[CLUSTER_CTAS];
    Async *operations;             // with copies of their data
} SavedCluster;
struct Checkpoint {
    Ctx context;
    Debug debug;
    Cta **ctas;
    u64 next_cluster;
    u32 count;
    SavedCluster *clusters;      // the resident ones, then the spare one
};
typedef struct Checkpoint Checkpoint;

static void *copied(const void *from, u64 bytes) {
    void *to = malloc(bytes ? bytes : 1);
    if (to && bytes) memcpy(to, from, bytes);
    return to;
}

void core_debug_discard(Checkpoint *k) {
    if (!k) return;
    for (u32 i = 0; k->clusters && i < k->count; i++) {
        SavedCluster *c = &k->clusters[i];
        for (u32 r = 0; r < c->copy.size; r++) {
            for (u32 w = 0; c->cta[r].frames && c->cta[r].warps && w < c->cta[r].copy.nwarps; w++) {
                SavedFrames *f = &c->cta[r].frames[w];
                for (u32 n = 0; f->kept && n < c->cta[r].warps[w].nframes; n++) free(f->kept[n]);
                free(f->frames);
                free(f->kept);
            }
            free(c->cta[r].frames); free(c->cta[r].warps); free(c->cta[r].memory); free(c->cta[r].tmem);
        }
        for (u64 n = 0; c->operations && n < c->copy.pending; n++) free(c->operations[n].data);
        free(c->operations);
    }
    free(k->clusters);
    free(k->ctas);
    free(k);
}

static int save_frames(const Warp *w, SavedFrames *f) {
    f->frames = copied(w->frames, w->nframes * sizeof *w->frames);
    f->kept = calloc(w->nframes + 1, sizeof *f->kept);
    if (!f->frames || !f->kept) return 0;
    for (u32 n = 0; n < w->nframes; n++)
        if (w->frames[n].kept && !(f->kept[n] = copied(w->frames[n].kept, w->frames[n].bytes))) return 0;
    return 1;
}

static int save_cluster(const Ctx *x, Cluster *cluster, SavedCluster *c) {
    u64 n = 0;
    c->cluster = cluster;
    c->copy = *cluster;
    c->copy.pending = 0;
    if (!(c->operations = calloc(cluster->pending + 1, sizeof *c->operations))) return 0;
    for (const Async *a = cluster->first; a; a = a->next, n++) {
        if (a->data && !a->data_bytes) return 0;
        c->operations[n] = *a;
        c->operations[n].data = 0;
        c->copy.pending = n + 1;
        if (a->data && !(c->operations[n].data = copied(a->data, a->data_bytes))) return 0;
    }
    for (u32 r = 0; r < cluster->size; r++) {
        const Cta *from = cluster->cta[r];
        c->cta[r].copy = *from;
        c->cta[r].warps = copied(from->warps, from->nwarps * sizeof *from->warps);
        c->cta[r].memory = copied(from->memory, cta_bytes(x));
        c->cta[r].frames = calloc(from->nwarps, sizeof *c->cta[r].frames);
        if (from->tmem && !(c->cta[r].tmem = copied(from->tmem, sizeof *from->tmem))) return 0;
        if (!c->cta[r].warps || !c->cta[r].memory || !c->cta[r].frames) return 0;
        for (u32 w = 0; w < from->nwarps; w++) if (!save_frames(&from->warps[w], &c->cta[r].frames[w])) return 0;
    }
    return 1;
}

// Approximate size of a checkpoint.
u64 core_debug_bytes(const Ctx *x) {
    u64 bytes = 0;
    for (u32 slot = 0; slot < x->resident; slot++)
        bytes += cta_bytes(x) + x->nwarps * sizeof(Warp) + (x->ctas[slot]->tmem ? sizeof(Tmem) : 0);
    return bytes;
}

// Save a checkpoint; NULL: not possible here.
Checkpoint *core_debug_checkpoint(const Ctx *x) {
    if ((x->status != STATUS_RUNNING && x->status != STATUS_STOPPED) || x->sanitizer) return 0;
    Checkpoint *k = calloc(1, sizeof *k);
    u32 size = x->cluster[0] * x->cluster[1] * x->cluster[2];
    if (!k) return 0;
    k->context = *x;
    k->debug = *x->debug;
    k->next_cluster = *x->next_cluster;
    k->ctas = copied(x->ctas, x->resident * sizeof *x->ctas);
    k->clusters = calloc(x->resident / size + 1, sizeof *k->clusters);
    if (!k->ctas || !k->clusters) { core_debug_discard(k); return 0; }
    for (u32 slot = 0; slot < x->resident + (x->spare != 0) * size; slot += size)
        if (!save_cluster(x, slot < x->resident ? x->ctas[slot]->cluster : x->spare, &k->clusters[k->count++])) { core_debug_discard(k); return 0; }
    return k;
}

static void restore_frames(Warp *w, Frame *frames, u32 room, u32 nframes, const SavedFrames *f) {
    w->frames = frames;
    w->frames_room = room;
    for (u32 n = 0; n < nframes; n++) {
        frames[n] = f->frames[n];
        if (f->kept[n]) frames[n].kept = copied(f->kept[n], f->frames[n].bytes);
    }
}

static int restore_cluster(Ctx *x, const SavedCluster *c) {
    Cluster *cluster = c->cluster;
    *cluster = c->copy;
    cluster->first = cluster->last = 0;
    for (u64 n = 0; n < c->copy.pending; n++) {
        Async *a = copied(&c->operations[n], sizeof *a);
        if (!a) return 0;
        if (a->data_bytes && c->operations[n].data && !(a->data = copied(c->operations[n].data, a->data_bytes))) return 0;
        a->next = 0;
        a->before = cluster->last;
        if (cluster->last) cluster->last->next = a; else cluster->first = a;
        cluster->last = a;
    }
    for (u32 r = 0; r < cluster->size; r++) {
        Cta *to = cluster->cta[r];
        Tmem *tmem = to->tmem;
        Warp *warps = to->warps;
        *to = c->cta[r].copy;
        to->tmem = tmem;                                                 // allocated once, freed at the end
        if (tmem && c->cta[r].tmem) memcpy(tmem, c->cta[r].tmem, sizeof *tmem);
        else if (tmem) memset(tmem, 0, sizeof *tmem);
        memcpy(to->memory, c->cta[r].memory, cta_bytes(x));
        for (u32 w = 0; w < to->nwarps; w++) {
            Frame *frames = warps[w].frames;
            u32 room = warps[w].frames_room;
            for (u32 n = 0; n < warps[w].nframes; n++) free(frames[n].kept);
            warps[w] = c->cta[r].warps[w];
            restore_frames(&warps[w], frames, room, warps[w].nframes, &c->cta[r].frames[w]);
        }
    }
    return 1;
}

static void bury(Ctx *x, Cluster *cluster) {
    cluster->next_retired = x->retired;
    x->retired = cluster;
}

// Restore a checkpoint, except for the caller's arrays. 0: out of memory.
u32 core_debug_restore(Ctx *x, const Checkpoint *k) {
    u32 size = x->cluster[0] * x->cluster[1] * x->cluster[2];
    Cluster *all = x->retired;                                            // all clusters
    for (u32 slot = 0; slot < x->resident; slot += size) { Cluster *c = x->ctas[slot]->cluster; c->next_retired = all; all = c; }
    if (x->spare) { x->spare->next_retired = all; all = x->spare; }
    const Debug was = *x->debug;
    *x = k->context;
    *x->next_cluster = k->next_cluster;
    *x->debug = k->debug;
    x->debug->marks = was.marks; x->debug->watched = was.watched; x->debug->nwatched = was.nwatched;
    x->debug->resuming = 0;
    memcpy(x->ctas, k->ctas, x->resident * sizeof *x->ctas);
    x->retired = 0;
    for (Cluster *c = all, *next; c; c = next) {
        next = c->next_retired;
        free_async(c);
        u32 kept = 0;
        for (u32 i = 0; i < k->count; i++) kept |= k->clusters[i].cluster == c;
        if (!kept) bury(x, c);
    }
    for (u32 i = 0; i < k->count; i++) if (!restore_cluster(x, &k->clusters[i])) return 0;
    return 1;
}

// Retire a finished cluster; reset and return a retired one, if there is one.
void retire_cluster(Ctx *x, Cluster *cluster) { bury(x, cluster); }
Cluster *reuse_retired(Ctx *x) {
    Cluster *cluster = x->retired;
    if (!cluster) return 0;
    x->retired = cluster->next_retired;
    for (u32 r = 0; r < cluster->size; r++) {
        Cta *c = cluster->cta[r];
        memset(c->memory, 0, cta_bytes(x));
        if (c->tmem) memset(c->tmem, 0, sizeof *c->tmem);
        for (u32 w = 0; w < c->nwarps; w++)
            for (; c->warps[w].nframes; c->warps[w].nframes--) free(c->warps[w].frames[c->warps[w].nframes - 1].kept);
    }
    return cluster;
}
