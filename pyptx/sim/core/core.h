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

#define LANES 32
#define ALL 0xffffffffu
#define NONE 0xffffffffu
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
typedef struct Run Run;
typedef void (*Handler)(Ctx *x, const Op *o, u32 m);

// One operation; the layout is known to encode.py.
struct Op {
    Handler fn;                 // filled when the program is loaded
    u32 d, a, b, c, e;          // operands
    u32 guard, guard_flip;      // predicate word of the guard, xor-ed with guard_flip
    u32 instr;                  // index of the PTX instruction, for counters and faults
    u16 code, flags;
    u32 mod;                    // what the handler defines
    u64 imm;
    u32 aux, aux2;
};

enum { F_FULL = 1,              // writes a temporary: all lanes
       F_COUNT = 2,             // first operation of a PTX instruction
       F_BRANCH = 4, F_EXIT = 8, F_SYNC = 16, F_BARRIER = 32, F_TRAP = 64, F_JUMP_TABLE = 128,
       F_GUARDED = 256,        // it has a guard
       F_CALL = 512, F_RETURN = 1024, F_HOST = 2048, F_WAIT = 4096, F_PROMPT = 8192,
       F_SPECIAL = 252 | 512 | 1024 | 2048 | 4096 };

// How a floating-point operation rounds and clamps (Op.mod of float operations).
enum { RN = 0, RZ = 1, RM = 2, RP = 3, RNA = 4, RND_MASK = 7,
       M_FTZ = 8, M_SAT = 16, M_RELU = 32, M_NAN = 64, M_XORSIGN = 128, M_ABS = 256, M_SATFINITE = 512, M_OOB = 1024, M_PZO = 2048 };

enum { READY = 0, AT_BARRIER = 1, PARKED = 2, FREE = 3, WAITING = 4 };     // WAITING: asks again, see F_WAIT in async.h
#define ASKS_AGAIN 0x80000000u                                               // Group.barrier of a group that waited

typedef struct { u32 pc, mask; i32 join; u32 state, barrier; i32 frame; } Group;     // join, frame: -1 is none
typedef struct { u32 pc, expected, arrived; i32 parent; u32 used; i32 frame; } Join;
// A call that runs: its lanes meet again at `pc`, where `join` and `parent` are their meeting point and frame.
typedef struct { u32 pc, expected, arrived, used; i32 parent, join; char *kept; } Frame;

// What a wait_group counts: cp.async, bulk copies, wgmma; what only `after` names: tcgen05.
enum { TRACK_CP, TRACK_BULK, TRACK_WGMMA, TRACK_TC, TRACK_TC_LD, TRACK_TC_ST, TRACK_NONE };
typedef struct Cluster Cluster;
typedef struct Tmem Tmem;

typedef struct {
    char *regs, *sregs;         // registers; the special registers of this warp's place in the CTA
    u8 *local;                  // [lane][local_bytes]
    u32 live, index, cur, joins; // joins: how many are in use
    u32 top;                    // groups from here on are free
    u64 issued;
    Group g[LANES];
    Join j[LANES + 1];
    u32 waiting;                // groups that ask again
    u32 tracked;                // `committed` is not all zero
    u32 committed[TRACK_NONE][LANES];   // groups of asynchronous operations so far
    u32 cluster_here, cluster_left;     // lanes that came to the cluster barrier in this phase; that have not waited yet
    u32 registers;              // of a thread, 0: unknown (setmaxnreg)
    u32 asked;                  // setmaxnreg so far
    u16 wanted[8];              // the newest of them: registers
    Frame *frames;              // calls.c
    u32 nframes, frames_room;   // used ones lie below nframes
} Warp;

typedef struct {
    u32 arrived;                // warps that arrived in this phase
    u32 count;                  // threads expected, 0: all of the CTA
    u32 used;                   // somebody arrived in this phase, so `count` is set
    u32 popc, all, any;         // bar.red over the arrived threads
    u32 partial[LANES];         // lanes of incompletely arrived warps
} Barrier;

typedef struct Cta {
    u64 id;
    u32 nwarps, left;           // warps, warps with live lanes
    u32 next;                   // warp whose turn it is
    u32 barriers;               // barriers somebody has come to, a bit each
    u8 *smem;
    char *sregs, *memory;
    Warp *warps;
    Barrier bar[16];
    Cluster *cluster;
    u32 rank, base;             // in its cluster; of its addresses in the shared window: rank << 24
    u32 registers;              // free in its pool, in registers of a warp's thread
    u32 paused, idle;           // in the middle of a turn, see run_cta
    u64 used, quantum;
    u32 turn;                   // schedule=random: warps have their turns in this order
    u8 order[LANES];
    u32 stopped;                // a debugged launch: 1 + the warp in whose turn it stopped, or 0
    u64 left_of_turn;
    Tmem *tmem;                 // tmem.h; NULL: none allocated so far
} Cta;

