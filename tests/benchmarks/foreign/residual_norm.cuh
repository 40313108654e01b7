// RMS norm of bf16 rows times a weight, plus a residual: CTAs stride over rows, the weight is copied to shared memory once, and a
// row is read once. Written for this repository after the description of the measured kernels.
#include <cuda_bf16.h>
#include <cstdint>

template <typename V>
struct Some {
    V bits;
    __device__ __forceinline__ __nv_bfloat162 &pair(int i) { return reinterpret_cast<__nv_bfloat162 *>(&bits)[i]; }
};
template <typename V>
__device__ __forceinline__ void add_squares(float2 &sum, Some<V> &some) {
#pragma unroll
    for (int i = 0; i < sizeof(V) / 4; ++i) {
        float2 x = __bfloat1622float2(some.pair(i));
        sum.x += x.x * x.x, sum.y += x.y * x.y;
    }
}
template <typename V>
__device__ __forceinline__ Some<V> normed(Some<V> &x, Some<V> &weight, Some<V> &residual, float scale) {
    Some<V> out;
#pragma unroll
    for (int i = 0; i < sizeof(V) / 4; ++i) {
        float2 a = __bfloat1622float2(x.pair(i)), w = __bfloat1622float2(weight.pair(i));
        float2 r = __bfloat1622float2(residual.pair(i));
        out.pair(i) = __float22bfloat162_rn(make_float2(a.x * w.x * scale + r.x, a.y * w.y * scale + r.y));
    }
    return out;
}
__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(~0u, x, distance);
    return x;
}
__device__ __forceinline__ float row_scale(float *sums, float own, int columns, float eps) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    own = warp_sum(own);
    if (lane == 0) sums[warp] = own;
    __syncthreads();
    if (warp == 0) {
        float all = warp_sum(lane < blockDim.x / 32 ? sums[lane] : 0);
        sums[lane] = rsqrtf(eps + all / columns);
    }
    __syncthreads();
    return sums[warp];
}
__device__ __forceinline__ void begin_copy(void *to, const void *from, unsigned bytes, uint64_t *barrier) {
    unsigned at = __cvta_generic_to_shared(barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at));
        asm volatile("fence.proxy.async.shared::cta;" ::);
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes), "r"(at) : "memory");
    }
    __syncthreads();
}
__device__ __forceinline__ void wait(uint64_t *barrier) {
    unsigned at = __cvta_generic_to_shared(barrier), done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at) : "memory");
}

// a vector of each row for a thread
template <typename V>
__device__ __forceinline__ void norm_rows(const V *x, const V *weight, const V *residual, V *out, int rows, int vectors, float eps) {
    extern __shared__ __align__(128) unsigned char memory[];
    __shared__ float sums[32];
    __shared__ __align__(8) uint64_t barrier;
    if (blockIdx.x >= rows) return;
    begin_copy(memory, weight, vectors * sizeof(V), &barrier);
    bool active = threadIdx.x < vectors, waited = false;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        Some<V> own, other, weights;
        float2 squares = make_float2(0, 0);
        if (active) {
            own.bits = x[(size_t)row * vectors + threadIdx.x];
            other.bits = residual[(size_t)row * vectors + threadIdx.x];
            add_squares(squares, own);
        }
        float scale = row_scale(sums, squares.x + squares.y, vectors * (sizeof(V) / 2), eps);
        if (!waited) wait(&barrier), waited = true;
        if (active) {
            weights.bits = reinterpret_cast<const V *>(memory)[threadIdx.x];
            out[(size_t)row * vectors + threadIdx.x] = normed(own, weights, other, scale).bits;
        }
    }
}
