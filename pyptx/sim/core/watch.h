// The sanitizer: who may see what, and who accessed what last. Off unless Ctx.watch is set; see watch.c and shadow.c.
//
// Clocks. Everything that accesses memory is a lane of a row: lane l of the row of a warp is that thread; other rows are
// what a thread started and waits for by groups (cp.async, bulk stores, wgmma, tcgen05); and each mbarrier is a lane of a
// row, for what completes on it. A clock holds, for all rows of a cluster, up to which time each lane is known. A thread
// gives its clock away when it releases (arrives at a barrier, ...) and takes another one in when it acquires. What lanes
// of a warp know is kept once for all of them, until some of them acquire without the others.
//
// Two proxies. The rows of threads and of cp.async are there twice: the second set says what has passed a
// fence.proxy.async as well, and is what counts when an asynchronous copy or product follows an ordinary write. The rows
// of tcgen05 are there twice, too: the second set says what has passed a tcgen05.fence::before_thread_sync or a commit.
#ifndef PYPTX_WATCH_H
#define PYPTX_WATCH_H
#include "async.h"

enum { ROW_THREAD, ROW_CP, ROW_BULK_READ, ROW_BULK, ROW_WGMMA, ROW_TC, ROW_TC_LD, ROW_TC_ST, ROW_KINDS, ROW_MBARRIER = ROW_KINDS };
enum { SEEN_READ, SEEN_WRITE, SEEN_ATOMIC, SEEN_TOGETHER = 4, SEEN_CACHED = 8 };       // how memory is accessed; by all lanes as one; as a texture or surface
enum { SEEN_ASYNC = 1, SEEN_STRONG = 2, SEEN_RELEASED = 4, SEEN_MAP = 8, SEEN_IMAGE = 16, SEEN_STORE = 32, SEEN_BOX = 64 };                  // by the async proxy; ordered among themselves; to the proxy of tensor maps; of a tensor map; of a texture or surface; a store that is ordered; of a box, whose swizzle is in `base`
enum { IN_SHARED, IN_GLOBAL, IN_TENSOR };
// What is reported; the order is known to sim/watch.py. LIMIT: from a step on nothing is watched; MORE: is not listed.
enum { FOUND_RACE, FOUND_PROXY, FOUND_INIT_FENCE, FOUND_FENCE_AFTER, FOUND_UNINITIALISED, FOUND_UNAWAITED,
       FOUND_UNAWAITED_BARRIER, FOUND_PEER, FOUND_LIMIT, FOUND_MORE, FOUND_DEAD, FOUND_MISSED, FOUND_MAP, FOUND_IMAGE = 14, FOUND_SWIZZLE };     // 13 is of Python

// An instruction as told by Python, one word each: ordering, scope << 4, fence << 8.
enum { ORDER_WEAK, ORDER_RELAXED, ORDER_ACQUIRE, ORDER_RELEASE, ORDER_BOTH };
enum { SCOPE_CTA, SCOPE_CLUSTER, SCOPE_GPU, SCOPE_SYS };
enum { FENCE_NONE, FENCE_MEMORY, FENCE_PROXY, FENCE_INIT, FENCE_AFTER, FENCE_MAP, FENCE_RELAXED, FENCE_BEFORE };

typedef struct { u32 write, reads; } Cell;                               // see shadow.c
enum { SPLIT = 0xffffffffu, TOP = 0x80000000u, MOST_SHAPES = 1 << 10 };
typedef struct { Cell *cells; u64 bytes; const u8 *host; u32 space, id, fresh, warps; u32 *readers; } Shadow;       // fresh: nothing in it until it is written; readers: of each cell and warp, see shadow_whole.c
// Swizzles: how many pieces of 16 bytes are exchanged, 1 to 8; or four of 32 bytes.
enum { SWIZZLE_ATOM_32 = 16 };
// Accesses of one instruction by one warp at one time.
// `base`, `shape`: of accesses by PLACE, where the lowest lane's bytes lie and how those of the others lie to them.
typedef struct { u32 time, pc, mask, cluster; u16 row; u8 how, flags; u32 base; u16 by, shape; } Record;
typedef struct { V32 offset; u32 bytes, apart, nspans; struct { u32 at, bytes; } span[LANES]; } Shape;      // apart: no byte is of two lanes; spans: what all cover
typedef struct { u32 rule, pc[2], how[2], kind[2], thread[2], space, place, count; u64 cta, offset; u32 swizzle[2]; } Found;

