// Attention of bf16 in the steps of a published ladder on sm_120. Written for this repository; tiles, warps, buffers and the order
// of loads as published for the measured kernels. Steps: 1 base, 2 swizzle, 3 two buffers of K and V, 4 four fragments per load, 5 two buffers of K and one of V. Four
// warps of 16 rows (32 in step 1); Q stays in registers and gives its shared memory to K and V
#include "attention.cuh"

typedef __nv_bfloat16 bf16;
template <int STEP, int BC, int MR> __device__ void attend(const bf16 *Q, const bf16 *K, const bf16 *V, bf16 *O, int queries, int keys) {
    const int BR = 64 * MR, THREADS = 128, NS = BC / 8, KS = D / 16, NV = D / 8, KV = BC / 16, TILE = BC * 256;
    const bool SWIZZLED = STEP >= 2, WIDE = STEP >= 4;
    extern __shared__ __align__(128) unsigned char tiles[];
    const unsigned base = (unsigned)__cvta_generic_to_shared(tiles), v_base = base + (STEP == 5 ? 2 : 1) * TILE;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, blocks = queries / BR, head = blockIdx.x / blocks, count = keys / BC;
    Q += (size_t)blockIdx.x * BR * D;
    O += (size_t)blockIdx.x * BR * D;
    K += (size_t)head * keys * D;
    V += (size_t)head * keys * D;
    unsigned q[MR][KS][4], fk[NS][KS][2], fv[KV][NV][2], p[MR][KV][4];
    float o[MR][NV][4] = {}, m[MR][2], l[MR][2] = {};
    for (int h = 0; h < MR; ++h) m[h][0] = m[h][1] = -CUDART_MAX_NORMAL_F;
    load<BR, THREADS, SWIZZLED>(base, Q);
    commit();
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    for (int h = 0; h < MR; ++h)
        for (int i = 0; i < KS; ++i)
            load_4(q[h][i], base + place<SWIZZLED>((warp * MR + h) * 16 + lane % 16, i * 16 + lane / 16 * 8));
    __syncthreads();

    auto load_k = [&](int j) {
        unsigned to = base + (STEP == 5 ? j % 2 * TILE : STEP >= 3 ? j % 2 * 2 * TILE : 0);
        if (STEP < 3 || j < count) load<BC, THREADS, SWIZZLED>(to, K + (size_t)j * BC * D);
        commit();
    };
    auto load_v = [&](int j) {
        unsigned to = v_base + (STEP == 3 || STEP == 4 ? j % 2 * 2 * TILE : 0);
        if (STEP < 3 || STEP == 5 || j < count) load<BC, THREADS, SWIZZLED>(to, V + (size_t)j * BC * D);
        commit();
    };
    if (STEP >= 3) load_k(0);
    if (STEP == 3 || STEP == 4) load_v(0);
    for (int j = 0; j < count; ++j) {
        float s[MR][NS][4] = {};
        if (STEP < 3) {
            load_k(j);
            asm volatile("cp.async.wait_all;" ::: "memory");
        } else if (STEP < 5) {
            load_k(j + 1);
            wait<2>();
        } else {
            __syncthreads();
            load_v(j);
            wait<1>();
        }
        __syncthreads();
        unsigned k = base + (STEP == 5 ? j % 2 * TILE : STEP >= 3 ? j % 2 * 2 * TILE : 0);
        for (int n = 0; n < NS; ++n)
            for (int i = 0; i < KS; i += WIDE ? 2 : 1) {
                unsigned at = k + place<SWIZZLED>(n * 8 + lane % 8, i * 16 + (WIDE ? lane / 8 : lane / 8 % 2) * 8);
                if (WIDE)
                    load_4(fk[n][i], at);
                else
                    load_2(fk[n][i], at);
            }
        for (int h = 0; h < MR; ++h)
            for (int n = 0; n < NS; ++n)
                for (int i = 0; i < KS; ++i) multiply(s[h][n], q[h][i], fk[n][i], bf16());
        if (STEP == 3 || STEP == 4) load_v(j + 1);
        if (STEP == 5) load_k(j + 1);

        for (int h = 0; h < MR; ++h) {
            float most[2] = {-CUDART_MAX_NORMAL_F, -CUDART_MAX_NORMAL_F}, sum[2] = {}, ratio[2];
            for (int n = 0; n < NS; ++n) {
                for (int i = 0; i < 4; ++i) s[h][n][i] *= 0.08838834765f;
                for (int r = 0; r < 2; ++r) most[r] = fmaxf(most[r], fmaxf(s[h][n][2 * r], s[h][n][2 * r + 1]));
            }
            for (int r = 0; r < 2; ++r) {
                most[r] = fmaxf(most[r], __shfl_xor_sync(FULL, most[r], 1));
                most[r] = fmaxf(most[r], __shfl_xor_sync(FULL, most[r], 2));
                most[r] = fmaxf(most[r], m[h][r]);
                ratio[r] = __expf(m[h][r] - most[r]);
                for (int n = 0; n < NV; ++n) o[h][n][2 * r] *= ratio[r], o[h][n][2 * r + 1] *= ratio[r];
                m[h][r] = most[r];
            }
            for (int n = 0; n < NS; ++n)
                for (int r = 0; r < 2; ++r) {
                    float *two = s[h][n] + 2 * r;
                    two[0] = __expf(two[0] - m[h][r]);
                    two[1] = __expf(two[1] - m[h][r]);
                    sum[r] += two[0] + two[1];
                    p[h][n / 2][n % 2 * 2 + r] = pair(two[0], two[1], bf16());
                }
            for (int r = 0; r < 2; ++r) {
                sum[r] += __shfl_xor_sync(FULL, sum[r], 1);
                sum[r] += __shfl_xor_sync(FULL, sum[r], 2);
                l[h][r] = l[h][r] * ratio[r] + sum[r];
            }
        }

        if (STEP < 3) {
            load_v(j);
            asm volatile("cp.async.wait_all;" ::: "memory");
        } else if (STEP < 5)
            wait<2>();
        else
            wait<1>();
        __syncthreads();
        unsigned v = v_base + (STEP == 3 || STEP == 4 ? j % 2 * 2 * TILE : 0);
        for (int i = 0; i < KV; ++i)
            for (int n = 0; n < NV; n += WIDE ? 2 : 1) {
                unsigned at = v + place<SWIZZLED>(i * 16 + lane % 16, n * 8 + (WIDE ? lane / 16 * 8 : 0));
                if (WIDE)
                    load_4_turned(fv[i][n], at);
                else
                    load_2_turned(fv[i][n], at);
            }
        for (int h = 0; h < MR; ++h)
            for (int n = 0; n < NV; ++n)
                for (int i = 0; i < KV; ++i) multiply(o[h][n], p[h][i], fv[i][n], bf16());
    }
    for (int h = 0; h < MR; ++h)
        for (int n = 0; n < NV; ++n)
            for (int r = 0; r < 2; ++r)
                *reinterpret_cast<unsigned *>(O + ((warp * MR + h) * 16 + lane / 4 + r * 8) * D + n * 8 + lane % 4 * 2) =
                    pair(o[h][n][2 * r] / l[h][r], o[h][n][2 * r + 1] / l[h][r], bf16());
}
#define ATTEND(step, columns, fragments) \
    extern "C" __global__ void __launch_bounds__(128) \
        attend_##step(const bf16 *Q, const bf16 *K, const bf16 *V, bf16 *O, int queries, int keys) { \
        attend<step, columns, fragments>(Q, K, V, O, queries, keys); \
    }
ATTEND(1, 64, 2)
ATTEND(2, 64, 1)
ATTEND(3, 32, 1)
ATTEND(4, 32, 1)
ATTEND(5, 64, 1)
