// The simulator core: warps of 32 lanes run fixed-width operations over registers laid out [slot][lane].
//
// Values are untyped bits. A 32-bit (or narrower, zero-extended) register is one 128-byte row, a 64-bit one two rows,
// a predicate one 32-bit word with a bit per lane. Operands name a byte offset in one of four segments (low two bits).
#ifndef PYPTX_CORE_H
#define PYPTX_CORE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t i32;
typedef int64_t i64;

#define ALL 0xffffffffu
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

typedef u32 V32 __attribute__((ext_vector_type(32), aligned(128)));
typedef i32 S32 __attribute__((ext_vector_type(32), aligned(128)));
typedef float F32 __attribute__((ext_vector_type(32), aligned(128)));
typedef u64 V64 __attribute__((ext_vector_type(32), aligned(128)));
typedef i64 S64 __attribute__((ext_vector_type(32), aligned(128)));
typedef double F64 __attribute__((ext_vector_type(32), aligned(128)));
typedef _Bool B32 __attribute__((ext_vector_type(32)));

typedef struct Op Op;
typedef struct Ctx Ctx;
typedef struct Link Link;                               // chain.h
typedef struct Linear Linear;                           // linear.c
typedef struct Quad Quad;                               // quads.h
typedef struct Run Run;
typedef void (*Handler)(Ctx *x, const Op *o, u32 m);    // `m`: the lanes that execute it

#include "abi.h"                                        // generated from abi.py and abi_structures.py of pyptx/sim

#define F_SPECIAL (F_BRANCH | F_EXIT | F_SYNC | F_BARRIER | F_TRAP | F_JUMP_TABLE | F_CALL | F_RETURN | F_HOST | F_WAIT)
#define RND_MASK 7                                      // the rounding in Op.mod of a floating-point operation
#define GROUP_RETRIES 0x80000000u                                               // Group.barrier of a group that waited and retries

typedef struct { u32 pc, mask; i32 join; u32 state, barrier; i32 frame; } Group;     // join, frame: -1 is none
typedef struct { u32 pc, expected, arrived; i32 parent; u32 used; i32 frame; } Join;
// An active call: its lanes reconverge at `pc`, where `join` and `parent` are their reconvergence point and frame.
typedef struct { u32 pc, expected, arrived, used; i32 parent, join; char *kept; u64 bytes; } Frame;

typedef struct Cluster Cluster;
typedef struct Tmem Tmem;

typedef struct {
    char *regs, *sregs;         // registers; special registers that depend on the index of the warp
    u8 *local;                  // [lane][local_bytes]
    u32 live, index, cur, joins; // joins: number in use
    u32 top;                    // all groups from this one on are free
    u64 issued;
    Group g[LANES];
    Join j[LANES + 1];
    u32 waiting;                // number of groups that retry
    u32 tracked;                // `committed` is not all zero
    u32 committed[TRACK_NONE][LANES];   // groups of asynchronous operations so far
    u32 cluster_arrived, cluster_waiting;     // lanes that arrived at the cluster barrier in this phase; that have not waited yet
    u32 registers;              // of each thread, 0: unknown (setmaxnreg)
    u32 asked;                  // number of setmaxnreg executed
    u16 wanted[8];              // the register counts of the newest ones
    Frame *frames;              // calls.c
    u32 nframes, frames_room;   // all frames from nframes on are free
    u32 first_free;             // no frame before this one is free
    u64 stack_bytes;            // of all frames, at most CALL_STACK_BYTES
} Warp;

typedef struct {
    u32 arrived;                // warps that arrived in this phase
    u32 count;                  // threads expected, 0: all of the CTA
    u32 used;                   // a warp arrived in this phase: `count` is valid
    u32 popc, all, any;         // bar.red over the arrived threads
    u32 partial[LANES];         // lanes of incompletely arrived warps
} Barrier;

