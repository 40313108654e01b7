// C (m x n, f32) = A (m x k) B^T (n x k), f16 or bf16, by cp.async, ldmatrix and mma. Launch: grid (n/64, m/64), 128
// threads; m and n multiples of 64, k of 32.
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void copy16(uint32_t to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
}
__device__ void load4(uint32_t (&r)[4], uint32_t at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
}
template <class T> __device__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);
template <> __device__ void multiply<half>(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
template <>
__device__ void multiply<__nv_bfloat16>(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

constexpr int PITCH = 40;                                      // elements of a row of 32, 8 more against bank conflicts

template <class T> __device__ void gemm(int n, int k, const T *a, const T *b, float *c, T (*as)[64][PITCH],
                                        T (*bs)[64][PITCH]) {
    int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    int rows = warp / 2 * 32, columns = warp % 2 * 32;         // of the 64 x 64 tile, in this warp
    a += (size_t)blockIdx.y * 64 * k, b += (size_t)blockIdx.x * 64 * k;
    float sum[2][4][4] = {};
    auto fetch = [&](int stage, int start) {
#pragma unroll
        for (int i = tid; i < 256; i += 128) {
            copy16(shared_address(&as[stage][i / 4][i % 4 * 8]), a + (size_t)(i / 4) * k + start + i % 4 * 8);
            copy16(shared_address(&bs[stage][i / 4][i % 4 * 8]), b + (size_t)(i / 4) * k + start + i % 4 * 8);
        }
        asm volatile("cp.async.commit_group;");
    };
    fetch(0, 0);
    for (int start = 0, stage = 0; start < k; start += 32, stage ^= 1) {
        if (start + 32 < k) {
            fetch(stage ^ 1, start + 32);
            asm volatile("cp.async.wait_group 1;");
        } else {
            asm volatile("cp.async.wait_group 0;");
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < 32; kk += 16) {
            uint32_t x[2][4], y[2][4];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                load4(x[i], shared_address(&as[stage][rows + i * 16 + lane % 16][kk + lane / 16 * 8]));
                load4(y[i], shared_address(&bs[stage][columns + i * 16 + lane % 8 + lane / 16 * 8][kk + lane / 8 % 2 * 8]));
            }
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) multiply<T>(sum[i][j], x[i], y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int row = blockIdx.y * 64 + rows + i * 16 + lane / 4, column = blockIdx.x * 64 + columns + j * 8 + lane % 4 * 2;
            *(float2 *)&c[(size_t)row * n + column] = make_float2(sum[i][j][0], sum[i][j][1]);
            *(float2 *)&c[(size_t)(row + 8) * n + column] = make_float2(sum[i][j][2], sum[i][j][3]);
        }
}

extern "C" __global__ void __launch_bounds__(128) hgemm(int n, int k, const half *a, const half *b, float *c) {
    __shared__ __align__(16) half as[2][64][PITCH], bs[2][64][PITCH];
    gemm<half>(n, k, a, b, c, as, bs);
}

extern "C" __global__ void __launch_bounds__(128) bf16_gemm(int n, int k, const __nv_bfloat16 *a, const __nv_bfloat16 *b,
                                                            float *c) {
    __shared__ __align__(16) __nv_bfloat16 as[2][64][PITCH], bs[2][64][PITCH];
    gemm<__nv_bfloat16>(n, k, a, b, c, as, bs);
}
