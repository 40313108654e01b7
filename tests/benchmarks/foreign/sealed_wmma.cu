// Products of bf16 matrices with f32 sums by tensor cores: wmma from global memory, from shared memory, and through three stages of
// cp.async, and mma with ldmatrix through three stages, whose second matrix is transposed. Written for this repository after the
// descriptions of the measured kernels.
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_pipeline.h>
#include <mma.h>
using namespace nvcuda::wmma;
using bf16 = __nv_bfloat16;
#define KERNEL(name) extern "C" __global__ void name
#define PRODUCT (int m, int n, int k, const bf16 *a, const bf16 *b, float *c)
using A = fragment<matrix_a, 16, 16, 16, bf16, row_major>;
using B = fragment<matrix_b, 16, 16, 16, bf16, row_major>;
using Sums = fragment<accumulator, 16, 16, 16, float>;

KERNEL(wmma_global) PRODUCT {
    int row = (blockIdx.y * blockDim.y + threadIdx.y) * 16, column = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 16;
    A fa;
    B fb;
    Sums sums;
    fill_fragment(sums, 0.0f);
    if (row < m && column < n) {
        for (int from = 0; from < k; from += 16) {
            load_matrix_sync(fa, a + row * k + from, k);
            load_matrix_sync(fb, b + from * n + column, n);
            mma_sync(sums, fa, fb, sums);
        }
        store_matrix_sync(c + row * n + column, sums, n, mem_row_major);
    }
}

// the 2 x 2 fragments of a warp from tiles in shared memory with `depth` and `width` columns
__device__ void multiply(const bf16 *as, const bf16 *bs, int depth, int width, Sums (&sums)[2][2]) {
    A fa[2];
    B fb[2];
    for (int i = 0; i < 2; i++) load_matrix_sync(fa[i], as + i * 16 * depth, depth);
    for (int j = 0; j < 2; j++) load_matrix_sync(fb[j], bs + j * 16, width);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) mma_sync(sums[i][j], fa[i], fb[j], sums[i][j]);
}

__device__ void store(float *c, int n, Sums (&sums)[2][2]) {
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) store_matrix_sync(c + i * 16 * n + j * 16, sums[i][j], n, mem_row_major);
}

KERNEL(wmma_shared) PRODUCT {
    __shared__ bf16 as[64 * 16], bs[16 * 64];
    int tid = threadIdx.x, down = tid / 64 * 32, across = tid / 32 % 2 * 32, top = blockIdx.y * 64, left = blockIdx.x * 64;
    Sums sums[2][2];
    for (int i = 0; i < 4; i++) fill_fragment(sums[i / 2][i % 2], 0.0f);
    for (int from = 0; from < k; from += 16) {
        for (int t = tid; t < 64 * 16; t += 128) as[t] = a[(top + t / 16) * k + from + t % 16];
        for (int t = tid; t < 16 * 64; t += 128) bs[t] = b[(from + t / 64) * n + left + t % 64];
        __syncthreads();
        multiply(as + down * 16, bs + across, 16, 64, sums);
        __syncthreads();
    }
    store(c + (top + down) * n + left + across, n, sums);
}

KERNEL(wmma_stages) PRODUCT {
    const int ROWS = 128, COLUMNS = 64, DEPTH = 32, STAGES = 3;
    __shared__ __align__(16) bf16 as[STAGES][ROWS * DEPTH];
    __shared__ __align__(16) bf16 bs[STAGES][DEPTH * COLUMNS];
    int warp = threadIdx.x / 32, down = warp / 2 * 32, across = warp % 2 * 32, top = blockIdx.y * ROWS, left = blockIdx.x * COLUMNS;
    int steps = k / DEPTH;
    auto copy = [&](int step) {
        bf16 *to_a = as[step % STAGES], *to_b = bs[step % STAGES];
        for (int i = threadIdx.x; i < ROWS * DEPTH / 8; i += blockDim.x)
            __pipeline_memcpy_async(to_a + i / 4 * DEPTH + i % 4 * 8, a + (top + i / 4) * k + step * DEPTH + i % 4 * 8, 16);
        for (int i = threadIdx.x; i < DEPTH * COLUMNS / 8; i += blockDim.x)
            __pipeline_memcpy_async(to_b + i / 8 * COLUMNS + i % 8 * 8, b + (step * DEPTH + i / 8) * n + left + i % 8 * 8, 16);
    };
    Sums sums[2][2];
    for (int i = 0; i < 4; i++) fill_fragment(sums[i / 2][i % 2], 0.0f);
    for (int step = 0; step < STAGES - 1; step++) {
        if (step < steps) copy(step);
        __pipeline_commit();
    }
    for (int step = 0; step < steps; step++) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        for (int d = 0; d < DEPTH; d += 16)
            multiply(as[step % STAGES] + down * DEPTH + d, bs[step % STAGES] + d * COLUMNS + across, DEPTH, COLUMNS, sums);
        __syncthreads();
        if (step + STAGES - 1 < steps) copy(step + STAGES - 1);
        __pipeline_commit();
    }
    store(c + (top + down) * n + left + across, n, sums);
}

