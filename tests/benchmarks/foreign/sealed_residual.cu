// The RMS norm of rows plus a residual, and the gradients of an RMS norm, by steps: a thread or a warp for each row, vectors, weights
// in shared memory, launches of as many CTAs as fit, rows in registers. Written for this repository after the descriptions of the
// measured kernels, which are compiled with --use_fast_math: means are divided by its approximation.
#include <cuda_fp16.h>
#define KERNEL(name) extern "C" __global__ void name
#define NORM(T) (T *y, T *z, float *mean, const T *x, const T *other, const T *w, int rows, int columns)
#define GRADIENT(T) (T *dx, float *dw, const T *dy, const T *x, const T *w, const float *mean, int rows, int columns)
extern __shared__ float shared[];
const float TINY = 1e-5f;
const int WIDTH = 768;

template <class T, int N> struct Pack;
template <> struct Pack<float, 1> { using type = float; };
template <> struct Pack<float, 2> { using type = float2; };
template <> struct Pack<float, 4> { using type = float4; };
template <> struct Pack<half, 1> { using type = half; };
template <> struct Pack<half, 2> { using type = half2; };
template <class T, int N> using Of = typename Pack<T, N>::type;

template <class V> __device__ V at(const void *from) { return *static_cast<const V *>(from); }
__device__ float add(float a, float b) { return a + b; }
__device__ half add(half a, half b) { return __float2half(__half2float(a) + __half2float(b)); }
__device__ float number(float a) { return a; }
__device__ float number(half a) { return __half2float(a); }
__device__ void put(float &to, float a) { to = a; }
__device__ void put(half &to, float a) { to = __float2half(a); }
template <class V> __device__ auto *parts(V &v) { return reinterpret_cast<decltype(v.x) *>(&v); }
__device__ float *parts(float &v) { return &v; }
__device__ half *parts(half &v) { return &v; }

__device__ float of_warp(float sum) {
#pragma unroll
    for (int off = 16; off; off >>= 1) sum += __shfl_xor_sync(~0u, sum, off);
    return sum;
}

// one row by LANES threads, N values at a time
template <class T, int N, int LANES>
__device__ void norm_row(T *y, T *z, float *mean, const T *x, const T *other, const T *w, int row, int columns, int lane) {
    size_t first = static_cast<size_t>(row) * columns;
    const T *own = x + first, *added = other + first;
    T *result = y + first, *kept = z + first;
    float sum = 0;
    for (int c = lane * N; c < columns; c += LANES * N) {
        auto a = at<Of<T, N>>(own + c), b = at<Of<T, N>>(added + c);
#pragma unroll
        for (int j = 0; j < N; j++) parts(a)[j] = add(parts(a)[j], parts(b)[j]);
        *reinterpret_cast<Of<T, N> *>(kept + c) = a;
#pragma unroll
        for (int j = 0; j < N; j++) sum += number(parts(a)[j]) * number(parts(a)[j]);
    }
    if (LANES > 1) sum = of_warp(sum);
    float m = __fdividef(sum, columns);
    if (lane == 0) mean[row] = m;
    float inverse = rsqrtf(m + TINY);
    for (int c = lane * N; c < columns; c += LANES * N) {
        auto a = at<Of<T, N>>(kept + c), b = at<Of<T, N>>(w + c);
#pragma unroll
        for (int j = 0; j < N; j++) put(parts(a)[j], number(parts(a)[j]) * number(parts(b)[j]) * inverse);
        *reinterpret_cast<Of<T, N> *>(result + c) = a;
    }
}

__device__ int own_row() { return blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; }

KERNEL(norm_threads) NORM(float) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) norm_row<float, 1, 1>(y, z, mean, x, other, w, row, columns, 0);
}

#define BY_WARPS(name, T, N) \
    KERNEL(name) NORM(T) { \
        int row = own_row(); \
        if (row < rows) norm_row<T, N, 32>(y, z, mean, x, other, w, row, columns, threadIdx.x % 32); \
    }
BY_WARPS(norm_warps, float, 1)
BY_WARPS(norm_pairs, float, 2)
BY_WARPS(norm_fours, float, 4)
BY_WARPS(norm_any, float, 1)
BY_WARPS(norm_any_pairs, float, 2)
BY_WARPS(norm_any_f16, half, 1)
BY_WARPS(norm_any_pairs_f16, half, 2)

KERNEL(norm_shared) NORM(float) {
    for (int c = threadIdx.x; c < columns; c += blockDim.x) shared[c] = w[c];
    __syncthreads();
    int row = own_row();
    if (row < rows) norm_row<float, 1, 32>(y, z, mean, x, other, shared, row, columns, threadIdx.x % 32);
}