typedef struct {
    V32 done[ROW_KINDS];        // up to where each lane waited for what it started
    V32 groups[ROW_KINDS];      // how many there are
    V32 newest[ROW_KINDS];      // the group of the newest operation
    V32 tracked[ROW_KINDS];     // the newest that an mbarrier tracks
    V32 fenced[2];              // own accesses, and own cp.async, before the last fence.proxy.async
    V32 before[3];              // up to where own tcgen05 operations were waited for at the last tcgen05.fence::before_thread_sync
    V32 *common, *lane[LANES];  // what all lanes know; what those of `own` do
    V32 *after[LANES + 1];      // rows of tcgen05 that were known at the last tcgen05.fence::after_thread_sync: of lanes, of all
    V32 *fence[LANES + 1];      // the clock at the last memory fence: of lanes, of all
    V32 fence_own[ROW_KINDS];   // what lanes did themselves before it, with the last one
    V32 *read[LANES + 1];       // what relaxed reads have seen, for the next memory fence
    u32 own, time, index;
    struct { u64 key; u32 cluster, lane; } *later; u32 nlater, later_room;    // of other clusters, the same
    u32 newest_pc[ROW_KINDS];
    u32 *record;                // the newest of each operation
    u32 sure[256];              // records of which all lanes of the warp know; by their numbers
    Cta *cta;
    u32 peers;                  // CTAs of the cluster whose shared memory it accessed
    u32 peer_time[CLUSTER_CTAS], peer_pc[CLUSTER_CTAS], peer_mask[CLUSTER_CTAS];
} Watched;

typedef struct {
    V32 *pending, *done;        // given in this phase; in those that are over
    u32 at, phase, row, lane;   // offset in shared memory; phases that are over
    u32 waited;                 // the newest phase somebody waited for, plus one
    u32 copies, pc, by;         // the phase of the newest copy plus one, its operation and warp
    u32 init_pc, init_by, init_lane, init_time, fenced;
    u32 first, over_pc, over_by;                                         // the phase after mbarrier.init; who ended the newest
    u32 rank;
} Barriers;

typedef struct { u32 cluster; V32 *rows; } Foreign;                        // what is known of another cluster
typedef struct { u32 cluster, nforeign; Foreign *foreign; } Ended;

typedef struct WatchCluster {
    u32 id, nbarriers, barriers_room, warps;
    Watched *warp;
    V32 *bar[CLUSTER_CTAS][16];
    V32 *arrived, *met;         // of the cluster barrier: in this phase, in the last one
    u16 *slot[CLUSTER_CTAS];    // number + 1 of the mbarrier at each 8 bytes
    Barriers *barriers;
    Shadow shared[CLUSTER_CTAS], tensor[CLUSTER_CTAS];
    Foreign *foreign;
    u32 nforeign, foreign_room;
    u32 ended;                  // CTAs that have
} WatchCluster;

// Who accesses: made by watch_thread, watch_async; then given to watch_shared, watch_global, watch_tensor.
typedef struct {
    WatchCluster *c;
    Watched *p;
    const V32 *clock, *tensor;  // what is known; the same of tcgen05, NULL: everything
    u32 lane;                   // whose own accesses come before: 0 to 31, ANY_LANE: each of the warp, NO_LANE: none
    u32 value, how, flags, row, kind, pc;
    u32 good, good_reads;       // accesses that were found to come before
    u32 wide, base, shape;      // lanes of a warp that know the same: which of them, says the place; as in Record
    u32 passed, stood_for;      // a record of which the warp knows; a read that this one replaces
    u32 sure, set, added, with; // a record that is known as a whole; the last set, what it became with which value
} Agent;
enum { ANY_LANE = 32, NO_LANE = 33, SEVERAL = 32, PLACE = 33 };          // the last two: instead of the lane of a value

