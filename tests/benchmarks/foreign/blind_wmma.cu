// A product of f16 matrices with f16 sums by wmma: tiles of 128 x 128 for 16 warps, in steps of 16 along K through three stages of
// cp.async. Written for this repository after the description of the measured kernel.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda::wmma;
const int T = 16, B = 128, STAGES = 3, THREADS = 512;

extern "C" __global__ void stages_of_16(const half *__restrict__ a, const half *__restrict__ b, half *__restrict__ c, int m, int n, int k) {
    extern __shared__ half shared[];
    half *as = shared, *bs = shared + STAGES * B * T;
    int first = blockIdx.y * B, left = blockIdx.x * B, warp = threadIdx.x / 32, down = warp / 4 * 32, across = warp % 4 * 32;
    if (first >= m || left >= n) return;
    fragment<matrix_a, T, T, T, half, row_major> fa[2];
    fragment<matrix_b, T, T, T, half, row_major> fb[2];
    fragment<accumulator, T, T, T, half> sums[2][2];
#pragma unroll
    for (int i = 0; i < 4; i++) fill_fragment(sums[i / 2][i % 2], __float2half(0));
    auto copy = [&](int stage, int from) {
        for (int i = threadIdx.x * 8; i < B * T; i += THREADS * 8) {
            int row = i / T, column = i % T;
            if (first + row < m && from + column + 8 <= k)
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                                 static_cast<unsigned>(__cvta_generic_to_shared(as + stage * B * T + i))),
                             "l"(a + (first + row) * k + from + column));
        }
        for (int i = threadIdx.x * 8; i < B * T; i += THREADS * 8) {
            int row = i / B, column = i % B;
            if (from + row < k && left + column + 8 <= n)
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                                 static_cast<unsigned>(__cvta_generic_to_shared(bs + stage * B * T + i))),
                             "l"(b + (from + row) * n + left + column));
        }
    };
    int steps = (k + T - 1) / T;
#pragma unroll
    for (int stage = 0; stage < STAGES - 1; stage++) {
        if (stage < steps) copy(stage, stage * T);
        asm volatile("cp.async.commit_group;");
    }
    for (int step = 0; step < steps; step++) {
        int now = step % STAGES, next = step + STAGES - 1;
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 2; i++) load_matrix_sync(fa[i], as + now * B * T + (down + i * T) * T, T);
#pragma unroll
        for (int j = 0; j < 2; j++) load_matrix_sync(fb[j], bs + now * B * T + across + j * T, B);
#pragma unroll
        for (int i = 0; i < 4; i++) mma_sync(sums[i / 2][i % 2], fa[i / 2], fb[i % 2], sums[i / 2][i % 2]);
        if (next < steps) copy(next % STAGES, next * T);
        asm volatile("cp.async.commit_group;");
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        store_matrix_sync(c + (first + down + i / 2 * T) * n + left + across + i % 2 * T, sums[i / 2][i % 2], n, mem_row_major);
}
