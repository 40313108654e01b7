// Elementwise kernels. Launch: enough threads for n (or n/4, n/2) elements, any block; gridded_axpy takes any grid.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void saxpy4(int n, float a, const float4 *x, float4 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    float4 u = x[i], v = y[i];
    y[i] = make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w);
}

extern "C" __global__ void __launch_bounds__(256) gridded_axpy(long long n, double a, const double *x, double *y) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
        y[i] += a * x[i];
}

extern "C" __global__ void gelu(int n, const float *__restrict__ x, float *__restrict__ y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    y[i] = 0.5f * v * (1.f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
}

extern "C" __global__ void silu_gate(int n, const float *__restrict__ gate, const float *__restrict__ up, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = gate[i] / (1.f + __expf(-gate[i])) * up[i];
}

extern "C" __global__ void half_axpy(int n, half2 a, const half2 *x, half2 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2) y[i] = __hfma2(a, x[i], y[i]);
}

extern "C" __global__ void bf16_relu(int n, const __nv_bfloat16 *x, __nv_bfloat16 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __float2bfloat16(fmaxf(__bfloat162float(x[i]), 0.f));
}

extern "C" __global__ void clamp_add(int n, int low, int high, const int *x, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = min(max(x[i] + y[i], low), high);
}

extern "C" __global__ void brighten(int n, float gain, const unsigned char *in, unsigned char *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (unsigned char)__float2uint_rn(fminf(in[i] * gain, 255.f));
}
