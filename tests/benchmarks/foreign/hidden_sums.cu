// Sums of a vector of f32 or integers: an atomic addition of each thread, or of a CTA after atomic additions, a tree or a tree and
// shuffles in shared memory. Written for this repository after the descriptions of the measured kernels.
#define KERNEL(name) extern "C" __global__ void name

template <typename T> __device__ __forceinline__ void atomics(T *out, const T *in, size_t count) {
    const size_t i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < count) atomicAdd(out, in[i]);
}

template <typename T> __device__ __forceinline__ void shared_atomics(T *out, const T *in, size_t count) {
    __shared__ T sum;
    const size_t i = blockDim.x * blockIdx.x + threadIdx.x;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    if (i < count) atomicAdd(&sum, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, sum);
}

// halves of the threads until END are left
template <typename T, int END> __device__ __forceinline__ T *tree(const T *in, size_t count) {
    extern __shared__ char bytes[];
    T *sums = reinterpret_cast<T *>(bytes);
    const size_t i = blockDim.x * blockIdx.x + threadIdx.x;
    sums[threadIdx.x] = i < count ? in[i] : T{0};
    for (int half = blockDim.x / 2; half >= END; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    return sums;
}

template <typename T> __device__ __forceinline__ void whole_tree(T *out, const T *in, size_t count) {
    const T *sums = tree<T, 1>(in, count);
    if (threadIdx.x == 0) atomicAdd(out, sums[0]);
}

template <typename T> __device__ __forceinline__ void shuffles(T *out, const T *in, size_t count) {
    T sum = tree<T, 32>(in, count)[threadIdx.x];
    if (threadIdx.x < 32) {
        sum += __shfl_sync(~0u, sum, threadIdx.x + 16);
        sum += __shfl_sync(~0u, sum, threadIdx.x + 8);
        sum += __shfl_sync(~0u, sum, threadIdx.x + 4);
        sum += __shfl_sync(~0u, sum, threadIdx.x + 2);
        sum += __shfl_sync(~0u, sum, 1);
    }
    if (threadIdx.x == 0) atomicAdd(out, sum);
}

KERNEL(sum_atomics_f32)(float *out, const float *in, size_t count) { atomics(out, in, count); }
KERNEL(sum_shared_f32)(float *out, const float *in, size_t count) { shared_atomics(out, in, count); }
KERNEL(sum_tree_f32)(float *out, const float *in, size_t count) { whole_tree(out, in, count); }
KERNEL(sum_shuffles_f32)(float *out, const float *in, size_t count) { shuffles(out, in, count); }
KERNEL(sum_atomics_s32)(int *out, const int *in, size_t count) { atomics(out, in, count); }
KERNEL(sum_shared_s32)(int *out, const int *in, size_t count) { shared_atomics(out, in, count); }
KERNEL(sum_tree_s32)(int *out, const int *in, size_t count) { whole_tree(out, in, count); }
KERNEL(sum_shuffles_s32)(int *out, const int *in, size_t count) { shuffles(out, in, count); }
