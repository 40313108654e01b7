// Chains of K operations for each element: fused multiply-adds, sines, and approximate sines. Written for this repository after the
// description of the measured kernels.
#define KERNEL(name) extern "C" __global__ void name

template <int K, int KIND> __device__ void chain(const float *__restrict__ x, float *__restrict__ out, long long n) {
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += static_cast<long long>(gridDim.x) * blockDim.x) {
        float v = x[i];
#pragma unroll
        for (int k = 0; k < K; k++) v = KIND == 0 ? v * 1.0000001f + 1e-7f : KIND == 1 ? sinf(v) : __sinf(v);
        out[i] = v;
    }
}

#define CHAINS(K) \
    KERNEL(fma_##K)(const float *__restrict__ x, float *__restrict__ out, long long n) { chain<K, 0>(x, out, n); } \
    KERNEL(sine_##K)(const float *__restrict__ x, float *__restrict__ out, long long n) { chain<K, 1>(x, out, n); } \
    KERNEL(fast_sine_##K)(const float *__restrict__ x, float *__restrict__ out, long long n) { chain<K, 2>(x, out, n); }
CHAINS(4)
CHAINS(8)
CHAINS(16)
CHAINS(32)
CHAINS(64)
