// Softmax of f32 rows: by CTAs in three passes, with trees in shared memory or shuffles, and by warps that keep their row in
// registers; with the approximations that -use_fast_math stands for. Written for this repository after the descriptions of the
// measured kernels.
#define KERNEL(name) extern "C" __global__ void name
extern __shared__ float part[];

KERNEL(passes)(const float *in, float *out, int columns) {
    const float *x = in + blockIdx.x * columns;
    float *y = out + blockIdx.x * columns;
    int tid = threadIdx.x;
    float most = -INFINITY, sum = 0;
    for (int i = tid; i < columns; i += blockDim.x) most = fmaxf(most, x[i]);
    part[tid] = most;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s) part[tid] = fmaxf(part[tid], part[tid + s]);
        __syncthreads();
    }
    most = part[0];
    __syncthreads();
    for (int i = tid; i < columns; i += blockDim.x) {
        float e = __expf(x[i] - most);
        y[i] = e;
        sum += e;
    }
    part[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s) part[tid] += part[tid + s];
        __syncthreads();
    }
    sum = part[0];
    for (int i = tid; i < columns; i += blockDim.x) y[i] = __fdividef(y[i], sum);
}

template <bool MAX> __device__ float together(float v, float *of) {
    for (int offset = 16; offset > 0; offset /= 2) {
        float other = __shfl_down_sync(0xffffffff, v, offset);
        v = MAX ? fmaxf(v, other) : v + other;
    }
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (lane == 0) of[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = lane < warps ? of[lane] : MAX ? -INFINITY : 0.0f;
        for (int offset = 16; offset > 0; offset /= 2) {
            float other = __shfl_down_sync(0xffffffff, v, offset);
            v = MAX ? fmaxf(v, other) : v + other;
        }
        if (lane == 0) of[0] = v;
    }
    __syncthreads();
    return of[0];
}

KERNEL(shuffles)(const float *in, float *out, int columns) {
    __shared__ float of[16];  // the measured kernel has eight for both
    const float *x = in + blockIdx.x * columns;
    float *y = out + blockIdx.x * columns;
    float most = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) most = fmaxf(most, x[i]);
    most = together<true>(most, of);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        float e = __expf(x[i] - most);
        y[i] = e;
        sum += e;
    }
    sum = together<false>(sum, of + 8);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) y[i] = __fdividef(y[i], sum);
}

template <int N> __device__ void kept(const float *in, float *out) {
    const int of = N / 128;
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    const float4 *x = reinterpret_cast<const float4 *>(in + row * N);
    float4 *y = reinterpret_cast<float4 *>(out + row * N), buf[of];
    float most = -INFINITY, sum = 0;
#pragma unroll
    for (int i = 0; i < of; i++) {
        buf[i] = x[lane + 32 * i];
        most = fmaxf(most, fmaxf(fmaxf(buf[i].x, buf[i].y), fmaxf(buf[i].z, buf[i].w)));
    }
    for (int m = 16; m > 0; m /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, m));
#pragma unroll
    for (int i = 0; i < of; i++) {
        buf[i].x = __expf(buf[i].x - most), buf[i].y = __expf(buf[i].y - most);
        buf[i].z = __expf(buf[i].z - most), buf[i].w = __expf(buf[i].w - most);
        sum += buf[i].x + buf[i].y + buf[i].z + buf[i].w;
    }
    for (int m = 16; m > 0; m /= 2) sum += __shfl_xor_sync(0xffffffff, sum, m);
    float scale = __frcp_rn(sum);
#pragma unroll
    for (int i = 0; i < of; i++) {
        buf[i].x *= scale, buf[i].y *= scale, buf[i].z *= scale, buf[i].w *= scale;
        y[lane + 32 * i] = buf[i];
    }
}
#define KEPT(n) extern "C" __global__ void __launch_bounds__(128) kept_##n(const float *in, float *out) { kept<n>(in, out); }
KEPT(1024) KEPT(2048) KEPT(4096) KEPT(8192)
