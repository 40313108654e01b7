// Transposes with vectors, and a lattice in a 16-bit format that software converts. Written for this repository after
// the descriptions of the measured kernels.

// transposes of f32: tiles of TILE x TILE, VECTOR elements per access, ROWS rows of the tile at a time
template <typename V, int TILE, int ROWS> __device__ void turned(const float *from, float *to, int size) {
    const int VECTOR = sizeof(V) / 4;
    __shared__ float tile[TILE][TILE + 1];
    int width = size / VECTOR, column = threadIdx.x * VECTOR;
    int x = blockIdx.x * (TILE / VECTOR) + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS) {
        V some = reinterpret_cast<const V *>(from)[(size_t)(y + j) * width + x];
#pragma unroll
        for (int k = 0; k < VECTOR; ++k) tile[threadIdx.y + j][column + k] = reinterpret_cast<float *>(&some)[k];
    }
    __syncthreads();
    x = blockIdx.y * (TILE / VECTOR) + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS) {
        V some;
#pragma unroll
        for (int k = 0; k < VECTOR; ++k) reinterpret_cast<float *>(&some)[k] = tile[column + k][threadIdx.y + j];
        reinterpret_cast<V *>(to)[(size_t)(y + j) * width + x] = some;
    }
}
#define TURN(vector, tile, rows) \
    extern "C" __global__ void turn_##vector##_##tile##_##rows(const float *from, float *to, int size) { \
        turned<vector, tile, rows>(from, to, size); \
    }
TURN(float2, 32, 32)
TURN(float2, 32, 16)
TURN(float2, 32, 8)
TURN(float4, 32, 32)
TURN(float4, 32, 8)
TURN(float2, 64, 32)
TURN(float2, 64, 16)
TURN(float4, 64, 8)

// 16 bits with 4 of exponent and 11 of mantissa, as integers convert them: the top of the f32 after an offset of 112 to its
// exponent, denormal numbers below
__device__ float widened(unsigned short narrow) {
    unsigned e = (narrow & 0x7800) >> 11, m = (narrow & 0x07ff) << 12, v = __float_as_uint((float)m) >> 23;
    unsigned sign = (narrow & 0x8000) << 16, normal = (e != 0) * (e + 112 << 23 | m);
    return __uint_as_float(sign | normal | ((e == 0) & (m != 0)) * (v - 37 << 23 | m << 150 - v & 0x007ff000));
}
__device__ unsigned short narrowed(float wide) {
    unsigned b = __float_as_uint(wide) + 0x800, e = (b & 0x7f800000) >> 23, m = b & 0x007fffff;
    unsigned normal = (e > 112) * (e - 112 << 11 & 0x7800 | m >> 12);
    unsigned below = ((e < 113) & (e > 100)) * ((0x007ff800 + m >> 124 - e) + 1 >> 1);
    return (b & 0x80000000) >> 16 | normal | below | (e > 127) * 0x7fff;
}
// the D3Q19 lattice of memory.cu in that format; a factor of 2^15 keeps numbers normal
extern "C" __global__ void lattice_converted(const unsigned short *from, unsigned short *to, const unsigned char *flags) {
    const int X = 256, CELLS = X * X * X;
    const int cx[19] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 0, 0, 1, -1, 1, -1, 0, 0};
    const int cy[19] = {0, 0, 0, 1, -1, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 1, -1};
    const int cz[19] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 1, -1, 1, -1, 0, 0, -1, 1, -1, 1};
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % X, y = i / X % X, z = i / (X * X);
    if (flags[i]) return;
    float f[19], rho = 0, u = 0, v = 0, w = 0;
#pragma unroll
    for (int k = 0; k < 19; ++k) {
        int a = (x - cx[k] + X) % X, b = (y - cy[k] + X) % X, c = (z - cz[k] + X) % X;
        f[k] = widened(from[(size_t)k * CELLS + (c * X + b) * X + a]);
    }
#pragma unroll
    for (int k = 0; k < 19; ++k) {
        rho += f[k];
        u += cx[k] * f[k];
        v += cy[k] * f[k];
        w += cz[k] * f[k];
    }
    float inverse = 1 / rho, square;
    u *= inverse;
    v *= inverse;
    w *= inverse;
    square = 1 - 1.5f * (u * u + v * v + w * w);
#pragma unroll
    for (int k = 0; k < 19; ++k) {
        float weight = k == 0 ? 1 / 3.0f : k < 7 ? 1 / 18.0f : 1 / 36.0f, c = 3 * (cx[k] * u + cy[k] * v + cz[k] * w);
        to[(size_t)k * CELLS + i] = narrowed(f[k] + 1.6f * (weight * rho * (square + c + 0.5f * c * c) - f[k]));
    }
}
