// Products of f16 matrices of n x n with f32 sums by wgmma, the second transposed, in steps of 16 along K: a warpgroup for a tile of 64 x
// 64 with one and two buffers, four of them for 128 x 128 with two buffers, and two and four stages of cp.async, two with instructions
// of 128 columns, and two for 128 x 256. Shared memory has 8 x 8 values after each other, without a swizzle. Written for this
// repository after the descriptions of the measured kernels.
#include <cstdint>
#include <cuda_fp16.h>
#define PRODUCT (const half *__restrict__ a, const half *__restrict__ b, float *__restrict__ c, int n)
const int DEPTH = 16;

// a tile of 64 rows has 2 x 1024 bytes; `next` bytes from the first eight columns of K to the others, 128 to the next eight rows
__device__ uint64_t descriptor(const unsigned char *tile, uint32_t next) {
    uint64_t address = static_cast<uint32_t>(__cvta_generic_to_shared(tile)) & 0x3FFFF;
    return address >> 4 | static_cast<uint64_t>(next >> 4) << 16 | static_cast<uint64_t>(128 >> 4) << 32;
}

#define F8(d, i) \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define F32(d, i) F8(d, i), F8(d, i + 8), F8(d, i + 16), F8(d, i + 24)
#define R8(t) "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t "9"
#define FIRST "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9"

__device__ void multiply(float (&d)[32], uint64_t a, uint64_t b) {
    asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" FIRST ", " R8(1) ", " R8(2) ", %30, %31}, %32, %33, p, 1, 1, 0, 0;}"
                 : F32(d, 0)
                 : "l"(a), "l"(b));
}

__device__ void multiply(float (&d)[64], uint64_t a, uint64_t b) {
    asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" FIRST ", " R8(1) ", " R8(2) ", " R8(3) ", " R8(4) ", " R8(5)
                 ", %60, %61, %62, %63}, %64, %65, p, 1, 1, 0, 0;}"
                 : F32(d, 0), F32(d, 32)
                 : "l"(a), "l"(b));
}

__device__ void multiply(float (&d)[128], uint64_t a, uint64_t b) {
    asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" FIRST ", " R8(1) ", " R8(2) ", " R8(3) ", " R8(4) ", " R8(5)
                 ", " R8(6) ", " R8(7) ", " R8(8) ", " R8(9) ", " R8(10) ", " R8(11)
                 ", %120, %121, %122, %123, %124, %125, %126, %127}, %128, %129, p, 1, 1, 0, 0;}"
                 : F32(d, 0), F32(d, 32), F32(d, 64), F32(d, 96)
                 : "l"(a), "l"(b));
}

__device__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ void wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
template <int N> __device__ void landed() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }

// COLUMNS of a warpgroup; GROUPS_N warpgroups beside each other and GROUPS_M below
template <int COLUMNS, int GROUPS_M, int GROUPS_N> struct Tiles {
    static const int ROWS = 64 * GROUPS_M, WIDTH = COLUMNS * GROUPS_N, THREADS = 128 * GROUPS_M * GROUPS_N;
    static const int A_BYTES = ROWS * DEPTH * 2, B_BYTES = WIDTH * DEPTH * 2, NEXT = COLUMNS * 16;
    static __device__ int group_m() { return threadIdx.x / 128 / GROUPS_N; }
    static __device__ int group_n() { return threadIdx.x / 128 % GROUPS_N; }
    static __device__ int at_a(int row, int half) { return row / 64 * 2048 + row % 64 / 8 * 128 + half * 1024 + row % 8 * 16; }
    static __device__ int at_b(int row, int half) {
        return row / COLUMNS * COLUMNS * 32 + row % COLUMNS / 8 * 128 + half * NEXT + row % 8 * 16;
    }
    static __device__ void multiply_own(float (&sums)[COLUMNS / 2], const unsigned char *as, const unsigned char *bs) {
        fence();
        multiply(sums, descriptor(as + group_m() * 2048, 1024), descriptor(bs + group_n() * COLUMNS * 32, NEXT));
        commit();
    }
    // the 16 bytes of A and B that a thread copies
    template <class F> static __device__ void each(const half *a, const half *b, int n, int from, unsigned char *as, unsigned char *bs, F copy) {
        const half *own_a = a + static_cast<size_t>(blockIdx.y) * ROWS * n + from, *own_b = b + static_cast<size_t>(blockIdx.x) * WIDTH * n + from;
        if (THREADS == 2 * ROWS + 2 * WIDTH) {  // half of the threads copy A
            int row = threadIdx.x % (THREADS / 2) / 2, side = threadIdx.x % 2;
            if (threadIdx.x < THREADS / 2)
                copy(as + at_a(row, side), own_a + static_cast<size_t>(row) * n + side * 8);
            else
                copy(bs + at_b(row, side), own_b + static_cast<size_t>(row) * n + side * 8);
        } else {
            for (int i = threadIdx.x; i < 2 * ROWS; i += THREADS)
                copy(as + at_a(i / 2, i % 2), own_a + static_cast<size_t>(i / 2) * n + i % 2 * 8);
#pragma unroll
            for (int i = threadIdx.x; i < 2 * WIDTH; i += THREADS)
                copy(bs + at_b(i / 2, i % 2), own_b + static_cast<size_t>(i / 2) * n + i % 2 * 8);
        }
    }
    static __device__ void store(float *c, int n, const float (&sums)[COLUMNS / 2]) {
        int warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
        size_t row = blockIdx.y * ROWS + group_m() * 64 + warp * 16 + lane / 4;
        int column = blockIdx.x * WIDTH + group_n() * COLUMNS + lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < COLUMNS / 2; i++) c[(row + i % 4 / 2 * 8) * n + column + i / 4 * 8 + i % 2] = sums[i];
    }
};

