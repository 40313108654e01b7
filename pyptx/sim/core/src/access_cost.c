// The cost of an access: wavefronts of shared memory, sectors and lines of global memory. See access.h.
#include "access.h"

// Shared-memory wavefronts of one access in phases of so many lanes, beyond one for each phase: a phase needs as many passes as
// the largest number of different words in one of the 32 banks.
static u32 wavefronts_of(const u64 *addr, u32 m, u32 unit, u32 per_phase) {
    u32 columns = 128 / unit, extra = 0;
    for (u32 first = 0; first < LANES; first += per_phase) {
        u64 seen[LANES];
        u8 count[LANES] = {0};
        u32 owner[LANES], worst = 1, n = 0;
        for (u32 i = first; i < first + per_phase; i++) {
            if (!(m >> i & 1)) continue;
            u64 word = addr[i] / unit;
            u32 column = (u32)(word % columns), fresh = 1;
            if (count[column])
                for (u32 k = 0; k < n; k++)
                    if (owner[k] == column && seen[k] == word) { fresh = 0; break; }
            if (fresh) {
                seen[n] = word; owner[n++] = column;
                if (++count[column] > worst) worst = count[column];
            }
        }
        extra += worst - 1;
    }
    return extra;
}

// Extra shared-memory wavefronts of one access. Lanes are served in phases of 128 bytes.
u32 wavefronts(const u64 *addr, u32 m, u32 bytes) {
    u32 unit = bytes < 4 ? 4 : bytes > 16 ? 16 : bytes;
    return wavefronts_of(addr, m, unit, 128 / unit);
}

// Whether all active lanes have the address of the lane whose number differs in one bit, if that one is active.
static int paired(const u64 *addr, u32 m, u32 bit) {
    for (u32 k = m; k; k &= k - 1) {
        u32 i = (u32)__builtin_ctz(k), other = i ^ bit;
        if (m >> other & 1 && addr[i] != addr[other]) return 0;
    }
    return 1;
}

// Passes over shared memory when each lane accesses `unit` bytes, 8 or 16, at its address. One pass returns a register to each
// lane; where the lanes n and n ^ 1, or n and n ^ 2, of the warp read the same address, it returns two.
// Source: NVIDIA, forums.developer.nvidia.com/t/77228, on LDS.128 of compute capability 7.0 to 7.5.
static u32 passes_of(const u64 *addr, u32 m, u32 unit, int writes) {
    u32 per_phase = 128 / unit * (!writes && (paired(addr, m, 1) || paired(addr, m, 2)) ? 2 : 1);
    return LANES / per_phase + wavefronts_of(addr, m, unit, per_phase);
}

// Units of 1 << shift bytes that contain the first bytes of the lanes.
static inline u32 units(const u64 *addr, u32 m, u32 shift) {
    u64 seen[LANES], last = 0;
    u32 n = 0, rising = 1;
    for (u32 k = m; k && rising; k &= k - 1) {                          // addresses mostly ascend
        u64 unit = addr[__builtin_ctz(k)] >> shift;
        rising = !n || unit >= last;
        n += !n || unit != last;
        last = unit;
    }
    if (LIKELY(rising)) return n;
    n = 0;
    for (u32 i = 0; i < LANES; i++) {
        if (!(m >> i & 1)) continue;
        u64 unit = addr[i] >> shift;
        u32 k = n;
        while (k > 0 && seen[k - 1] != unit) k--;
        if (!k) seen[n++] = unit;
    }
    return n;
}

static u32 sectors(const u64 *addr, u32 m, u32 bytes) { return units(addr, m, 5) * (bytes > 32 ? bytes / 32 : 1); }

// Sectors beyond the fewest that could hold the bytes of the lanes.
static u32 excess(u32 sectors, u32 m, u32 bytes) {
    u32 least = ((u32)__builtin_popcount(m) * bytes + 31) / 32;
    return sectors > least ? sectors - least : 0;
}

// Sectors that the lanes do not access, of the 128-byte lines of which they access a sector in part.
static u32 masked_sectors(const u64 *addr, u32 m, u32 bytes) {
    u32 found = 0;
    if (bytes >= 32 || units(addr, m, 5) * 32 == (u32)__builtin_popcount(m) * bytes) return 0;
    for (u32 left = m; left;) {
        u64 line = addr[__builtin_ctz(left)] >> 7;
        u32 own = 0, touched[4] = {0}, partial = 0, untouched = 0;
        for (u32 k = left; k; k &= k - 1) {
            u32 i = (u32)__builtin_ctz(k);
            if (addr[i] >> 7 != line) continue;
            own |= 1u << i;
            touched[addr[i] >> 5 & 3] += bytes;
        }
        for (u32 k = 0; k < 4; k++) { untouched += !touched[k]; partial |= touched[k] && touched[k] < 32; }
        if (partial) found += untouched;
        left &= ~own;
    }
    return found;
}

#define LINE_COUNT_BITS 20                                              // below a sector's number: addresses have 48 bits
#define LINE_COUNT (((u64)1 << LINE_COUNT_BITS) - 1)