typedef struct Watch {
    const u32 *info;
    u32 kinds, slot[ROW_KINDS], kind_of[ROW_KINDS], rows, proxy_rows, tensor_rows, warps, barrier_row;    // of a clock; 0 proxy_rows: nothing asynchronous
    Record *records; u32 nrecords, records_room;
    Shape *shapes; void *room_of_shapes; u32 nshapes, *shape;                                  // shape: the newest of each operation
    Cell (*kids)[4]; u32 nkids, kids_room, free_kid;
    struct { u32 value, next, atomic, size; } *nodes; u32 nnodes, nodes_room;
    struct { u32 set, value, result; } memo[1 << 14];
    Found found[256]; u32 nfound;
    Shadow *global;
    struct Sync *sync[1 << 12];
    V32 **spare; u32 nspare, spare_room;
    Ended *done; u32 ndone, done_room;     // what clusters that ended knew of others
    V32 *scratch, *nothing, *last;                                       // last: when there is no memory for another one
    struct { Agent a; Record before; u32 code, bytes; const Shadow *s; u64 offset; u8 was[16]; } doubt[1024]; u32 ndoubts;
    u32 full, full_pc, unlisted, nsync;
    u64 full_steps, most_bytes, clock_bytes;                             // most_bytes: of each table, see watch_memory.c
    u32 often, collect_records, collect_nodes;
    struct MapFence *map_fences; u32 nmap_fences, map_fences_room;
    Barriers nobody;            // stands for an mbarrier that there is no memory for
} Watch;

int watch_open(Ctx *x, const u32 *info, u64 most_bytes);
void watch_close(Ctx *x);
void watch_start(Ctx *x, Cluster *cluster);
void watch_end(Ctx *x, Cta *cta);
void watch_stop(Ctx *x, Cluster *cluster);

void watch_moved(Ctx *x, const Pattern *p, int shared, const u8 *host, u32 bytes, u32 how);      // by a whole warp; host: of the lowest lane
void watch_access(Ctx *x, const Op *o, u32 m, Access *t, u32 how);       // of lanes of x->warp
Agent watch_async(Ctx *x, u32 lane, u32 kind, u32 how);                  // started by x->warp; lane: or ANY_LANE
void watch_on_barrier(Ctx *x, Agent *a, Cta *at, u32 barrier);           // it completes on an mbarrier instead
void watch_shared(Ctx *x, Agent *a, const Cta *cta, u64 offset, u64 bytes);       // offset: from the start of its memory
void watch_chunk(Ctx *x, Agent *a, const Cta *cta, u64 offset, u32 swizzle);      // of a tile in shared memory: had who wrote it this swizzle, too?
void watch_global(Ctx *x, Agent *a, u64 address, u64 bytes);
void watch_tensor(Ctx *x, Agent *a, const Cta *cta, u32 half, u32 column, u32 columns); // half: 16 of the 128 lanes
// watch_maps.c
void watch_map(Ctx *x, const Agent *copy, u64 address);
void watch_map_written(Ctx *x, u32 lane, const u8 *host, u32 released);
void watch_map_copied(Ctx *x, const u8 *from, const u8 *to, u32 lane);
void watch_map_release(Ctx *x, u32 m);
void watch_map_acquire(Ctx *x, u32 m, const u64 *address);
void watch_maps_close(struct Watch *w);
void watch_fresh_tensor(Ctx *x, const Cta *cta, u32 column, u32 columns);
void watch_commit(Ctx *x, u32 kind, u32 lanes);
void watch_wait_groups(Ctx *x, u32 kind, u32 lanes, u32 most);           // most NONE: for everything, committed or not

