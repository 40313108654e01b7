// D (128 x 128, f32) = A (128 x k) B^T (128 x k), f16, by the fifth generation of tensor cores. Launch: grid (n/128,
// m/128), 128 threads, dynamic shared memory 33 KiB. Maps: boxes of 128 rows x 64 columns, 128-byte swizzle.
#include <cstdint>
#include <cuda.h>

__device__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void wait(uint32_t bar, int parity) {
    asm volatile("{\n.reg .pred done;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@done bra DONE;\n"
                 "bra WAIT;\nDONE:\n}" ::"r"(bar), "r"(parity) : "memory");
}
__device__ void load(uint32_t to, const CUtensorMap *map, int x, int y, uint32_t bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
                 "[%4];" ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(bar) : "memory");
}
__device__ uint64_t descriptor(uint32_t address) {              // K-major, 128-byte swizzle, version 1
    return (uint64_t)((address & 0x3FFFF) >> 4) | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 46 |
           (uint64_t)2 << 61;
}

extern __shared__ __align__(1024) unsigned char memory[];

extern "C" __global__ void __launch_bounds__(128)
    tcgen05_gemm(int n, int k, const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *c) {
    __shared__ __align__(8) uint64_t bars[2];
    __shared__ uint32_t slot;
    uint32_t as = (shared_address(memory) + 1023) / 1024 * 1024, bs = as + 16384;
    uint32_t full = shared_address(&bars[0]), done = shared_address(&bars[1]);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp == 0)
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 128;\n"
                     "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::"r"(shared_address(&slot)) : "memory");
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nmbarrier.init.shared::cta.b64 [%1], 1;\n"
                     "fence.mbarrier_init.release.cluster;" ::"r"(full), "r"(done));
    }
    asm volatile("tcgen05.fence::before_thread_sync;");
    __syncthreads();
    asm volatile("tcgen05.fence::after_thread_sync;");
    uint32_t tmem = slot;
    // f32 accumulators, f16 x f16, both K-major, n 128, m 128
    uint32_t shape = 1u << 4 | (128u >> 3) << 17 | (128u >> 4) << 24;
    if (threadIdx.x == 0) {
        for (int start = 0, parity = 0; start < k; start += 64, parity ^= 1) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 32768;" ::"r"(full) : "memory");
            load(as, &a, start, blockIdx.y * 128, full);
            load(bs, &b, start, blockIdx.x * 128, full);
            wait(full, parity);
#pragma unroll
            for (int kk = 0; kk < 4; kk++)
                asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %4, 0;\n"
                             "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n}" ::"r"(tmem),
                             "l"(descriptor(as + kk * 32)), "l"(descriptor(bs + kk * 32)), "r"(shape), "r"(start + kk)
                             : "memory");
            asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(done)
                         : "memory");
            wait(done, parity);
        }
    }
    __syncthreads();
    asm volatile("tcgen05.fence::after_thread_sync;");
    float *row = c + (size_t)(blockIdx.y * 128 + warp * 32 + lane) * n + blockIdx.x * 128;
#pragma unroll
    for (int j = 0; j < 128; j += 8) {
        float v[8];
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                     : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]), "=f"(v[4]), "=f"(v[5]), "=f"(v[6]), "=f"(v[7])
                     : "r"(tmem + ((uint32_t)warp << 21) + j));
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
        *(float4 *)&row[j] = make_float4(v[0], v[1], v[2], v[3]);
        *(float4 *)&row[j + 4] = make_float4(v[4], v[5], v[6], v[7]);
    }
    asm volatile("tcgen05.fence::before_thread_sync;");
    __syncthreads();
    asm volatile("tcgen05.fence::after_thread_sync;");
    if (warp == 0) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 128;" ::"r"(tmem));
}
