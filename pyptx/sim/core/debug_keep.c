// Checkpoints of a debugged launch: all that it has, put aside between two turns or at a stop, and put back in place later.
//
// Clusters of a debugged launch are never freed, so that pointers into them (those of operations under way, too) hold as
// long as the context does; a finished one is buried in Ctx.graves, and one that is taken from there is as a new one.
#include "debug.h"
#include "tmem.h"

typedef struct { Frame *frames; char **kept; } KeptFrames;               // of a warp: as many as its nframes
typedef struct {
    Cluster *cluster, copy;
    struct { Cta copy; Warp *warps; KeptFrames *frames; char *memory; Tmem *tmem; } cta[CLUSTER_CTAS];
    Async *flights;             // their data are copies of their own
} KeptCluster;
struct Kept {
    Ctx context;
    Debug debug;
    Cta **ctas;
    u64 next_cta;
    u32 count;
    KeptCluster *clusters;      // those that run, then the spare one
};
typedef struct Kept Kept;

// How many bytes a call has put aside, see calls.c.
static u64 put_aside_bytes(const Ctx *x, const Frame *f) {
    const u32 *rows = x->pool + x->ops[f->pc - 1].aux2;
    u64 bytes = 0;
    for (u32 k = 0; k < rows[0]; k++) bytes += rows[2 + 2 * k];
    return bytes;
}

static void *copied(const void *from, u64 bytes) {
    void *to = malloc(bytes ? bytes : 1);
    if (to) memcpy(to, from, bytes);
    return to;
}

void core_debug_forget(Kept *k) {
    if (!k) return;
    for (u32 i = 0; k->clusters && i < k->count; i++) {
        KeptCluster *c = &k->clusters[i];
        for (u32 r = 0; r < c->copy.size; r++) {
            for (u32 w = 0; c->cta[r].frames && c->cta[r].warps && w < c->cta[r].copy.nwarps; w++) {
                KeptFrames *f = &c->cta[r].frames[w];
                for (u32 n = 0; f->kept && n < c->cta[r].warps[w].nframes; n++) free(f->kept[n]);
                free(f->frames);
                free(f->kept);
            }
            free(c->cta[r].frames); free(c->cta[r].warps); free(c->cta[r].memory); free(c->cta[r].tmem);
        }
        for (u64 n = 0; c->flights && n < c->copy.pending; n++) free(c->flights[n].data);
        free(c->flights);
    }
    free(k->clusters);
    free(k->ctas);
    free(k);
}

static int keep_frames(const Ctx *x, const Warp *w, KeptFrames *f) {
    f->frames = copied(w->frames, w->nframes * sizeof *w->frames);
    f->kept = calloc(w->nframes + 1, sizeof *f->kept);
    if (!f->frames || !f->kept) return 0;
    for (u32 n = 0; n < w->nframes; n++)
        if (w->frames[n].kept && !(f->kept[n] = copied(w->frames[n].kept, put_aside_bytes(x, &w->frames[n])))) return 0;
    return 1;
}

static int keep_cluster(const Ctx *x, Cluster *cluster, KeptCluster *c) {
    u64 n = 0;
    c->cluster = cluster;
    c->copy = *cluster;
    c->copy.pending = 0;
    if (!(c->flights = calloc(cluster->pending + 1, sizeof *c->flights))) return 0;
    for (const Async *a = cluster->first; a; a = a->next, n++) {
        if (a->data && !a->data_bytes) return 0;
        c->flights[n] = *a;
        c->flights[n].data = 0;
        c->copy.pending = n + 1;
        if (a->data && !(c->flights[n].data = copied(a->data, a->data_bytes))) return 0;
    }
    for (u32 r = 0; r < cluster->size; r++) {
        const Cta *from = cluster->cta[r];
        c->cta[r].copy = *from;
        c->cta[r].warps = copied(from->warps, from->nwarps * sizeof *from->warps);
        c->cta[r].memory = copied(from->memory, cta_bytes(x));
        c->cta[r].frames = calloc(from->nwarps, sizeof *c->cta[r].frames);
        if (from->tmem && !(c->cta[r].tmem = copied(from->tmem, sizeof *from->tmem))) return 0;
        if (!c->cta[r].warps || !c->cta[r].memory || !c->cta[r].frames) return 0;
        for (u32 w = 0; w < from->nwarps; w++) if (!keep_frames(x, &from->warps[w], &c->cta[r].frames[w])) return 0;
    }
    return 1;
}

// About how much a checkpoint takes.
u64 core_debug_bytes(const Ctx *x) {
    u64 bytes = 0;
    for (u32 slot = 0; slot < x->resident; slot++)
        bytes += cta_bytes(x) + x->nwarps * sizeof(Warp) + (x->ctas[slot]->tmem ? sizeof(Tmem) : 0);
    return bytes;
}

