// Clusters: the cluster barrier, the register pool of a CTA (setmaxnreg), cancellation of clusters that have not started
// (clusterlaunchcontrol).
#include "sanitizer/sanitizer.h"

// Complete the phase once every live thread has arrived.
void recheck_cluster(Ctx *x, Cluster *cluster) {
    for (u32 k = 0; k < cluster->size; k++)
        for (u32 w = 0; w < cluster->cta[k]->nwarps; w++) {
            Warp *warp = &cluster->cta[k]->warps[w];
            if ((warp->cluster_arrived & warp->live) != warp->live) return;
        }
    cluster->arrived = 0;
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_cluster_complete(x, cluster);
    for (u32 k = 0; k < cluster->size; k++)
        for (u32 w = 0; w < cluster->cta[k]->nwarps; w++) cluster->cta[k]->warps[w].cluster_arrived = 0;
}

static void f_cluster_arrive(Ctx *x, const Op *o, u32 m) {
    Warp *w = x->warp;
    (void)o;
    if (w->cluster_waiting & m) { raise_fault(x, FAULT_CLUSTER_ARRIVE, (u32)__builtin_ctz(w->cluster_waiting & m), 0, 0); return; }
    w->cluster_arrived |= m;
    w->cluster_waiting |= m;
    x->cta->cluster->arrived = 1;
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_cluster_arrive(x, o, m);
    recheck_cluster(x, x->cta->cluster);
}
static void f_cluster_wait(Ctx *x, const Op *o, u32 m) {
    Warp *w = x->warp;
    (void)o;
    if (m & ~w->cluster_waiting) { raise_fault(x, FAULT_CLUSTER_WAIT, (u32)__builtin_ctz(m & ~w->cluster_waiting), 0, 0); return; }
    if (w->cluster_arrived & m) { x->not_yet = 1; return; }
    w->cluster_waiting &= ~m;
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_cluster_wait(x, m);
}

// Check that the warps of a warpgroup request the same register counts in the same order.
static int agreed(Ctx *x, Warp *w, u32 n, u32 lane) {
    u32 own = (u32)(w - x->cta->warps), ask = w->asked;
    for (u32 k = own & ~3u; k < (own | 3) + 1 && k < x->nwarps; k++) {
        const Warp *other = &x->cta->warps[k];
        if (other->asked > ask && other->asked - ask <= 8 && other->wanted[ask % 8] != n) {
            raise_fault(x, FAULT_WARPGROUP, lane, (u64)k << 32 | n, other->wanted[ask % 8]);
            return 0;
        }
    }
    w->wanted[ask % 8] = (u16)n;
    return 1;
}

// setmaxnreg: imm registers a thread, mod 1: more (waits until the pool of the CTA has them), 0: fewer.
static void f_setmaxnreg(Ctx *x, const Op *o, u32 m) {
    Warp *w = x->warp;
    u32 n = (u32)o->imm, lane = (u32)__builtin_ctz(m);
    if (m != w->live) { raise_fault(x, FAULT_SPLIT, lane, m, w->live); return; }
    if (!agreed(x, w, n, lane)) return;
    if (!w->registers) { w->asked++; return; }                          // the registers at launch are unknown
    if (o->mod ? n < w->registers : n > w->registers) { raise_fault(x, FAULT_REGISTERS, lane, n, w->registers); return; }
    if (o->mod && n - w->registers > x->cta->registers) { x->not_yet = 1; return; }
    x->cta->registers += w->registers - n;
    w->registers = n;
    w->asked++;
}

// clusterlaunchcontrol: the response is the index of the first CTA of a cluster, then 1, or zeros if none is left.
static void answer(Ctx *x, Async *a) { (void)x; memcpy((u8 *)a->p[0], &a->p[1], 16); }

static void f_try_cancel(Ctx *x, const Op *o, u32 m) {                   // a: to, b: mbarrier (64-bit rows), mod 1: multicast
    u32 generic = o->mod & 2 ? ADDRESS_GENERIC : 0;
    for (; m; m &= m - 1) {
        u32 i = (u32)__builtin_ctz(m);
        Cta *at;
        Cluster *cluster = x->cta->cluster;
        u8 *to = shared_place(x, i, ((u64 *)R(x, o->a))[i], 16, 16, generic | ADDRESS_OWN, &at);
        u8 *bar = to ? shared_place(x, i, ((u64 *)R(x, o->b))[i], 8, 8, generic | ADDRESS_OWN, &at) : 0;
        if (!bar) return;
        u64 offset = (u64)(bar - at->smem) + x->smem_start, id = __atomic_fetch_add(x->next_cluster, 1, __ATOMIC_RELAXED), word[2] = {0, 0};
        if (id < x->last_cluster) {
            u32 place[4] = {0, 0, 0, 1};
            for (u32 k = 0; k < 3; k++) { place[k] = (u32)(id % (x->grid[k] / x->cluster[k])) * x->cluster[k]; id /= x->grid[k] / x->cluster[k]; }
            memcpy(word, place, 16);
        }
        for (u32 r = 0; r < cluster->size; r++) {
            Cta *peer = cluster->cta[r];
            if (o->mod & 1 ? 0 : peer != x->cta) continue;
            if (!check_mbarrier(x, peer, (u32)offset, i)) return;
            Async a = new_async(x, answer, 1u << i);
            a.p[0] = (u64)(peer->smem + (to - at->smem)); a.p[1] = word[0]; a.p[2] = word[1];
            a.at = peer; a.barrier = (u32)offset; a.tx = 16;
            poison(x, (void *)a.p[0], 16);
            if (UNLIKELY(x->sanitizer != 0)) {
                Accessor s = sanitizer_async(x, i, ROW_MBARRIER, SEEN_WRITE);
                sanitizer_on_barrier(x, &s, peer, (u32)offset);
                shadow_touch(x, &s, &s.c->shared[peer->rank], (u64)(to - at->smem), 16);
                sanitizer_signal(x, peer, (u32)offset, i, ROW_MBARRIER);
            }
            issue_async(x, &a);
            if (x->status != STATUS_RUNNING) return;
        }
    }
}
static void f_is_canceled(Ctx *x, const Op *o, u32 m) {                  // a: a 128-bit register
    u32 yes = 0;
    for (u32 i = 0; i < LANES; i++) yes |= (u32)(((u64 *)R(x, o->a + 256))[i] >> 32 != 0) << i;
    put_pred(x, o->d, yes, m);
}

#define E(n) {#n, f_##n}
const Entry cluster_ops[] = {E(cluster_arrive), E(cluster_wait), E(setmaxnreg), E(try_cancel), E(is_canceled), {0, 0}};
