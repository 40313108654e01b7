// Stencils of five points: steps of Jacobi in f32 and f16, by elements and by vectors, with the copy after each step, and of heat in
// f32, from global memory and from tiles of shared memory with halo. Written for this repository after the descriptions of the
// measured kernels.
#include <cuda_fp16.h>
#define KERNEL(name) extern "C" __global__ void name

KERNEL(jacobi_f32)(float *next, const float *grid, int imax, int jmax) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, width = imax + 2;
    if (i > 0 && i < imax + 1 && j > 0 && j < jmax + 1)
        next[j * width + i] =
            0.25f * (grid[j * width + i + 1] + grid[j * width + i - 1] + grid[(j - 1) * width + i] + grid[(j + 1) * width + i]);
}

KERNEL(jacobi_f16)(half *next, const half *grid, int imax, int jmax) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, width = imax + 2;
    if (i > 0 && i < imax + 1 && j > 0 && j < jmax + 1) {
        half row = __hadd(grid[j * width + i + 1], grid[j * width + i - 1]);
        half column = __hadd(grid[(j - 1) * width + i], grid[(j + 1) * width + i]);
        next[j * width + i] = __hmul(__float2half(0.25f), __hadd(row, column));
    }
}

KERNEL(jacobi_f32x4)(float4 *next, const float4 *grid, int imax, int jmax) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, width = (imax + 2) / 4;
    if (i > 0 && i < width && j > 0 && j < jmax + 1) {
        float4 at = grid[j * width + i], left = grid[j * width + i - 1], right = grid[j * width + i + 1];
        float4 up = grid[(j - 1) * width + i], down = grid[(j + 1) * width + i], to;
        to.x = 0.25f * (at.y + left.w + up.x + down.x);
        to.y = 0.25f * (at.z + at.x + up.y + down.y);
        to.z = 0.25f * (at.w + at.y + up.z + down.z);
        to.w = 0.25f * (right.x + at.z + up.w + down.w);
        next[j * width + i] = to;
    }
}

KERNEL(jacobi_f16x2)(half2 *next, const half2 *grid, int imax, int jmax) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, width = (imax + 2) / 2;
    if (i > 0 && i < width && j > 0 && j < jmax + 1) {
        half2 at = grid[j * width + i], left = grid[j * width + i - 1], right = grid[j * width + i + 1];
        half2 up = grid[(j - 1) * width + i], down = grid[(j + 1) * width + i];
        half2 row = __hadd2(__halves2half2(left.y, at.x), __halves2half2(at.y, right.x));
        next[j * width + i] = __hmul2(__float2half2_rn(0.25f), __hadd2(row, __hadd2(up, down)));
    }
}

template <typename V, int OF> __device__ void copied(V *grid, const V *next, int imax, int jmax) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, width = (imax + 2) / OF;
    if (i > 0 && i < (OF == 1 ? imax + 1 : width) && j > 0 && j < jmax + 1) grid[j * width + i] = next[j * width + i];
}
KERNEL(copy_f32)(float *grid, const float *next, int imax, int jmax) { copied<float, 1>(grid, next, imax, jmax); }
KERNEL(copy_f16)(half *grid, const half *next, int imax, int jmax) { copied<half, 1>(grid, next, imax, jmax); }
KERNEL(copy_f32x4)(float4 *grid, const float4 *next, int imax, int jmax) { copied<float4, 4>(grid, next, imax, jmax); }
KERNEL(copy_f16x2)(half2 *grid, const half2 *next, int imax, int jmax) { copied<half2, 2>(grid, next, imax, jmax); }

KERNEL(heat)(const float *from, float *to, int n, float r) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x < n - 1 && y < n - 1) {
        int at = y * n + x;
        to[at] = from[at] + r * (from[at - n] + from[at + n] + from[at - 1] + from[at + 1] - 4.0f * from[at]);
    }
}

KERNEL(heat_tile)(const float *from, float *to, int n, float r) {
    extern __shared__ float tile[];
    int width = blockDim.x + 2, tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int x = blockIdx.x * blockDim.x + tx, y = blockIdx.y * blockDim.y + ty;
    bool first_x = tx == 1, last_x = tx == (int)blockDim.x, first_y = ty == 1, last_y = ty == (int)blockDim.y;
    if (x < n && y < n) {
        tile[ty * width + tx] = from[y * n + x];
        if (first_x) tile[ty * width] = from[y * n + x - 1];
        if (last_x && x + 1 < n) tile[ty * width + tx + 1] = from[y * n + x + 1];
        if (first_y) tile[tx] = from[(y - 1) * n + x];
        if (last_y && y + 1 < n) tile[(ty + 1) * width + tx] = from[(y + 1) * n + x];
        if (first_x && first_y) tile[0] = from[(y - 1) * n + x - 1];
        if (last_x && first_y && x + 1 < n) tile[tx + 1] = from[(y - 1) * n + x + 1];
        if (first_x && last_y && y + 1 < n) tile[(ty + 1) * width] = from[(y + 1) * n + x - 1];
        if (last_x && last_y && x + 1 < n && y + 1 < n) tile[(ty + 1) * width + tx + 1] = from[(y + 1) * n + x + 1];
    }
    __syncthreads();
    if (x < n - 1 && y < n - 1) {
        int at = ty * width + tx;
        to[y * n + x] = tile[at] + r * (tile[at - width] + tile[at + width] + tile[at - 1] + tile[at + 1] - 4.0f * tile[at]);
    }
}
