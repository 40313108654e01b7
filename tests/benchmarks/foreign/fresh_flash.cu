// Causal attention of heads of 64 f16 with mma: pairs of warps have 16 queries each and halves of the keys, and then of the columns of
// O. Two steps: K and V through registers, with P in shared memory of its own, and K and V by cp.async, of which V arrives until P V,
// with P in the memory of K. Written for this repository after the descriptions of the measured kernels.
#include <cfloat>
#include <cuda_fp16.h>
const int D = 64, N = 64, STRIDE = D + 8;

__device__ unsigned shared_address(const void *at) { return static_cast<unsigned>(__cvta_generic_to_shared(at)); }

__device__ void mma(float *d, const unsigned *a, const unsigned *b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ void four(unsigned *r, const half *at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(at)));
}

__device__ void two(unsigned *r, const half *at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(shared_address(at)));
}

__device__ void two_transposed(unsigned *r, const half *at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(shared_address(at)));
}

template <int THREADS, bool ASYNC> __device__ void rows(half *to, const half *from, int count, int first, int n, int limit) {
    for (int i = threadIdx.y * 32 + threadIdx.x; i < count * D / 8; i += THREADS) {
        int row = i / (D / 8), column = i % (D / 8) * 8, at = first + row;
        bool in = at < n && row < limit;
        if (ASYNC) {
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to + row * STRIDE + column)),
                         "l"(from + at * D + column), "r"(in ? 16 : 0));
        } else {
            uint4 v = in ? *reinterpret_cast<const uint4 *>(from + at * D + column) : make_uint4(0, 0, 0, 0);
            *reinterpret_cast<uint4 *>(to + row * STRIDE + column) = v;
        }
    }
    if (ASYNC) asm volatile("cp.async.commit_group;");
}

