// The sanitizer: a happens-before race detector with vector clocks (this file and clocks.h) and shadow memory (shadow.c). Off
// unless Ctx.sanitizer is set. It has no reference implementation.
//
// Clocks. Every accessor of memory is a lane of a row: lane l of the row of a warp is that thread; further rows are for the
// operations that a thread issues and waits for by groups (cp.async, bulk stores, wgmma, tcgen05); and each mbarrier is a lane
// of a row, for operations that complete on it. A clock holds, for all rows of a cluster, the latest known time of each lane. A
// release (an arrival at a barrier, ...) joins the thread's clock to that of the synchronization object, an acquire joins that
// to the thread's. The lanes of a warp share one clock until some of them acquire without the others.
//
// Proxies. The rows of threads and of cp.async exist twice: the second set is what has also passed a fence.proxy.async, which
// counts when an asynchronous copy or product follows an ordinary write. The rows of tcgen05 exist twice as well: the second
// set is what has passed a tcgen05.fence::before_thread_sync or a commit.
//
// Sequential consistency. If the program has fence.sc at GPU scope, all rows exist once more: what precedes a fence.sc that
// precedes; and once more if it has some at cluster scope, too: what precedes one of either scope. A relaxed write publishes
// these rows; a thread that read the write and then executes a fence.sc acquires them, because the order of the fences is then
// known (axiom Fence-SC). This holds even if the fences are not next to the accesses.
//
// Other clusters. A clock has rows for its own cluster only. The clocks that threads acquired from other clusters are kept
// with the times since which these threads know them; whoever knows such a time knows the clock.
#ifndef PYPTX_WATCH_H
#define PYPTX_WATCH_H
#include "async.h"

#define ROW_KINDS ROW_MBARRIER                                           // rows of a warp
enum { SEEN_TOGETHER = 4, SEEN_CACHED = 8 };       // with an access of `abi.ACCESSES`: by all lanes as one; as a texture or surface
// Flags of an access: by the async proxy; strong; released to the tensormap proxy; of a tensor map; of a texture or surface; an
// ordered store; of a box, whose swizzle is in `base`; of an mbarrier by an mbarrier instruction.
enum { SEEN_ASYNC = 1, SEEN_STRONG = 2, SEEN_RELEASED = 4, SEEN_MAP = 8, SEEN_IMAGE = 16, SEEN_STORE = 32, SEEN_BOX = 64, SEEN_MBARRIER = 128 };

typedef struct { u32 write, reads; } Cell;                               // see shadow.c
enum { SPLIT = 0xffffffffu, TOP = 0x80000000u, MOST_SHAPES = 1 << 10 };
typedef struct { Cell *cells; u64 bytes; const u8 *host; u32 space, id, fresh, warps; u32 *readers; } Shadow;       // fresh: uninitialized; readers: of each cell and warp, see shadow_warp.c
// Swizzles: the number of 16-byte chunks that are permuted, 1 to 8; or four of 32 bytes.
enum { SWIZZLE_ATOM_32 = 16 };
enum { SC_CLUSTER = 1, SC_GPU = 2, SC_BOTH = 3 };
enum { REMOTE_DEFAULT = 1, REMOTE_SCOPED = 2 };                          // without a scope, which means .cta; with .cluster
enum { LEVELS = SCOPE_GPU + 1 };                                         // scopes that are distinguished: CTA, cluster, and wider
// An access of one instruction by lanes of a warp.
// `base`, `shape`: of accesses by PLACE, the offset of the lowest lane and the shape of the others relative to it; `base` of a
// strong access of a lane: its scope plus one.
typedef struct { u32 time, pc, mask, cluster; u16 row; u8 how, flags; u32 base; u16 by, shape; } Record;
typedef struct { V32 offset; u32 bytes, apart, nspans; struct { u32 at, bytes; } span[LANES]; } Shape;      // apart: lanes do not overlap; spans: the union of all lanes
typedef struct { u32 rule, pc[2], how[2], kind[2], thread[2], cluster[2], space, place, count; u64 cta, offset; u32 swizzle[2]; } Finding;

