// Products of f16 matrices, B by columns, with f16 sums, by steps: wmma with elements through registers; vectors and padding; three
// stages of cp.async; fragments in two sets; then mma with padding, with columns mixed by XOR, with stages, with fragments in two
// sets, and with the CTAs in order of columns. Warps have 64 x 64 elements of C. Written for this repository after the descriptions of
// the measured kernels.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda::wmma;
#define KERNEL(name) extern "C" __global__ void name
#define PRODUCT int m, int n, int k, const half *a, const half *b, half *c
const int W = 64, T = 16, PAD = 8;
extern __shared__ half shared[];

__device__ unsigned address(const void *at) { return static_cast<unsigned>(__cvta_generic_to_shared(at)); }
__device__ void copy16(void *to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(to)), "l"(from));
}
__device__ void commit() { asm volatile("cp.async.commit_group;"); }
template <int LEFT> __device__ void arrived() {
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT));
    __syncthreads();
}

typedef fragment<matrix_a, T, T, T, half, row_major> OfA;
typedef fragment<matrix_b, T, T, T, half, col_major> OfB;
typedef fragment<accumulator, T, T, T, half> Sums;

// fragments of 64 rows of A and 64 columns of B, at a column of the tiles
template <int STRIDE> __device__ void read(OfA *fa, OfB *fb, const half *sa, const half *sb, int at) {
#pragma unroll
    for (int i = 0; i < 4; i++) load_matrix_sync(fa[i], sa + i * T * STRIDE + at, STRIDE);
#pragma unroll
    for (int j = 0; j < 4; j++) load_matrix_sync(fb[j], sb + j * T * STRIDE + at, STRIDE);
}

__device__ void multiply(Sums *sums, const OfA *fa, const OfB *fb) {
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) mma_sync(sums[i * 4 + j], fa[i], fb[j], sums[i * 4 + j]);
}

template <bool VECTORS> __device__ void simple(int n, int k, const half *a, const half *b, half *c) {
    const int BM = 128, BK = 32, THREADS = 128, EACH = VECTORS ? 8 : 1, STRIDE = VECTORS ? BK + PAD : BK, PARTS = BK / EACH;
    half *sa = shared, *sb = shared + BM * STRIDE;
    int tid = threadIdx.x + threadIdx.y * blockDim.x + threadIdx.z * blockDim.x * blockDim.y, row = tid / PARTS, part = tid % PARTS * EACH;
    a += blockIdx.x * BM * k, b += blockIdx.y * BM * k;
    c += (blockIdx.x * BM + threadIdx.y * W) * n + blockIdx.y * BM + threadIdx.z * W;
    OfA fa[4];
    OfB fb[4];
    Sums sums[16];
#pragma unroll
    for (int i = 0; i < 16; i++) fill_fragment(sums[i], __float2half(0));
    for (int from = 0; from < k; from += BK) {
#pragma unroll
        for (int i = row; i < BM + row; i += THREADS / PARTS) {
            if (VECTORS) {
                *reinterpret_cast<float4 *>(sa + i * STRIDE + part) = *reinterpret_cast<const float4 *>(a + i * k + part);
                *reinterpret_cast<float4 *>(sb + i * STRIDE + part) = *reinterpret_cast<const float4 *>(b + i * k + part);
            } else {
                sa[i * STRIDE + part] = a[i * k + part];
                sb[i * STRIDE + part] = b[i * k + part];
            }
        }
        __syncthreads();
#pragma unroll
        for (int at = 0; at < BK; at += T) {
            read<STRIDE>(fa, fb, sa + threadIdx.y * W * STRIDE, sb + threadIdx.z * W * STRIDE, at);
            multiply(sums, fa, fb);
        }
        __syncthreads();
        a += BK, b += BK;
    }
#pragma unroll
    for (int i = 0; i < 16; i++) store_matrix_sync(c + i / 4 * T * n + i % 4 * T, sums[i], n, mem_row_major);
}
KERNEL(wmma_elements)(PRODUCT) { simple<false>(n, k, a, b, c); }
KERNEL(wmma_vectors)(PRODUCT) { simple<true>(n, k, a, b, c); }

