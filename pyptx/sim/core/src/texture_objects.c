// Handles of textures and surfaces: their records and memory; txq, suq and istypep.
#include "texture.h"
#include "sanitizer/sanitizer.h"

int object_begin(Fetch *f, Ctx *x, const Op *o) {
    memset(f, 0, sizeof *f);
    f->x = x;
    f->o = o;
    return 1;
}

const u64 *object_at(Ctx *x, u64 handle, u32 *problem) {
    const Segment *s = x->nsegments ? &x->segments[x->nsegments - 1] : 0;
    u64 number = (handle - OBJECT_WINDOW) / OBJECT_STRIDE;
    *problem = XP_HANDLE;
    if (!s || s->va != OBJECT_WINDOW || handle < OBJECT_WINDOW || handle % OBJECT_STRIDE) return 0;
    const u64 *table = (const u64 *)s->host;
    if (!number || number > table[0]) return 0;
    *problem = 0;
    return table + number * (OBJECT_STRIDE / 8);
}

void object_fault(Fetch *f, u32 problem, u32 axis, u32 value) {
    raise_fault(f->x, FAULT_TEXTURE, f->lane, f->handle, problem | axis << 8 | (u64)value << 32);
}

int object_of(Fetch *f, u32 kind, u32 geometry) {
    u32 problem;
    f->r = object_at(f->x, f->handle, &problem);
    if (f->r && f->r[O_KIND] != kind) problem = XP_KIND;
    else if (f->r && kind == OBJECT_TEXTURE && f->r[O_GEOMETRY] != geometry) problem = XP_GEOMETRY;
    if (problem) { object_fault(f, problem, 0, 0); return 0; }
    return 1;
}

static void note_sector(Fetch *f, u64 sector) {
    for (u64 k = sector * 0x9e3779b97f4a7c15ull >> 53;; k = (k + 1) % MOST_SECTORS) {
        if (f->sector[k] == sector + 1) return;
        if (!f->sector[k]) { f->sector[k] = sector + 1; f->count++; return; }
    }
}

u8 *object_memory(Fetch *f, u64 va, u32 bytes, u32 how) {
    Ctx *x = f->x;
    Segment *s = f->near;
    if (!s || va < s->va || va - s->va > s->bytes || bytes > s->bytes - (va - s->va)) s = f->near = segment_of(x, va, bytes);
    if (!s || (how != SEEN_READ && s->read_only)) { object_fault(f, XP_MEMORY, 0, 0); return 0; }
    note_sector(f, va >> 5);
    touch(x, s, va, bytes, how != SEEN_READ);
    if (UNLIKELY(x->sanitizer != 0)) {
        Access t;
        memset(&t, 0, sizeof t);
        x->pattern[x->pc].segment = (u32)(s - x->segments);
        x->pattern[x->pc].valid = 0;
        t.pattern = &x->pattern[x->pc];
        t.space = SPACE_GLOBAL;
        t.bytes = bytes;
        t.addr[f->lane] = t.lo = va;
        t.host = (u64)(uintptr_t)s->host - s->va;
        sanitizer_access(x, f->o, 1u << f->lane, &t, how == SEEN_READ ? SEEN_READ | SEEN_CACHED : how);
    }
    return s->host + (va - s->va);
}

void object_account(Fetch *f, u32 m) {
    f->x->requests[f->o->instr]++;
    f->x->sectors[f->o->instr] += f->count;
}

// attributes ---------------------------------------------------------------------------------------------------------

// The PTX ISA numbers types and orders as OpenCL does.
static u32 attribute(const u64 *r, u32 query, u32 level) {
    static const u32 types[] = {0x10da, 0x10d7, 0x10db, 0x10d8, 0x10dc, 0x10d9, 0x10dd, 0x10de};
    static const u32 normalized[] = {0x10d2, 0x10d0, 0x10d3, 0x10d1};
    const u64 *l = r + O_LEVEL + L_WORDS * level;
    u32 geometry = (u32)r[O_GEOMETRY], format = (u32)r[O_FORMAT];
    switch (query) {
    case Q_WIDTH: return (u32)l[L_WIDTH];
    case Q_HEIGHT: return dims_of[geometry] > 1 ? (u32)l[L_HEIGHT] : 0;
    case Q_DEPTH: return dims_of[geometry] > 2 ? (u32)l[L_DEPTH] : 0;
    case Q_CHANNEL_DATA_TYPE: return r[O_FLAGS] & O_NORMALIZED_FLOAT && format < 4 ? normalized[format] : types[format];
    case Q_CHANNEL_ORDER: return r[O_CHANNELS] == 1 ? 0x10b0 : r[O_CHANNELS] == 2 ? 0x10b2 : 0x10b5;
    case Q_NORMALIZED_COORDS: return r[O_FLAGS] & O_NORMALIZED;
    case Q_ARRAY_SIZE: return geometry == G_ACUBE ? (u32)r[O_LAYERS] / 6 : geometry == G_A1D || geometry == G_A2D || geometry == G_A2DMS ? (u32)r[O_LAYERS] : 0;
    case Q_NUM_MIPMAP_LEVELS: return (u32)r[O_LEVELS];
    case Q_NUM_SAMPLES: return (u32)r[O_SAMPLES];
    default: return r[O_FLAGS] & O_LINEAR ? 1 : 0;
    }
}

// Op.mod: attribute, kind << 8; a the handle, b the level or NONE.
static void f_object_query(Ctx *x, const Op *o, u32 m) {
    Fetch f;
    if (!m || !object_begin(&f, x, o)) return;
    for (u32 k = m; k; k &= k - 1) {
        u32 problem, kind = o->mod >> 8;
        f.lane = (u32)__builtin_ctz(k);
        f.handle = ((u64 *)R(x, o->a))[f.lane];
        f.r = object_at(x, f.handle, &problem);
        if (f.r && f.r[O_KIND] != kind) problem = XP_KIND;
        if (problem) { object_fault(&f, problem, 0, 0); return; }
        u32 level = o->b == NONE ? 0 : ((u32 *)R(x, o->b))[f.lane];
        if (level >= f.r[O_LEVELS]) { object_fault(&f, XP_LEVEL, 0, level); return; }
        ((u32 *)R(x, o->d))[f.lane] = attribute(f.r, o->mod & 255, level);
    }
}

static void f_istypep(Ctx *x, const Op *o, u32 m) {
    u32 result = 0, problem;
    for (u32 k = m; k; k &= k - 1) {
        u32 i = (u32)__builtin_ctz(k);
        const u64 *r = object_at(x, ((u64 *)R(x, o->a))[i], &problem);
        result |= (u32)(r && r[O_KIND] == o->mod) << i;
    }
    put_pred(x, o->d, result, m);
}

#define E(n) {#n, f_##n}
const Entry object_ops[] = {E(object_query), E(istypep), {0, 0}};