typedef struct {
    V32 done[ROW_KINDS];        // the latest own operation that each lane has waited for
    V32 groups[ROW_KINDS];      // the number of groups
    V32 newest[ROW_KINDS];      // the group of the newest operation
    V32 tracked[ROW_KINDS];     // the newest operation that an mbarrier tracks
    V32 fenced[2];              // own accesses, and own cp.async, before the last fence.proxy.async
    struct { V32 *clock; V32 time; u32 mask; } proxy_fence[2];           // the last two of them, if there are other CTAs to synchronize with
    V32 before[3];              // the latest own tcgen05 operations waited for at the last tcgen05.fence::before_thread_sync
    V32 *common, *lane[LANES];  // the clock of all lanes; of the lanes in `own`
    V32 *after[LANES + 1];      // the tcgen05 rows at the last tcgen05.fence::after_thread_sync: of lanes, of all
    V32 *fence[LEVELS][LANES + 1];      // the clock at the last memory fence of this scope or a wider one: of lanes, of all
    V32 fence_own[LEVELS][ROW_KINDS];   // the lanes' own times at it
    V32 *read[2][LANES];        // clocks observed by relaxed reads, for the next memory fence: of the CTA, of the cluster
    u32 inits;                  // lanes that initialized mbarriers
    u32 own, time, index;
    struct { u64 key; u32 cluster, lane, acquired, time, fenced; } *later; u32 nlater, later_room;    // the same for other clusters
    u32 newest_pc[ROW_KINDS];
    u32 *record;                // the newest of each operation
    u32 sure[256];              // cache of records that all lanes of the warp know
    Cta *cta;
    u32 peers;                  // CTAs of the cluster whose shared memory it accessed
    u32 peer_time[CLUSTER_CTAS], peer_pc[CLUSTER_CTAS], peer_mask[CLUSTER_CTAS];
} SanitizerWarp;

typedef struct {
    V32 *pending, *done;        // joined in this phase; in completed phases
    V32 *own_pending, *own_done;        // without arrivals of other CTAs; NULL: the same
    u32 remote[2];              // arrivals of other CTAs in this phase, and in completed ones: REMOTE_DEFAULT, REMOTE_SCOPED
    u32 remote_pc, remote_by, remote_lane;       // the newest of them
    u32 at, phase, row, lane;   // offset in shared memory; completed phases
    u32 waited;                 // the newest phase waited for, plus one
    u32 copies, pc, by;         // the phase of the newest copy plus one, its operation and warp
    u32 init_pc, init_by, init_lane, init_time, fenced, released;       // released: by fence.mbarrier_init
    u32 first, over_pc, over_by;                                         // the phase after mbarrier.init; the operation and warp that completed the newest
    u32 rank;
} SanitizerMbarrier;

// What threads know of another cluster: its clock, and since which time each of them knows it.
typedef struct { u32 cluster; V32 *rows, *since; } ClusterClock;
typedef struct { u32 cluster, nforeign; ClusterClock *foreign; } EndedCluster;

typedef struct SanitizerCluster {
    u32 id, nbarriers, barriers_room, warps;
    SanitizerWarp *warp;
    V32 *bar[CLUSTER_CTAS][16];
    V32 *arrived, *met;         // of the cluster barrier: in this phase, in the last one
    u16 *slot[CLUSTER_CTAS];    // number + 1 of the mbarrier at each 8 bytes
    SanitizerMbarrier *barriers;
    Shadow shared[CLUSTER_CTAS], tensor[CLUSTER_CTAS];
    ClusterClock *foreign;
    u32 nforeign, foreign_room;
    u32 ended;                  // CTAs that exited
} SanitizerCluster;

// An accessor: made by sanitizer_thread or sanitizer_async and passed to sanitizer_shared, sanitizer_global, sanitizer_tensor.
typedef struct {
    SanitizerCluster *c;
    SanitizerWarp *p;
    const V32 *clock, *tensor;  // its clock; that of tcgen05, NULL: everything is known
    u32 lane;                   // the lane whose own accesses precede: 0-31, ANY_LANE: any of the warp, NO_LANE: none
    u32 value, how, flags, row, kind, pc;
    u32 good, good_reads;       // accesses known to precede
    u32 wide, base, shape;      // lanes with a common clock, selected by PLACE; as in Record
    u32 passed, stood_for;      // a record that the warp knows; a read that this one replaces
    u32 others;                 // the accesses of the cell since its last write
    u32 sure, set, added, with; // a record known in all lanes; the last set, the set it became, and the value added
    u32 number;                 // of the accessor, with its lane, in Sanitizer.known
    u32 box;                    // a record whose swizzle is that of the tile, see sanitizer_chunks
} Accessor;
enum { ANY_LANE = 32, NO_LANE = 33, SEVERAL = 32, PLACE = 33 };          // the last two replace the lane of a value

