// libcu++ in kernels. Launch: 128 threads a block; piped n a multiple of 256 a block; bulk_* one block.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda/std/complex>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// A pipeline of two stages fed by the whole block.
extern "C" __global__ void piped(int tiles, const int *x, int *y) {
    constexpr int tile = 256;
    __shared__ int s[2][tile];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    x += (size_t)blockIdx.x * tiles * tile, y += (size_t)blockIdx.x * tiles * tile;
    for (int next = 0, t = 0; t < tiles; t++) {
        for (; next < tiles && next < t + 2; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[next % 2], x + next * tile, sizeof(int) * tile, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        for (int i = threadIdx.x; i < tile; i += 128) y[t * tile + i] = 3 * s[t % 2][tile - 1 - i];
        pipe.consumer_release();
    }
}

// Producer and consumer halves of a block meet at two barriers.
extern "C" __global__ void handed_over(int rounds, const float *x, float *y) {
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ float s[64];
    __shared__ barrier ready, taken;
    if (threadIdx.x == 0) init(&ready, 128), init(&taken, 128);
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        if (threadIdx.x < 64) {
            if (r) taken.arrive_and_wait();
            s[threadIdx.x] = x[r * 64 + threadIdx.x];
            (void)ready.arrive();
        } else {
            ready.arrive_and_wait();
            y[r * 64 + threadIdx.x - 64] = 2 * s[127 - threadIdx.x];
            if (r + 1 < rounds) (void)taken.arrive();
        }
    }
}

// Atomics of every order on what the hardware has and has not.
extern "C" __global__ void atomics_of_the_library(const double *x, double *largest, unsigned char *flags,
                                                  unsigned long long *words, float *sum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cuda::atomic_ref<double, cuda::thread_scope_device>(*largest).fetch_max(x[i], cuda::memory_order_relaxed);
    cuda::atomic_ref<unsigned char, cuda::thread_scope_device>(flags[i % 8]).fetch_or(1 << i % 7);
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_system>(words[i % 3]).fetch_add(i, cuda::std::memory_order_seq_cst);
    cuda::atomic_ref<float, cuda::thread_scope_block>(*sum).fetch_add((float)(i % 4), cuda::memory_order_acq_rel);
    unsigned long long seen = 0;
    cuda::atomic_ref<unsigned long long> lock(words[3]);
    while (!lock.compare_exchange_weak(seen, seen * 3 + 1)) {}
}

extern "C" __global__ void complex_powers(int n, const float2 *x, float2 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    cuda::std::complex<float> z(x[i].x, x[i].y), p = z * z / (z + 1.5f) - cuda::std::conj(z);
    y[i] = make_float2(p.real(), p.imag());
}

#if __CUDA_ARCH__ >= 900
// A bulk copy in and one out, told by an mbarrier and by a group.
extern "C" __global__ void bulk_there_and_back(const int *x, int *y) {
    namespace ptx = cuda::ptx;
    __shared__ alignas(16) int s[1024];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, x, sizeof s, &bar);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof s);
    }
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
    for (int i = threadIdx.x; i < 1024; i += 128) s[i] = ~s[i];
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y, s, 2048);
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, y + 512, s + 512, 2048);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
    }
}
#endif
