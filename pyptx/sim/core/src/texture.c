// tex and tld4: coordinates to elements, elements to values, values between them. All arithmetic is double and rounded
// to float once, in the same steps as reference/textures.py.
//
// Op.mod of a fetch: geometry, mode << 4, integer coordinates << 8, type << 9, component << 12; pool from aux: rows in
// the order of the P_ below, or NONE.
#include "texture.h"
#include "sanitizer/sanitizer.h"

enum { P_HANDLE, P_INDEX, P_SAMPLE, P_C, P_LEVEL = 6, P_DX, P_DY = 10, P_E = 13, P_INSIDE = 16, P_D };

// values -------------------------------------------------------------------------------------------------------------

static int gives_floats(const u64 *r) { return r[O_FORMAT] >= C_F16 || r[O_FLAGS] & O_NORMALIZED_FLOAT; }

static u32 rounded(double v) { return v == v ? of_f32((float)v) : 0x7fffffff; }

// One channel of an element: bits of a float, or an integer in 32 bits.
static u32 channel(const u64 *r, const u8 *p, u32 c) {
    u32 format = (u32)r[O_FORMAT], bytes = format < C_U16 ? 1 : format < C_U32 || format == C_F16 ? 2 : 4, v = 0;
    memcpy(&v, p + c * bytes, bytes);
    switch (format) {
    case C_F16: return rounded(widen(v, T_F16));
    case C_S8: v = (u32)(i32)(signed char)v; break;
    case C_S16: v = (u32)(i32)(short)v; break;
    default: break;
    }
    if (!(r[O_FLAGS] & O_NORMALIZED_FLOAT)) return v;
    if (bytes == 1) return ((const u32 *)(r + (c < 3 ? O_COLOR : O_PLAIN)))[v & 255];
    double d = (double)(i32)v / (format == C_U16 ? 65535 : 32767);
    return rounded(d < -1 ? -1 : d);
}

// The index of an element along one dimension; -1: in the border.
static i64 placed(i64 i, i64 n, u32 mode) {
    i64 k;
    switch (mode) {
    case 0: k = i % n; return k < 0 ? k + n : k;
    case 2: k = i % (2 * n); k = k < 0 ? k + 2 * n : k; return k < n ? k : 2 * n - 1 - k;
    case 3: return i < 0 || i >= n ? -1 : i;
    default: return i < 0 ? 0 : i >= n ? n - 1 : i;
    }
}

typedef struct {
    double u[3];                // coordinates in elements of the finest level, or from 0 to 1
    i64 i[3];                   // integer ones
    i64 e[3];
    u64 layer, sample;
    u32 dims, normalized, integer;
} Place;

static int element(Fetch *f, const Place *p, const u64 *l, const i64 *at, u32 *out) {
    const u64 *r = f->r;
    i64 k[3] = {0, 0, 0};
    u32 cube = r[O_GEOMETRY] == G_CUBE || r[O_GEOMETRY] == G_ACUBE, floats = (u32)gives_floats(r), outside = 0;
    for (u32 d = 0; d < p->dims; d++) {
        u32 mode = cube ? 1 : r[O_FLAGS] & O_LINEAR ? 3 : r[O_MODES] >> 4 * d & 15;
        k[d] = placed(at[d], (i64)l[L_WIDTH + d], mode);
        outside |= k[d] < 0;
    }
    const u8 *host = 0;
    if (!outside) {
        host = object_memory(f, in_level(l, r[O_STEP], (u64)k[0], (u64)k[1], (u64)k[2], p->layer, p->sample), (u32)r[O_BYTES], SEEN_READ);
        if (!host) return 0;
    }
    for (u32 c = 0; c < 4; c++) {
        if (c >= r[O_CHANNELS]) out[c] = c < 3 ? 0 : floats ? 0x3f800000 : 1;
        else if (outside) out[c] = r[O_FLAGS] & O_LINEAR || !floats ? 0 : (u32)r[O_BORDER + c];
        else out[c] = channel(r, host, c);
    }
    return 1;
}

static double cut(double u) { return u < -1073741824.0 ? -1073741824.0 : u > 1073741824.0 ? 1073741824.0 : u; }
static double whole(double v) { return __builtin_floor(v); }

static double scaled(const Place *p, const u64 *l, u32 d) { return cut(p->normalized ? p->u[d] * (double)l[L_WIDTH + d] : p->u[d]); }

// The lower of two neighbors along one dimension, and the weight of the upper one in 1/256.
static i64 between(const Place *p, const u64 *l, u32 d, u32 *part) {
    i64 t = (i64)whole(scaled(p, l, d) * 256.0 + 0.5) - 128;
    *part = (u32)(t & 255);
    return t >> 8;
}

static void nearest(const Place *p, const u64 *l, i64 *at) {
    for (u32 d = 0; d < p->dims; d++) at[d] = (p->integer ? p->i[d] : (i64)whole(scaled(p, l, d))) + p->e[d];
}

