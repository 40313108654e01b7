// Products of bf16 matrices with f32 sums: tiles of 96 rows by columns and depth, fragments of 16 x 16 that four warps take in turn.
// Written for this repository after the description of the measured kernels.
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;
using Bf16 = __nv_bfloat16;

template <int ROWS, int COLUMNS, int DEPTH> __device__ void tile(const Bf16 *a, const Bf16 *b, float *c, int m, int n, int k) {
    constexpr int ACROSS = COLUMNS / 16, FRAGMENTS = ROWS / 16 * ACROSS, EACH = (FRAGMENTS + 3) / 4;
    extern __shared__ __align__(32) unsigned char stage[];
    __shared__ __align__(32) float results[4][256];
    Bf16 *own_a = reinterpret_cast<Bf16 *>(stage), *own_b = own_a + ROWS * DEPTH;
    int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) wmma::fill_fragment(sums[i], 0.0f);
    for (int from = 0; from < k; from += DEPTH) {
        for (int i = thread; i < ROWS * DEPTH; i += 128) {
            int row = blockIdx.y * ROWS + i / DEPTH, column = from + i % DEPTH;
            own_a[i] = row < m && column < k ? a[row * k + column] : __float2bfloat16(0);
        }
        for (int i = thread; i < DEPTH * COLUMNS; i += 128) {
            int row = from + i / COLUMNS, column = blockIdx.x * COLUMNS + i % COLUMNS;
            own_b[i] = row < k && column < n ? b[row * n + column] : __float2bfloat16(0);
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            int fragment = warp + 4 * i;
            if (fragment < FRAGMENTS) {
                int down = fragment / ACROSS, across = fragment % ACROSS;
#pragma unroll
                for (int part = 0; part < DEPTH; part += 16) {
                    wmma::fragment<wmma::matrix_a, 16, 16, 16, Bf16, wmma::row_major> left;
                    wmma::fragment<wmma::matrix_b, 16, 16, 16, Bf16, wmma::row_major> right;
                    wmma::load_matrix_sync(left, own_a + down * 16 * DEPTH + part, DEPTH);
                    wmma::load_matrix_sync(right, own_b + part * COLUMNS + across * 16, COLUMNS);
                    wmma::mma_sync(sums[i], left, right, sums[i]);
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        int fragment = warp + 4 * i;
        if (fragment < FRAGMENTS) {
            int down = fragment / ACROSS, across = fragment % ACROSS;
            wmma::store_matrix_sync(results[warp], sums[i], 16, wmma::mem_row_major);
            __syncwarp();
            for (int j = lane; j < 256; j += 32) {
                int row = blockIdx.y * ROWS + down * 16 + j / 16, column = blockIdx.x * COLUMNS + across * 16 + j % 16;
                if (row < m && column < n) c[row * n + column] = results[warp][j];
            }
            __syncwarp();
        }
    }
}

#define TILE(columns, depth)                                                                                               \
    extern "C" __global__ void tile_##columns##_##depth(const Bf16 *a, const Bf16 *b, float *c, int m, int n, int k) {      \
        tile<96, columns, depth>(a, b, c, m, n, k);                                                                         \
    }
#define DEPTHS(columns) TILE(columns, 16) TILE(columns, 32) TILE(columns, 48) TILE(columns, 64)
DEPTHS(16)
DEPTHS(32)
DEPTHS(48)
DEPTHS(64)
DEPTHS(80)
DEPTHS(96)
