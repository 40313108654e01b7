// Products of f32 matrices in stages, and one of f16 matrices by wmma. Written for this repository after the descriptions of the
// measured kernels.
#include <cuda_fp16.h>
#include <mma.h>
#define KERNEL(name) extern "C" __global__ void name

const int SIDE = 64, DEEP = 16, EACH = 4;  // a tile of 64 x 64, panels of 16, patches of 4 x 4 of 256 threads

// an element of a thread; lanes go down the rows, or along the columns
__device__ __forceinline__ void element(const float *a, const float *b, float *c, int m, int n, int k, int row, int column) {
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int step = 0; step < k; step++) sum += a[row * k + step] * b[step * n + column];
    c[row * n + column] = sum;
}

KERNEL(stage_rows)(const float *a, const float *b, float *c, int m, int n, int k) {
    element(a, b, c, m, n, k, blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y);
}

KERNEL(stage_columns)(const float *a, const float *b, float *c, int m, int n, int k) {
    element(a, b, c, m, n, k, blockIdx.y * blockDim.y + threadIdx.y, blockIdx.x * blockDim.x + threadIdx.x);
}

// tiles of 32 x 32 with a column of padding
KERNEL(stage_tiles)(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float left[32][33], right[32][33];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x;
    const int panels = (k + 31) / 32;
    float sum = 0;
    for (int panel = 0; panel < panels; panel++) {
        const int along = panel * 32 + x, down = panel * 32 + y;
        left[y][x] = row < m && along < k ? a[row * k + along] : 0;
        right[y][x] = down < k && column < n ? b[down * n + column] : 0;
        __syncthreads();
#pragma unroll
        for (int step = 0; step < 32; step++) sum += left[y][step] * right[step][x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

__device__ __forceinline__ float inside(const float *from, int row, int column, int rows, int columns) {
    return row < rows && column < columns ? from[row * columns + column] : 0;
}

// patches of 4 x 4 of a thread; panels are loaded by elements, or by four at a time
template <bool FOURS> __device__ __forceinline__ void patches(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float left[SIDE][DEEP + 1], right[DEEP][SIDE + 1];
    const int x = threadIdx.x, y = threadIdx.y, thread = y * blockDim.x + x;
    float sums[EACH][EACH] = {};
    const int first_row = blockIdx.y * SIDE + y * EACH, first_column = blockIdx.x * SIDE + x * EACH;
    const int panels = (k + DEEP - 1) / DEEP;
    for (int panel = 0; panel < panels; panel++) {
        const int from = panel * DEEP;
        if (FOURS) {
            const int row = thread / 4, column = thread % 4 * 4, from_row = blockIdx.y * SIDE + row, from_column = from + column;
            if (from_row < m && from_column + 3 < k) {
                const float4 four = *reinterpret_cast<const float4 *>(&a[from_row * k + from_column]);
                left[row][column] = four.x, left[row][column + 1] = four.y;
                left[row][column + 2] = four.z, left[row][column + 3] = four.w;
            } else {
#pragma unroll
                for (int i = 0; i < 4; i++) left[row][column + i] = inside(a, from_row, from_column + i, m, k);
            }
            const int down = thread / 16, across = thread % 16 * 4, to_row = from + down, to_column = blockIdx.x * SIDE + across;
            if (to_row < k && to_column + 3 < n) {
                const float4 four = *reinterpret_cast<const float4 *>(&b[to_row * n + to_column]);
                right[down][across] = four.x, right[down][across + 1] = four.y;
                right[down][across + 2] = four.z, right[down][across + 3] = four.w;
            } else {
#pragma unroll
                for (int i = 0; i < 4; i++) right[down][across + i] = inside(b, to_row, to_column + i, k, n);
            }
        } else {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int at = thread + i * 256;
                left[at / DEEP][at % DEEP] = inside(a, blockIdx.y * SIDE + at / DEEP, from + at % DEEP, m, k);
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int at = thread + i * 256;
                right[at / SIDE][at % SIDE] = inside(b, from + at / SIDE, blockIdx.x * SIDE + at % SIDE, k, n);
            }
        }
        __syncthreads();
#pragma unroll
        for (int step = 0; step < DEEP; step++) {
            float p[EACH], q[EACH];
#pragma unroll
            for (int i = 0; i < EACH; i++) p[i] = left[y * EACH + i][step];
#pragma unroll
            for (int j = 0; j < EACH; j++) q[j] = right[step][x * EACH + j];
#pragma unroll
            for (int i = 0; i < EACH * EACH; i++) sums[i / EACH][i % EACH] += p[i / EACH] * q[i % EACH];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < EACH * EACH; i++) {
        const int row = first_row + i / EACH, column = first_column + i % EACH;
        if (row < m && column < n) c[row * n + column] = sums[i / EACH][i % EACH];
    }
}

KERNEL(stage_patches)(const float *a, const float *b, float *c, int m, int n, int k) { patches<false>(a, b, c, m, n, k); }

KERNEL(stage_fours)(const float *a, const float *b, float *c, int m, int n, int k) { patches<true>(a, b, c, m, n, k); }

// 16 warps, each with a fragment of 16 x 16; panels of 16 are loaded by elements
KERNEL(stage_wmma)(const half *a, const half *b, float *c, int m, int n, int k) {
    using namespace nvcuda::wmma;
    __shared__ half left[SIDE][DEEP], right[DEEP][SIDE];
    const int warp = threadIdx.y, down = warp / 4 * 16, across = warp % 4 * 16, thread = warp * 32 + threadIdx.x;
    const int top = blockIdx.y * SIDE, start = blockIdx.x * SIDE, panels = k / DEEP;
    fragment<matrix_a, 16, 16, 16, half, row_major> p;
    fragment<matrix_b, 16, 16, 16, half, row_major> q;
    fragment<accumulator, 16, 16, 16, float> sums;
    fill_fragment(sums, 0.0f);
    for (int panel = 0; panel < panels; panel++) {
        const int from = panel * DEEP;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int at = thread + i * 512, row = at / DEEP, column = at % DEEP;
            left[row][column] = top + row < m && from + column < k ? a[(top + row) * k + from + column] : __float2half(0);
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int at = thread + i * 512, row = at / SIDE, column = at % SIDE;
            right[row][column] = from + row < k && start + column < n ? b[(from + row) * n + start + column] : __float2half(0);
        }
        __syncthreads();
        load_matrix_sync(p, &left[down][0], DEEP);
        load_matrix_sync(q, &right[0][across], SIDE);
        mma_sync(sums, p, q, sums);
        __syncthreads();
    }
    if (top + down < m && start + across < n) store_matrix_sync(c + (top + down) * n + start + across, sums, n, mem_row_major);
}