// The filtered value at a point of one level, of floats.
static int sample(Fetch *f, const Place *p, const u64 *l, double *out) {
    i64 at[3] = {0, 0, 0}, low[3] = {0, 0, 0};
    u32 part[3] = {0, 0, 0}, raw[4];
    if (p->integer || !f->r[O_FILTER]) {
        nearest(p, l, at);
        if (!element(f, p, l, at, raw)) return 0;
        for (u32 c = 0; c < 4; c++) out[c] = as_f32(raw[c]);
        return 1;
    }
    for (u32 d = 0; d < p->dims; d++) low[d] = between(p, l, d, &part[d]) + p->e[d];
    double sum[4] = {0, 0, 0, 0};
    for (u32 corner = 0; corner < 1u << p->dims; corner++) {
        u32 weight = 1;
        for (u32 d = 0; d < p->dims; d++) {
            u32 upper = corner >> d & 1;
            weight *= upper ? part[d] : 256 - part[d];
            at[d] = low[d] + upper;
        }
        if (!weight) continue;
        if (!element(f, p, l, at, raw)) return 0;
        for (u32 c = 0; c < 4; c++) sum[c] += (double)weight * (double)as_f32(raw[c]);
    }
    double scale = p->dims == 1 ? 256.0 : p->dims == 2 ? 65536.0 : 16777216.0;
    for (u32 c = 0; c < 4; c++) out[c] = sum[c] / scale;
    return 1;
}

// levels of detail ---------------------------------------------------------------------------------------------------

// 4096 * log2(v), truncated; v > 0.
static i64 log2_parts(double v) {
    int exponent;
    double m = __builtin_frexp(v, &exponent) * 2;
    i64 result = exponent - 1;
    for (u32 k = 0; k < 12; k++) {
        m = m * m;
        result *= 2;
        if (m >= 2) { m = m / 2; result += 1; }
    }
    return result;
}

// The level of detail in 1/256 of the longer gradient, in elements.
static double gradient_level(const Fetch *f, const u32 *pool, const Place *p, const u64 *l) {
    double best = 0;
    for (u32 k = 0; k < 2; k++) {
        double sum = 0;
        for (u32 d = 0; d < p->dims; d++) {
            double v = as_f32(((u32 *)R(f->x, pool[(k ? P_DY : P_DX) + d]))[f->lane]);
            if (p->normalized) v = v * (double)l[L_WIDTH + d];
            sum = sum + v * v;
        }
        if (sum > best) best = sum;
    }
    if (!(best > 0)) return -64.0;
    if (best > 1e30) return 64.0;
    return (double)log2_parts(best) / 8192.0;
}

// The level, and the weight of the next one in 1/256.
static u32 level_of(const u64 *r, double lod, u32 *part) {
    double least = as_f32((u32)r[O_LEAST]), most = as_f32((u32)r[O_MOST]), last = (double)(r[O_LEVELS] - 1);
    if (!(lod == lod)) lod = 0;
    lod = lod + as_f32((u32)r[O_BIAS]);
    if (lod > most) lod = most;
    if (lod < least) lod = least;
    if (lod > last) lod = last;
    if (lod < 0) lod = 0;
    *part = 0;
    if (!r[O_MIP_FILTER]) return (u32)whole(lod + 0.5);
    u32 t = (u32)whole(lod * 256.0 + 0.5);
    *part = t & 255;
    return t >> 8;
}

// the instruction ----------------------------------------------------------------------------------------------------

// Map a direction to a face and a point in it. Source: CUDA C++ Programming Guide, "Cubemap Textures".
static void project(Place *p) {
    double x = p->u[0], y = p->u[1], z = p->u[2], m, s, t;
    double ax = x < 0 ? -x : x, ay = y < 0 ? -y : y, az = z < 0 ? -z : z;
    u32 face;
    if (ax >= ay && ax >= az) { face = x < 0; m = ax; s = x < 0 ? z : -z; t = -y; }
    else if (ay >= az) { face = 2 + (y < 0); m = ay; s = x; t = y < 0 ? -z : z; }
    else { face = 4 + (z < 0); m = az; s = z < 0 ? -x : x; t = -y; }
    p->layer += face;
    p->u[0] = m > 0 ? (s / m + 1) / 2 : 0.5;
    p->u[1] = m > 0 ? (t / m + 1) / 2 : 0.5;
}