typedef struct Sanitizer {
    const u32 *info;
    u32 kinds, slot[ROW_KINDS], kind_of[ROW_KINDS], rows, proxy_rows, tensor_rows, sc_rows, warps, barrier_row;    // rows of a clock; 0 proxy_rows: nothing is asynchronous
    Record *records; u32 nrecords, records_room;
    Shape *shapes; void *room_of_shapes; u32 nshapes, *shape;                                  // shape: the newest two of each operation
    Cell (*kids)[4]; u32 nkids, kids_room, free_kid;
    struct { u32 value, next, atomic, size; } *nodes; u32 nnodes, nodes_room;
    struct { u32 set, value, result; } memo[1 << 14];
    struct { u32 value, number; } known[256]; u32 accessors;             // reads of whole warps known to precede an accessor; the number of accessors
    Finding found[256]; u32 nfindings;
    Shadow *global;
    struct Sync *sync[1 << 12];
    V32 **spare; u32 nspare, spare_room;
    EndedCluster *done; u32 ndone, done_room;     // clocks of finished clusters
    V32 *scratch, *nothing, *last;                                       // last: used when out of memory
    struct { Accessor a; Record before; u32 code, bytes; const Shadow *s; u64 offset; u8 was[16]; } doubt[1024]; u32 ndoubts;
    u32 full, full_pc, unlisted, nsync;
    u32 unproven;                             // an unordered pair of accesses may be unreported, see core_is_race_free
    u64 full_steps, most_bytes, clock_bytes;                             // most_bytes: limit of each table, see tables.c
    u32 often, collect_records, collect_nodes;
    u32 sc_scopes;                            // SC_CLUSTER, SC_GPU: scopes of fence.sc in the program
    u32 narrow_waits;                         // a wait may exclude arrivals of other CTAs by its scope
    u32 proxy_spaces;                         // bits of state spaces (IN_SHARED, ...) that a fence.proxy.async covers
    struct MapFence *map_fences; u32 nmap_fences, map_fences_room;
    SanitizerMbarrier placeholder;            // used for an mbarrier when out of memory
} Sanitizer;

int sanitizer_open(Ctx *x, const u32 *info, u64 most_bytes);
void sanitizer_close(Ctx *x);
void sanitizer_start_cluster(Ctx *x, Cluster *cluster);
void sanitizer_end_cta(Ctx *x, Cta *cta);
void sanitizer_end_cluster(Ctx *x, Cluster *cluster);

void sanitizer_fast_access(Ctx *x, const Pattern *p, int shared, const u8 *host, u32 bytes, u32 how);      // by a whole warp; host: address of the lowest lane
void sanitizer_access(Ctx *x, const Op *o, u32 m, Access *t, u32 how);       // of lanes of x->warp
int sanitizer_cp_async(Ctx *x, const Pattern *p, u64 from, V32 to, u32 bytes);
Accessor sanitizer_async(Ctx *x, u32 lane, u32 kind, u32 how);                  // issued by a lane of x->warp, or ANY_LANE
void sanitizer_on_barrier(Ctx *x, Accessor *a, Cta *at, u32 barrier);           // it completes on an mbarrier
void sanitizer_shared(Ctx *x, Accessor *a, const Cta *cta, u64 offset, u64 bytes);       // offset: from the start of shared memory
// The first `bytes` of `n` chunks of a tile, at offsets from the start of shared memory; swizzle: check that they were written with it, 0: unknown.
void sanitizer_chunks(Ctx *x, Accessor *a, const Cta *cta, const u32 *offset, u32 n, u32 bytes, u32 swizzle);
void sanitizer_global(Ctx *x, Accessor *a, u64 address, u64 bytes);
void sanitizer_tensor(Ctx *x, Accessor *a, const Cta *cta, u32 half, u32 column, u32 columns); // half: 16 of the 128 lanes
// sanitizer/tensor_maps.c
void sanitizer_map(Ctx *x, const Accessor *copy, u64 address);
void sanitizer_map_written(Ctx *x, u32 lane, const u8 *host, u32 released);
void sanitizer_map_copied(Ctx *x, const u8 *from, const u8 *to, u32 lane);
void sanitizer_map_release(Ctx *x, u32 m);
void sanitizer_map_acquire(Ctx *x, u32 m, const u64 *address);
void sanitizer_maps_close(struct Sanitizer *w);
void sanitizer_fresh_tensor(Ctx *x, const Cta *cta, u32 column, u32 columns);
void sanitizer_commit(Ctx *x, u32 kind, u32 lanes);
void sanitizer_wait_groups(Ctx *x, u32 kind, u32 lanes, u32 most);           // most NONE: all operations, committed or not