enum { CLUSTER_CTAS = 16, RANK_SHIFT = 24 };
// CTAs that run together; one where a launch has no clusters.
struct Cluster {
    u64 id, random;             // state of the generator, see draw in async.h
    u32 size, live, idle;       // CTAs; not done; that could do nothing, one after the other
    u32 came;                   // somebody has come to its barrier in this phase
    Cta *cta[CLUSTER_CTAS];
    struct Async *first, *last; // under way
    u64 pending;
    struct WatchCluster *watch; // watch.h; NULL: nobody watches
    Cluster *buried;            // the next of Ctx.graves
};

// An mbarrier in its 8 bytes: pending arrivals, expected arrivals (20 bits each), tx-count (21, signed), phase, and
// the layout: tag 01 v0, 10 v1, whose counts end at 511 and which would have reports.
#define MB_PENDING(w) ((i64)((w) & 0xfffff))
#define MB_EXPECTED(w) ((i64)((w) >> 20 & 0xfffff))
#define MB_TX(w) ((i64)((w) << 3) >> 43)
#define MB_PHASE(w) ((u32)((w) >> 61 & 1))
#define MB_LAYOUT(w) ((u64)(w) >> 62)
#define MB_IS(w) (MB_LAYOUT(w) == 1 || MB_LAYOUT(w) == 2)
#define MB_WORD(pending, expected, tx, phase, layout) \
    ((u64)(pending) | (u64)(expected) << 20 | ((u64)(tx) & 0x1fffff) << 40 | (u64)(phase) << 61 | (u64)(layout) << 62)

// Range of global or constant memory; `host` holds `bytes` bytes that appear at address `va`.
typedef struct { u64 va, bytes; u8 *host; u64 read_only; } Segment;

// What the last execution of a memory operation looked like, so that equal patterns are not analysed again.
typedef struct {
    V64 delta;                  // from the first lane
    V32 delta32, offset;        // the same modulo 2^32; from the lowest lane
    u32 mask, phase, extra, excess, valid, segment, kind, bytes, near;          // near: offset holds, nothing is farther off
    i64 lo, hi;
    u64 bits, span;
} Pattern;

typedef struct { u64 issues, lanes; } Executed;

enum { RUNNING = 0, DONE = 1, FAULT = 2, DEADLOCK = 3, STEPS = 4, HOST = 5, STOPPED = 6 };
enum { FAULT_NONE, FAULT_BOUNDS, FAULT_ALIGN, FAULT_READ_ONLY, FAULT_TRAP, FAULT_BARRIER_COUNT, FAULT_MEMBERMASK,
       FAULT_BARRIER_ID, FAULT_JUMP, FAULT_MEMORY, FAULT_SPACE, FAULT_WARP, FAULT_FUNCTION,
       FAULT_NO_MBARRIER, FAULT_MBARRIER_COUNT, FAULT_MBARRIER_UNDERFLOW, FAULT_TX_RANGE, FAULT_NO_COMPLETE, FAULT_SIZE,
       FAULT_REMOTE, FAULT_RANK, FAULT_CLUSTER_ARRIVE, FAULT_CLUSTER_WAIT, FAULT_REGISTERS, FAULT_SPLIT, FAULT_TENSOR,
       FAULT_UNIFORM, FAULT_TMEM, FAULT_WARPGROUP, FAULT_WATCH, FAULT_TEXTURE };

