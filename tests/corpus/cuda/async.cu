// Asynchronous copies of sm_80. Launch: blocks of 128 threads; n a multiple of 512 a block.
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline.h>

// Three stages of 512 numbers each, doubled.
extern "C" __global__ void pipelined(int tiles, const float4 *x, float4 *y) {
    __shared__ float4 s[3][128];
    x += (size_t)blockIdx.x * tiles * 128, y += (size_t)blockIdx.x * tiles * 128;
    for (int i = 0; i < 2; i++) {
        if (i < tiles) __pipeline_memcpy_async(&s[i][threadIdx.x], &x[i * 128 + threadIdx.x], 16);
        __pipeline_commit();
    }
    for (int i = 0; i < tiles; i++) {
        if (i + 2 < tiles) __pipeline_memcpy_async(&s[(i + 2) % 3][threadIdx.x], &x[(i + 2) * 128 + threadIdx.x], 16);
        __pipeline_commit();
        __pipeline_wait_prior(2);
        __syncthreads();
        float4 v = s[i % 3][127 - threadIdx.x];
        y[i * 128 + threadIdx.x] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
        __syncthreads();
    }
}

// A barrier in shared memory in place of __syncthreads.
extern "C" __global__ void arrive_and_wait(const int *x, int *y) {
    __shared__ __mbarrier_t bar;
    __shared__ int s[128];
    if (threadIdx.x == 0) __mbarrier_init(&bar, 128);
    __syncthreads();
    s[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];
    __mbarrier_token_t token = __mbarrier_arrive(&bar);
    while (!__mbarrier_test_wait(&bar, token)) {}
    y[blockIdx.x * 128 + threadIdx.x] = s[127 - threadIdx.x];
}

// Short copies, some of which fill with zeros; the last by an mbarrier that counts copies.
extern "C" __global__ void padded(int n, const int *x, int *y) {
    __shared__ int s[256];
    __shared__ __align__(8) unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar), done;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(b));
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 128) {
        unsigned at = (unsigned)__cvta_generic_to_shared(&s[i]);
        int bytes = blockIdx.x * 256 + i < n ? 4 : 0;
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(x + blockIdx.x * 256 + i), "r"(bytes));
    }
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(b) : "memory");
    do asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                    : "=r"(done) : "r"(b) : "memory");
    while (!done);
    for (int i = threadIdx.x; i < 256; i += 128) y[blockIdx.x * 256 + i] = s[255 - i];
}