void sanitizer_arrive_barrier(Ctx *x, u32 id, u32 m);
void sanitizer_leave_barrier(Ctx *x, Cta *cta, Warp *w, u32 id, u32 m);
void sanitizer_barrier_complete(Ctx *x, Cta *cta, u32 id);
void sanitizer_warp_sync(Ctx *x, u32 m);
void sanitizer_cluster_arrive(Ctx *x, const Op *o, u32 m);
void sanitizer_cluster_complete(Ctx *x, Cluster *cluster);
void sanitizer_cluster_wait(Ctx *x, u32 m);
void sanitizer_init_mbarrier(Ctx *x, Cta *at, u32 barrier, u32 lane);
void sanitizer_inval_mbarrier(Ctx *x, Cta *at, u32 barrier, u32 lane);
void sanitizer_signal(Ctx *x, Cta *at, u32 barrier, u32 lane, u32 kind);     // a lane arrives, or its operations of a kind on completion
void sanitizer_signaled(Ctx *x);                                            // after the arrivals of an instruction
void sanitizer_complete_phase(Ctx *x, Cta *at, u32 barrier);                          // a phase is complete
void sanitizer_wait_phase(Ctx *x, Cta *at, u32 barrier, u32 lanes);
void sanitizer_test_phase(Ctx *x, Cta *at, u32 barrier, u32 lane, u32 parity);      // a lane tests the phase of this parity
void sanitizer_fence(Ctx *x, const Op *o, u32 m);

// sanitizer/tables.c
void sanitizer_no_memory(Ctx *x);
void sanitizer_full(Ctx *x);
void sanitizer_limits(Sanitizer *w, u64 most_bytes, u64 cells);                   // limit of each table; cells of global memory
int sanitizer_room(void *list, u32 *room, u32 used, u32 first, u64 size);
u32 new_record(Ctx *x, const Record *r);
u32 new_kids(Ctx *x, Cell all);
void free_kids(Sanitizer *w, u32 k);
u32 new_node(Ctx *x, u32 value, u32 next);
void sanitizer_collect(Ctx *x);
static inline void sanitizer_turn(Ctx *x) {                                  // before each turn of a warp
    if (UNLIKELY(x->sanitizer->nrecords >= x->sanitizer->collect_records || x->sanitizer->nnodes >= x->sanitizer->collect_nodes)) sanitizer_collect(x);
}

// sanitizer/shadow_warp.c
void shadow_read_whole(Ctx *x, Accessor *a, Shadow *s, u64 offset, u64 bytes);      // whole cells, by a whole warp
void shadow_after_readers(Ctx *x, Accessor *a, Shadow *s, u64 cell, u64 offset, u32 bytes);

// sanitizer/shadow.c
void shadow_follow(Ctx *x, Accessor *a, const Cell *c, const Shadow *s, u64 offset, u32 bytes);
int follows(Ctx *x, Accessor *a, u32 value, const Shadow *s, u64 offset, u32 bytes);   // 1: independent of the offset
u32 lanes_at(const Sanitizer *w, u32 base, u32 shape, u64 offset, u32 bytes);  // lanes that access some of these bytes
void shadow_touch(Ctx *x, Accessor *a, Shadow *s, u64 offset, u64 bytes);
// An ordinary access after one that all lanes of its warp are known (cached) to know.
static inline int is_sure(const Accessor *a, u32 value) { return a->p->sure[value >> 6 & 255] == value >> 6 && !(a->flags & SEEN_ASYNC) && !a->tensor; }
u64 shadow_unwritten(const Sanitizer *w, const Shadow *s, u64 *first);        // number of bytes; *first: the first of them
void shadow_forget(Sanitizer *w, Shadow *s, u64 offset, u64 bytes);
void report_finding(Ctx *x, u32 rule, const Accessor *a, const Record *before, u32 code, const Shadow *s, u64 offset);
void settle_doubts(Ctx *x);
int happens_before(const Sanitizer *w, const Accessor *a, const Record *r, u32 code);
static inline SanitizerWarp *sanitizer_warp(const Ctx *x) { SanitizerCluster *c = x->cta->cluster->sanitizer; return &c->warp[x->cta->rank * x->nwarps + x->warp->index]; }
#endif
