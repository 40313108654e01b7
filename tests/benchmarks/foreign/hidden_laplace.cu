// A step of a relaxation of a grid with a fixed edge, and a copy of its result, in f32 and f16. Written for this repository after the
// descriptions of the measured kernels.
#include <cuda_fp16.h>
#define KERNEL(name) extern "C" __global__ void name

// where a thread inside of the edge lies, or -1
__device__ __forceinline__ int inside(int width, int height) {
    const int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    return x < width + 1 && y < height + 1 && x > 0 && y > 0 ? y * (width + 2) + x : -1;
}

KERNEL(relax_f32)(int width, int height, float *to, float *from) {
    const int at = inside(width, height), row = width + 2;
    if (at >= 0) to[at] = 0.25f * (from[at + 1] + from[at - 1] + from[at - row] + from[at + row]);
}

KERNEL(return_f32)(int width, int height, float *from, float *to) {
    const int at = inside(width, height);
    if (at >= 0) to[at] = from[at];
}

KERNEL(relax_f16)(int width, int height, half *to, half *from) {
    const int at = inside(width, height), row = width + 2;
    if (at < 0) return;
    const half sum = __hadd(__hadd(from[at + 1], from[at - 1]), __hadd(from[at - row], from[at + row]));
    to[at] = __hmul(sum, __float2half(0.25f));
}

KERNEL(return_f16)(int width, int height, half *from, half *to) {
    const int at = inside(width, height);
    if (at >= 0) to[at] = from[at];
}
