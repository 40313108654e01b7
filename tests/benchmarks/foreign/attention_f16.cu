// Attention of f16 in the steps of a published ladder on A100. Written for this repository; tiles, warps, buffers and the order of
// loads as published for the measured kernels. Steps: 1 base, 2 swizzle and larger tiles, 3 loads beside products, 4 two fragments of V per load, 5 exponentials of
// base 2, 6 two rows of tiles share fragments and V is loaded before its products, 7 fragments are loaded one ahead
#include "attention.cuh"

template <int STEP, int NS> __device__ void softmax(float (*s)[4], float (*o)[4], float *m, float *l, bool first) {
    const float SCALE = STEP >= 5 ? 1.4426950409f * 0.08838834765f : 0.08838834765f, BASE = STEP >= 5 ? 1 : 1.4426950409f;
    if (STEP < 5)
#pragma unroll
        for (int n = 0; n < NS; ++n)
            for (int i = 0; i < 4; ++i) s[n][i] *= SCALE;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        float most = -CUDART_INF_F, sum = 0;
#pragma unroll
        for (int n = 0; n < NS; ++n) most = fmaxf(fmaxf(most, s[n][2 * r]), s[n][2 * r + 1]);
        most = fmaxf(most, __shfl_xor_sync(FULL, most, 1));
        most = fmaxf(most, __shfl_xor_sync(FULL, most, 2));
        if (STEP >= 5) most *= SCALE;
        if (!first) {
            float ratio = power((m[r] - most) * BASE);
#pragma unroll
            for (int n = 0; n < D / 8; ++n) o[n][2 * r] *= ratio, o[n][2 * r + 1] *= ratio;
            l[r] *= ratio;
        }
        m[r] = most;
#pragma unroll
        for (int n = 0; n < NS; ++n)
#pragma unroll
            for (int i = 2 * r; i < 2 * r + 2; ++i) {
                s[n][i] = STEP >= 5 ? power(s[n][i] * SCALE - most) : power((s[n][i] - most) * BASE);
                sum += s[n][i];
            }
        sum += __shfl_xor_sync(FULL, sum, 1);
        sum += __shfl_xor_sync(FULL, sum, 2);
        l[r] += sum;
    }
}

