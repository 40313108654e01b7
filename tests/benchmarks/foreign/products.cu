// Matrix products in the steps of two published ladders: f32 with tiles in shared memory, double buffers and cp.async;
// f16 with mma.sync, ldmatrix and a pipeline of copies. Row-major, sizes divisible by the tiles. Written for this
// repository; tiles, warps and stages as published for the measured kernels.
#include <cuda_fp16.h>
#include <mma.h>

#define SIZES int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C
#define GIVEN M, N, K, alpha, A, B, beta, C

__device__ void copy_16(void *to, const void *from) {
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }

// ---- f32: one output per thread
extern "C" __global__ void f32_naive(SIZES) {
    unsigned column = blockIdx.x * 32 + threadIdx.x % 32, row = blockIdx.y * 32 + threadIdx.x / 32;
    if (row < M && column < N) {
        float sum = 0;
        for (unsigned k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
        C[row * N + column] = alpha * sum + beta * C[row * N + column];
    }
}

extern "C" __global__ void f32_block(SIZES) {
    __shared__ float a[32 * 32], b[32 * 32];
    unsigned x = threadIdx.x % 32, y = threadIdx.x / 32, column = blockIdx.x * 32 + x, row = blockIdx.y * 32 + y;
    A += blockIdx.y * 32 * K;
    B += blockIdx.x * 32;
    float sum = 0;
    for (unsigned k = 0; k < K; k += 32) {
        a[y * 32 + x] = A[y * K + x];
        b[y * 32 + x] = B[y * N + x];
        __syncthreads();
        A += 32;
        B += 32 * N;
        for (unsigned i = 0; i < 32; ++i) sum += a[y * 32 + i] * b[i * 32 + x];
        __syncthreads();
    }
    if (row < M && column < N) C[row * N + column] = alpha * sum + beta * C[row * N + column];
}

// 64 x 64 x 8 tiles, 8 x 8 outputs of each of 64 threads, copies of one word
extern "C" __global__ void f32_thread(SIZES) {
    const int BM = 64, BN = 64, BK = 8, T = 8, THREADS = BM * BN / (T * T);
    __shared__ float a[BM * BK], b[BK * BN];
    unsigned t = threadIdx.x, x = t % (BN / T), y = t / (BN / T);
    A += blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    float sums[T * T] = {0}, m[T], n[T];
    for (unsigned k = 0; k < K; k += BK) {
        for (unsigned i = 0; i < BM * BK / THREADS; ++i) {
            unsigned at = t + i * THREADS;
            a[at / BK * BK + at % BK] = A[at / BK * K + at % BK];
        }
        for (unsigned i = 0; i < BN * BK / THREADS; ++i) {
            unsigned at = t + i * THREADS;
            b[at / BN * BN + at % BN] = B[at / BN * N + at % BN];
        }
        __syncthreads();
        A += BK;
        B += BK * N;
        for (unsigned i = 0; i < BK; ++i) {
            for (unsigned j = 0; j < T; ++j) m[j] = a[(y * T + j) * BK + i];
            for (unsigned j = 0; j < T; ++j) n[j] = b[i * BN + x * T + j];
            for (unsigned p = 0; p < T; ++p)
                for (unsigned q = 0; q < T; ++q) sums[p * T + q] += m[p] * n[q];
        }
        __syncthreads();
    }
    for (unsigned p = 0; p < T; ++p)
        for (unsigned q = 0; q < T; ++q) {
            unsigned row = blockIdx.y * BM + y * T + p, column = blockIdx.x * BN + x * T + q;
            if (row < M && column < N) C[row * N + column] = alpha * sums[p * T + q] + beta * C[row * N + column];
        }
}

// ---- f32: 128 x 128 x 16 tiles, 8 x 8 outputs of each of 256 threads, copies of four words, A transposed in shared memory
const int BM = 128, BN = 128, BK = 16, T = 8, THREADS = 256;
__device__ void tile_a(const float *A, float *to, int K) {
    for (unsigned i = 0; i < BM * BK / (THREADS * 4); ++i) {
        unsigned at = threadIdx.x + i * THREADS, row = at / (BK / 4), column = at % (BK / 4) * 4;
        float4 four = *reinterpret_cast<const float4 *>(&A[row * K + column]);
        to[(column + 0) * BM + row] = four.x;
        to[(column + 1) * BM + row] = four.y;
        to[(column + 2) * BM + row] = four.z;
        to[(column + 3) * BM + row] = four.w;
    }
}
template <bool ASYNC> __device__ void tile_b(const float *B, float *to, int N) {
    for (unsigned i = 0; i < BN * BK / (THREADS * 4); ++i) {
        unsigned at = threadIdx.x + i * THREADS, row = at / (BN / 4), column = at % (BN / 4) * 4;
        if (ASYNC)
            copy_16(&to[row * BN + column], &B[row * N + column]);
        else
            *reinterpret_cast<float4 *>(&to[row * BN + column]) = *reinterpret_cast<const float4 *>(&B[row * N + column]);
    }
}
__device__ void fragment(const float *a, const float *b, float *m, float *n, unsigned k, unsigned y, unsigned x) {
    for (unsigned i = 0; i < T; i += 4) {
        float4 four = *reinterpret_cast<const float4 *>(&a[k * BM + y * T + i]);
        m[i] = four.x, m[i + 1] = four.y, m[i + 2] = four.z, m[i + 3] = four.w;
    }
    for (unsigned i = 0; i < T; i += 4) {
        float4 four = *reinterpret_cast<const float4 *>(&b[k * BN + x * T + i]);
        n[i] = four.x, n[i + 1] = four.y, n[i + 2] = four.z, n[i + 3] = four.w;
    }
}
__device__ void outer(const float *m, const float *n, float *sums) {
#pragma unroll
    for (unsigned p = 0; p < T; ++p)
#pragma unroll
        for (unsigned q = 0; q < T; ++q) sums[p * T + q] += m[p] * n[q];
}
__device__ void store(float *C, const float *sums, unsigned row, unsigned column, int N, float alpha, float beta) {
    for (unsigned p = 0; p < T; ++p)
        for (unsigned q = 0; q < T; q += 4) {
            float4 *to = reinterpret_cast<float4 *>(&C[(row + p) * N + column + q]), four;
            four.x = alpha * sums[p * T + q];
            four.y = alpha * sums[p * T + q + 1];
            four.z = alpha * sums[p * T + q + 2];
            four.w = alpha * sums[p * T + q + 3];
            if (beta != 0) {
                float4 old = *to;
                four.x += beta * old.x, four.y += beta * old.y, four.z += beta * old.z, four.w += beta * old.w;
            }
            *to = four;
        }
}
#define PLACE \
    unsigned x = threadIdx.x % (BN / T), y = threadIdx.x / (BN / T); \
    unsigned column = blockIdx.x * BN + x * T, row = blockIdx.y * BM + y * T; \
    A += blockIdx.y * BM * K; \
    B += blockIdx.x * BN;

// one buffer; elements are read from shared memory one by one, or four at a time
template <bool WIDE> __device__ void f32_vector_of(SIZES) {
    __shared__ float a[BK * BM], b[BK * BN];
    PLACE
    float sums[T * T] = {0}, m[T], n[T];
    for (unsigned k = 0; k < K; k += BK) {
        tile_a(A, a, K);
        tile_b<false>(B, b, N);
        __syncthreads();
        A += BK;
        B += BK * N;
        for (unsigned i = 0; i < BK; ++i) {
            if (WIDE)
                fragment(a, b, m, n, i, y, x);
            else {
                for (unsigned j = 0; j < T; ++j) m[j] = a[i * BM + y * T + j];
                for (unsigned j = 0; j < T; ++j) n[j] = b[i * BN + x * T + j];
            }
            outer(m, n, sums);
        }
        __syncthreads();
    }
    store(C, sums, row, column, N, alpha, beta);
}
extern "C" __global__ void f32_vector_global(SIZES) { f32_vector_of<false>(GIVEN); }
extern "C" __global__ void f32_vector_shared(SIZES) { f32_vector_of<true>(GIVEN); }

// two buffers of tiles
extern "C" __global__ void f32_two_tiles(SIZES) {
    __shared__ float a[2][BK * BM], b[2][BK * BN];
    PLACE
    float sums[T * T] = {0}, m[T], n[T];
    tile_a(A, a[0], K);
    tile_b<false>(B, b[0], N);
    __syncthreads();
    unsigned read = 0;
    for (unsigned tile = 1; tile < K / BK; ++tile) {
        A += BK;
        B += BK * N;
        tile_a(A, a[1 - read], K);
        tile_b<false>(B, b[1 - read], N);
#pragma unroll
        for (unsigned k = 0; k < BK; ++k) {
            fragment(a[read], b[read], m, n, k, y, x);
            outer(m, n, sums);
        }
        __syncthreads();
        read = 1 - read;
    }
#pragma unroll
    for (unsigned k = 0; k < BK; ++k) {
        fragment(a[read], b[read], m, n, k, y, x);
        outer(m, n, sums);
    }
    store(C, sums, row, column, N, alpha, beta);
}

// two buffers of tiles and of fragments; B is copied by cp.async or through registers
template <bool ASYNC> __device__ void f32_two_fragments_of(SIZES) {
    __shared__ float a[2][BK * BM], b[2][BK * BN];
    PLACE
    float sums[T * T] = {0}, m[2][T], n[2][T];
    tile_a(A, a[0], K);
    tile_b<ASYNC>(B, b[0], N);
    if (ASYNC) commit(), wait<0>();
    __syncthreads();
    fragment(a[0], b[0], m[0], n[0], 0, y, x);
    unsigned read = 0;
    for (unsigned tile = 1; tile <= K / BK; ++tile) {
        if (tile < K / BK) {
            A += BK;
            B += BK * N;
            tile_a(A, a[1 - read], K);
            tile_b<ASYNC>(B, b[1 - read], N);
            if (ASYNC) commit();
        }
#pragma unroll
        for (unsigned k = 0; k < BK - 1; ++k) {
            fragment(a[read], b[read], m[(k + 1) % 2], n[(k + 1) % 2], k + 1, y, x);
            outer(m[k % 2], n[k % 2], sums);
        }
        outer(m[(BK - 1) % 2], n[(BK - 1) % 2], sums);
        if (tile < K / BK) {
            if (ASYNC) wait<0>();
            __syncthreads();
            read = 1 - read;
            fragment(a[read], b[read], m[0], n[0], 0, y, x);
        }
    }
    store(C, sums, row, column, N, alpha, beta);
}
extern "C" __global__ void f32_two_fragments(SIZES) { f32_two_fragments_of<false>(GIVEN); }
extern "C" __global__ void f32_async(SIZES) { f32_two_fragments_of<true>(GIVEN); }
