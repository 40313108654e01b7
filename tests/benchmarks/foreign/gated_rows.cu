// SwiGLU and its gradient, RMS norms with weight and bias, and heads repeated or added up, by threads of a CTA. Written for this
// repository after the descriptions of the measured kernels, which were compiled with approximate functions.
#include <cuda_bf16.h>
typedef __nv_bfloat16 bf16;
#define KERNEL(name) extern "C" __global__ void name
union Vector {
    int4 bits;
    bf16 values[8];
};

__device__ __forceinline__ Vector streamed(const bf16 *from) {
    Vector some;
    some.bits = __ldcs(reinterpret_cast<const int4 *>(from));
    return some;
}
__device__ __forceinline__ float sigmoid(float x) { return __fdividef(1, 1 + __expf(-x)); }
__device__ __forceinline__ bf16 gated(float x, float gate) { return __float2bfloat16(__fdividef(x, 1 + __expf(-x)) * gate); }
__device__ __forceinline__ void gradients(float x, float gate, float above, bf16 &dx, bf16 &dgate) {
    float s = sigmoid(x), silu = x * s;
    dx = __float2bfloat16(above * (s + silu * (1 - s)) * gate);
    dgate = __float2bfloat16(above * silu);
}

KERNEL(gate)(bf16 *out, const bf16 *x, const bf16 *gate, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = gated(__bfloat162float(x[i]), __bfloat162float(gate[i]));
}
KERNEL(gate_vectors)(bf16 *out, const bf16 *x, const bf16 *gate, int count) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (i >= count) return;
    Vector xs = streamed(x + i), gates = streamed(gate + i), result;
#pragma unroll
    for (int k = 0; k < 8; ++k)
        result.values[k] = gated(__bfloat162float(xs.values[k]), __bfloat162float(gates.values[k]));
    *reinterpret_cast<int4 *>(out + i) = result.bits;
}
KERNEL(gate_back)(bf16 *dx, bf16 *dgate, const bf16 *above, const bf16 *x, const bf16 *gate, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        gradients(__bfloat162float(x[i]), __bfloat162float(gate[i]), __bfloat162float(above[i]), dx[i], dgate[i]);
}
KERNEL(gate_back_vectors)(bf16 *dx, bf16 *dgate, const bf16 *above, const bf16 *x, const bf16 *gate, int count) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (i >= count) return;
    Vector aboves = streamed(above + i), xs = streamed(x + i), gates = streamed(gate + i), dxs, dgates;
#pragma unroll
    for (int k = 0; k < 8; ++k)
        gradients(__bfloat162float(xs.values[k]), __bfloat162float(gates.values[k]), __bfloat162float(aboves.values[k]),
                  dxs.values[k], dgates.values[k]);
    *reinterpret_cast<int4 *>(dx + i) = dxs.bits;
    *reinterpret_cast<int4 *>(dgate + i) = dgates.bits;
}

// a row for each thread
KERNEL(norm_thread)(float *out, const float *x, const float *weight, const float *bias, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float *from = x + row * columns;
    float *to = out + row * columns, squares = 0;
    for (int i = 0; i < columns; ++i) squares += from[i] * from[i];
    float root = sqrtf(__fdividef(squares, columns) + 1e-5f);
    for (int i = 0; i < columns; ++i) to[i] = __fdividef(from[i], root) * weight[i] + bias[i];
}
// a row for each warp
KERNEL(norm_warp)(float *__restrict__ out, const float *__restrict__ x, const float *__restrict__ weight,
                  const float *__restrict__ bias, int rows, int columns) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float *from = x + row * columns;
    float *to = out + row * columns, squares = 0;
    for (int i = lane; i < columns; i += 32) squares += from[i] * from[i];
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) squares += __shfl_xor_sync(~0u, squares, distance);
    float root = sqrtf(__fdividef(squares, columns) + 1e-5f);
    for (int i = lane; i < columns; i += 32) __stcs(to + i, __fdividef(__ldcs(from + i), root) * weight[i] + bias[i]);
}

// the keys and values of each head, `times` times; a CTA for a token, or for a head of it
#define HEADS float *k_out, float *v_out, const float *k, const float *v, int tokens, int heads, int times, int width
__device__ __forceinline__ void repeat(int token, int head, int d, HEADS) {
    for (int one = 0; one < times; ++one) {
        int from = (token * heads + head) * width + d, to = (token * heads * times + head * times + one) * width + d;
        k_out[to] = k[from];
        v_out[to] = v[from];
    }
}
__device__ __forceinline__ void add_up(int token, int head, int d, HEADS) {
    float k_sum = 0, v_sum = 0;
    for (int one = 0; one < times; ++one) {
        int from = (token * heads * times + head * times + one) * width + d;
        k_sum += k[from];
        v_sum += v[from];
    }
    int to = (token * heads + head) * width + d;
    k_out[to] = k_sum;
    v_out[to] = v_sum;
}
#define BY_TOKEN(name, work)                                                                       \
    KERNEL(name)(HEADS) {                                                                          \
        int token = blockIdx.x * tokens + blockIdx.y, d = threadIdx.x + blockIdx.z * blockDim.x;   \
        if (d >= width) return;                                                                    \
        for (int head = 0; head < heads; ++head)                                                   \
            work(token, head, d, k_out, v_out, k, v, tokens, heads, times, width);                 \
    }
#define BY_HEAD(name, work)                                                                                    \
    KERNEL(name)(HEADS) {                                                                                      \
        int token = blockIdx.x * tokens + blockIdx.y, d = threadIdx.x;                                         \
        if (d < width) work(token, blockIdx.z, d, k_out, v_out, k, v, tokens, heads, times, width);            \
    }
BY_TOKEN(repeat_tokens, repeat)
BY_TOKEN(add_tokens, add_up)
BY_HEAD(repeat_heads, repeat)
BY_HEAD(add_heads, add_up)