// A checkpoint; NULL: there is none to be had here.
Kept *core_debug_keep(const Ctx *x) {
    if ((x->status != RUNNING && x->status != STOPPED) || x->watch) return 0;
    Kept *k = calloc(1, sizeof *k);
    u32 size = x->cluster[0] * x->cluster[1] * x->cluster[2];
    if (!k) return 0;
    k->context = *x;
    k->debug = *x->debug;
    k->next_cta = *x->next_cta;
    k->ctas = copied(x->ctas, x->resident * sizeof *x->ctas);
    k->clusters = calloc(x->resident / size + 1, sizeof *k->clusters);
    if (!k->ctas || !k->clusters) { core_debug_forget(k); return 0; }
    for (u32 slot = 0; slot < x->resident + (x->spare != 0) * size; slot += size)
        if (!keep_cluster(x, slot < x->resident ? x->ctas[slot]->cluster : x->spare, &k->clusters[k->count++])) { core_debug_forget(k); return 0; }
    return k;
}

static void restore_frames(Warp *w, Frame *frames, u32 room, u32 nframes, const KeptFrames *f, const Ctx *x) {
    w->frames = frames;
    w->frames_room = room;
    for (u32 n = 0; n < nframes; n++) {
        frames[n] = f->frames[n];
        if (f->kept[n]) frames[n].kept = copied(f->kept[n], put_aside_bytes(x, &f->frames[n]));
    }
}

static int restore_cluster(Ctx *x, const KeptCluster *c) {
    Cluster *cluster = c->cluster;
    *cluster = c->copy;
    cluster->first = cluster->last = 0;
    for (u64 n = 0; n < c->copy.pending; n++) {
        Async *a = copied(&c->flights[n], sizeof *a);
        if (!a) return 0;
        if (a->data_bytes && c->flights[n].data && !(a->data = copied(c->flights[n].data, a->data_bytes))) return 0;
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
        to->tmem = tmem;                                                 // made once, never freed before the end
        if (tmem && c->cta[r].tmem) memcpy(tmem, c->cta[r].tmem, sizeof *tmem);
        else if (tmem) memset(tmem, 0, sizeof *tmem);
        memcpy(to->memory, c->cta[r].memory, cta_bytes(x));
        for (u32 w = 0; w < to->nwarps; w++) {
            Frame *frames = warps[w].frames;
            u32 room = warps[w].frames_room;
            for (u32 n = 0; n < warps[w].nframes; n++) free(frames[n].kept);
            warps[w] = c->cta[r].warps[w];
            restore_frames(&warps[w], frames, room, warps[w].nframes, &c->cta[r].frames[w], x);
        }
    }
    return 1;
}

static void bury(Ctx *x, Cluster *cluster) {
    cluster->buried = x->graves;
    x->graves = cluster;
}

// Put everything back as it was; the arrays of the caller are his own. 0: out of memory.
u32 core_debug_restore(Ctx *x, const Kept *k) {
    u32 size = x->cluster[0] * x->cluster[1] * x->cluster[2];
    Cluster *all = x->graves;                                            // every cluster there is
    for (u32 slot = 0; slot < x->resident; slot += size) { Cluster *c = x->ctas[slot]->cluster; c->buried = all; all = c; }
    if (x->spare) { x->spare->buried = all; all = x->spare; }
    const Debug was = *x->debug;
    *x = k->context;
    *x->next_cta = k->next_cta;
    *x->debug = k->debug;
    x->debug->marks = was.marks; x->debug->spots = was.spots; x->debug->nspots = was.nspots;
    x->debug->goes_on = 0;
    memcpy(x->ctas, k->ctas, x->resident * sizeof *x->ctas);
    x->graves = 0;
    for (Cluster *c = all, *next; c; c = next) {
        next = c->buried;
        free_async(c);
        u32 kept = 0;
        for (u32 i = 0; i < k->count; i++) kept |= k->clusters[i].cluster == c;
        if (!kept) bury(x, c);
    }
    for (u32 i = 0; i < k->count; i++) if (!restore_cluster(x, &k->clusters[i])) return 0;
    return 1;
}

// A finished cluster is not needed now; one as a new one, if there is one.
void debug_bury(Ctx *x, Cluster *cluster) { bury(x, cluster); }
Cluster *debug_raise(Ctx *x) {
    Cluster *cluster = x->graves;
    if (!cluster) return 0;
    x->graves = cluster->buried;
    for (u32 r = 0; r < cluster->size; r++) {
        Cta *c = cluster->cta[r];
        memset(c->memory, 0, cta_bytes(x));
        if (c->tmem) memset(c->tmem, 0, sizeof *c->tmem);
        for (u32 w = 0; w < c->nwarps; w++)
            for (; c->warps[w].nframes; c->warps[w].nframes--) free(c->warps[w].frames[c->warps[w].nframes - 1].kept);
    }
    return cluster;
}