typedef struct Cta {
    u64 id;
    u32 nwarps, left;           // warps, warps with live lanes
    u32 next;                   // warp whose turn it is
    u32 barriers;               // barriers in use, a bit each
    u8 *smem;
    char *sregs, *memory;
    Warp *warps;
    Barrier bar[16];
    Cluster *cluster;
    u32 rank, base;             // in its cluster; base of its shared addresses: rank << 24
    u32 registers;              // left in its pool, in registers of each thread of a warp
    u32 paused, idle;           // in the middle of a turn, see run_cta
    u64 used, quantum;
    u32 turn;                   // schedule=random: the order of warps
    u8 order[LANES];
    u32 stopped;                // a debugged launch: 1 + the warp in whose turn it stopped, or 0
    u64 left_of_turn;
    Tmem *tmem;                 // tmem.h; NULL: none allocated so far
    u32 *phases;                // synchronization.c; NULL: off
} Cta;

enum { CLUSTER_CTAS = 16, RANK_SHIFT = 24 };
// CTAs of a cluster, which run concurrently; one CTA in a launch without clusters.
struct Cluster {
    u64 id, random;             // state of the generator, see draw in async.h
    u32 size, live, idle;       // CTAs; unfinished ones; consecutive ones that could not run
    u32 arrived;                   // a thread arrived at its barrier in this phase
    Cta *cta[CLUSTER_CTAS];
    struct Async *first, *last; // under way
    u64 pending;
    struct SanitizerCluster *sanitizer; // NULL: off
    Cluster *next_retired;            // in the list Ctx.retired
};

// The 8 bytes of an mbarrier: pending arrivals, expected arrivals (20 bits each), tx-count (21, signed), phase, and a tag of the
// layout: 01 v0; 10 v1, whose counts are at most 511.
#define MB_PENDING(w) ((i64)((w) & 0xfffff))
#define MB_EXPECTED(w) ((i64)((w) >> 20 & 0xfffff))
#define MB_TX(w) ((i64)((w) << 3) >> 43)
#define MB_PHASE(w) ((u32)((w) >> 61 & 1))
#define MB_LAYOUT(w) ((u64)(w) >> 62)
#define MB_IS(w) (MB_LAYOUT(w) == 1 || MB_LAYOUT(w) == 2)
#define MB_WORD(pending, expected, tx, phase, layout) \
    ((u64)(pending) | (u64)(expected) << 20 | ((u64)(tx) & 0x1fffff) << 40 | (u64)(phase) << 61 | (u64)(layout) << 62)

enum { LAST = 8 };            // warps of which an operation remembers its last address
// The address pattern of the last execution of a memory operation; equal patterns are analyzed once.
typedef struct {
    V64 delta;                  // from the first lane
    V32 delta32, offset;        // the same modulo 2^32; from the lowest lane
    u32 mask, phase, extra, excess, valid, segment, kind, bytes, near;          // near: all offsets fit in `offset`
    i64 lo, hi;
    u64 bits, span;
    u32 wide_phase, wide[2];    // passes over shared memory with 8 and 16 bytes for each lane, see memory.c
    u64 last[LAST];             // addresses of the last executions, by the index of the warp modulo LAST
} Pattern;

typedef struct { u64 issues, lanes; } Executed;

