// suld, sust, sured: bytes, or formatted elements, of a surface.
//
// Op.mod: geometry, outside << 4 (0 trap, 1 clamp, 2 zero), formatted << 6, log2 of the bytes << 8, values << 12, wide
// rows << 16; pool from aux: handle, layer, x, y, z, values. aux2 of a reduction: operation | type << 8.
#include "texture.h"
#include "sanitizer/sanitizer.h"

enum { P_HANDLE, P_INDEX, P_X, P_DATA = 5 };

u64 apply_atomic(u64 old, u64 b, u64 c, u32 operation, u32 type, int ftz);

// The address of `bytes` at a lane's coordinates; 0: a fault was raised, 1: out of bounds.
static u64 surface_place(Fetch *f, const u32 *pool, u32 bytes) {
    Ctx *x = f->x;
    u32 geometry = f->o->mod & 15, outside = f->o->mod >> 4 & 3, formatted = f->o->mod >> 6 & 1;
    if (!object_of(f, OBJECT_SURFACE, geometry)) return 0;
    const u64 *r = f->r, *l = r + O_LEVEL;
    u32 own = (u32)r[O_GEOMETRY], layered = own >= G_A1D;
    u32 wanted = own == G_CUBE || own == G_ACUBE ? G_A2D : own;              // faces are layers
    if (wanted != geometry) { object_fault(f, XP_GEOMETRY, 0, 0); return 0; }
    i64 at[4] = {0, 0, 0, 0}, most[4];
    most[0] = formatted ? (i64)l[L_WIDTH] - 1 : (i64)(l[L_WIDTH] * r[O_BYTES]) - (i64)bytes;
    most[1] = (i64)l[L_HEIGHT] - 1;
    most[2] = (i64)l[L_DEPTH] - 1;
    most[3] = layered ? (i64)r[O_LAYERS] - 1 : 0;
    for (u32 d = 0; d < 4; d++) {
        u32 row = pool[d < 3 ? P_X + d : P_INDEX];
        if (row == NONE) continue;
        u32 bits = ((u32 *)R(x, row))[f->lane];
        at[d] = d < 3 ? (i64)(i32)bits : (i64)bits;
        if (d == 0 && !formatted && bits & (bytes - 1)) { object_fault(f, XP_ALIGNMENT, 0, bits); return 0; }
        if (at[d] >= 0 && at[d] <= most[d]) continue;
        if (outside == SURFACE_ZERO) return 1;
        if (outside == SURFACE_TRAP || most[d] < 0) { object_fault(f, XP_BOUNDS, d, bits); return 0; }
        at[d] = at[d] < 0 ? 0 : most[d];
    }
    u64 base = in_level(l, 0, 0, (u64)at[1], (u64)at[2], (u64)at[3], 0);
    return base + (u64)at[0] * (formatted ? r[O_BYTES] : 1);
}

static void f_surface_load(Ctx *x, const Op *o, u32 m) {
    const u32 *pool = x->pool + o->aux;
    u32 size = 1u << (o->mod >> 8 & 15), count = o->mod >> 12 & 15;
    Fetch f;
    if (!m || !object_begin(&f, x, o)) return;
    u8 found[LANES][32];
    for (u32 k = m; k; k &= k - 1) {
        f.lane = (u32)__builtin_ctz(k);
        f.handle = ((u64 *)R(x, pool[P_HANDLE]))[f.lane];
        u64 va = surface_place(&f, pool, size * count);
        const u8 *host = va > 1 ? object_memory(&f, va, size * count, SEEN_READ) : 0;
        if (va != 1 && !host) return;
        if (host) memcpy(found[f.lane], host, size * count); else memset(found[f.lane], 0, 32);
    }
    object_account(&f, m);
    for (u32 k = m; k; k &= k - 1) {
        u32 i = (u32)__builtin_ctz(k);
        for (u32 c = 0; c < count; c++) {
            u64 v = 0;
            memcpy(&v, found[i] + c * size, size);
            if (pool[P_DATA + c] == NONE) continue;
            if (size == 8) ((u64 *)R(x, pool[P_DATA + c]))[i] = v; else ((u32 *)R(x, pool[P_DATA + c]))[i] = (u32)v;
        }
    }
}

