// Operations of inference in f32 by steps: products of a matrix with a vector, softmax and RMS norm of rows, and SiLU. Written for
// this repository after the descriptions of the measured kernels.
#include <cfloat>
#define KERNEL(name) extern "C" __global__ void name

__device__ float warp_sum(float v) {
#pragma unroll
    for (int off = 16; off; off >>= 1) v += __shfl_xor_sync(~0u, v, off);
    return v;
}

__device__ float warp_most(float v) {
#pragma unroll
    for (int off = 16; off; off >>= 1) v = fmaxf(v, __shfl_xor_sync(~0u, v, off));
    return v;
}

// the sum or the maximum of a CTA, for all of its threads
template <bool SUM> __device__ float of_cta(float v, float *part) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = SUM ? warp_sum(v) : warp_most(v);
    if (lane == 0) part[warp] = v;
    __syncthreads();
    if (warp == 0) {
        float own = lane < (blockDim.x + 31) / 32 ? part[lane] : SUM ? 0.0f : -FLT_MAX;
        own = SUM ? warp_sum(own) : warp_most(own);
        if (lane == 0) part[0] = own;
    }
    __syncthreads();
    v = part[0];
    __syncthreads();
    return v;
}

__device__ float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
__device__ const float4 *fours(const float *p) { return reinterpret_cast<const float4 *>(p); }
__device__ float4 *fours(float *p) { return reinterpret_cast<float4 *>(p); }

KERNEL(vector_threads)(const float *a, const float *x, float *y, int m, int k) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m) return;
    const float *own = a + static_cast<size_t>(row) * k;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += own[i] * x[i];
    y[row] = sum;
}

#define VECTOR (const float *__restrict__ a, const float *__restrict__ x, float *__restrict__ y, int m, int k)
KERNEL(vector_warps) VECTOR {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= m) return;
    const float *own = a + static_cast<size_t>(row) * k;
    float sum = 0;
    for (int i = lane; i < k; i += 32) sum += own[i] * x[i];
    sum = warp_sum(sum);
    if (lane == 0) y[row] = sum;
}

KERNEL(vector_fours) VECTOR {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= m) return;
    const float4 *own = fours(a + static_cast<size_t>(row) * k), *given = fours(x);
    float sum = 0;
    for (int i = lane; i < k / 4; i += 32) sum += dot(own[i], given[i]);
    sum = warp_sum(sum);
    if (lane == 0) y[row] = sum;
}

KERNEL(vector_ctas) VECTOR {
    __shared__ float part[32];
    int row = blockIdx.x;
    const float4 *own = fours(a + static_cast<size_t>(row) * k), *given = fours(x);
    float sum = 0;
    for (int i = threadIdx.x; i < k / 4; i += blockDim.x) sum += dot(own[i], given[i]);
    sum = of_cta<true>(sum, part);
    if (threadIdx.x == 0) y[row] = sum;
}

extern "C" __global__ void __launch_bounds__(128, 8) vector_unrolled VECTOR {
    int warps = blockDim.x / 32, lane = threadIdx.x % 32;
    const float4 *given = fours(x);
    for (int row = blockIdx.x * warps + threadIdx.x / 32; row < m; row += gridDim.x * warps) {
        const float4 *own = fours(a + static_cast<size_t>(row) * k);
        float sum = 0;
#pragma unroll 4
        for (int i = lane; i < k / 4; i += 32) sum += dot(__ldg(own + i), __ldg(given + i));
        sum = warp_sum(sum);
        if (lane == 0) y[row] = sum;
    }
}

KERNEL(softmax_threads)(const float *x, float *y, int m, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m) return;
    const float *own = x + static_cast<size_t>(row) * n;
    float *result = y + static_cast<size_t>(row) * n, most = -FLT_MAX, sum = 0;
    for (int i = 0; i < n; i++) most = fmaxf(most, own[i]);
    for (int i = 0; i < n; i++) sum += expf(own[i] - most);
    float inverse = 1.0f / sum;
    for (int i = 0; i < n; i++) result[i] = expf(own[i] - most) * inverse;
}

#define ROWS (const float *__restrict__ x, float *__restrict__ y, int m, int n)
KERNEL(softmax_warps) ROWS {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= m) return;
    const float *own = x + static_cast<size_t>(row) * n;
    float *result = y + static_cast<size_t>(row) * n, most = -FLT_MAX, sum = 0;
    for (int i = lane; i < n; i += 32) most = fmaxf(most, own[i]);
    most = warp_most(most);
    for (int i = lane; i < n; i += 32) sum += expf(own[i] - most);
    float inverse = 1.0f / warp_sum(sum);
    for (int i = lane; i < n; i += 32) result[i] = expf(own[i] - most) * inverse;
}

__device__ void written(const float4 *own, float4 *result, int n, float most, float inverse) {
    for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
        float4 v = own[i];
        result[i] = {expf(v.x - most) * inverse, expf(v.y - most) * inverse, expf(v.z - most) * inverse, expf(v.w - most) * inverse};
    }
}

