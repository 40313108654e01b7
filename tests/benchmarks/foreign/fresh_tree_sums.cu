// Sums of f32, of which each CTA sums a part of its own: a tree over its threads after one element each, and after a loop over
// several. Written for this repository after the descriptions of the measured kernels.
#define KERNEL(name) extern "C" __global__ void name
using size = unsigned long;

template <int T> __device__ void interleaved(float *y, const float *x, size count) {
    __shared__ float part[T];
    unsigned tid = threadIdx.x;
    x += blockIdx.x * count;
    part[tid] = tid < count ? x[tid] : 0.0f;
    __syncthreads();
    for (unsigned stride = 1; stride < T; stride *= 2) {
        if (tid % (2 * stride) == 0) part[tid] += part[tid + stride];
        __syncthreads();
    }
    if (tid == 0) y[blockIdx.x] = part[0];
}
KERNEL(remainder_128)(float *y, const float *x, size count) { interleaved<128>(y, x, count); }
KERNEL(remainder_256)(float *y, const float *x, size count) { interleaved<256>(y, x, count); }
KERNEL(remainder_512)(float *y, const float *x, size count) { interleaved<512>(y, x, count); }
KERNEL(remainder_1024)(float *y, const float *x, size count) { interleaved<1024>(y, x, count); }

const int T = 128;
KERNEL(consecutive)(float *y, const float *x, size count) {
    __shared__ float part[T];
    unsigned tid = threadIdx.x;
    x += blockIdx.x * count;
    part[tid] = tid < count ? x[tid] : 0.0f;
    __syncthreads();
    for (unsigned stride = 1; stride < T; stride *= 2) {
        unsigned index = 2 * stride * tid;
        if (index < T) part[index] += part[index + stride];
        __syncthreads();
    }
    if (tid == 0) y[blockIdx.x] = part[0];
}

KERNEL(halves)(float *y, const float *x, size count) {
    __shared__ float part[T];
    unsigned tid = threadIdx.x;
    x += blockIdx.x * count;
    part[tid] = tid < count ? x[tid] : 0.0f;
    __syncthreads();
    for (unsigned stride = T / 2; stride > 0; stride /= 2) {
        if (tid < stride) part[tid] += part[tid + stride];
        __syncthreads();
    }
    if (tid == 0) y[blockIdx.x] = part[0];
}

// the barrier is at the start of each step, so that there is none after the last
__device__ float tree(float sum) {
    __shared__ float part[T];
    unsigned tid = threadIdx.x;
    part[tid] = sum;
    for (unsigned stride = T / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (tid < stride) part[tid] += part[tid + stride];
    }
    return part[0];
}

KERNEL(one_barrier)(float *y, const float *x, size count) {
    x += blockIdx.x * count;
    float sum = tree(threadIdx.x < count ? x[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

KERNEL(several)(float *y, const float *x, size count) {
    x += blockIdx.x * count;
    size each = (count + T - 1) / T;
    float sum = 0;
    for (size i = 0; i < each; i++) {
        size offset = threadIdx.x + i * T;
        if (offset < count) sum += x[offset];
    }
    sum = tree(sum);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

KERNEL(pairs)(float *y, const float *x, size count) {
    x += blockIdx.x * count;
    float sum = x[threadIdx.x] + x[threadIdx.x + T];
    sum = tree(sum);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

// each thread sums neighbors
KERNEL(neighbors)(float *y, const float *x, size count) {
    x += blockIdx.x * count;
    size each = (count + T - 1) / T;
    float sum = 0;
    for (size i = 0; i < each; i++) {
        size offset = threadIdx.x * each + i;
        if (offset < count) sum += x[offset];
    }
    sum = tree(sum);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

// shuffles over each warp, then over the sums of the warps
__device__ void shuffled(float *y, float sum) {
    const int warps = T / 32;
    __shared__ float part[warps];
    unsigned tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    unsigned mask = __ballot_sync(0xffffffff, tid < warps);
    if (tid < warps) {
        sum = part[tid];
        for (int offset = warps / 2; offset > 0; offset /= 2) sum += __shfl_down_sync(mask, sum, offset);
        if (tid == 0) y[blockIdx.x] = sum;
    }
}

KERNEL(shuffles)(float *y, const float *x, size count) {
    x += blockIdx.x * count;
    size each = (count + T - 1) / T;
    float sum = 0;
    for (size i = 0; i < each; i++) {
        size offset = threadIdx.x + i * T;
        if (offset < count) sum += x[offset];
    }
    shuffled(y, sum);
}

KERNEL(vectors)(float *y, const float *x, size count) {
    const float4 *v = reinterpret_cast<const float4 *>(x + blockIdx.x * count);
    count /= 4;
    size each = (count + T - 1) / T;
    float sum = 0;
    for (size i = 0; i < each; i++) {
        size offset = threadIdx.x + i * T;
        if (offset < count) {
            float4 a = v[offset];
            sum += a.x + a.y + a.z + a.w;
        }
    }
    shuffled(y, sum);
}