// An element of a surface from values of 32 bits, as sust.p stores it; 0: a fault was raised.
static int formatted_element(Fetch *f, const u32 *pool, u32 count, u8 *out) {
    const u64 *r = f->r;
    u32 format = (u32)r[O_FORMAT], channels = (u32)r[O_CHANNELS];
    if (count < channels) { object_fault(f, XP_CHANNELS, 0, 0); return 0; }
    u32 bytes = (u32)r[O_BYTES] / channels;
    for (u32 c = 0; c < channels; c++) {
        u32 v = ((u32 *)R(f->x, pool[P_DATA + c]))[f->lane];
        if (format == C_F16) v = (u32)round_double(as_f32(v), T_F16, RN);
        else if (bytes < 4) {
            i32 most = format & 1 ? (1 << (8 * bytes - 1)) - 1 : (1 << 8 * bytes) - 1, least = format & 1 ? -most - 1 : 0;
            int fits = format & 1 ? (i32)v >= least && (i32)v <= most : v <= (u32)most;
            if (!fits) { object_fault(f, XP_FITS, 0, v); return 0; }
        }
        memcpy(out + c * bytes, &v, bytes);
    }
    return 1;
}

static void f_surface_store(Ctx *x, const Op *o, u32 m) {
    const u32 *pool = x->pool + o->aux;
    u32 size = 1u << (o->mod >> 8 & 15), count = o->mod >> 12 & 15, formatted = o->mod >> 6 & 1, wide = o->mod >> 16 & 1;
    Fetch f;
    if (!m || !object_begin(&f, x, o)) return;
    for (u32 k = m; k; k &= k - 1) {
        u8 data[32];
        f.lane = (u32)__builtin_ctz(k);
        f.handle = ((u64 *)R(x, pool[P_HANDLE]))[f.lane];
        u64 va = surface_place(&f, pool, size * count);
        if (!va) return;
        u32 bytes = formatted ? (u32)f.r[O_BYTES] : size * count;
        if (formatted && !formatted_element(&f, pool, count, data)) return;
        for (u32 c = 0; c < count && !formatted; c++) {
            u64 v = wide ? ((u64 *)R(x, pool[P_DATA + c]))[f.lane] : ((u32 *)R(x, pool[P_DATA + c]))[f.lane];
            memcpy(data + c * size, &v, size);
        }
        if (va == 1) continue;
        u8 *host = object_memory(&f, va, bytes, SEEN_WRITE);
        if (!host) return;
        memcpy(host, data, bytes);
    }
    object_account(&f, m);
}

static void f_surface_reduce(Ctx *x, const Op *o, u32 m) {
    const u32 *pool = x->pool + o->aux;
    u32 size = 1u << (o->mod >> 8 & 15), formatted = o->mod >> 6 & 1, type = o->aux2 >> 8 & 255;
    Fetch f;
    if (!m || !object_begin(&f, x, o)) return;
    for (u32 k = m; k; k &= k - 1) {
        f.lane = (u32)__builtin_ctz(k);
        f.handle = ((u64 *)R(x, pool[P_HANDLE]))[f.lane];
        u64 va = surface_place(&f, pool, size), old = 0;
        if (!va) return;
        if (formatted) {
            if ((f.r[O_FORMAT] != C_U32 && f.r[O_FORMAT] != C_S32) || f.r[O_CHANNELS] != 1) { object_fault(&f, XP_FORMAT, 0, 0); return; }
            type = f.r[O_FORMAT] == C_S32 ? T_S32 : T_U32;
        }
        if (va == 1) continue;
        u8 *host = object_memory(&f, va, size, SEEN_ATOMIC);
        if (!host) return;
        u64 v = size == 8 ? ((u64 *)R(x, pool[P_DATA]))[f.lane] : ((u32 *)R(x, pool[P_DATA]))[f.lane];
        memcpy(&old, host, size);
        old = apply_atomic(old, v, 0, o->aux2 & 255, type, 0);
        memcpy(host, &old, size);
    }
    object_account(&f, m);
}

#define E(n) {#n, f_##n}
const Entry surface_ops[] = {E(surface_load), E(surface_store), E(surface_reduce), {0, 0}};