KERNEL(softmax_ctas) ROWS {
    __shared__ float part[32];
    const float4 *own = fours(x + static_cast<size_t>(blockIdx.x) * n);
    float most = -FLT_MAX, sum = 0;
    for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
        float4 v = own[i];
        most = fmaxf(most, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
    most = of_cta<false>(most, part);
    for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
        float4 v = own[i];
        sum += expf(v.x - most) + expf(v.y - most) + expf(v.z - most) + expf(v.w - most);
    }
    sum = of_cta<true>(sum, part);
    written(own, fours(y + static_cast<size_t>(blockIdx.x) * n), n, most, 1.0f / sum);
}

__device__ void merge(float &most, float &sum, float other, float other_sum) {
    float both = fmaxf(most, other);
    sum = sum * expf(most - both) + other_sum * expf(other - both);
    most = both;
}

__device__ void follow(float &most, float &sum, float value) {
    float both = fmaxf(most, value);
    sum = sum * expf(most - both) + expf(value - both);
    most = both;
}

__device__ void merge_warp(float &most, float &sum) {
#pragma unroll
    for (int off = 16; off; off >>= 1) {
        float other = __shfl_xor_sync(~0u, most, off), other_sum = __shfl_xor_sync(~0u, sum, off);
        merge(most, sum, other, other_sum);
    }
}

KERNEL(softmax_running) ROWS {
    __shared__ float part[64];
    const float4 *own = fours(x + static_cast<size_t>(blockIdx.x) * n);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float most = -FLT_MAX, sum = 0;
    for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
        float4 v = own[i];
        follow(most, sum, v.x), follow(most, sum, v.y), follow(most, sum, v.z), follow(most, sum, v.w);
    }
    merge_warp(most, sum);
    if (lane == 0) part[warp] = most, part[32 + warp] = sum;
    __syncthreads();
    if (warp == 0) {
        bool there = lane < (blockDim.x + 31) / 32;
        float own_most = there ? part[lane] : -FLT_MAX, own_sum = there ? part[32 + lane] : 0.0f;
        merge_warp(own_most, own_sum);
        if (lane == 0) part[0] = own_most, part[32] = own_sum;
    }
    __syncthreads();
    most = part[0], sum = part[32];
    __syncthreads();
    written(own, fours(y + static_cast<size_t>(blockIdx.x) * n), n, most, 1.0f / sum);
}

KERNEL(norm_threads)(const float *x, const float *w, float *y, int m, int n, float tiny) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m) return;
    const float *own = x + static_cast<size_t>(row) * n;
    float *result = y + static_cast<size_t>(row) * n, sum = 0;
    for (int i = 0; i < n; i++) sum += own[i] * own[i];
    float inverse = rsqrtf(sum / n + tiny);
    for (int i = 0; i < n; i++) result[i] = own[i] * inverse * w[i];
}

#define WEIGHTED (const float *__restrict__ x, const float *__restrict__ w, float *__restrict__ y, int m, int n, float tiny)
KERNEL(norm_ctas) WEIGHTED {
    __shared__ float part[32];
    const float *own = x + static_cast<size_t>(blockIdx.x) * n;
    float *result = y + static_cast<size_t>(blockIdx.x) * n, sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = own[i];
        sum += v * v;
    }
    sum = of_cta<true>(sum, part);
    float inverse = rsqrtf(sum / n + tiny);
    for (int i = threadIdx.x; i < n; i += blockDim.x) result[i] = own[i] * inverse * w[i];
}

KERNEL(norm_fours) WEIGHTED {
    __shared__ float part[32];
    const float4 *own = fours(x + static_cast<size_t>(blockIdx.x) * n), *weights = fours(w);
    float4 *result = fours(y + static_cast<size_t>(blockIdx.x) * n);
    float sum = 0;
    for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
        float4 v = own[i];
        sum += dot(v, v);
    }
    sum = of_cta<true>(sum, part);
    float inverse = rsqrtf(sum / n + tiny);
    for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
        float4 v = own[i], g = weights[i];
        result[i] = {v.x * inverse * g.x, v.y * inverse * g.y, v.z * inverse * g.z, v.w * inverse * g.w};
    }
}

__device__ float silu(float v) { return v / (1.0f + expf(-v)); }

KERNEL(silu_each)(const float *x, float *y, long long n) {
    long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (i < n) y[i] = silu(x[i]);
}

#define LONG (const float *__restrict__ x, float *__restrict__ y, long long n)
KERNEL(silu_strides) LONG {
    long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < n; i += stride) y[i] = silu(x[i]);
}

KERNEL(silu_fours) LONG {
    long long first = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    for (long long i = first; i < n / 4; i += static_cast<long long>(gridDim.x) * blockDim.x) {
        float4 v = fours(x)[i];
        fours(y)[i] = {silu(v.x), silu(v.y), silu(v.z), silu(v.w)};
    }
    long long last = n / 4 * 4 + first;
    if (last < n) y[last] = silu(x[last]);
}