// the tile of C in shared memory, to global memory by vectors
template <int BM, int BN, int THREADS> __device__ void write_back(half *c, int n) {
    const int PARTS = BN / 8;
    int row = threadIdx.x / PARTS, part = threadIdx.x % PARTS * 8;
#pragma unroll
    for (int i = 0; i < BM; i += THREADS / PARTS)
        *reinterpret_cast<float4 *>(c + (i + row) * n + part) = *reinterpret_cast<float4 *>(shared + (i + row) * (BN + PAD) + part);
}

// wmma with tiles of 256 x 128 and three stages; TWO: fragments in two sets
template <bool TWO> __device__ void staged(int n, int k, const half *a, const half *b, half *c) {
    const int BM = 256, BN = 128, BK = 32, STAGES = 3, THREADS = 256, STRIDE = BK + PAD, PARTS = BK / 8;
    half *sa = shared, *sb = shared + STAGES * BM * STRIDE;
    int warp = threadIdx.x / 32, down = warp % 4 * W, across = warp / 4 * W, row = threadIdx.x / PARTS, part = threadIdx.x % PARTS * 8;
    a += blockIdx.x * BM * k, b += blockIdx.y * BN * k, c += blockIdx.x * BM * n + blockIdx.y * BN;
    OfA fa[TWO ? 2 : 1][4];
    OfB fb[TWO ? 2 : 1][4];
    Sums sums[16];
#pragma unroll
    for (int i = 0; i < 16; i++) fill_fragment(sums[i], __float2half(0));
    auto copy_a = [&](int stage, int step) {
#pragma unroll
        for (int i = 0; i < BM; i += THREADS / PARTS) copy16(sa + (stage * BM + i + row) * STRIDE + part, a + (i + row) * k + step * BK + part);
    };
    auto copy_b = [&](int stage, int step) {
#pragma unroll
        for (int i = 0; i < BN; i += THREADS / PARTS) copy16(sb + (stage * BN + i + row) * STRIDE + part, b + (i + row) * k + step * BK + part);
    };
    auto fragments = [&](int set, int stage, int at) {
        read<STRIDE>(fa[set], fb[set], sa + (stage * BM + down) * STRIDE, sb + (stage * BN + across) * STRIDE, at);
    };
    for (int stage = 0; stage < STAGES - 1; stage++) {
        copy_a(stage, stage), copy_b(stage, stage);
        commit();
    }
    arrived<STAGES - 2>();
    int steps = k / BK;
    if (TWO) fragments(0, 0, 0);
    for (int step = 0; step < steps; step++) {
        int now = step % STAGES, next = step + STAGES - 1, to = next % STAGES;
        if (TWO) {
            fragments(1, now, T);
            multiply(sums, fa[0], fb[0]);
            if (next < steps) copy_a(to, next), copy_b(to, next);
            commit();
            arrived<STAGES - 2>();
            fragments(0, (now + 1) % STAGES, 0);
            multiply(sums, fa[TWO], fb[TWO]);
        } else {
            if (next < steps) copy_a(to, next);
#pragma unroll
            for (int at = 0; at < BK; at += T) {
                fragments(0, now, at);
                multiply(sums, fa[0], fb[0]);
            }
            if (next < steps) copy_b(to, next);
            commit();
            arrived<STAGES - 2>();
        }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; i++)
        store_matrix_sync(shared + (down + i / 4 * T) * (BN + PAD) + across + i % 4 * T, sums[i], BN + PAD, mem_row_major);
    __syncthreads();
    write_back<BM, BN, THREADS>(c, n);
}
KERNEL(wmma_stages)(PRODUCT) { staged<false>(n, k, a, b, c); }
KERNEL(wmma_two_sets)(PRODUCT) { staged<true>(n, k, a, b, c); }

