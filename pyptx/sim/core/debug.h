// A launch that stops where somebody wants to look (core/debug.py has the same structures).
//
// In a debugged launch each instruction is entered through debug_step, a chain that ends at once and may set the status
// STOPPED; core_run returns then in the middle of a turn, and the turn goes on with the next call as if nothing had been:
// nothing that decides what runs when depends on stops. A launch that is not debugged has chains as ever.
#ifndef PYPTX_DEBUG_H
#define PYPTX_DEBUG_H
#include "chain.h"
#include "async.h"

enum { MARK_STOP = 1, MARK_PASS = 2, MARK_LOG = 4 };                     // of an instruction: stop; do not while one warp
                                                                         // is followed; keep its executions
enum { BY_NOTHING, BY_STEP, BY_WARP, BY_OTHER, BY_MARK, BY_CHANGE, BY_FOUND };      // why it stopped
enum { FOLLOW_NONE, FOLLOW_WARP, FOLLOW_OTHERS, FOLLOW_ALL };            // stop at this warp's (ALL: it has exited), at others' instructions
enum { SPOT_REGISTERS, SPOT_SHARED, SPOT_LOCAL, SPOT_TENSOR, SPOT_GLOBAL };

// What happened, in order; core/debug.py says what `a` and `b` are.
enum { EV_RUN, EV_LEFT, EV_EXECUTED, EV_ISSUED, EV_LANDED, EV_WAITED, EV_PHASE, EV_STARTED, EV_ENDED };
typedef struct { u64 step, cta; u32 kind, warp, instr, lanes; u64 a, b; } Event;

// Bytes whose change stops the launch: of a warp or a CTA, found when that runs, or at `host`. `before` is what they were.
typedef struct { u64 space, cta, warp, offset, bytes; u8 *kept, *before; const u8 *host; } Spot;

typedef struct { u64 step, instr; } Begun;

typedef struct Debug {
    u8 *marks;                  // of each instruction
    Spot *spots;
    Event *events;              // the newest, as many as there is room for: number k is at k % events_room
    Begun *trail;               // the newest instructions of the followed warp, the same way; NULL: not wanted
    u64 nspots, nevents, events_room, ntrail, trail_room;
    u64 step, until;            // instructions begun; stop before that one
    u64 follow, cta, warp;      // the warp that is followed
    u64 reason, changed;        // the first Spot that changed
    u64 goes_on;                // the next instruction is the one it stopped at
    u64 turn, runs, serial;     // instructions of this turn; it has begun; operations started so far
    u64 last_cta, last_warp, last_instr;                                 // whose the newest instruction was
    u64 stops_found, found;     // what the sanitizer finds stops it; findings so far
} Debug;

void debug_chains(Ctx *x);
int debug_turn(Ctx *x, Cta *c, Warp *w, u32 *n, u64 left);               // 1: stopped within a turn
void debug_start(Ctx *x, Cta *c);
void debug_retire(Ctx *x, Cluster *cluster);
void debug_issued(Ctx *x, Async *a);
void debug_landed(Ctx *x, const Async *a);
void debug_waited(Ctx *x, u32 lanes, u64 barrier, u32 phase);
void debug_bury(Ctx *x, Cluster *cluster);
Cluster *debug_raise(Ctx *x);
void debug_event(Ctx *x, u32 kind, u32 lanes, u64 a, u64 b);
#endif
