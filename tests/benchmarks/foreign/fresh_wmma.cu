// Products of f16 and bf16 matrices with wmma: CTAs of 16 warps for 256 x 128 elements of C, of which each warp has 64 x 32, in steps
// of 16 along K that go through shared memory by elements; plain, and with two buffers. Written for this repository after the
// descriptions of the measured kernels.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda::wmma;
const int T = 16, ROWS = 4, COLUMNS = 4, DOWN = 4, ACROSS = 2, BM = ROWS * DOWN * T, BN = COLUMNS * ACROSS * T, BK = T, THREADS = 512;

// B is transposed on its way to shared memory
template <typename V> __device__ void loaded(V *as, V *bs, const V *a, const V *b, int n, int k, int from) {
    for (int i = threadIdx.x; i < BM * BK; i += THREADS) {
        int row = i / BK, column = i % BK;
        as[row * BK + column] = a[(blockIdx.y * BM + row) * k + from + column];
    }
    for (int i = threadIdx.x; i < BK * BN; i += THREADS) {
        int row = i / BN, column = i % BN;
        bs[column * BK + row] = b[(from + row) * n + blockIdx.x * BN + column];
    }
}

template <typename V, int BUFFERS>
__device__ void product(int n, int k, float alpha, const V *a, const V *b, float beta, float *c) {
    __shared__ V as[BUFFERS][BM * BK], bs[BUFFERS][BK * BN];
    int warp = threadIdx.x / 32, row = warp / COLUMNS * DOWN, column = warp % COLUMNS * ACROSS, reads = 0;
    fragment<matrix_a, T, T, T, V, row_major> of_a;
    fragment<matrix_b, T, T, T, V, col_major> of_b;
    fragment<accumulator, T, T, T, float> sums[DOWN][ACROSS], old;
#pragma unroll
    for (int i = 0; i < DOWN; i++)
#pragma unroll
        for (int j = 0; j < ACROSS; j++) fill_fragment(sums[i][j], 0.0f);
    if (BUFFERS == 2) {
        loaded(as[0], bs[0], a, b, n, k, 0);
        __syncthreads();
    }
    for (int from = 0; from < k; from += BK) {
        int writes = BUFFERS == 2 ? reads ^ 1 : 0;
        if (BUFFERS == 1) {
            loaded(as[0], bs[0], a, b, n, k, from);
            __syncthreads();
        } else if (from + BK < k) {
            loaded(as[writes], bs[writes], a, b, n, k, from + BK);
        }
#pragma unroll
        for (int i = 0; i < DOWN; i++)
#pragma unroll
            for (int j = 0; j < ACROSS; j++) {
                load_matrix_sync(of_a, as[reads] + (row + i) * T * BK, BK);
                load_matrix_sync(of_b, bs[reads] + (column + j) * T * BK, BK);
                mma_sync(sums[i][j], of_a, of_b, sums[i][j]);
            }
        __syncthreads();
        reads = writes;
    }
#pragma unroll
    for (int i = 0; i < DOWN; i++)
#pragma unroll
        for (int j = 0; j < ACROSS; j++) {
            float *to = c + (blockIdx.y * BM + (row + i) * T) * n + blockIdx.x * BN + (column + j) * T;
            load_matrix_sync(old, to, n, mem_row_major);
#pragma unroll
            for (int t = 0; t < old.num_elements; t++) old.x[t] = alpha * sums[i][j].x[t] + beta * old.x[t];
            store_matrix_sync(to, old, n, mem_row_major);
        }
}
#define PRODUCT(name, type, buffers)                                                                                               \
    extern "C" __global__ void name(int n, int k, float alpha, const type *a, const type *b, float beta, float *c) {                \
        product<type, buffers>(n, k, alpha, a, b, beta, c);                                                                        \
    }
PRODUCT(plain_f16, half, 1)
PRODUCT(plain_bf16, __nv_bfloat16, 1)
PRODUCT(buffered_bf16, __nv_bfloat16, 2)