__device__ void four(unsigned *r, const half *at) {
    asm volatile("ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address(at)));
}
__device__ void two(unsigned *r, const half *at) {
    asm volatile("ldmatrix.sync.aligned.x2.m8n8.shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(address(at)));
}

// 64 x 64 sums of a warp, as f16 pairs
__device__ void multiply(unsigned *sums, const unsigned *ra, const unsigned *rb) {
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) {
            unsigned *d = sums + (i * 8 + j) * 2;
            asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                : "+r"(d[0]), "+r"(d[1])
                : "r"(ra[i * 4]), "r"(ra[i * 4 + 1]), "r"(ra[i * 4 + 2]), "r"(ra[i * 4 + 3]), "r"(rb[j * 2]), "r"(rb[j * 2 + 1]));
        }
}

// a vector of 8 elements of a tile: padded, or in lines of 64 elements whose vectors are mixed by XOR
template <int BK, bool XOR> __device__ int place(int row, int part) {
    const int PARTS = BK / 8;
    int index = row * PARTS + part, line = index / 8;
    return XOR ? line * 64 + ((index % 8) ^ (line % PARTS)) * 8 : row * (BK + PAD) + part * 8;
}

template <int BK, bool XOR> __device__ void read(unsigned *ra, unsigned *rb, const half *sa, const half *sb, int at) {
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 4; i++) four(ra + i * 4, sa + place<BK, XOR>(i * 16 + lane % 16, at / 8 + lane / 16));
#pragma unroll
    for (int j = 0; j < 8; j++) two(rb + j * 2, sb + place<BK, XOR>(j * 8 + lane % 8, at / 8 + lane / 8));
}

template <int BM, int BN, int THREADS> __device__ void store(const unsigned *sums, half *c, int n, int down, int across) {
    int lane = threadIdx.x % 32, row = lane / 4, column = lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 32; i++)
#pragma unroll
        for (int half_ = 0; half_ < 2; half_++)
            *reinterpret_cast<unsigned *>(shared + (down + i / 8 * 16 + row + half_ * 8) * (BN + PAD) + across + i % 8 * 8 + column) =
                sums[i * 2 + half_];
    __syncthreads();
    write_back<BM, BN, THREADS>(c, n);
}

template <bool XOR> __device__ void mma_simple(int n, int k, const half *a, const half *b, half *c) {
    const int BM = 128, BK = 64, THREADS = 128, PARTS = BK / 8, SIZE = BM * (XOR ? BK : BK + PAD);
    half *sa = shared, *sb = shared + SIZE;
    int warp = threadIdx.x / 32, down = warp % 2 * W, across = warp / 2 * W, row = threadIdx.x / PARTS, part = threadIdx.x % PARTS;
    a += blockIdx.x * BM * k, b += blockIdx.y * BM * k, c += blockIdx.x * BM * n + blockIdx.y * BM;
    unsigned ra[16], rb[16], sums[64] = {};
    for (int from = 0; from < k; from += BK) {
#pragma unroll
        for (int i = 0; i < BM; i += THREADS / PARTS)
            *reinterpret_cast<float4 *>(sa + place<BK, XOR>(i + row, part)) = *reinterpret_cast<const float4 *>(a + (i + row) * k + part * 8);
#pragma unroll
        for (int i = 0; i < BM; i += THREADS / PARTS)
            *reinterpret_cast<float4 *>(sb + place<BK, XOR>(i + row, part)) = *reinterpret_cast<const float4 *>(b + (i + row) * k + part * 8);
        __syncthreads();
#pragma unroll
        for (int at = 0; at < BK; at += 16) {
            read<BK, XOR>(ra, rb, sa + place<BK, XOR>(down, 0), sb + place<BK, XOR>(across, 0), at);
            multiply(sums, ra, rb);
        }
        __syncthreads();
        a += BK, b += BK;
    }
    store<BM, BM, THREADS>(sums, c, n, down, across);
}
KERNEL(mma_padded)(PRODUCT) { mma_simple<false>(n, k, a, b, c); }
KERNEL(mma_xor)(PRODUCT) { mma_simple<true>(n, k, a, b, c); }