struct Ctx {
    char *base[4];              // 0 registers, 1 constants, 2 per CTA, 3 per place of a warp in its CTA
    u32 active;
    u32 status;
    Warp *warp;
    Cta *cta;
    const Op *ops;
    const u32 *pool;            // operand lists and jump tables
    u32 pc;
    Pattern *pattern;           // one per operation when all lanes run it; then one for some lanes
    Link *link;
    Run *run;
    Executed *executed;         // differences between an operation and the one before, see settle_counts
    u64 turn_end, turn_left;    // warp-instructions at the end of the turn, and left of it; see read_clock
    u32 chain_start;
    Segment *segments;
    u64 nsegments;
    u8 *param;
    u64 param_bytes, smem_start, smem_bytes, local_bytes, reg_bytes;
    u64 shared_window, local_window, const_window, param_window, function_window;
    u64 *issues, *lanes, *divergent, *conflicts, *requests, *sectors, *excess;
    u32 tensor_hw;              // tensor cores add as the hardware does; 2: they do nothing, only their work is counted
    u64 until;                  // steps after which core_run returns
    u64 steps, max_steps, cta_quantum, warp_quantum;
    u32 grid[3], block[3], cluster[3], nwarps, nops, ninstr, resident, max_resident;
    u64 *next_cta, last_cta;    // the next is shared with the other threads of the launch
    u32 schedule;               // EAGER, LATE, RANDOM of async.h
    u64 seed;
    u32 not_yet, landed;        // set by handlers of F_WAIT, see async.h; by the asynchronous engine
    u64 smem_origin;            // smem_start and the base of the CTA that runs
    u32 nshared;                // addresses of shared variables the program reads, in rows behind those of the CTA
    const u32 *shared_addresses;
    u32 maxnreg;                // registers of a thread at launch, 0: unknown
    u64 *waits, *async_operations, *tma_bytes, *tensor_flops;            // counters
    u64 *warp_issues;           // one row of counters for each warp of a cluster, or NULL: see observe.c
    u8 **marks;                 // of each segment: bits of bytes read, of bytes written; or NULL
    u32 *links;                 // of each instruction: mbarriers it worked on; or NULL
    u16 *named;                 // of each warp of a cluster and instruction: bits of the CTA's barriers it came to; or NULL
    u32 current;
    u32 yields;                 // lanes may wait for each other through memory
    u32 zero_count;             // registers that may be read before they are written
    u32 *zeros;
    u64 left[2];                // threads in which they hold something else, from and to; see first_values in schedule.c
    char *consts, *place_sregs;
    u64 place_sreg_bytes;
    Cta **ctas;
    Cluster *spare;             // a finished one kept for reuse
    Cluster *graves;            // a debugged launch: all others that are finished, see debug_keep.c
    struct Watch *watch;        // the sanitizer, watch.h; NULL: off
    struct Debug *debug;        // debug.h; NULL: nobody debugs
    u32 fault, fault_lane;
    u64 fault_address, fault_extra;
};

typedef struct { const char *name; Handler fn; } Entry;
extern const Entry integer_ops[], logic_ops[], float_ops[], double_ops[], half_ops[], convert_ops[], memory_ops[],
    atomic_ops[], warp_ops[], control_ops[], tensor_ops[], wgmma_ops[], matrix_ops[], mbarrier_ops[], cluster_ops[], copy_ops[], tma_ops[], tmem_ops[], tcgen05_ops[],
    object_ops[], texture_ops[], surface_ops[];

// What an observed run keeps of accesses of global memory: observe.c.
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

void read_clock(Ctx *x, const Op *o, u32 m);                             // api.c; needs Ctx.turn_left, so it ends a chain
void raise_fault(Ctx *x, u32 kind, u32 lane, u64 address, u64 extra);
void set_rounding(u32 mode);
u64 plain_arithmetic(void);                                             // no flushing, whatever the caller's thread does
void restore_arithmetic(u64 before);
u64 round_double(double v, u32 format, u32 mod);                         // convert.c
double widen(u64 bits, u32 format);
void arrive_barrier(Ctx *x, const Op *o, u32 m);                         // barrier.c
void recheck_barriers(Ctx *x, Cta *cta);
const char *core_op_name(u32 code);                                      // api.c
u32 group_of(Ctx *x, Cta *c, u32 w, u32 g, u64 *out);
u32 run_warp(Ctx *x, Warp *w, u64 quantum);                              // interp.c
void spawn(Warp *w, u32 pc, u32 mask, i32 join, i32 frame);
void settle_joins(Warp *w);
int free_held(Warp *w);
int call_function(Ctx *x, Warp *w, Group *g, const Op *o, u32 m);        // calls.c
void return_lanes(Ctx *x, Warp *w, Group *g, u32 m);
void settle_frames(Ctx *x, Warp *w);
u8 *lane_memory(Ctx *x, Warp *w, u32 lane, u64 address, u64 bytes);      // memory.c
void start_cta(Ctx *x, Cta *cta, u64 id);                                // schedule.c
void recheck_cluster(Ctx *x, Cluster *cluster);                                  // cluster.c
Cta *new_cta(Ctx *x);
void close_clusters(Ctx *x);
void describe_mbarrier(Ctx *x, Cta *cta, Warp *w, const Group *g, u64 *out);  // mbarrier.c: address, word, phase waited for
void reset_tmem(Cta *cta);                                               // tmem.c
void free_tmem(Cta *cta);
void check_tmem(Ctx *x, Cta *cta);
void free_cta(Cta *cta);
u64 cta_bytes(const Ctx *x);                                            // of Cta.memory
void link_mbarrier(Ctx *x, u32 barrier, u32 free);                       // observe.c
void count_for_warp(Ctx *x);
char *aligned(size_t bytes);                                             // zeroed, on a 256-byte boundary
char *aligned_room(size_t bytes);                                        // the same, not zeroed
void release_aligned(void *p);

// Formats of numbers, in the order known to lower.py.
enum { T_U8, T_S8, T_U16, T_S16, T_U32, T_S32, T_U64, T_S64, T_F16, T_BF16, T_TF32, T_F32, T_F64, T_E4M3, T_E5M2,
       T_E2M3, T_E3M2, T_E2M1, T_UE8M0, T_S2F6 };

#endif
