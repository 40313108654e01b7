// Microbenchmarks of Blackwell Ultra: copies to shared memory with a number of bytes in flight, by cp.async and by bulk
// copies, and tcgen05.mma with a number of instructions before each wait. Written for this repository after the
// descriptions of the measured kernels; the measured bulk copies name boxes of a tensor map, whose bytes are contiguous.
// As the measured copies do, each starts at a tile given at run time and takes it modulo the number of tiles, in 64 bits, and
// keeps the parities of its mbarriers in an array.
typedef unsigned long long u64;
__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(u64 *barrier) { asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory"); }
__device__ void wait(u64 *barrier, unsigned parity) {
    asm volatile("{\n.reg .pred done;\nagain%=:\nmbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n@!done bra again%=;\n}"
                 ::"r"(shared_address(barrier)), "r"(parity) : "memory");
}

// 128 threads, COPIES times 16 bytes of each in a stage
template <int STAGES, int COPIES> __device__ void async_of(const uint4 *from, unsigned *to, long tiles, long first) {
    extern __shared__ __align__(128) unsigned char stages[];
    const int STAGE = 128 * COPIES;
    int t = threadIdx.x;
    unsigned sum = 0;
    auto touch = [&](long tile) { sum ^= *reinterpret_cast<unsigned *>(stages + (tile % STAGES * STAGE + t) * 16); };
    long start = first % tiles;
    for (long i = 0; i < tiles; ++i) {
        const uint4 *source = from + (blockIdx.x * tiles + (start + i) % tiles) * STAGE;
#pragma unroll
        for (int c = 0; c < COPIES; ++c) {
            unsigned at = shared_address(stages + (i % STAGES * STAGE + t + c * 128) * 16);
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(source + t + c * 128) : "memory");
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (i >= STAGES - 1) {
            asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
            __syncthreads();
            touch(i - (STAGES - 1));
            __syncthreads();
        }
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    for (long i = tiles - STAGES + 1; i < tiles; ++i) touch(i);
    to[blockIdx.x * 128 + t] = sum;
}

template <int STAGES, int COPIES> __device__ void bulk_of(const uint4 *from, unsigned *to, long tiles, long first) {
    extern __shared__ __align__(128) unsigned char stages[];
    __shared__ u64 barriers[STAGES];
    const int STAGE = 128 * COPIES;
    int t = threadIdx.x;
    unsigned sum = 0;
    if (t == 0) {
        for (int i = 0; i < STAGES; ++i) init(&barriers[i]);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    unsigned parities[STAGES] = {};
    auto consume = [&](long tile) {
        wait(&barriers[tile % STAGES], parities[tile % STAGES]);
        parities[tile % STAGES] ^= 1;
        sum ^= *reinterpret_cast<unsigned *>(stages + (tile % STAGES * STAGE + t) * 16);
    };
    long start = first % tiles;
    for (long i = 0; i < tiles; ++i) {
        if (t == 0) {
            unsigned barrier = shared_address(&barriers[i % STAGES]);
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(STAGE * 16) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                         ::"r"(shared_address(stages + i % STAGES * STAGE * 16)),
                         "l"(from + (blockIdx.x * tiles + (start + i) % tiles) * STAGE), "r"(STAGE * 16), "r"(barrier) : "memory");
        }
        if (i >= STAGES - 1) {
            consume(i - (STAGES - 1));
            __syncthreads();
        }
    }
    for (long i = tiles - STAGES + 1; i < tiles; ++i) consume(i);
    to[blockIdx.x * 128 + t] = sum;
}
#define COPIES(stages, kib, copies) \
    extern "C" __global__ void __launch_bounds__(128) async_##stages##_##kib(const uint4 *from, unsigned *to, long tiles, long first) { \
        async_of<stages, copies>(from, to, tiles, first); \
    } \
    extern "C" __global__ void __launch_bounds__(128) bulk_##stages##_##kib(const uint4 *from, unsigned *to, long tiles, long first) { \
        bulk_of<stages, copies>(from, to, tiles, first); \
    }
COPIES(2, 16, 4)
COPIES(2, 32, 8)
COPIES(2, 64, 16)
COPIES(4, 16, 2)
COPIES(4, 32, 4)
COPIES(4, 64, 8)
COPIES(8, 16, 1)
COPIES(8, 32, 2)
COPIES(8, 64, 4)

// one CTA: DEPTH products of 128 x N x 16 bf16 from the same operands, then a commit and a wait
template <int N, int DEPTH> __device__ void products_of(int iterations, float *to) {
    __shared__ __align__(128) unsigned char operands[(128 + N) * 32];
    __shared__ u64 barrier;
    __shared__ unsigned base;
    int t = threadIdx.x;
    for (int i = t; i < (128 + N) * 8; i += 128) reinterpret_cast<unsigned *>(operands)[i] = 0;
    __syncthreads();
    if (t == 96) {
        init(&barrier);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    if (t < 32)
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_address(&base)), "n"(N)
                     : "memory");
    __syncthreads();
    unsigned sums = base;
    if (t == 0) {
        const u64 LAYOUT = (u64)(128 >> 4) << 16 | (u64)(256 >> 4) << 32 | 1ull << 46;
        u64 a = LAYOUT | shared_address(operands) >> 4, b = LAYOUT | shared_address(operands + 128 * 32) >> 4;
        unsigned kind = 1 << 4 | 1 << 7 | 1 << 10 | N / 8 << 17 | 128 / 16 << 24;
        for (int i = 0; i < iterations; ++i) {
#pragma unroll 16
            for (int d = 0; d < DEPTH; ++d)
                asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n}"
                             ::"r"(sums), "l"(a), "l"(b), "r"(kind), "r"(d) : "memory");
            asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(shared_address(&barrier)) : "memory");
            wait(&barrier, i % 2);
        }
    }
    __syncthreads();
    if (t < 32) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(sums), "n"(N) : "memory");
    to[t] = t;
}
#define PRODUCTS(n, depth) \
    extern "C" __global__ void __launch_bounds__(128) products_##n##_##depth(int iterations, float *to) { \
        products_of<n, depth>(iterations, to); \
    }
PRODUCTS(64, 4)
PRODUCTS(64, 16)
PRODUCTS(64, 64)
PRODUCTS(64, 256)
PRODUCTS(128, 4)
PRODUCTS(128, 16)
PRODUCTS(128, 64)
PRODUCTS(128, 256)
PRODUCTS(256, 4)
PRODUCTS(256, 16)
PRODUCTS(256, 64)
PRODUCTS(256, 256)