__device__ uint32_t place(const bf16 *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

// `b` has n rows of k; 2 x 4 warps of 64 x 32
extern "C" __global__ void __launch_bounds__(256) mma_stages PRODUCT {
    const int SIDE = 128, DEPTH = 32, STAGES = 3, PITCH = DEPTH + 8;
    extern __shared__ bf16 shared[];
    bf16 *as = shared, *bs = shared + STAGES * SIDE * PITCH;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, down = warp / 4 * 64, across = warp % 4 * 32;
    int top = blockIdx.y * SIDE, left = blockIdx.x * SIDE, steps = k / DEPTH;
    auto copy = [&](int step) {
        bf16 *to_a = as + step % STAGES * SIDE * PITCH, *to_b = bs + step % STAGES * SIDE * PITCH;
        for (int i = threadIdx.x; i < SIDE * DEPTH / 8; i += 256)
            __pipeline_memcpy_async(to_a + i / 4 * PITCH + i % 4 * 8, a + static_cast<size_t>(top + i / 4) * k + step * DEPTH + i % 4 * 8, 16);
        for (int i = threadIdx.x; i < SIDE * DEPTH / 8; i += 256)
            __pipeline_memcpy_async(to_b + i / 4 * PITCH + i % 4 * 8, b + static_cast<size_t>(left + i / 4) * k + step * DEPTH + i % 4 * 8, 16);
    };
    float sums[4][4][4] = {};
    for (int step = 0; step < STAGES - 1; step++) {
        if (step < steps) copy(step);
        __pipeline_commit();
    }
    for (int step = 0; step < steps; step++) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        bf16 *own_a = as + step % STAGES * SIDE * PITCH, *own_b = bs + step % STAGES * SIDE * PITCH;
#pragma unroll
        for (int d = 0; d < DEPTH; d += 16) {
            uint32_t x[4][4], y[4][2];
#pragma unroll
            for (int i = 0; i < 4; i++)
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(x[i][0]), "=r"(x[i][1]), "=r"(x[i][2]), "=r"(x[i][3])
                             : "r"(place(own_a + (down + i * 16 + lane % 16) * PITCH + d + lane / 16 * 8)));
#pragma unroll
            for (int j = 0; j < 4; j++)
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                             : "=r"(y[j][0]), "=r"(y[j][1])
                             : "r"(place(own_b + (across + j * 8 + lane % 8) * PITCH + d + lane % 16 / 8 * 8)));
#pragma unroll
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) {
                    float *s = sums[i][j];
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                                 "{%0, %1, %2, %3};"
                                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                                 : "r"(x[i][0]), "r"(x[i][1]), "r"(x[i][2]), "r"(x[i][3]), "r"(y[j][0]), "r"(y[j][1]));
                }
        }
        __syncthreads();
        if (step + STAGES - 1 < steps) copy(step + STAGES - 1);
        __pipeline_commit();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            int row = top + down + i * 16 + lane / 4, column = left + across + j * 8 + lane % 4 * 2;
            for (int e = 0; e < 4; e++) c[static_cast<size_t>(row + e / 2 * 8) * n + column + e % 2] = sums[i][j][e];
        }
}