struct Ctx {
    char *base[4];              // segments: registers, constants, per CTA, per warp
    u32 active;
    u32 status;
    Warp *warp;
    Cta *cta;
    const Op *ops;
    const u32 *pool;            // operand lists and jump tables
    u32 pc;
    Pattern *pattern;           // one per operation for executions by all lanes; then one for partial ones
    Link *link;
    Run *run;
    Linear *linear;             // forms that warps evaluate; or NULL
    Quad *quads;                // of stores that compute what they store; or NULL
    Executed *executed;         // differences between consecutive operations, see settle_counts; of the warp in a profiled run
    Executed *all_executed;     // those of all warps of a cluster, one after the other, in a profiled run; else of the launch
    u64 turn_end, turn_left;    // warp-instructions at the end of the turn, and remaining; see read_clock
    u32 chain_start;
    Segment *segments;
    u64 nsegments;
    u8 *param;
    u64 param_bytes, smem_start, smem_bytes, local_bytes, reg_bytes;
    u64 shared_window, local_window, const_window, param_window, function_window;
    u64 *issues, *lanes, *divergent, *conflicts, *requests, *sectors, *excess;
    u32 tensor_cores;              // abi.TENSOR_CORES: 1 adds as the hardware does; 2 only counts the work
    u64 until;                  // steps after which core_run returns
    u64 steps, max_steps, cta_quantum, warp_quantum;
    u32 grid[3], block[3], cluster[3], nwarps, nops, ninstr, resident, max_resident;
    u64 *next_cluster, last_cluster;    // the counter is shared by all workers of the launch
    u32 schedule;               // SCHEDULE_..., see async.h
    u64 seed;
    u32 not_yet, landed;        // set by handlers of F_WAIT, see async.h; by the asynchronous engine
    u64 smem_origin;            // smem_start and the base of the CTA that runs
    u32 nshared;                // addresses of shared variables, in rows after the special registers of the CTA
    const u32 *shared_addresses;
    u32 maxnreg;                // registers of a thread at launch, 0: unknown
    u64 *waits, *async_operations, *tma_bytes, *tensor_flops;            // counters
    u64 *warp_issues;           // one row of counters for each warp of a cluster, or NULL: see observe.c
    u8 **marks;                 // of each segment: bits of bytes read, of bytes written, of bytes written before they were read, not NULL if one was written; or NULL
    u32 *links;                 // of each instruction: mbarriers it used; or NULL
    u64 *lines, *bank_passes;   // of each instruction: 128-byte lines of global accesses, and passes beyond the first; or NULL
    u64 *fresh_loads, *recent;  // of each instruction: see observe_reuse in memory.c; sectors that each warp of a cluster has read; or NULL
    u64 *masked_sectors;        // of each instruction: see masked_sectors in memory.c, for stores to global memory; or NULL
    u64 *atomic_turns;          // of each block of global memory, modulo ATOMIC_BLOCKS: see observe_turns in atomics.c; or NULL
    u64 *atomic_passes;         // of each instruction: passes over shared memory with one for each lane of a bank; or NULL
    u64 *read_segments;         // of each instruction: bits of the segments that it loads from, the last one of all further ones; or NULL
    u64 *wide_passes;           // of each instruction: passes over shared memory with 8, with 16 bytes for each lane; or NULL
    u16 *barriers;               // of each warp of a cluster and instruction: bits of the CTA barriers it used; or NULL
    u64 synchronization, *synchronizations;      // a hash, and where core_close adds it or NULL: see synchronization.c
    u32 current;
    u32 yields;                 // lanes may wait for each other through memory
    u32 ninitial;             // registers that may be read before they are written
    u32 *initial;
    u64 initial_threads[2];                // the range of threads with other initial values, see set_initial_value
    char *consts, *warp_specials;
    u64 warp_special_bytes;
    Cta **ctas;
    Cluster *spare;             // a finished one, for reuse
    Cluster *retired;            // a debugged launch: all other finished ones, see checkpoint.c
    struct Sanitizer *sanitizer;        // sanitizer/sanitizer.h; NULL: off
    struct Debug *debug;        // debug.h; NULL: not a debugged launch
    u32 fault, fault_lane;
    u64 fault_address, fault_extra;
};

typedef struct { const char *name; Handler fn; } Entry;
extern const Entry integer_ops[], logic_ops[], float_ops[], double_ops[], half_ops[], convert_ops[], memory_ops[],
    atomic_ops[], warp_ops[], control_ops[], tensor_ops[], wgmma_ops[], matrix_ops[], mbarrier_ops[], cluster_ops[], copy_ops[], tma_ops[], tmem_ops[], tcgen05_ops[],
    object_ops[], texture_ops[], surface_ops[];

// Record accesses of global memory in a profiled run: observe.c.
#define MARKS 4
void mark(Ctx *x, const Segment *s, u64 offset, u64 bytes, int writes);
static inline void touch(Ctx *x, const Segment *s, u64 va, u64 bytes, int writes) {
    if (UNLIKELY(x->marks != 0)) mark(x, s, va - s->va, bytes, writes);
}

#define R(x, o) ((x)->base[(o) & 3] + ((o) & ~3u))
#define PRED(x, o) (*(u32 *)R(x, o))
#define ROW(T, x, o) (*(T *)R(x, o))

static inline V32 iota32(void) {
    V32 v = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    return v;
}
static inline S32 expand32(u32 m) { return (S32)((((V32)m >> iota32()) & 1) != 0); }
static inline S64 expand64(u32 m) { return __builtin_convertvector(expand32(m), S64); }
static inline u32 bits32(S32 v) { return __builtin_bit_cast(u32, __builtin_convertvector(v, B32)); }
static inline u32 bits64(S64 v) { return __builtin_bit_cast(u32, __builtin_convertvector(v, B32)); }