void watch_arrive(Ctx *x, u32 id, u32 m);
void watch_leave(Ctx *x, Cta *cta, Warp *w, u32 id, u32 m);
void watch_left(Ctx *x, Cta *cta, u32 id);
void watch_warp_sync(Ctx *x, u32 m);
void watch_cluster_arrive(Ctx *x, const Op *o, u32 m);
void watch_cluster_over(Ctx *x, Cluster *cluster);
void watch_cluster_wait(Ctx *x, u32 m);
void watch_init(Ctx *x, Cta *at, u32 barrier, u32 lane);
void watch_inval(Ctx *x, Cta *at, u32 barrier, u32 lane);
void watch_signal(Ctx *x, Cta *at, u32 barrier, u32 lane, u32 kind);     // lane arrives, or kind does for it once it is done
void watch_signalled(Ctx *x);                                            // after the arrivals of an instruction
void watch_phase(Ctx *x, Cta *at, u32 barrier);                          // it is over
void watch_waited(Ctx *x, Cta *at, u32 barrier, u32 lanes);
void watch_asks(Ctx *x, Cta *at, u32 barrier, u32 lane, u32 parity);      // whether the phase of this parity is over
void watch_fence(Ctx *x, const Op *o, u32 m);

// watch_memory.c
void watch_no_memory(Ctx *x);
void watch_full(Ctx *x);
void watch_limits(Watch *w, u64 most_bytes, u64 cells);                   // of each table; cells of global memory
int watch_room(void *list, u32 *room, u32 used, u32 first, u64 size);
u32 new_record(Ctx *x, const Record *r);
u32 new_kids(Ctx *x, Cell all);
void free_kids(Watch *w, u32 k);
u32 new_node(Ctx *x, u32 value, u32 next);
void watch_collect(Ctx *x);
static inline void watch_turn(Ctx *x) {                                  // before each turn of a warp
    if (UNLIKELY(x->watch->nrecords >= x->watch->collect_records || x->watch->nnodes >= x->watch->collect_nodes)) watch_collect(x);
}

// shadow_whole.c
void shadow_read_whole(Ctx *x, Agent *a, Shadow *s, u64 offset, u64 bytes);      // whole cells, by a whole warp
void shadow_after_readers(Ctx *x, Agent *a, Shadow *s, u64 cell, u64 offset, u32 bytes);

// shadow.c
void shadow_follow(Ctx *x, Agent *a, const Cell *c, const Shadow *s, u64 offset, u32 bytes);
int follows(Ctx *x, Agent *a, u32 value, const Shadow *s, u64 offset, u32 bytes);   // 1: and so it would anywhere
u32 lanes_at(const Watch *w, u32 base, u32 shape, u64 offset, u32 bytes);  // those that access some of these bytes
void shadow_touch(Ctx *x, Agent *a, Shadow *s, u64 offset, u64 bytes);
// An access of an ordinary instruction after one that all lanes of its warp know of, as they have found out before.
static inline int is_sure(const Agent *a, u32 value) { return a->p->sure[value >> 6 & 255] == value >> 6 && !(a->flags & SEEN_ASYNC) && !a->tensor; }
u64 shadow_unwritten(const Watch *w, const Shadow *s, u64 *first);        // bytes; *first: the first of them
void shadow_forget(Watch *w, Shadow *s, u64 offset, u64 bytes);
void watch_found(Ctx *x, u32 rule, const Agent *a, const Record *before, u32 code, const Shadow *s, u64 offset);
void settle_doubts(Ctx *x);
int comes_before(const Watch *w, const Agent *a, const Record *r, u32 code);
static inline Watched *watched(const Ctx *x) { WatchCluster *c = x->cta->cluster->watch; return &c->warp[x->cta->rank * x->nwarps + x->warp->index]; }
#endif