extern "C" __global__ void __launch_bounds__(256, 5) norm_strides
(float *__restrict__ y, float *__restrict__ z, float *__restrict__ mean, const float *__restrict__ x, const float *__restrict__ other,
 const float *__restrict__ w, int rows, int columns) {
    for (int c = threadIdx.x; c < columns; c += blockDim.x) shared[c] = __ldg(w + c);
    __syncthreads();
    int whole = columns / 4 * 4, lane = threadIdx.x % 32;
    for (int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32; row < rows; row += gridDim.x * (blockDim.x / 32)) {
        const float *own = x + static_cast<size_t>(row) * columns, *added = other + static_cast<size_t>(row) * columns;
        float *result = y + static_cast<size_t>(row) * columns, *kept = z + static_cast<size_t>(row) * columns, sum = 0;
        for (int c = lane * 4; c < whole; c += 128) {
            float4 a = at<float4>(own + c), b = at<float4>(added + c), s = {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
            *reinterpret_cast<float4 *>(kept + c) = s;
            sum += s.x * s.x + s.y * s.y + s.z * s.z + s.w * s.w;
        }
        for (int c = whole + lane; c < columns; c += 32) {
            float s = __ldg(own + c) + __ldg(added + c);
            kept[c] = s;
            sum += s * s;
        }
        sum = of_warp(sum);
        float m = __fdividef(sum, columns), inverse = rsqrtf(m + TINY);
        if (lane == 0) mean[row] = m;
        for (int c = lane * 4; c < whole; c += 128) {
            float4 s = at<float4>(kept + c), v = at<float4>(shared + c);
            *reinterpret_cast<float4 *>(result + c) = {s.x * v.x * inverse, s.y * v.y * inverse, s.z * v.z * inverse, s.w * v.w * inverse};
        }
        for (int c = whole + lane; c < columns; c += 32) result[c] = __ldg(kept + c) * shared[c] * inverse;
    }
}

// rows of 768 that stay in registers
KERNEL(norm_kept)
(float *__restrict__ y, float *__restrict__ z, float *__restrict__ mean, const float *__restrict__ x, const float *__restrict__ other,
 const float *__restrict__ w, int rows) {
    int row = own_row(), lane = threadIdx.x % 32;
    if (row >= rows) return;
    size_t first = static_cast<size_t>(row) * WIDTH;
    float4 kept[6];
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 6; i++) {
        int c = (i * 32 + lane) * 4;
        float4 a = at<float4>(x + first + c), b = at<float4>(other + first + c), s = {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
        kept[i] = s;
        *reinterpret_cast<float4 *>(z + first + c) = s;
        sum = fmaf(s.x, s.x, sum), sum = fmaf(s.y, s.y, sum), sum = fmaf(s.z, s.z, sum), sum = fmaf(s.w, s.w, sum);
    }
    sum = of_warp(sum);
    float m = __fdividef(sum, WIDTH), inverse = rsqrtf(m + TINY);
    if (lane == 0) mean[row] = m;
#pragma unroll
    for (int i = 0; i < 6; i++) {
        int c = (i * 32 + lane) * 4;
        float4 v = at<float4>(w + c), s = kept[i];
        *reinterpret_cast<float4 *>(y + first + c) = {s.x * v.x * inverse, s.y * v.y * inverse, s.z * v.z * inverse, s.w * v.w * inverse};
    }
}

KERNEL(norm_kept_f16)
(half *__restrict__ y, half *__restrict__ z, float *__restrict__ mean, const half *__restrict__ x, const half *__restrict__ other,
 const half *__restrict__ w, int rows) {
    int row = own_row(), lane = threadIdx.x % 32;
    if (row >= rows) return;
    size_t first = static_cast<size_t>(row) * WIDTH;
    half2 kept[6][2];
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 12; i++) {
        size_t c = first + (i / 2 * 32 + lane) * 4 + i % 2 * 2;
        half2 s = __hadd2(at<half2>(x + c), at<half2>(other + c));
        kept[i / 2][i % 2] = s;
        *reinterpret_cast<half2 *>(z + c) = s;
        float2 f = __half22float2(s);
        sum = fmaf(f.x, f.x, sum), sum = fmaf(f.y, f.y, sum);
    }
    sum = of_warp(sum);
    float m = __fdividef(sum, WIDTH), inverse = rsqrtf(m + TINY);
    if (lane == 0) mean[row] = m;
#pragma unroll
    for (int i = 0; i < 12; i++) {
        int c = (i / 2 * 32 + lane) * 4 + i % 2 * 2;
        float2 s = __half22float2(kept[i / 2][i % 2]), v = __half22float2(at<half2>(w + c));
        *reinterpret_cast<half2 *>(y + first + c) = __floats2half2_rn(s.x * v.x * inverse, s.y * v.y * inverse);
    }
}

