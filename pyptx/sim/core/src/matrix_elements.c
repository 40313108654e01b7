// Elements of matrices as floats: tables for formats of up to 8 bits, arithmetic on bits for the others.
#include "half_vectors.h"
#include "matrix_product.h"

static float table[E_FORMATS][256];

__attribute__((constructor)) static void fill_tables(void) {
    for (u32 v = 0; v < 256; v++) {
        table[E_E4M3][v] = (float)widen(v, T_E4M3);
        table[E_E5M2][v] = (float)widen(v, T_E5M2);
        table[E_E3M2][v] = (float)widen(v & 63, T_E3M2);
        table[E_E2M3][v] = (float)widen(v & 63, T_E2M3);
        table[E_E2M1][v] = (float)widen(v >> 2 & 15, T_E2M1);
        table[E_E2M1X8][v] = (float)widen(v & 15, T_E2M1);
        table[E_S8][v] = (float)(int8_t)v;
        table[E_U8][v] = (float)v;
        table[E_S4][v] = (float)((int8_t)(v << 4) >> 4);
        table[E_U4][v] = (float)(v & 15);
        table[E_UE8M0][v] = v == 255 ? as_f32(0x7fffffff) : v ? as_f32(v << 23) : 0x1p-127f;
        table[E_UE4M3][v] = (float)widen(v & 127, T_E4M3);
    }
}

u32 format_bits(u32 format) {
    static const u32 bits[E_FORMATS] = {16, 16, 32, 8, 8, 8, 8, 8, 4, 8, 8, 4, 4, 1, 32, 32, 64, 8, 8, 8, 8, 8};
    return bits[format];
}

float decode_byte(u32 byte, u32 format) { return table[format][byte & 255]; }

u32 encode_f16(float v) { return (u32)round_double(v, T_F16, RN); }

void decode_row(float *out, const u32 *row, u32 format) {
    switch (format) {
    case E_F16:
        for (u32 i = 0; i < LANES; i += 8) {
            U8 v = *(const U8 *)(row + i);
            *(F8 *)(out + i) = from_f16(v & 0xffff);
            *(F8 *)(out + LANES + i) = from_f16(v >> 16);
        }
        return;
    case E_BF16:
        for (u32 i = 0; i < LANES; i += 8) {
            U8 v = *(const U8 *)(row + i);
            *(U8 *)(out + i) = v << 16;
            *(U8 *)(out + LANES + i) = v & 0xffff0000;
        }
        return;
    case E_TF32:
        for (u32 i = 0; i < LANES; i += 8) *(U8 *)(out + i) = *(const U8 *)(row + i) & 0xffffe000;
        return;
    case E_F32: case E_S32: memcpy(out, row, 4 * LANES); return;
    default: {
        u32 bits = format_bits(format), e = 32 / bits, cut = (1u << bits) - 1;
        const float *t = table[format];
        for (u32 j = 0; j < e; j++)
            for (u32 i = 0; i < LANES; i++) out[LANES * j + i] = t[row[i] >> (bits * j) & cut];
    } }
}

void decode_run(float *out, const u8 *from, u32 count, u32 format) {
    u32 i = 0;
    switch (format) {
    case E_F16:
        for (; i + 8 <= count; i += 8) *(F8 *)(out + i) = widen_f16(from + 2 * i);
        for (; i < count; i++) { u16 h; memcpy(&h, from + 2 * i, 2); out[i] = (float)widen(h, T_F16); }
        return;
    case E_BF16:
        for (; i + 8 <= count; i += 8) *(F8 *)(out + i) = widen_bf16(from + 2 * i);
        for (; i < count; i++) { u16 h; memcpy(&h, from + 2 * i, 2); out[i] = as_f32((u32)h << 16); }
        return;
    case E_TF32: for (; i < count; i++) { u32 v; memcpy(&v, from + 4 * i, 4); out[i] = as_f32(v & 0xffffe000); } return;
    case E_E2M1X8: case E_S4: case E_U4:
        for (; i < count; i++) out[i] = table[format][from[i / 2] >> (4 * (i & 1)) & 15];
        return;
    case E_E2M1_PADDED: decode_run(out, from, count, E_E2M1X8); return;
    case E_E3M2_PADDED: case E_E2M3_PADDED:
        for (; i < count; i++) {
            u32 bit = 6 * i, word = from[bit / 8] | (u32)from[bit / 8 + 1] << 8;
            out[i] = table[format == E_E3M2_PADDED ? E_E3M2 : E_E2M3][word >> (bit & 7) & 63];
        }
        return;
    default: for (; i < count; i++) out[i] = table[format][from[i]];
    }
}