// Count a load, in a profiled run, if it reads a sector that the warp has not read before, as far as a table of its last sectors
// knows, and those sectors; of the others, also the lines of the warp's loads since it has read the sector. The table has sets of two
// entries, the last one first, so that two arrays do not displace each other. An entry is a sector and, in its low bits, the count of
// lines at which it was read; the last column is that count.
static void observe_reuse(Ctx *x, const Op *o, u32 m, const Access *t, u32 lines) {
    u64 *recent = x->recent + (u64)(RECENT_SECTORS + 1) * (x->cta->rank * x->nwarps + x->warp->index);
    u64 now = recent[RECENT_SECTORS] += lines, count = now & LINE_COUNT, last = ~(u64)0, *to = x->fresh_loads + 4 * o->instr;
    u32 fresh = 0;
    for (u32 k = m; k; k &= k - 1) {
        u64 sector = t->addr[__builtin_ctz(k)] >> 5;
        if (sector == last) continue;
        last = sector;
        u64 *set = recent + 2 * ((sector ^ sector >> 7) % (RECENT_SECTORS / 2)), entry = (sector << LINE_COUNT_BITS) | count;
        if (set[0] == entry || set[1] == entry) continue;
        u32 second = (set[0] ^ entry) >> LINE_COUNT_BITS != 0;
        u64 before = set[second];
        if ((before ^ entry) & ~LINE_COUNT) fresh++;
        else { to[2]++; to[3] += (now - before) & LINE_COUNT; }
        if (second) set[1] = set[0];
        set[0] = entry;
    }
    to[0] += fresh != 0;
    to[1] += fresh;
}

// Count what a global access costs in L1 and L2, in a profiled run: its lines, the passes over banks like those of shared memory,
// and for stores the further sectors of lines with a sector that is written in part.
static void observe_lines(Ctx *x, const Op *o, u32 m, const Access *t) {
    u32 lines = units(t->addr, m, 7);
    if (!t->writes) {
        const Segment *s = segment_of(x, t->addr[__builtin_ctz(m)], t->bytes);
        u64 number = s ? (u64)(s - x->segments) : NAMED_SEGMENTS;
        observe_reuse(x, o, m, t, lines);
        x->read_segments[o->instr] |= (u64)1 << (number < NAMED_SEGMENTS ? number : NAMED_SEGMENTS);
    }
    else x->masked_sectors[o->instr] += masked_sectors(t->addr, m, t->bytes);
    x->lines[o->instr] += lines;
    x->bank_passes[o->instr] += wavefronts(t->addr, m, t->bytes);
}

// Count the passes of an access to shared memory as ptxas may merge it with its neighbors, in a profiled run.
static void observe_widths(Ctx *x, const Op *o, u32 m, const Access *t) {
    Pattern *p = t->pattern;
    u32 phase = (u32)t->addr[__builtin_ctz(m)] & 15;
    if (p->wide_phase != phase) {
        u64 addr[LANES];
        for (u32 i = 0; i < LANES; i++) addr[i] = t->addr[i] & ~(u64)15;
        p->wide[1] = passes_of(addr, m, 16, t->writes);
        for (u32 i = 0; i < LANES; i++) addr[i] = t->addr[i] & ~(u64)7;
        p->wide[0] = passes_of(addr, m, 8, t->writes);
        p->wide_phase = phase;
    }
    for (u32 k = 0; k < 2; k++) x->wide_passes[2 * o->instr + k] += p->wide[k];
}

// Count the cost of an access.
void account(Ctx *x, const Op *o, u32 m, Access *t) {
    if (t->space == SPACE_MIXED && t->remote) { x->conflicts[o->instr] += wavefronts(t->addr, m, t->bytes); return; }
    if (t->space == SPACE_MIXED) {
        x->requests[o->instr]++;
        u32 moved = sectors(t->addr, m, t->bytes);
        x->sectors[o->instr] += moved;
        x->excess[o->instr] += excess(moved, m, t->bytes);
        if (UNLIKELY(x->lines != 0)) observe_lines(x, o, m, t);
        return;
    }
    if (t->space != SPACE_SHARED && t->space != SPACE_GLOBAL) return;
    if (UNLIKELY(x->wide_passes != 0) && t->space == SPACE_SHARED) observe_widths(x, o, m, t);
    Pattern *p = t->pattern;
    u32 base = (u32)t->addr[__builtin_ctz(m)], phase = t->space == SPACE_GLOBAL ? base & 31 : base & 3;   // otherwise only the banks rotate
    if (UNLIKELY(p->phase != phase)) {
        p->phase = phase;
        p->extra = t->space == SPACE_SHARED ? wavefronts(t->addr, m, t->bytes) : sectors(t->addr, m, t->bytes);
        p->excess = excess(p->extra, m, t->bytes);
    }
    if (t->space == SPACE_SHARED) x->conflicts[o->instr] += p->extra;
    else {
        x->requests[o->instr]++; x->sectors[o->instr] += p->extra; x->excess[o->instr] += p->excess;
        if (UNLIKELY(x->lines != 0)) observe_lines(x, o, m, t);
    }
}