static inline void put32(Ctx *x, u32 d, V32 v, u32 m) {
    V32 *p = &ROW(V32, x, d);
    if (LIKELY(m == ALL)) { *p = v; return; }
    S32 k = expand32(m);
    *p = (v & (V32)k) | (*p & ~(V32)k);
}
static inline void put64(Ctx *x, u32 d, V64 v, u32 m) {
    V64 *p = &ROW(V64, x, d);
    if (LIKELY(m == ALL)) { *p = v; return; }
    S64 k = expand64(m);
    *p = (v & (V64)k) | (*p & ~(V64)k);
}
static inline void put_pred(Ctx *x, u32 d, u32 v, u32 m) {
    u32 *p = &PRED(x, d);
    *p = (*p & ~m) | (v & m);
}
static inline float as_f32(u32 v) { return __builtin_bit_cast(float, v); }
static inline u32 of_f32(float v) { return __builtin_bit_cast(u32, v); }
static inline double as_f64(u64 v) { return __builtin_bit_cast(double, v); }
static inline u64 of_f64(double v) { return __builtin_bit_cast(u64, v); }

void f_nop(Ctx *x, const Op *o, u32 m);                                  // operations.c
void read_clock(Ctx *x, const Op *o, u32 m);                             // needs Ctx.turn_left, so it ends a chain
Handler handler_of(const Op *o);
void raise_fault(Ctx *x, u32 kind, u32 lane, u64 address, u64 extra);
void set_rounding(u32 mode);
u64 plain_arithmetic(void);                                             // disable flushing of subnormals; returns the previous mode
void restore_arithmetic(u64 before);
u64 round_double(double v, u32 format, u32 mod);                         // convert.c
double widen(u64 bits, u32 format);
void arrive_barrier(Ctx *x, const Op *o, u32 m);                         // cta_barrier.c
void recheck_barriers(Ctx *x, Cta *cta);
const char *core_op_name(u32 code);                                      // operations.c
u32 core_op_code(const char *name);                                      // NONE: there is none
u32 run_warp(Ctx *x, Warp *w, u64 quantum);                              // warp.c
void spawn(Warp *w, u32 pc, u32 mask, i32 join, i32 frame);
void settle_joins(Warp *w);
int free_held(Ctx *x, Warp *w);
int call_function(Ctx *x, Warp *w, Group *g, const Op *o, u32 m);        // calls.c
void return_lanes(Ctx *x, Warp *w, Group *g, u32 m);
void settle_frames(Ctx *x, Warp *w);
void resume_returned(Ctx *x, Warp *w, u32 frame);
u8 *lane_memory(Ctx *x, Warp *w, u32 lane, u64 address, u64 bytes);      // memory.c
void start_cta(Ctx *x, Cta *cta, u64 id);                                // scheduler.c
void recheck_cluster(Ctx *x, Cluster *cluster);                                  // cluster.c
Cta *new_cta(Ctx *x);
void close_clusters(Ctx *x);
void describe_mbarrier(Ctx *x, Cta *cta, Warp *w, const Group *g, GroupInfo *out);  // mbarrier.c: address, word, phase
void reset_tmem(Cta *cta);                                               // tmem.c
void free_tmem(Cta *cta);
void check_tmem(Ctx *x, Cta *cta);
void free_cta(Cta *cta);
u64 cta_bytes(const Ctx *x);                                            // of Cta.memory
void link_mbarrier(Ctx *x, u32 barrier, u32 free);                       // observe.c
void count_for_warp(Ctx *x, u64 warp);                                   // chain.c
enum { SYNC_BARRIERS = 1 << 30 };                                       // the place of barrier 0; those below are of mbarriers
enum { SYNC_ARRIVES, SYNC_COMPLETES, SYNC_WAITED, SYNC_NOT_YET };
u32 *phase_of(Ctx *x, const Cta *at, u32 place);                         // synchronization.c
void synchronized(Ctx *x, u32 event, const Cta *at, u32 place, u32 issued, u32 lanes);
char *aligned(size_t bytes);                                             // zeroed, on a 256-byte boundary
char *aligned_room(size_t bytes);                                        // the same, not zeroed
void release_aligned(void *p);

#endif