template <int M, int WARPS, bool ASYNC>
__device__ void attention(const half *__restrict__ q, const half *__restrict__ k, const half *__restrict__ v, half *__restrict__ o,
                          float *__restrict__ lse, int n, float scale) {
    const int THREADS = 32 * WARPS;
    extern __shared__ char shared[];
    half *sq = reinterpret_cast<half *>(shared), *sk = sq + M * STRIDE, *sv = sk + N * STRIDE, *sp = ASYNC ? sk : sv + N * STRIDE;
    float *maxima = reinterpret_cast<float *>(ASYNC ? sv + N * STRIDE : sp + M * STRIDE), *totals = maxima + 2 * M;
    int lane = threadIdx.x, tile = threadIdx.y / 2, part = threadIdx.y % 2, start = blockIdx.x * M;
    if (start >= n) return;
    size_t head = static_cast<size_t>(blockIdx.y) * n * D;
    q += head, k += head, v += head, o += head;
    rows<THREADS, false>(sq, q, M, start, n, M);
    __syncthreads();
    int row[2] = {tile * 16 + lane / 4, tile * 16 + lane / 4 + 8};
    float sums[4][4] = {}, most[2] = {-FLT_MAX, -FLT_MAX}, total[2] = {};
    const half *at_q = sq + (tile * 16 + lane % 16) * STRIDE + lane / 16 * 8, *at_p = sp + (tile * 16 + lane % 16) * STRIDE + lane / 16 * 8;
    int steps = (min(start + M, n) + N - 1) / N;
    for (int step = 0; step < steps; step++) {
        int from = step * N, count = min(N, n - from);
        rows<THREADS, ASYNC>(sk, k, N, from, n, count);
        rows<THREADS, ASYNC>(sv, v, N, from, n, count);
        if (ASYNC) asm volatile("cp.async.wait_group 1;");
        __syncthreads();
        float s[4][4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int keys = (part * 4 + j) * 8, column = keys + lane % 4 * 2;
            for (int e = 0; e < 4; e++) s[j][e] = 0;
#pragma unroll
            for (int i = 0; i < D / 16; i++) {
                unsigned a[4], b[2];
                four(a, at_q + i * 16);
                two(b, sk + (keys + lane % 8) * STRIDE + i * 16 + lane / 8 % 2 * 8);  // the measured kernel transposes: as long
                mma(s[j], a, b);
            }
#pragma unroll
            for (int e = 0; e < 4; e++) {
                s[j][e] *= scale;
                if (from + column + e % 2 > start + row[e / 2]) s[j][e] = -FLT_MAX;
            }
#pragma unroll
            for (int e = 0; e < 4; e++)
                if (column + e % 2 >= count) s[j][e] = -FLT_MAX;
        }
        float mine[2] = {-FLT_MAX, -FLT_MAX}, sum[2] = {}, next[2], shrink[2];
#pragma unroll
        for (int j = 0; j < 4; j++)
            for (int h = 0; h < 2; h++) mine[h] = fmaxf(mine[h], fmaxf(s[j][2 * h], s[j][2 * h + 1]));
#pragma unroll
        for (int m = 1; m < 4; m *= 2)
            for (int h = 0; h < 2; h++) mine[h] = fmaxf(mine[h], __shfl_xor_sync(0xffffffff, mine[h], m));
        if (lane % 4 == 0)
            for (int h = 0; h < 2; h++) maxima[part * M + row[h]] = mine[h];
        __syncthreads();
        for (int h = 0; h < 2; h++) next[h] = fmaxf(most[h], fmaxf(mine[h], maxima[(1 - part) * M + row[h]]));
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int column = (part * 4 + j) * 8 + lane % 4 * 2;
#pragma unroll
            for (int e = 0; e < 4; e++) {
                float p = s[j][e] > -FLT_MAX * 0.5f ? expf(s[j][e] - next[e / 2]) : 0.0f;
                sum[e / 2] += p;
                sp[row[e / 2] * STRIDE + column + e % 2] = __float2half(p);
            }
        }
#pragma unroll
        for (int m = 1; m < 4; m *= 2)
            for (int h = 0; h < 2; h++) sum[h] += __shfl_xor_sync(0xffffffff, sum[h], m);
        if (ASYNC) asm volatile("cp.async.wait_group 0;");
        if (lane % 4 == 0)
            for (int h = 0; h < 2; h++) totals[part * M + row[h]] = sum[h];
        __syncthreads();
        for (int h = 0; h < 2; h++) {
            shrink[h] = step == 0 ? 0.0f : expf(most[h] - next[h]);
            most[h] = next[h];
            total[h] = total[h] * shrink[h] + sum[h] + totals[(1 - part) * M + row[h]];
        }
#pragma unroll
        for (int j = 0; j < 4; j++)
            for (int e = 0; e < 4; e++) sums[j][e] *= shrink[e / 2];
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int i = 0; i < N / 16; i++) {
                unsigned a[4], b[2];
                four(a, at_p + i * 16);
                two_transposed(b, sv + (i * 16 + lane % 16) * STRIDE + (part * 4 + j) * 8);
                mma(sums[j], a, b);
            }
        __syncthreads();
    }
    for (int h = 0; h < 2; h++) {
        float by = total[h] > 0.0f ? 1.0f / total[h] : 0.0f;
        int at = start + row[h];
        if (at < n) {
#pragma unroll
            for (int j = 0; j < 4; j++)
                for (int e = 0; e < 2; e++)
                    o[at * D + (part * 4 + j) * 8 + lane % 4 * 2 + e] = __float2half(sums[j][2 * h + e] * by);
            if (lane % 4 == 0 && lse) lse[blockIdx.y * n + at] = most[h] + logf(fmaxf(total[h], 1e-10f));
        }
    }
}
#define ATTENTION(name, m, warps, async)                                                                                           \
    extern "C" __global__ void name(const half *q, const half *k, const half *v, half *o, float *lse, int n, float scale) {         \
        attention<m, warps, async>(q, k, v, o, lse, n, scale);                                                                     \
    }
ATTENTION(through_registers, 64, 8, false)
ATTENTION(async_64, 64, 8, true)
ATTENTION(async_32, 32, 4, true)