__device__ void copy_now(unsigned char *to, const half *from) { *reinterpret_cast<uint4 *>(to) = *reinterpret_cast<const uint4 *>(from); }
__device__ void copy_later(unsigned char *to, const half *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(to))), "l"(from) : "memory");
}

extern "C" __global__ void __launch_bounds__(128) one_buffer PRODUCT {
    using Own = Tiles<64, 1, 1>;
    __shared__ __align__(128) unsigned char as[Own::A_BYTES], bs[Own::B_BYTES];
    float sums[32] = {};
    for (int from = 0; from < n; from += DEPTH) {
        Own::each(a, b, n, from, as, bs, copy_now);
        __syncthreads();
        proxy_fence();
        Own::multiply_own(sums, as, bs);
        wait<0>();
        __syncthreads();
    }
    Own::store(c, n, sums);
}

template <class Own> __device__ void two_buffers PRODUCT {
    __shared__ __align__(128) unsigned char as[2][Own::A_BYTES], bs[2][Own::B_BYTES];
    float sums[32] = {};
    Own::each(a, b, n, 0, as[0], bs[0], copy_now);
    proxy_fence();
    __syncthreads();
    for (int from = 0; from < n; from += DEPTH) {
        int now = from / DEPTH % 2;
        Own::multiply_own(sums, as[now], bs[now]);
        if (from + DEPTH < n) {
            wait<1>();
            __syncthreads();
            Own::each(a, b, n, from + DEPTH, as[now ^ 1], bs[now ^ 1], copy_now);
            proxy_fence();
            __syncthreads();
        }
    }
    wait<0>();
    Own::store(c, n, sums);
}

extern "C" __global__ void __launch_bounds__(128) two_buffers_64 PRODUCT { two_buffers<Tiles<64, 1, 1>>(a, b, c, n); }
extern "C" __global__ void __launch_bounds__(512) two_buffers_128 PRODUCT { two_buffers<Tiles<64, 2, 2>>(a, b, c, n); }

template <class Own, int STAGES, int SUMS> __device__ void by_stages PRODUCT {
    __shared__ __align__(128) unsigned char as[STAGES][Own::A_BYTES], bs[STAGES][Own::B_BYTES];
    float sums[SUMS] = {};
#pragma unroll
    for (int stage = 0; stage < STAGES - 1; stage++) {
        Own::each(a, b, n, stage * DEPTH, as[stage], bs[stage], copy_later);
        asm volatile("cp.async.commit_group;");
    }
    for (int from = 0; from < n; from += DEPTH) {
        int now = from / DEPTH % STAGES, left = (n - from) / DEPTH - 1, next = from + (STAGES - 1) * DEPTH;
        if (STAGES >= 4 && left >= 2) landed<2>();
        else if (STAGES >= 3 && left >= 1) landed<1>();
        else landed<0>();
        __syncthreads();
        proxy_fence();
        Own::multiply_own(sums, as[now], bs[now]);
        if (next < n) {
            wait<1>();
            __syncthreads();
            Own::each(a, b, n, next, as[next / DEPTH % STAGES], bs[next / DEPTH % STAGES], copy_later);
            asm volatile("cp.async.commit_group;");
        }
    }
    wait<0>();
    landed<0>();
    Own::store(c, n, sums);
}

extern "C" __global__ void __launch_bounds__(512) stages_2 PRODUCT { by_stages<Tiles<64, 2, 2>, 2, 32>(a, b, c, n); }
extern "C" __global__ void __launch_bounds__(512) stages_4 PRODUCT { by_stages<Tiles<64, 2, 2>, 4, 32>(a, b, c, n); }
extern "C" __global__ void __launch_bounds__(256) columns_128 PRODUCT { by_stages<Tiles<128, 2, 1>, 4, 64>(a, b, c, n); }
extern "C" __global__ void __launch_bounds__(256) columns_256 PRODUCT { by_stages<Tiles<256, 2, 1>, 3, 128>(a, b, c, n); }