template <int STEP, int BR, int BC, int WARPS> __device__ void flash(const half *Q, const half *K, const half *V, half *O, int N) {
    const int MT = BR / WARPS / 16, NS = BC / 8, KS = D / 16, NV = D / 8, KV = BC / 16, THREADS = WARPS * 32;
    const bool SWIZZLED = STEP >= 2, BESIDE = STEP >= 3, SHARED = STEP >= 6;
    extern __shared__ __align__(128) unsigned char tiles[];
    const unsigned q = (unsigned)__cvta_generic_to_shared(tiles), k = q + BR * 256, v = k + BC * 256;
    int lane = threadIdx.x % 32, base = threadIdx.x / 32 * MT * 16;
    size_t head = ((size_t)blockIdx.z * gridDim.y + blockIdx.y) * N * D;
    Q += head + blockIdx.x * BR * D;
    O += head + blockIdx.x * BR * D;
    K += head;
    V += head;
    load<BR, THREADS, SWIZZLED>(q, Q);
    commit();
    wait<0>();
    __syncthreads();
    float o[MT][NV][4] = {}, m[MT][2], l[MT][2] = {}, s[SHARED ? MT : 1][NS][4];
    unsigned p[MT][KV][4];
    for (int t = 0; t < MT; ++t) m[t][0] = m[t][1] = -CUDART_INF_F;

    auto load_q = [&](unsigned *to, int t, int i) { load_4(to, q + place<SWIZZLED>(base + t * 16 + lane % 16, i * 16 + lane / 16 * 8)); };
    auto load_k = [&](unsigned *to, int n, int i) {
        load_4(to, k + place<SWIZZLED>(n * 8 + lane % 8 + lane / 16 * 8, i * 16 + lane / 8 % 2 * 8));
    };
    auto load_v = [&](unsigned *to, int n, int i) { load_4_turned(to, v + place<SWIZZLED>(i * 16 + lane % 16, n * 8 + lane / 16 * 8)); };
    auto scores = [&](float (*own)[4], int t) {
#pragma unroll
        for (int n = 0; n < NS; ++n)
            for (int i = 0; i < 4; ++i) own[n][i] = 0;
#pragma unroll
        for (int i = 0; i < KS; ++i) {
            unsigned a[4];
            load_q(a, t, i);
#pragma unroll
            for (int n = 0; n < NS; n += 2) {
                unsigned b[4];
                load_k(b, n, i);
                multiply(own[n], a, b, half());
                multiply(own[n + 1], a, b + 2, half());
            }
        }
    };
    auto weights = [&](float (*own)[4], int t) {
#pragma unroll
        for (int i = 0; i < KV; ++i) {
            p[t][i][0] = pair(own[2 * i][0], own[2 * i][1], half());
            p[t][i][1] = pair(own[2 * i][2], own[2 * i][3], half());
            p[t][i][2] = pair(own[2 * i + 1][0], own[2 * i + 1][1], half());
            p[t][i][3] = pair(own[2 * i + 1][2], own[2 * i + 1][3], half());
        }
    };
    auto outputs = [&](int t) {
#pragma unroll
        for (int i = 0; i < KV; ++i)
#pragma unroll
            for (int n = 0; n < NV; n += STEP >= 4 ? 2 : 1) {
                unsigned b[4];
                if (STEP >= 4) {
                    load_v(b, n, i);
                    multiply(o[t][n + 1], p[t][i], b + 2, half());
                } else
                    load_2_turned(b, v + place<SWIZZLED>(i * 16 + lane % 16, n * 8));
                multiply(o[t][n], p[t][i], b, half());
            }
    };

    int count = N / BC;
    if (BESIDE) load<BC, THREADS, SWIZZLED>(k, K), commit();
    for (int j = 0; j < count; ++j) {
        if (!BESIDE) load<BC, THREADS, SWIZZLED>(k, K + j * BC * D), load<BC, THREADS, SWIZZLED>(v, V + j * BC * D), commit();
        wait<0>();
        __syncthreads();
        if (BESIDE) load<BC, THREADS, SWIZZLED>(v, V + j * BC * D), commit();
        if (!SHARED) {
#pragma unroll
            for (int t = 0; t < MT; ++t) {
                scores(s[0], t);
                softmax<STEP, NS>(s[0], o[t], m[t], l[t], j == 0);
                weights(s[0], t);
                if (!BESIDE) outputs(t);
            }
        } else {
#pragma unroll
            for (int t = 0; t < MT; ++t)
                for (int n = 0; n < NS; ++n)
                    for (int i = 0; i < 4; ++i) s[t][n][i] = 0;
            unsigned ahead[2][4];
            if (STEP == 7) load_k(ahead[0], 0, 0);
#pragma unroll
            for (int i = 0; i < KS; ++i) {
                unsigned a[MT][4];
#pragma unroll
                for (int t = 0; t < MT; ++t) load_q(a[t], t, i);
#pragma unroll
                for (int n = 0; n < NS; n += 2) {
                    int now = (i * NS + n) / 2, next = now + 1;
                    unsigned *b = ahead[now % 2];
                    if (STEP == 6) load_k(b, n, i);
                    if (STEP == 7 && next < KS * NS / 2) load_k(ahead[next % 2], next * 2 % NS, next * 2 / NS);
#pragma unroll
                    for (int t = 0; t < MT; ++t) multiply(s[t][n], a[t], b, half()), multiply(s[t][n + 1], a[t], b + 2, half());
                }
            }
        }
        if (BESIDE) {
            wait<0>();
            __syncthreads();
            if (j + 1 < count) load<BC, THREADS, SWIZZLED>(k, K + (j + 1) * BC * D), commit();
        }
        if (SHARED) {
#pragma unroll
            for (int t = 0; t < MT; ++t) {
                softmax<STEP, NS>(s[t], o[t], m[t], l[t], j == 0);
                weights(s[t], t);
            }
            unsigned all[KV][NV][2], ahead[2][4];
            if (STEP == 6)
#pragma unroll
                for (int i = 0; i < KV; ++i)
#pragma unroll
                    for (int n = 0; n < NV; n += 2) load_v(all[i][n], n, i);
            else
                load_v(ahead[0], 0, 0);
#pragma unroll
            for (int i = 0; i < KV; ++i)
#pragma unroll
                for (int n = 0; n < NV; n += 2) {
                    int now = (i * NV + n) / 2, next = now + 1;
                    if (STEP == 7 && next < KV * NV / 2) load_v(ahead[next % 2], next * 2 % NV, next * 2 / NV);
                    unsigned *b = STEP == 6 ? all[i][n] : ahead[now % 2];
#pragma unroll
                    for (int t = 0; t < MT; ++t) multiply(o[t][n], p[t][i], b, half()), multiply(o[t][n + 1], p[t][i], b + 2, half());
                }
        } else if (BESIDE) {
#pragma unroll
            for (int t = 0; t < MT; ++t) outputs(t);
        }
        if (!BESIDE) __syncthreads();
    }
    __syncthreads();
    for (int t = 0; t < MT; ++t)
        for (int r = 0; r < 2; ++r) {
            float inverse = 1 / l[t][r];
            int row = base + t * 16 + lane / 4 + r * 8;
            for (int n = 0; n < NV; ++n)
                *reinterpret_cast<unsigned *>(tiles + place<SWIZZLED>(row, n * 8) + lane % 4 * 4) =
                    pair(o[t][n][2 * r] * inverse, o[t][n][2 * r + 1] * inverse, half());
        }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < BR * 16 / THREADS; ++i) {
        int at = i * THREADS + threadIdx.x, row = at / 16, column = at % 16 * 8;
        *reinterpret_cast<float4 *>(O + row * D + column) = *reinterpret_cast<float4 *>(tiles + place<SWIZZLED>(row, column));
    }
}
#define FLASH(step, rows, columns, warps) \
    extern "C" __global__ void flash_##step(const half *Q, const half *K, const half *V, half *O, int N) { \
        flash<step, rows, columns, warps>(Q, K, V, O, N); \
    }
FLASH(1, 64, 32, 2)
FLASH(2, 64, 128, 4)
FLASH(3, 64, 128, 4)
FLASH(4, 64, 128, 4)
FLASH(5, 64, 128, 4)
FLASH(6, 128, 64, 4)
FLASH(7, 128, 64, 4)