// the gradients of one row by LANES threads; those of the weights are added to `to`
template <class T, int N, int LANES>
__device__ void gradient_row(T *dx, float *to, const T *dy, const T *x, const T *w, const float *mean, int row, int columns, int lane) {
    size_t first = static_cast<size_t>(row) * columns;
    const T *own = x + first, *given = dy + first;
    T *result = dx + first;
    float sum = 0;
    for (int c = lane * N; c < columns; c += LANES * N) {
        auto g = at<Of<T, N>>(given + c), a = at<Of<T, N>>(own + c), v = at<Of<T, N>>(w + c);
        float some = 0;
#pragma unroll
        for (int j = 0; j < N; j++) some += number(parts(g)[j]) * number(parts(a)[j]) * number(parts(v)[j]);
        sum += some;
    }
    if (LANES > 1) sum = of_warp(sum);
    float inverse = rsqrtf(mean[row] + TINY), part = __fdividef(sum * inverse * inverse, columns);
    for (int c = lane * N; c < columns; c += LANES * N) {
        auto g = at<Of<T, N>>(given + c), a = at<Of<T, N>>(own + c), v = at<Of<T, N>>(w + c);
#pragma unroll
        for (int j = 0; j < N; j++)
            put(parts(v)[j], number(parts(g)[j]) * number(parts(v)[j]) * inverse - number(parts(a)[j]) * inverse * part);
        *reinterpret_cast<Of<T, N> *>(result + c) = v;
#pragma unroll
        for (int j = 0; j < N; j++) atomicAdd(to + c + j, number(parts(g)[j]) * number(parts(a)[j]) * inverse);
    }
}

KERNEL(gradient_threads) GRADIENT(float) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) gradient_row<float, 1, 1>(dx, dw, dy, x, w, mean, row, columns, 0);
}

KERNEL(gradient_warps) GRADIENT(float) {
    int row = own_row();
    if (row < rows) gradient_row<float, 1, 32>(dx, dw, dy, x, w, mean, row, columns, threadIdx.x % 32);
}

// sums of the weights' gradients in shared memory: one row for each warp, or several
template <class T, int N, bool SEVERAL> __device__ void gradients_shared GRADIENT(T) {
    for (int c = threadIdx.x; c < columns; c += blockDim.x) shared[c] = 0;
    __syncthreads();
    int row = own_row();
    if (SEVERAL)
        for (long one = row; one < rows; one += gridDim.x * (blockDim.x / 32))
            gradient_row<T, N, 32>(dx, shared, dy, x, w, mean, one, columns, threadIdx.x % 32);
    else if (row < rows)
        gradient_row<T, N, 32>(dx, shared, dy, x, w, mean, row, columns, threadIdx.x % 32);
    __syncthreads();
    for (int c = threadIdx.x; c < columns; c += blockDim.x) atomicAdd(dw + c, shared[c]);
}

// as many CTAs fit an SM as the source says
#define BY_CTAS(name, T, N, SEVERAL, CTAS) \
    extern "C" __global__ void __launch_bounds__(256, CTAS) name GRADIENT(T) { \
        gradients_shared<T, N, SEVERAL>(dx, dw, dy, x, w, mean, rows, columns); \
    }
BY_CTAS(gradient_shared, float, 1, false, 6)
BY_CTAS(gradient_strides, float, 1, true, 6)
BY_CTAS(gradient_pairs, float, 2, true, 5)
BY_CTAS(gradient_any, float, 1, false, 6)
BY_CTAS(gradient_any_pairs, float, 2, true, 5)
BY_CTAS(gradient_any_f16, half, 1, false, 6)
BY_CTAS(gradient_any_pairs_f16, half, 2, true, 6)

// sums of the weights' gradients in registers, 24 of each lane, which the warps of a CTA then add up
template <class T>
__device__ void gradients_kept(T *__restrict__ dx, float *dw, const T *__restrict__ dy, const T *__restrict__ x, const T *__restrict__ w,
                               const float *__restrict__ mean, int rows) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    float own[24] = {};
    for (int row = own_row(); row < rows; row += gridDim.x * warps) {
        size_t first = static_cast<size_t>(row) * WIDTH;
        float sum = 0;
#pragma unroll
        for (int i = 0; i < 24; i++) {
            int c = i * 32 + lane;
            sum = fmaf(number(dy[first + c]) * number(x[first + c]), number(w[c]), sum);
        }
        sum = of_warp(sum);
        float inverse = rsqrtf(mean[row] + TINY), part = __fdividef(sum * inverse * inverse, WIDTH);
#pragma unroll
        for (int i = 0; i < 24; i++) {
            int c = i * 32 + lane;
            float g = number(dy[first + c]), a = number(x[first + c]);
            put(dx[first + c], (g * number(w[c]) - a * part) * inverse);
            own[i] = fmaf(g * a, inverse, own[i]);
        }
    }
#pragma unroll
    for (int i = 0; i < 24; i++) shared[warp * WIDTH + i * 32 + lane] = own[i];
    __syncthreads();
    for (int c = threadIdx.x; c < WIDTH; c += blockDim.x) {
        float total = 0;
#pragma unroll
        for (int i = 0; i < 32; i++)
            if (i < warps) total += shared[i * WIDTH + c];
        atomicAdd(dw + c, total);
    }
}

#define KEPT(T) \
    (T *__restrict__ dx, float *dw, const T *__restrict__ dy, const T *__restrict__ x, const T *__restrict__ w, \
     const float *__restrict__ mean, int rows)
KERNEL(gradient_kept) KEPT(float) { gradients_kept(dx, dw, dy, x, w, mean, rows); }
KERNEL(gradient_kept_f16) KEPT(half) { gradients_kept(dx, dw, dy, x, w, mean, rows); }
