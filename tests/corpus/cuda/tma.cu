// Bulk copies. Launch: one block of 128 threads, or as said. Maps are of f32 and not swizzled; boxes as said.
#include <cstdint>
#include <cuda.h>

__device__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void wait(uint32_t bar, int parity) {
    uint32_t done;
    do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                    : "=r"(done) : "r"(bar), "r"(parity) : "memory");
    while (!done);
}

// y = x + 1, 4096 bytes a block, without a map.
extern "C" __global__ void bulk_add(const float *x, float *y) {
    __shared__ __align__(128) float s[1024];
    __shared__ __align__(8) uint64_t bar;
    uint32_t b = shared_address(&bar), at = shared_address(s);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(b));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(b));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];"
                     ::"r"(at), "l"(x + blockIdx.x * 1024), "r"(b) : "memory");
    }
    __syncthreads();
    wait(b, 0);
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] += 1;
    asm volatile("fence.proxy.async.shared::cta;");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 4096;" ::"l"(y + blockIdx.x * 1024), "r"(at)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}

// A 32 x 32 tile transposed; grid (columns/32, rows/32), boxes 32 x 32.
extern "C" __global__ void tile_transpose(const __grid_constant__ CUtensorMap x, const __grid_constant__ CUtensorMap y) {
    __shared__ __align__(128) float s[32][32], t[32][32];
    __shared__ __align__(8) uint64_t bar;
    uint32_t b = shared_address(&bar);
    if (threadIdx.x == 0) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&x));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(b));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(b));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     ::"r"(shared_address(s)), "l"(&x), "r"(blockIdx.x * 32), "r"(blockIdx.y * 32), "r"(b) : "memory");
    }
    __syncthreads();
    wait(b, 0);
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) t[i % 32][i / 32] = s[i / 32][i % 32];
    asm volatile("fence.proxy.async.shared::cta;");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                     ::"l"(&y), "r"(blockIdx.y * 32), "r"(blockIdx.x * 32), "r"(shared_address(t)) : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}

// Every block adds its tile of x to the same tile of the total: a reduction in memory; boxes of 64 x 8.
extern "C" __global__ void tile_reduce(const __grid_constant__ CUtensorMap total, const float *x) {
    __shared__ __align__(128) float s[8 * 64];
    for (int i = threadIdx.x; i < 512; i += blockDim.x) s[i] = x[blockIdx.x * 512 + i];
    asm volatile("fence.proxy.async.shared::cta;");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];"
                     ::"l"(&total), "r"(0), "r"(0), "r"(shared_address(s)) : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}

// The first block of a cluster of two loads a tile into both; boxes of 64 x 8.
extern "C" __global__ void __cluster_dims__(2, 1, 1) multicast(const __grid_constant__ CUtensorMap x, float *y) {
    __shared__ __align__(128) float s[512];
    __shared__ __align__(8) uint64_t bar;
    uint32_t b = shared_address(&bar), rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(b));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 2048;" ::"r"(b));
    }
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    if (threadIdx.x == 0 && rank == 0)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
                     "[%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(s)), "l"(&x), "r"(0), "r"((int)blockIdx.x / 2 * 8),
                     "r"(b), "h"((unsigned short)3) : "memory");
    wait(b, 0);
    for (int i = threadIdx.x; i < 512; i += blockDim.x) y[blockIdx.x * 512 + i] = s[i];
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
