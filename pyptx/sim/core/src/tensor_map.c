// The geometry of a tensor copy: rows of units, which of them exist, and invalid requests.
#include "tensor_map.h"
#include "tensor_copy_rows.h"

static const u8 bits_of[16] = {8, 16, 32, 32, 64, 64, 16, 32, 32, 64, 16, 32, 32, 4, 4, 6};
enum { B4X16 = 13, B4X16_P64 = 14, B6X16 = 15 };
static const u16 spans[5] = {0, 32, 64, 128, 96};

// The 128 bytes at a generic address in parameters, constants or global memory; NULL and the problem.
const u8 *tensor_map_at(Ctx *x, u64 address, u64 *about, u32 *problem) {
    *about = address;
    *problem = TP_MAP_ALIGNMENT;
    if (address & 63) return 0;
    *problem = TP_MAP_SPACE;
    if (address - x->param_window < (u64)1 << 32) {
        u64 at = address - x->param_window;
        if (at > x->param_bytes || x->param_bytes - at < 128) return 0;
        *problem = 0;
        return x->param + at;
    }
    Segment *s = segment_of(x, address, 128);
    if (!s) return 0;
    *problem = 0;
    return s->host + (address - s->va);
}

static u32 count(u32 box, u32 step) { return (box + step - 1) / step; }

static int reducible(u32 operation, u32 type) {
    static const u16 types[10] = {0x7fc, 0x47c, 0x47c, 0x3c, 0x3c, 0x3c, 0, 0, 4, 4};    // add min max and or xor - - inc dec
    return operation < 10 && types[operation] >> type & 1;
}

static u32 check_tensor(const TensorMap *m, u32 padded, u32 wide) {
    for (u32 d = 0; d < (m->mode ? 1 : m->rank); d++) if (m->box[d] < 1 || m->box[d] > 256) return TP_BOX;
    if (m->mode && (m->box[1] < 1 || m->box[1] > 1024)) return TP_BOX;
    for (u32 d = 0; d < m->rank; d++) if (m->step[d] < 1 || m->step[d] > 8) return TP_STEP;
    u64 unit = m->interleave == 2 || padded ? 32 : 16;
    if (m->address % unit) return TP_TENSOR;
    for (u32 d = 1; d < m->rank; d++) if (m->stride[d - 1] % unit) return TP_TENSOR;
    if (m->interleave > 2 || m->rank < (m->interleave || m->mode ? 3 : 1)) return TP_MODE;
    return m->interleave && (wide || padded) ? TP_MODE : 0;
}

static u32 check_swizzle(const TensorMap *m, const TensorCopy *c, u32 padded, u32 wide) {
    u32 wrong = m->swizzle > 4 || m->atomicity > 3 || (m->atomicity && m->swizzle != 3);
    wrong |= m->interleave == 2 && m->swizzle != 1;
    wrong |= m->atomicity == 2 && (c->direction == TC_STORE || c->direction == TC_REDUCE);
    wrong |= padded && m->swizzle != 0 && m->swizzle != 3;
    wrong |= padded && m->atomicity == 3 && c->direction == TC_LOAD;
    wrong |= wide && m->swizzle < 2;
    wrong |= c->mode == TC_W128 && m->swizzle == 4;
    return wrong ? TP_SWIZZLE : 0;
}

u32 tensor_geometry(const TensorMap *m, const TensorCopy *c, Geometry *g) {
    static const u8 modes[6] = {0, 0, 0, 1, 2, 3};
    u32 problem;
    if (memcmp(m->magic, "pyptxTMA", 8) || m->version != 1 || m->rank < 1 || m->rank > 5 || m->type > 15 || m->mode > 3) return TP_MAP_MAGIC;
    if (m->rank != c->rank) return TP_RANK;
    u32 flat = c->mode == TC_GATHER4 || c->mode == TC_SCATTER4, padded = m->type >= B4X16_P64, wide = m->mode >= 2;
    if (m->mode != modes[c->mode] || (flat && (m->rank != 2 || m->box[1] != 1 || m->interleave))) return TP_MODE;
    if ((m->type == B4X16_P64 && c->direction == TC_STORE) || (c->direction == TC_REDUCE && !reducible(c->operation, m->type))) return TP_ELEMENT;
    if ((problem = check_tensor(m, padded, wide)) || (problem = check_swizzle(m, c, padded, wide))) return problem;
    u32 bits = bits_of[m->type];
    if (m->interleave) {
        g->global_unit = g->shared_unit = m->interleave == 2 ? 32 : 16;
        g->per_unit = 1;
        g->units = m->mode ? 1 : count(m->box[0], m->step[0]);
        g->step = m->step[0];
    } else {
        g->per_unit = padded ? 16 : m->type == B4X16 ? 2 : 1;
        g->global_unit = m->type == B6X16 ? 12 : m->type == B4X16_P64 ? 8 : m->type == B4X16 ? 1 : bits / 8;
        g->shared_unit = padded ? 16 : g->global_unit;
        g->units = m->box[0] / g->per_unit;
        g->step = 1;
        if (m->box[0] * bits % 128 || (padded && m->box[0] != 128)) return TP_BOX;
        if (m->swizzle && g->units * g->shared_unit > spans[m->swizzle]) return TP_BOX;
    }
    u32 halo = wide && c->offsets ? c->offset[0] : 0;
    u64 rows = flat ? 4 : c->mode == TC_W128 ? 128 + 4 * halo : m->mode ? m->box[1] + halo : 1;
    if (!flat && !m->mode) for (u32 d = 1; d < m->rank; d++) rows *= count(m->box[d], m->step[d]);
    g->rows = rows >> 32 ? NONE : (u32)rows;                             // more than shared memory holds
    u32 inner = g->units * g->shared_unit;
    g->pitch = inner > spans[m->swizzle] ? inner : spans[m->swizzle];
    g->size = ((u64)m->last[0] + 1) / g->per_unit;
    g->transaction = rows * g->units * g->global_unit;
    g->footprint = rows * g->pitch;
    return 0;
}

