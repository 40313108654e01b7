// Matrices: transpose, tiled product, wmma, mma in inline PTX, cp.async pipelines.
#include <cuda/pipeline>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

template <typename T, int SIDE> __global__ void transpose(const T *x, T *y, int rows, int columns) {
    __shared__ T tile[SIDE][SIDE + 1];
    int c = blockIdx.x * SIDE + threadIdx.x, r = blockIdx.y * SIDE + threadIdx.y;
    if (r < rows && c < columns) tile[threadIdx.y][threadIdx.x] = x[r * columns + c];
    __syncthreads();
    c = blockIdx.y * SIDE + threadIdx.x, r = blockIdx.x * SIDE + threadIdx.y;
    if (r < columns && c < rows) y[r * rows + c] = tile[threadIdx.x][threadIdx.y];
}

#ifndef TILE
#define TILE 16
#endif
__global__ void gemm_tiled(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int first = 0; first < k; first += TILE) {
        int x = first + threadIdx.x, y = first + threadIdx.y;
        as[threadIdx.y][threadIdx.x] = row < m && x < k ? a[row * k + x] : 0.f;
        bs[threadIdx.y][threadIdx.x] = y < k && column < n ? b[y * n + column] : 0.f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

__global__ void gemm_wmma(const __half *a, const __half *b, float *c, int n, int k) {
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.f);
    int row = blockIdx.y * 16, column = blockIdx.x * 16;
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(fa, a + row * k + i, k);
        wmma::load_matrix_sync(fb, b + i * n + column, n);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + row * n + column, fc, n, wmma::mem_row_major);
}

// One warp: c[16][8] = a[16][16] * b[8][16]^T.
__global__ void gemm_mma(const __half *a, const __half *b, float *c) {
    __shared__ alignas(16) __half as[16][16];
    int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) as[i / 16][i % 16] = a[i];
    __syncwarp();
    unsigned fa[4];
    auto at = static_cast<unsigned>(__cvta_generic_to_shared(&as[lane % 16][lane / 16 * 8]));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(at) : "memory");
    auto fb = reinterpret_cast<const unsigned *>(b) + lane / 4 * 8 + lane % 4;
    float d[4] = {};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[4]));
    for (int i = 0; i < 4; ++i) c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
}

// Double buffering with cp.async through the C++ primitives of cuda_pipeline.h.
__global__ void stream_primitives(const float4 *x, float4 *y, int tiles) {
    __shared__ float4 stage[2][64];
    int t = threadIdx.x;
    auto load = [&](int tile) {
        __pipeline_memcpy_async(&stage[tile % 2][t], &x[tile * 64 + t], sizeof(float4));
        __pipeline_commit();
    };
    load(0);
    for (int tile = 0; tile < tiles; ++tile) {
        if (tile + 1 < tiles) load(tile + 1);
        __pipeline_wait_prior(tile + 1 < tiles ? 1 : 0);
        __syncthreads();
        float4 v = stage[tile % 2][63 - t];
        y[tile * 64 + t] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
        __syncthreads();
    }
}

// The same with cuda::pipeline of libcu++.
__global__ void stream_pipeline(const int *x, int *y, int tiles) {
    constexpr int STAGES = 3, THREADS = 64;
    __shared__ alignas(16) int stage[STAGES][THREADS];
    auto pipe = cuda::make_pipeline();
    for (int tile = 0, loaded = 0; tile < tiles; ++tile) {
        for (; loaded < tiles && loaded < tile + STAGES; ++loaded) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[loaded % STAGES][threadIdx.x], &x[loaded * THREADS + threadIdx.x], sizeof(int), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        y[tile * THREADS + threadIdx.x] = stage[tile % STAGES][threadIdx.x] + tile;
        pipe.consumer_release();
    }
}
