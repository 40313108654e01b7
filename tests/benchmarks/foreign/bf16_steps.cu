// Matrix products of bf16 with mma.sync in the steps of a published ladder on Blackwell (sm_120), A along K, B along K. Written
// for this repository; tiles, warps and stages as published for the measured kernels.
#include <cuda_bf16.h>
typedef __nv_bfloat16 bf16;
#define SIZES const bf16 *A, const bf16 *B, bf16 *C, int M, int N, int K

__device__ void copy_16(unsigned to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int COUNT> __device__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(COUNT) : "memory"); }
__device__ void load_2(unsigned *to, unsigned at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "r"(at));
}
__device__ void load_4(unsigned *to, unsigned at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at));
}
__device__ void multiply(float *c, const unsigned *a, const unsigned *b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
const int BM = 128, BK = 64;
// swizzled rows of 128 bytes: vectors of eight rows in different banks
__device__ unsigned swizzled(unsigned at) { return at ^ (at >> 7 & 7) << 4; }
template <int MS, int NS> __device__ void store(bf16 *C, int N, float (*sums)[NS][4], int lane) {
    for (int m = 0; m < MS; ++m)
        for (int n = 0; n < NS; ++n) {
            bf16 *to = C + (m * 16 + lane / 4) * N + n * 8 + lane % 4 * 2;
            float *own = sums[m][n];
            *reinterpret_cast<__nv_bfloat162 *>(to) = __float22bfloat162_rn({own[0], own[1]});
            *reinterpret_cast<__nv_bfloat162 *>(to + 8 * N) = __float22bfloat162_rn({own[2], own[3]});
        }
}

// one tile at a time; 2 x 2 warps
template <int ROWS, int STRIDE, bool ASYNC, bool SWIZZLED> __device__ void fill(const bf16 *from, int K, bf16 *to) {
    unsigned base = (unsigned)__cvta_generic_to_shared(to);
    for (int i = 0; i < ROWS * BK / 1024; ++i) {
        int at = (i * 128 + threadIdx.x) * 8, row = at / BK, column = at % BK;
        unsigned place = base + (row * STRIDE + column) * 2;
        if (ASYNC)
            copy_16(SWIZZLED ? swizzled(place) : place, from + row * K + column);
        else
            *reinterpret_cast<uint4 *>(to + row * STRIDE + column) = *reinterpret_cast<const uint4 *>(from + row * K + column);
    }
}
template <int BN, int STRIDE, bool ASYNC, bool SWIZZLED, bool WIDE> __device__ void single(SIZES) {
    const int MS = BM / 2 / 16, NS = BN / 2 / 8;
    extern __shared__ __align__(128) bf16 shared[];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, across = N / BN, y = blockIdx.x / across * BM, x = blockIdx.x % across * BN;
    int wm = warp / 2 * (BM / 2), wn = warp % 2 * (BN / 2);
    A += y * K;
    B += x * K;
    C += (y + wm) * N + x + wn;
    bf16 *a = shared, *b = a + BM * STRIDE;
    unsigned ra = (unsigned)__cvta_generic_to_shared(a), rb = (unsigned)__cvta_generic_to_shared(b);
    int row = WIDE ? lane % 8 + lane / 16 * 8 : lane % 8, side = WIDE ? lane / 8 % 2 * 8 : lane / 8 * 8;
    unsigned pa = ra + ((wm + lane % 16) * STRIDE + lane / 16 * 8) * 2, pb = rb + ((wn + row) * STRIDE + side) * 2;
    if (WIDE) pa = swizzled(pa), pb = swizzled(pb);
    float sums[MS][NS][4] = {};
    for (int k = 0; k < K; k += BK) {
        fill<BM, STRIDE, ASYNC, SWIZZLED>(A, K, a);
        fill<BN, STRIDE, ASYNC, SWIZZLED>(B, K, b);
        if (ASYNC) asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
        for (int j = 0; j < BK; j += 16) {
            unsigned fb[NS][2];
            for (int n = 0; n < NS; n += WIDE ? 2 : 1) {
                unsigned at = pb + n * 8 * STRIDE * 2;
                if (WIDE)
                    load_4(fb[n], at ^ j * 2);
                else
                    load_2(fb[n], SWIZZLED ? swizzled(at + j * 2) : at + j * 2);
            }
            for (int m = 0; m < MS; ++m) {
                unsigned fa[4], at = pa + m * 16 * STRIDE * 2;
                load_4(fa, WIDE ? at ^ j * 2 : SWIZZLED ? swizzled(at + j * 2) : at + j * 2);
                for (int n = 0; n < NS; ++n) multiply(sums[m][n], fa, fb[n]);
            }
        }
        __syncthreads();
        A += BK;
        B += BK;
    }
    store<MS, NS>(C, N, sums, lane);
}
#define SINGLE(name, n, stride, async, swizzle, wide) \
    extern "C" __global__ void __launch_bounds__(128) name(SIZES) { single<n, stride, async, swizzle, wide>(A, B, C, M, N, K); }
SINGLE(bf16_vector, 128, 64, false, false, false)
SINGLE(bf16_async, 128, 64, true, false, false)
SINGLE(bf16_padded, 128, 72, true, false, false)
SINGLE(bf16_swizzled, 128, 64, true, true, false)
SINGLE(bf16_wide, 64, 64, true, true, true)

// two stages; all fragments of a tile are loaded before its products. PEELED: the last tile has a loop of its own
template <int BN, bool PEELED> __device__ void staged(SIZES) {
    const int MS = BM / 2 / 16, NS = BN / 2 / 8, KS = BK / 16, SIZE = (BM + BN) * BK * 2;
    extern __shared__ __align__(128) bf16 shared[];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, across = N / BN, y = blockIdx.x / across * BM, x = blockIdx.x % across * BN;
    int wm = warp / 2 * (BM / 2), wn = warp % 2 * (BN / 2), count = K / BK;
    A += y * K;
    B += x * K;
    C += (y + wm) * N + x + wn;
    unsigned base = (unsigned)__cvta_generic_to_shared(shared);
    unsigned pa = swizzled(base + ((wm + lane % 16) * BK + lane / 16 * 8) * 2);
    unsigned pb = swizzled(base + ((BM + wn + lane % 8 + lane / 16 * 8) * BK + lane / 8 % 2 * 8) * 2);
    unsigned fa[KS][MS][4], fb[KS][NS][2];
    float sums[MS][NS][4] = {};
    auto load = [&](int tile) {
        if (PEELED || tile < count) {
            bf16 *a = shared + tile % 2 * (SIZE / 2);
            fill<BM, BK, true, true>(A, K, a);
            fill<BN, BK, true, true>(B, K, a + BM * BK);
            A += BK;
            B += BK;
        }
        commit();
    };
    auto compute = [&](int tile) {
        unsigned stage = tile % 2 * SIZE;
        for (int k = 0; k < KS; ++k)
            for (int m = 0; m < MS; ++m) load_4(fa[k][m], pa + stage + m * 16 * BK * 2 ^ k * 32);
        for (int k = 0; k < KS; ++k)
            for (int n = 0; n < NS; n += 2) load_4(fb[k][n], pb + stage + n * 8 * BK * 2 ^ k * 32);
        for (int k = 0; k < KS; ++k)
            for (int m = 0; m < MS; ++m)
                for (int n = 0; n < NS; ++n) multiply(sums[m][n], fa[k][m], fb[k][n]);
    };
    load(0);
    for (int tile = 0; tile < count - PEELED; ++tile) {
        __syncthreads();
        load(tile + 1);
        wait<1>();
        __syncthreads();
        compute(tile);
    }
    if (PEELED) {
        commit();
        wait<1>();
        __syncthreads();
        compute(count - 1);
    }
    store<MS, NS>(C, N, sums, lane);
}
extern "C" __global__ void __launch_bounds__(128) bf16_stages(SIZES) { staged<64, false>(A, B, C, M, N, K); }
extern "C" __global__ void __launch_bounds__(128) bf16_peeled(SIZES) { staged<64, true>(A, B, C, M, N, K); }