static int place_of(Fetch *f, const u32 *pool, u32 geometry, Place *p) {
    Ctx *x = f->x;
    const u64 *r = f->r;
    u32 cube = geometry == G_CUBE || geometry == G_ACUBE;
    p->dims = dims_of[geometry];
    p->integer = f->o->mod >> 8 & 1;
    p->normalized = r[O_FLAGS] & O_NORMALIZED || cube;
    p->layer = p->sample = 0;
    if (r[O_FLAGS] & O_LINEAR && !p->integer) { object_fault(f, XP_LINEAR, 0, 0); return 0; }
    for (u32 d = 0; d < 3; d++) {
        u32 bits = pool[P_C + d] == NONE ? 0 : ((u32 *)R(x, pool[P_C + d]))[f->lane];
        double v = as_f32(bits);
        p->i[d] = (i32)bits;
        p->u[d] = v == v ? v > 1e30 ? 1e30 : v < -1e30 ? -1e30 : v : 0;
        p->e[d] = 0;
        if (d < p->dims && pool[P_E + d] != NONE) {
            p->e[d] = (i32)((u32 *)R(x, pool[P_E + d]))[f->lane];
            if (p->e[d] < -8 || p->e[d] > 7) { object_fault(f, XP_OFFSET, d, (u32)p->e[d]); return 0; }
        }
    }
    if (pool[P_INDEX] != NONE) {
        u32 index = ((u32 *)R(x, pool[P_INDEX]))[f->lane], faces = geometry == G_ACUBE ? 6 : 1;
        if ((u64)index * faces >= r[O_LAYERS]) { object_fault(f, XP_LAYER, 3, index); return 0; }
        p->layer = (u64)index * faces;
    }
    if (pool[P_SAMPLE] != NONE) {
        p->sample = ((u32 *)R(x, pool[P_SAMPLE]))[f->lane];
        if (p->sample >= r[O_SAMPLES]) { object_fault(f, XP_SAMPLE, 0, (u32)p->sample); return 0; }
    }
    if (cube) project(p);
    return 1;
}

// Counter-clockwise from the lower left, y going down.
static int gather(Fetch *f, const Place *p, const u64 *l, u32 component, u32 *out) {
    static const u8 corner[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    u32 part, raw[4];
    i64 low[2] = {between(p, l, 0, &part) + p->e[0], between(p, l, 1, &part) + p->e[1]};
    for (u32 k = 0; k < 4; k++) {
        i64 at[3] = {low[0] + corner[k][0], low[1] + corner[k][1], 0};
        if (!element(f, p, l, at, raw)) return 0;
        out[k] = raw[component];
    }
    return 1;
}

static int fetch_lane(Fetch *f, const u32 *pool, u32 *out) {
    const Op *o = f->o;
    const u64 *r;
    u32 mode = o->mod >> 4 & 15, type = o->mod >> 9 & 7, part = 0, level = 0;
    Place p;
    if (!object_of(f, OBJECT_TEXTURE, o->mod & 15)) return 0;
    r = f->r;
    if (gives_floats(r) != (type >= D_F32)) { object_fault(f, XP_TYPE, 0, 0); return 0; }
    if (!place_of(f, pool, o->mod & 15, &p)) return 0;
    const u64 *l = r + O_LEVEL;
    if (mode == TEXTURE_GATHER) return gather(f, &p, l, o->mod >> 12 & 3, out);
    if (mode == TEXTURE_LEVEL) {
        u32 bits = ((u32 *)R(f->x, pool[P_LEVEL]))[f->lane];
        level = level_of(r, p.integer ? (double)(i32)bits : (double)as_f32(bits), &part);
    } else if (mode == TEXTURE_GRAD) {
        level = level_of(r, gradient_level(f, pool, &p, l), &part);
    }
    l += L_WORDS * level;
    if ((p.integer || !r[O_FILTER]) && !part) {
        i64 at[3] = {0, 0, 0};
        nearest(&p, l, at);
        return element(f, &p, l, at, out);
    }
    double low[4], high[4];
    if (!sample(f, &p, l, low)) return 0;
    if (part && !sample(f, &p, l + L_WORDS, high)) return 0;
    for (u32 c = 0; c < 4; c++) out[c] = rounded(part ? ((256.0 - part) * low[c] + (double)part * high[c]) / 256.0 : low[c]);
    return 1;
}

static void f_texture(Ctx *x, const Op *o, u32 m) {
    const u32 *pool = x->pool + o->aux;
    u32 type = o->mod >> 9 & 7, found[LANES][4];
    Fetch f;
    if (!m || !object_begin(&f, x, o)) return;
    for (u32 k = m; k; k &= k - 1) {
        f.lane = (u32)__builtin_ctz(k);
        f.handle = ((u64 *)R(x, pool[P_HANDLE]))[f.lane];
        if (!fetch_lane(&f, pool, found[f.lane])) return;
        for (u32 c = 0; c < 4 && type >= D_F16; c++) found[f.lane][c] = (u32)round_double(as_f32(found[f.lane][c]), T_F16, RN);
    }
    object_account(&f, m);
    for (u32 k = m; k; k &= k - 1) {
        u32 i = (u32)__builtin_ctz(k), count = type == D_F16X2 ? 2 : 4;
        for (u32 c = 0; c < count; c++) {
            if (pool[P_D + c] == NONE) continue;
            ((u32 *)R(x, pool[P_D + c]))[i] = type == D_F16X2 ? found[i][2 * c] | found[i][2 * c + 1] << 16 : found[i][c];
        }
    }
    if (pool[P_INSIDE] != NONE) put_pred(x, pool[P_INSIDE], ALL, m);
}

#define E(n) {#n, f_##n}
const Entry texture_ops[] = {E(texture), {0, 0}};
