// Flash attention, heads of 64 columns, rows contiguous. n is a multiple of 64. softmax(scale * Q K^T) V.
// Launch: attention (f16 by mma): grid (n/64, heads), 128 threads; attention_f32 and the backward kernels: grid (n/64,
// heads), 64 threads, one row a thread. lse: log of the sum of exponentials of each row.
#include <cstdint>
#include <cuda_fp16.h>
#include <math_constants.h>

constexpr int D = 64;

#if __CUDA_ARCH__ >= 800
__device__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ uint32_t at(const half *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ uint32_t pack(float a, float b) {
    half2 h = __floats2half2_rn(a, b);
    return *(uint32_t *)&h;
}

template <bool CAUSAL>
__device__ void forward(int n, float scale, const half *q, const half *k, const half *v, half *o, float *lse) {
    __shared__ __align__(16) half ks[64][D + 8], vs[64][D + 8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, block = blockIdx.x;
    size_t head = (size_t)blockIdx.y * n * D;
    q += head, k += head, v += head, o += head;
    int row = block * 64 + warp * 16 + lane / 4;               // this thread holds parts of rows row and row + 8
    uint32_t x[D / 16][4];
#pragma unroll
    for (int i = 0; i < D / 16; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            x[i][j] = *(const uint32_t *)&q[(size_t)(row + j % 2 * 8) * D + i * 16 + j / 2 * 8 + lane % 4 * 2];
    float sum[D / 8][4] = {}, top[2] = {-CUDART_INF_F, -CUDART_INF_F}, total[2] = {};
    scale *= 1.44269504f;
    for (int start = 0; start < (CAUSAL ? (block + 1) * 64 : n); start += 64) {
        __syncthreads();
#pragma unroll
        for (int i = threadIdx.x; i < 64 * D / 8; i += 128) {
            *(uint4 *)&ks[i / 8][i % 8 * 8] = *(const uint4 *)&k[(size_t)(start + i / 8) * D + i % 8 * 8];
            *(uint4 *)&vs[i / 8][i % 8 * 8] = *(const uint4 *)&v[(size_t)(start + i / 8) * D + i % 8 * 8];
        }
        __syncthreads();
        float s[8][4] = {};
#pragma unroll
        for (int i = 0; i < D / 16; i++)
#pragma unroll
            for (int j = 0; j < 8; j++) {
                const half *p = &ks[j * 8 + lane / 4][i * 16 + lane % 4 * 2];
                mma(s[j], x[i], *(const uint32_t *)p, *(const uint32_t *)(p + 8));
            }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float higher = top[r];
#pragma unroll
            for (int j = 0; j < 8; j++)
#pragma unroll
                for (int c = 0; c < 2; c++) {
                    float &w = s[j][r * 2 + c];
                    w *= scale;
                    if (CAUSAL && start + j * 8 + lane % 4 * 2 + c > row + r * 8) w = -CUDART_INF_F;
                    higher = fmaxf(higher, w);
                }
            higher = fmaxf(higher, __shfl_xor_sync(~0u, higher, 1));
            higher = fmaxf(higher, __shfl_xor_sync(~0u, higher, 2));
            float less = exp2f(top[r] - higher), part = 0;
            top[r] = higher;
#pragma unroll
            for (int j = 0; j < 8; j++)
#pragma unroll
                for (int c = 0; c < 2; c++) part += s[j][r * 2 + c] = exp2f(s[j][r * 2 + c] - higher);
            total[r] = total[r] * less + part;
#pragma unroll
            for (int j = 0; j < D / 8; j++) sum[j][r * 2] *= less, sum[j][r * 2 + 1] *= less;
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            uint32_t p[4] = {pack(s[2 * i][0], s[2 * i][1]), pack(s[2 * i][2], s[2 * i][3]),
                             pack(s[2 * i + 1][0], s[2 * i + 1][1]), pack(s[2 * i + 1][2], s[2 * i + 1][3])};
#pragma unroll
            for (int j = 0; j < D / 8; j++) {
                uint32_t b0, b1;
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                             : "=r"(b0), "=r"(b1) : "r"(at(&vs[i * 16 + lane % 16][j * 8])));
                mma(sum[j], p, b0, b1);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        total[r] += __shfl_xor_sync(~0u, total[r], 1);
        total[r] += __shfl_xor_sync(~0u, total[r], 2);
        float scaled = 1.f / total[r];
#pragma unroll
        for (int j = 0; j < D / 8; j++)
            *(uint32_t *)&o[(size_t)(row + r * 8) * D + j * 8 + lane % 4 * 2] =
                pack(sum[j][r * 2] * scaled, sum[j][r * 2 + 1] * scaled);
        if (lane % 4 == 0) lse[(size_t)blockIdx.y * n + row + r * 8] = (top[r] + log2f(total[r])) * 0.693147181f;
    }
}

extern "C" __global__ void __launch_bounds__(128) attention(int n, float scale, const half *q, const half *k,
                                                            const half *v, half *o, float *lse) {
    forward<false>(n, scale, q, k, v, o, lse);
}
extern "C" __global__ void __launch_bounds__(128) attention_causal(int n, float scale, const half *q, const half *k,
                                                                   const half *v, half *o, float *lse) {
    forward<true>(n, scale, q, k, v, o, lse);
}
#endif

extern "C" __global__ void __launch_bounds__(64) attention_f32(int n, float scale, const float *q, const float *k,
                                                               const float *v, float *o, float *lse) {
    __shared__ float ks[32][D], vs[32][D];
    size_t head = (size_t)blockIdx.y * n * D;
    int row = blockIdx.x * 64 + threadIdx.x;
    float x[D], sum[D] = {}, top = -CUDART_INF_F, total = 0;
#pragma unroll
    for (int i = 0; i < D; i++) x[i] = q[head + (size_t)row * D + i] * scale;
    for (int start = 0; start < n; start += 32) {
        __syncthreads();
        for (int i = threadIdx.x; i < 32 * D; i += 64) {
            ks[i / D][i % D] = k[head + (size_t)start * D + i];
            vs[i / D][i % D] = v[head + (size_t)start * D + i];
        }
        __syncthreads();
        for (int j = 0; j < 32; j++) {
            float s = 0;
#pragma unroll
            for (int i = 0; i < D; i++) s += x[i] * ks[j][i];
            float higher = fmaxf(top, s), less = __expf(top - higher), p = __expf(s - higher);
            top = higher, total = total * less + p;
#pragma unroll
            for (int i = 0; i < D; i++) sum[i] = sum[i] * less + p * vs[j][i];
        }
    }
#pragma unroll
    for (int i = 0; i < D; i++) o[head + (size_t)row * D + i] = sum[i] / total;
    lse[(size_t)blockIdx.y * n + row] = top + __logf(total);
}

// delta: for each row the product of dO and O. Launch: 64 threads, grid (n/64, heads).
extern "C" __global__ void attention_delta(int n, const float *o, const float *dout, float *delta) {
    size_t row = (size_t)blockIdx.y * n + blockIdx.x * 64 + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < D; i++) sum += o[row * D + i] * dout[row * D + i];
    delta[row] = sum;
}

extern "C" __global__ void __launch_bounds__(64)
    attention_backward_kv(int n, float scale, const float *q, const float *k, const float *v, const float *dout,
                          const float *lse, const float *delta, float *dk, float *dv) {
    __shared__ float qs[16][D], ds[16][D], l[16], de[16];
    size_t head = (size_t)blockIdx.y * n * D;
    int row = blockIdx.x * 64 + threadIdx.x;                   // of K and V
    float x[D], y[D], gk[D] = {}, gv[D] = {};
#pragma unroll
    for (int i = 0; i < D; i++) x[i] = k[head + (size_t)row * D + i], y[i] = v[head + (size_t)row * D + i];
    for (int start = 0; start < n; start += 16) {
        __syncthreads();
        for (int i = threadIdx.x; i < 16 * D; i += 64) {
            qs[i / D][i % D] = q[head + (size_t)start * D + i];
            ds[i / D][i % D] = dout[head + (size_t)start * D + i];
        }
        if (threadIdx.x < 16) {
            l[threadIdx.x] = lse[(size_t)blockIdx.y * n + start + threadIdx.x];
            de[threadIdx.x] = delta[(size_t)blockIdx.y * n + start + threadIdx.x];
        }
        __syncthreads();
        for (int j = 0; j < 16; j++) {
            float s = 0, dp = 0;
#pragma unroll
            for (int i = 0; i < D; i++) s += qs[j][i] * x[i], dp += ds[j][i] * y[i];
            float p = __expf(s * scale - l[j]), g = p * (dp - de[j]) * scale;
#pragma unroll
            for (int i = 0; i < D; i++) gv[i] += p * ds[j][i], gk[i] += g * qs[j][i];
        }
    }
#pragma unroll
    for (int i = 0; i < D; i++) dk[head + (size_t)row * D + i] = gk[i], dv[head + (size_t)row * D + i] = gv[i];
}

extern "C" __global__ void __launch_bounds__(64)
    attention_backward_q(int n, float scale, const float *q, const float *k, const float *v, const float *dout,
                         const float *lse, const float *delta, float *dq) {
    size_t head = (size_t)blockIdx.y * n * D;
    int row = blockIdx.x * 64 + threadIdx.x;
    float x[D], y[D], g[D] = {}, l = lse[(size_t)blockIdx.y * n + row], de = delta[(size_t)blockIdx.y * n + row];
#pragma unroll
    for (int i = 0; i < D; i++) x[i] = q[head + (size_t)row * D + i], y[i] = dout[head + (size_t)row * D + i];
    for (int j = 0; j < n; j++) {
        float s = 0, dp = 0;
#pragma unroll
        for (int i = 0; i < D; i++) s += x[i] * k[head + (size_t)j * D + i], dp += y[i] * v[head + (size_t)j * D + i];
        float d = __expf(s * scale - l) * (dp - de) * scale;
#pragma unroll
        for (int i = 0; i < D; i++) g[i] += d * k[head + (size_t)j * D + i];
    }
#pragma unroll
    for (int i = 0; i < D; i++) dq[head + (size_t)row * D + i] = g[i];
}
