// C (m x n, f32) = A (m x k) B^T (n x k), f16, on Hopper: tensor maps, mbarriers, wgmma. Launch: grid (n/128, m/128), 128
// threads for wgmma_simple, 384 for wgmma_specialized (a producer and two consumer warpgroups); dynamic shared memory
// 4 * 32 KiB + 1 KiB (1 KiB + 32 KiB for wgmma_simple). Maps: boxes of 128 rows x 64 columns (elements), 128-byte swizzle.
#include <cstdint>
#include <cuda.h>
#include <cuda_fp16.h>

__device__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void init(uint32_t bar, int count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count)); }
__device__ void expect(uint32_t bar, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ void arrive(uint32_t bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory"); }
__device__ void wait(uint32_t bar, int parity) {
    asm volatile("{\n.reg .pred done;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@done bra DONE;\n"
                 "bra WAIT;\nDONE:\n}" ::"r"(bar), "r"(parity) : "memory");
}
__device__ void load(uint32_t to, const CUtensorMap *map, int x, int y, uint32_t bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
                 "[%4];" ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(bar) : "memory");
}
__device__ uint64_t descriptor(uint32_t address) {              // K-major, 128-byte swizzle, 8 rows are 1024 bytes
    return (uint64_t)((address & 0x3FFFF) >> 4) | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}
__device__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ void settle() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }

// d (64 x 128) += a (64 x 16) b (16 x 128)
__device__ void multiply(float (&d)[64], uint64_t a, uint64_t b) {
    asm volatile("{\nwgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
                 "%64, %65, 1, 1, 1, 0, 0;\n}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                   "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                   "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                   "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
                   "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
                   "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
                   "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
                   "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
                 : "l"(a), "l"(b));
}

__device__ void store(float *c, int n, int row, int column, const float (&d)[64]) {
    row += threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4, column += threadIdx.x % 4 * 2;
#pragma unroll
    for (int j = 0; j < 16; j++) {
        *(float2 *)&c[(size_t)row * n + column + j * 8] = make_float2(d[j * 4], d[j * 4 + 1]);
        *(float2 *)&c[(size_t)(row + 8) * n + column + j * 8] = make_float2(d[j * 4 + 2], d[j * 4 + 3]);
    }
}

extern __shared__ __align__(1024) unsigned char memory[];

extern "C" __global__ void __launch_bounds__(128)
    wgmma_simple(int n, int k, const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *c) {
    __shared__ __align__(8) uint64_t full;
    uint32_t as = (shared_address(memory) + 1023) / 1024 * 1024, bs = as + 16384, bar = shared_address(&full);
    if (threadIdx.x == 0) {
        init(bar, 1);
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
    float d[2][64] = {};
    for (int start = 0, parity = 0; start < k; start += 64, parity ^= 1) {
        if (threadIdx.x == 0) {
            expect(bar, 32768);
            load(as, &a, start, blockIdx.y * 128, bar);
            load(bs, &b, start, blockIdx.x * 128, bar);
        }
        wait(bar, parity);
        fence();
#pragma unroll
        for (int kk = 0; kk < 4; kk++)
#pragma unroll
            for (int i = 0; i < 2; i++)
                multiply(d[i], descriptor(as + i * 8192 + kk * 32), descriptor(bs + kk * 32));
        commit();
        settle<0>();
        __syncthreads();
    }
    store(c, n, blockIdx.y * 128, blockIdx.x * 128, d[0]);
    store(c, n, blockIdx.y * 128 + 64, blockIdx.x * 128, d[1]);
}

extern "C" __global__ void __launch_bounds__(384)
    wgmma_specialized(int n, int k, const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *c) {
    constexpr int STAGES = 4;
    __shared__ __align__(8) uint64_t bars[2 * STAGES];
    uint32_t base = (shared_address(memory) + 1023) / 1024 * 1024;
    uint32_t full = shared_address(bars), empty = full + 8 * STAGES;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) init(full + 8 * i, 1), init(empty + 8 * i, 8);      // warps that read
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0) {
            for (int start = 0, stage = 0, parity = 0; start < k; start += 64) {
                wait(empty + 8 * stage, parity ^ 1);
                expect(full + 8 * stage, 32768);
                load(base + stage * 32768, &a, start, blockIdx.y * 128, full + 8 * stage);
                load(base + stage * 32768 + 16384, &b, start, blockIdx.x * 128, full + 8 * stage);
                if (++stage == STAGES) stage = 0, parity ^= 1;
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        int half = threadIdx.x / 128 - 1;
        float d[64] = {};
        for (int start = 0, stage = 0, parity = 0; start < k; start += 64) {
            wait(full + 8 * stage, parity);
            uint32_t as = base + stage * 32768 + half * 8192, bs = base + stage * 32768 + 16384;
            fence();
#pragma unroll
            for (int kk = 0; kk < 4; kk++) multiply(d, descriptor(as + kk * 32), descriptor(bs + kk * 32));
            commit();
            settle<0>();
            if (threadIdx.x % 32 == 0) arrive(empty + 8 * stage);             // its warp is done with the stage
            if (++stage == STAGES) stage = 0, parity ^= 1;
        }
        store(c, n, blockIdx.y * 128 + half * 64, blockIdx.x * 128, d);
    }
}