// mma with tiles of 256 x 128; TWO: fragments in two sets; ORDERED: CTAs in order of groups of 8 columns, every other one from below
template <int BK, int STAGES, bool TWO, bool ORDERED>
__device__ void pipeline(int n, int k, const half *a, const half *b, half *c) {
    const int BM = 256, BN = 128, THREADS = 256, PARTS = BK / 8;
    half *sa = shared, *sb = shared + STAGES * BM * BK;
    int bi = blockIdx.x, bj = blockIdx.y;
    if (ORDERED) {
        bi = blockIdx.z % 2 ? gridDim.y - 1 - blockIdx.y : blockIdx.y, bj = blockIdx.z * 8 + blockIdx.x;
        if (bj >= n / BN) return;
    }
    a += bi * BM * k, b += bj * BN * k, c += bi * BM * n + bj * BN;
    int warp = threadIdx.x / 32, down = warp % 4 * W, across = warp / 4 * W, row = threadIdx.x / PARTS, part = threadIdx.x % PARTS;
    unsigned ra[2][16], rb[2][16], sums[64] = {};
    auto copy = [&](int stage, int step) {
#pragma unroll
        for (int i = 0; i < BM; i += THREADS / PARTS)
            copy16(sa + stage * BM * BK + place<BK, true>(i + row, part), a + (i + row) * k + step * BK + part * 8);
#pragma unroll
        for (int i = 0; i < BN; i += THREADS / PARTS)
            copy16(sb + stage * BN * BK + place<BK, true>(i + row, part), b + (i + row) * k + step * BK + part * 8);
    };
    auto fragments = [&](int set, int stage, int at) {
        read<BK, true>(ra[set], rb[set], sa + stage * BM * BK + down * BK, sb + stage * BN * BK + across * BK, at);
    };
    auto compute = [&](int stage) {
#pragma unroll
        for (int at = 0; at < BK; at += 16) {
            fragments(0, stage, at);
            multiply(sums, ra[0], rb[0]);
        }
    };
    // all fragments of a stage but the first, and their products but the last
    auto most_of = [&](int stage) {
#pragma unroll
        for (int at = 16; at < BK; at += 16) {
            fragments(at / 16 % 2, stage, at);
            multiply(sums, ra[(at / 16 + 1) % 2], rb[(at / 16 + 1) % 2]);
        }
    };
    for (int stage = 0; stage < STAGES - 1; stage++) {
        copy(stage, stage);
        commit();
    }
    arrived<STAGES - 2>();
    int steps = k / BK;
    if (TWO) fragments(0, 0, 0);
    for (int step = 0; step < steps; step++) {
        int now = step % STAGES, next = step + STAGES - 1;
        if (TWO) {
            most_of(now);
        } else {
            compute(now);
        }
        if (next < steps) copy(next % STAGES, next);
        commit();
        arrived<STAGES - 2>();
        if (TWO) {
            fragments(0, (now + 1) % STAGES, 0);
            multiply(sums, ra[1], rb[1]);
        }
    }
    __syncthreads();
    store<BM, BN, THREADS>(sums, c, n, down, across);
}
#define PIPELINE(name, bk, stages, sets, ordered)                                                                                  \
    KERNEL(name)(PRODUCT) { pipeline<bk, stages, sets, ordered>(n, k, a, b, c); }
PIPELINE(mma_stages, 32, 3, false, false)
PIPELINE(mma_two_sets_3, 32, 3, true, false)
PIPELINE(mma_two_sets_4, 32, 4, true, false)
PIPELINE(mma_two_sets_5, 32, 5, true, false)
PIPELINE(mma_ordered_32, 32, 4, true, true)
PIPELINE(mma_ordered_64, 64, 3, true, true)