// The pixels of an im2col copy: along w, h, d inside the bounding box, then image after image.
static u32 each_pixel(const TensorMap *m, const TensorCopy *c, Visit visit, void *job, u64 *about) {
    static const u8 corner_bits[6] = {0, 0, 0, 16, 8, 5};
    u32 wide = m->mode >= 2, first = m->interleave ? 0 : 1, spatial = wide ? 1 : m->rank - 2u;
    u32 halo = 0, shift = 0, runs = c->mode == TC_W128 ? 4 : 1, pixels = runs == 4 ? 128 : m->box[1];
    if (c->offsets && wide) {
        halo = c->offset[0]; shift = c->offset[1];
        if (halo >= (runs == 4 ? 32u : 512u) || shift >= 32) { *about = shift < 32 ? halo : shift; return TP_OFFSET; }
    }
    for (u32 k = 0; k < c->offsets && !wide; k++)
        if (c->offset[k] >> corner_bits[m->rank]) { *about = c->offset[k]; return TP_OFFSET; }
    i64 lower[3], upper[3], at[5], place[5], step[5];
    for (u32 d = 0; d < m->rank; d++) { at[d] = c->at[d]; step[d] = m->step[d]; }
    at[first] += shift;
    for (u32 k = 0; k < spatial; k++) {
        u32 d = first + k;
        lower[k] = m->lower[k] + (i64)shift;
        upper[k] = (i64)m->last[d] + 1 + m->upper[k] + shift;
        if (at[d] >= upper[k] || (!wide && at[d] < lower[k]) || (c->inside && at[d] < 0)) {
            *about = (u64)(at[d] - (k ? 0 : (i64)shift));
            return TP_COORDINATE;
        }
    }
#define ADVANCE(P) do { \
        u32 k_ = 0; \
        for (; k_ < spatial; k_++) { (P)[first + k_] += step[first + k_]; if ((P)[first + k_] < upper[k_]) break; (P)[first + k_] = lower[k_]; } \
        if (k_ == spatial) (P)[m->rank - 1] += step[m->rank - 1]; } while (0)
    for (u32 p = 0, left = pixels / runs, run = 0; p < pixels; p++) {
        memcpy(place, at, sizeof place);
        for (u32 k = 0; k < spatial && c->offsets && !wide; k++) place[first + k] += c->offset[k];
        u32 problem = visit(job, p, place);
        if (problem) return problem == TP_STOP ? 0 : problem;
        ADVANCE(at);
        if (--left || !halo) continue;
        left = pixels / runs;
        memcpy(place, at, sizeof place);
        for (u32 h = 0; h < halo; h++) {
            if ((problem = visit(job, pixels + h * runs + run, place))) return problem == TP_STOP ? 0 : problem;
            ADVANCE(place);
        }
        run++;
    }
    return 0;
}

// Call `visit` with the number of each row and its coordinates in the tensor.
u32 tensor_rows(const TensorMap *m, const TensorCopy *c, const Geometry *g, Visit visit, void *job, u64 *about) {
    u32 problem, of = g->per_unit == 16 ? 128 : g->per_unit;
    if (!m->interleave && c->at[0] % (i32)of) { *about = (u64)(i64)c->at[0]; return TP_COORDINATE; }
    if (m->mode) return each_pixel(m, c, visit, job, about);
    i64 at[5] = {c->at[0], c->at[1], c->at[2], c->at[3], c->at[4]};
    if (c->mode != TC_TILE) {
        for (u32 r = 0; r < 4; r++) {
            at[1] = c->at[1 + r];
            if ((problem = visit(job, r, at))) return problem;
        }
        return 0;
    }
    u32 done[5] = {0};
    for (u32 r = 0; r < g->rows; r++) {
        if ((problem = visit(job, r, at))) return problem;
        for (u32 d = 1; d < m->rank; d++) {
            at[d] += m->step[d];
            if (++done[d] < count(m->box[d], m->step[d])) break;
            at[d] = c->at[d];
            done[d] = 0;
        }
    }
    return 0;
}
