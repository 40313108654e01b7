// Written for the corpus: a little of everything that makes a compiler print unusual PTX. See README.md.
#include <cuda_fp16.h>
#include <cstdio>

struct Options {
    int first;
    double scale;
};

__device__ int table[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
__constant__ float weights[4] = {1.f, -2.5f};
__device__ const char *names[2] = {"abc", "def"};
__managed__ unsigned long long counter;
extern __shared__ float dynamic_shared[];

__device__ __noinline__ float scaled(float a, int b) { return a * b + weights[b & 3]; }
__device__ __noinline__ float shifted(float a, int b) { return a + b; }
typedef float (*Function)(float, int);
__device__ Function functions[2] = {scaled, shifted};

extern "C" __global__ void __launch_bounds__(128, 2) mixed(float *a, const half *b, int n, Options options) {
    __shared__ float tile[33];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x & 31] = a[i];
    __syncthreads();
    if (i < n) {
        switch (n & 7) {
        case 0: a[i] += 1; break;
        case 1: a[i] *= 2; break;
        case 2: a[i] -= 3; break;
        case 3: a[i] = tile[0]; break;
        case 4: a[i] = 1 / a[i]; break;
        default: a[i] = 0;
        }
        a[i] += functions[n & 1](a[i], i) + table[i & 3][n % 3] + __half2float(b[i]) + options.scale;
        dynamic_shared[i] = a[i];
        atomicAdd(&counter, 1ull);
        if (a[i] > 1e10f) printf("%s %d\n", names[i & 1], i);
        asm volatile("{ .reg .pred p;\n setp.ne.u32 p, %0, 0; // inside asm\n @p bra L; L: }" ::"r"(i));
    }
}

extern "C" __global__ void __launch_bounds__(256) saxpy(int n, float a, const float4 *x, float4 *y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float4 u = x[i], v = y[i];
        y[i] = make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w);
    }
}

extern "C" __global__ void warp_sum(const int *x, int *y) {
    int v = x[threadIdx.x];
#pragma unroll
    for (int mask = 16; mask; mask >>= 1) v += __shfl_xor_sync(~0u, v, mask);
    if (threadIdx.x == 0) *y = v;
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2, 1, 1) clustered(int *y) {
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;");
    *y = 1;
}
#endif
