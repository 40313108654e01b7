// Sums of s32 by CTAs of 512: a word or twelve of them for each thread, one by one or as three vectors; the last warp by shared
// memory, shuffles or one instruction. Written for this repository after the descriptions of the measured kernels.
const int THREADS = 512, BATCH = 12;

// half of the active threads add the values of the other half
__device__ __forceinline__ void halve(int *tree, int until) {
#pragma unroll
    for (int active = THREADS / 2; active > until; active /= 2) {
        if (threadIdx.x < active) tree[threadIdx.x] += tree[threadIdx.x + active];
        __syncthreads();
    }
}

// the last 64 values in shared memory, by one warp that needs no barrier
__device__ __forceinline__ int last_in_memory(int *tree) {
    volatile int *left = tree;
#pragma unroll
    for (int active = 32; active > 0; active /= 2) {
        if (threadIdx.x < active) left[threadIdx.x] += left[threadIdx.x + active];
        __syncwarp();
    }
    return left[threadIdx.x];
}

__device__ __forceinline__ int last_by_shuffles(int *tree) {
    int sum = 0;
    if (threadIdx.x < 32) {
        sum = tree[threadIdx.x] + tree[threadIdx.x + 32];
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(~0u, sum, distance);
    }
    return sum;
}

__device__ __forceinline__ int last_at_once(int *tree) {
    return threadIdx.x < 32 ? __reduce_add_sync(~0u, tree[threadIdx.x] + tree[threadIdx.x + 32]) : 0;
}

__device__ __forceinline__ int strided(const int *from, size_t count) {
    int sum = 0;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < count; i += THREADS * gridDim.x) sum += from[i];
    return sum;
}

__device__ __forceinline__ int words(const int *from, size_t count) {
    int sum = 0, at = (blockIdx.x * THREADS + threadIdx.x) * BATCH;
#pragma unroll
    for (int j = 0; j < BATCH; ++j)
        if (at + j < count) sum += from[at + j];
    return sum;
}

__device__ __forceinline__ int vectors(const int *from, size_t count) {
    int sum = 0, at = (blockIdx.x * THREADS + threadIdx.x) * BATCH;
#pragma unroll
    for (int j = 0; j < BATCH; j += 4)
        if (at + j < count) {
            int4 some = *reinterpret_cast<const int4 *>(from + at + j);
            sum += some.x + some.y + some.z + some.w;
        }
    return sum;
}

#define SUM(name) extern "C" __global__ void name(const int *from, int *to, size_t count)
#define ATOMIC(name, part, until, last)                       \
    SUM(name) {                                               \
        __shared__ int tree[THREADS];                         \
        tree[threadIdx.x] = part;                             \
        __syncthreads();                                      \
        halve(tree, until);                                   \
        int sum = last(tree);                                 \
        if (threadIdx.x == 0) atomicAdd(to, sum);             \
    }

// two passes: a sum for each CTA, then the sums by one CTA
SUM(pass_tree) {
    __shared__ int tree[THREADS];
    tree[threadIdx.x] = strided(from, count);
    __syncthreads();
    halve(tree, 0);
    if (threadIdx.x == 0) to[blockIdx.x] = tree[0];
}
SUM(pass_warp) {
    __shared__ int tree[THREADS];
    tree[threadIdx.x] = strided(from, count);
    __syncthreads();
    halve(tree, 32);
    int sum = last_in_memory(tree);
    if (threadIdx.x == 0) to[blockIdx.x] = sum;
}

// one pass: CTAs add their sums to one word
__device__ __forceinline__ int one(const int *from, size_t count) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    return i < count ? from[i] : 0;
}
ATOMIC(atomic_one, one(from, count), 32, last_in_memory)
ATOMIC(atomic_words, words(from, count), 32, last_in_memory)
ATOMIC(atomic_vectors, vectors(from, count), 32, last_in_memory)
ATOMIC(shuffled_words, words(from, count), 32, last_by_shuffles)
ATOMIC(reduced_words, words(from, count), 32, last_at_once)
ATOMIC(shuffled_vectors, vectors(from, count), 32, last_by_shuffles)
ATOMIC(reduced_vectors, vectors(from, count), 32, last_at_once)
