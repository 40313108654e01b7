// Matrix products of f16 with sums of f32 in the steps of a published ladder: mma.sync and ldmatrix with 128 x 128 x 32
// tiles, 32 x 32 or 64 x 64 outputs per warp; and its first steps without mma. Written for this repository; tiles, warps
// and stages as published for the measured kernels.
#include <cuda_fp16.h>
#include <mma.h>
#define SIZES const half *A, const half *B, float *C, int M, int N, int K

__device__ void copy_16(void *to, const void *from) {
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
__device__ void load_4(unsigned *to, const half *from) {
    unsigned at = (unsigned)__cvta_generic_to_shared(from);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at));
}
__device__ void load_4_transposed(unsigned *to, const half *from) {
    unsigned at = (unsigned)__cvta_generic_to_shared(from);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at));
}
__device__ void multiply(float *c, const unsigned *a, const unsigned *b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// place of an element in a tile with rows of CHUNKS times 16 bytes; swizzled: eight rows of a column in different banks
template <int CHUNKS, bool SWIZZLED> __device__ int at(int row, int column) {
    int chunk = column / 8;
    if (SWIZZLED) chunk ^= CHUNKS >= 8 ? row % 8 : row / (8 / CHUNKS) % CHUNKS;
    return row * CHUNKS * 8 + chunk * 8 + column % 8;
}

template <int WARP, int STAGES, bool WIDE, bool SWIZZLED> __device__ void product_of(SIZES) {
    const int BM = 128, BN = 128, BK = 32, WARPS = BN / WARP, THREADS = WARPS * WARPS * 32;
    const int MS = WARP / 16, NS = WARP / 8, AC = BK / 8, BC = BN / 8, STAGE = BM * BK + BK * BN;
    extern __shared__ half tiles[];
    int t = threadIdx.x, lane = t % 32, wm = t / 32 / WARPS * WARP, wn = t / 32 % WARPS * WARP;
    int top = blockIdx.y * BM, left = blockIdx.x * BN;
    float sums[MS][NS][4] = {};

    auto load = [&](int stage, int k) {
        half *a = tiles + stage * STAGE, *b = a + BM * BK;
        if (WIDE) {
#pragma unroll
            for (int i = t; i < BM * AC; i += THREADS) {
                int row = i / AC, column = i % AC * 8;
                if (top + row < M) copy_16(&a[at<AC, SWIZZLED>(row, column)], &A[(size_t)(top + row) * K + k + column]);
            }
#pragma unroll
            for (int i = t; i < BK * BC; i += THREADS) {
                int row = i / BC, column = i % BC * 8;
                if (left + column < N) copy_16(&b[at<BC, SWIZZLED>(row, column)], &B[(size_t)(k + row) * N + left + column]);
            }
        } else {
#pragma unroll 1
            for (int i = t; i < BM * BK; i += THREADS) {
                int row = i / BK, column = i % BK;
                a[at<AC, SWIZZLED>(row, column)] = top + row < M ? A[(size_t)(top + row) * K + k + column] : half(0);
            }
#pragma unroll 1
            for (int i = t; i < BK * BN; i += THREADS) {
                int row = i / BN, column = i % BN;
                b[at<BC, SWIZZLED>(row, column)] = left + column < N ? B[(size_t)(k + row) * N + left + column] : half(0);
            }
        }
    };

    int count = K / BK;
#pragma unroll
    for (int s = 0; s < STAGES - 1; ++s) {
        if (s < count) load(s, s * BK);
        if (WIDE) commit();
    }
    int row = lane % 16, column = lane / 16 * 8;
    for (int i = 0; i < count; ++i) {
        int next = i + STAGES - 1;
        if (next < count) load(next % STAGES, next * BK);
        if (WIDE) commit(), wait<STAGES - 1>();
        __syncthreads();
        const half *a = tiles + i % STAGES * STAGE, *b = a + BM * BK;
#pragma unroll
        for (int k = 0; k < BK; k += 16) {
            unsigned fa[MS][4], fb[NS][2];
#pragma unroll
            for (int m = 0; m < MS; ++m) load_4(fa[m], &a[at<AC, SWIZZLED>(wm + m * 16 + row, k + column)]);
#pragma unroll
            for (int n = 0; n < NS; n += 2) load_4_transposed(fb[n], &b[at<BC, SWIZZLED>(k + row, wn + n * 8 + column)]);
#pragma unroll
            for (int m = 0; m < MS; ++m)
#pragma unroll
                for (int n = 0; n < NS; ++n) multiply(sums[m][n], fa[m], fb[n]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int m = 0; m < MS; ++m)
#pragma unroll
        for (int n = 0; n < NS; ++n) {
            int y = top + wm + m * 16 + lane / 4, x = left + wn + n * 8 + lane % 4 * 2;
            if (y < M && x < N) *reinterpret_cast<float2 *>(&C[(size_t)y * N + x]) = make_float2(sums[m][n][0], sums[m][n][1]);
            if (y + 8 < M && x < N)
                *reinterpret_cast<float2 *>(&C[(size_t)(y + 8) * N + x]) = make_float2(sums[m][n][2], sums[m][n][3]);
        }
}
extern "C" __global__ void __launch_bounds__(512) mma_base(SIZES) { product_of<32, 1, false, false>(A, B, C, M, N, K); }
extern "C" __global__ void __launch_bounds__(512) mma_swizzle(SIZES) { product_of<32, 1, false, true>(A, B, C, M, N, K); }
extern "C" __global__ void __launch_bounds__(512) mma_vector(SIZES) { product_of<32, 1, true, true>(A, B, C, M, N, K); }
extern "C" __global__ void __launch_bounds__(512) mma_pipeline(SIZES) { product_of<32, 2, true, true>(A, B, C, M, N, K); }
extern "C" __global__ void __launch_bounds__(128) mma_warp_tile(SIZES) { product_of<64, 2, true, true>(A, B, C, M, N, K); }

// WMMA fragments, 16 warps, rows without swizzle
template <int BM, int BN, int STAGES> __device__ void wmma_of(SIZES) {
    using namespace nvcuda;
    const int BK = 32, MS = BM / 64, NS = BN / 64, STAGE = BM * BK + BK * BN, THREADS = 512;
    extern __shared__ half tiles[];
    int t = threadIdx.x, wm = t / 32 / 4, wn = t / 32 % 4, top = blockIdx.y * BM, left = blockIdx.x * BN;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[MS][NS];
    for (int m = 0; m < MS; ++m)
        for (int n = 0; n < NS; ++n) wmma::fill_fragment(sums[m][n], 0);
    auto load = [&](int stage, int k) {
        half *a = tiles + stage * STAGE, *b = a + BM * BK;
#pragma unroll
        for (int i = t; i < BM * BK / 8; i += THREADS) {
            int row = i * 8 / BK, column = i * 8 % BK;
            if (top + row < M) copy_16(&a[row * BK + column], &A[(top + row) * K + k + column]);
        }
#pragma unroll
        for (int i = t; i < BK * BN / 8; i += THREADS) {
            int row = i * 8 / BN, column = i * 8 % BN;
            if (left + column < N) copy_16(&b[row * BN + column], &B[(k + row) * N + left + column]);
        }
    };
    int count = (K + BK - 1) / BK;
#pragma unroll
    for (int s = 0; s < STAGES - 1; ++s) {
        if (s < count) load(s, s * BK);
        commit();
    }
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[MS];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb[NS];
    for (int i = 0; i < count; ++i) {
        int next = i + STAGES - 1;
        if (next < count) load(next % STAGES, next * BK), commit();
        wait<STAGES - 1>();
        __syncthreads();
        const half *a = tiles + i % STAGES * STAGE, *b = a + BM * BK;
#pragma unroll
        for (int k = 0; k < BK; k += 16) {
#pragma unroll
            for (int m = 0; m < MS; ++m) wmma::load_matrix_sync(fa[m], a + (wm * MS + m) * 16 * BK + k, BK);
#pragma unroll
            for (int n = 0; n < NS; ++n) wmma::load_matrix_sync(fb[n], b + k * BN + (wn * NS + n) * 16, BN);
#pragma unroll
            for (int m = 0; m < MS; ++m)
#pragma unroll
                for (int n = 0; n < NS; ++n) wmma::mma_sync(sums[m][n], fa[m], fb[n], sums[m][n]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int m = 0; m < MS; ++m)
#pragma unroll
        for (int n = 0; n < NS; ++n) {
            int y = top + (wm * MS + m) * 16, x = left + (wn * NS + n) * 16;
            if (y < M && x < N) wmma::store_matrix_sync(C + y * N + x, sums[m][n], N, wmma::mem_row_major);
        }
}
extern "C" __global__ void __launch_bounds__(512) wmma_64(SIZES) { wmma_of<64, 64, 2>(A, B, C, M, N, K); }
extern "C" __global__ void __launch_bounds__(512) wmma_128(SIZES) { wmma_of<128, 128, 3>(A, B, C, M, N, K); }

// f32 without tensor cores
extern "C" __global__ void scalar_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && column < N) {
        float sum = 0;
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
        C[row * N + column] = sum;
    }
}
extern "C" __global__ void scalar_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    const int T = 32;
    __shared__ float a[T][T], b[T][T];
    int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < (K + T - 1) / T; ++i) {
        int x = i * T + threadIdx.x, y = i * T + threadIdx.y;
        a[threadIdx.y][threadIdx.x] = row < M && x < K ? A[row * K + x] : 0;
        b[threadIdx.y][threadIdx.x] = column < N && y < K ? B[y * N + column] : 0;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && column < N) C[row * N + column] = sum;
}
