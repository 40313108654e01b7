// Sums and copies of f16 vectors, by elements, pairs and vectors of 16 bytes. Written for this repository after the descriptions of the
// measured kernels.
#include <cuda_fp16.h>
#define KERNEL(name) extern "C" __global__ void name

KERNEL(add_each)(const half *a, const half *b, half *out, size_t count) {
    const size_t i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < count) out[i] = a[i] + b[i];
}

__device__ __forceinline__ void add_last(const half *a, const half *b, half *out, size_t count, bool own) {
    if (count % 2 == 1 && own) out[count - 1] = a[count - 1] + b[count - 1];
}

// two neighbors of a thread by one access
KERNEL(add_pairs)(const half *a, const half *b, half *out, size_t count) {
    const size_t i = 2 * blockDim.x * blockIdx.x + threadIdx.x * 2;
    if (i < count)
        *reinterpret_cast<half2 *>(out + i) = *reinterpret_cast<const half2 *>(a + i) + *reinterpret_cast<const half2 *>(b + i);
    add_last(a, b, out, count, i == count - 3);
}

// two of a thread that lie the threads of a CTA apart
KERNEL(add_apart)(const half *a, const half *b, half *out, size_t count) {
    const size_t i = 2 * blockDim.x * blockIdx.x + threadIdx.x;
    if (i < count) {
        out[i] = a[i] + b[i];
        out[blockDim.x + i] = a[blockDim.x + i] + b[blockDim.x + i];
    }
    add_last(a, b, out, count, i == gridDim.x * blockDim.x - 1);
}

KERNEL(copy_each)(const half *in, half *out, size_t count) {
    const size_t i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < count) out[i] = in[i];
}

// eight of a thread; the last whole vector's thread copies the rest
KERNEL(copy_eights)(const half *in, half *out, size_t count) {
    size_t i = 8 * (blockDim.x * blockIdx.x + threadIdx.x);
    *reinterpret_cast<float4 *>(out + i) = *reinterpret_cast<const float4 *>(in + i);
    int rest = count % 8;
    if (rest && i == count - rest - 8)
        while (rest) {
            i = count - rest--;
            out[i] = in[i];
        }
}
