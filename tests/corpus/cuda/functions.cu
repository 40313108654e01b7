// Functions of the library, in f32 and f64. Launch: a thread an element.
extern "C" __global__ void trigonometry(int n, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = sinf(x[i]) + cosf(x[i]) * tanf(0.5f * x[i]) + atan2f(x[i], 2.f) + asinf(0.1f * x[i]);
}

extern "C" __global__ void exponentials(int n, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = expf(x[i]) + log1pf(fabsf(x[i])) + powf(fabsf(x[i]), 1.5f) + cbrtf(x[i]) + erff(x[i]) + exp10f(x[i]);
}

extern "C" __global__ void doubles(int n, const double *x, double *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = exp(x[i]) + log(fabs(x[i])) + sqrt(fabs(x[i])) / (1 + x[i] * x[i]) + floor(x[i]) + fma(x[i], x[i], 1.);
}

extern "C" __global__ void double_sine(int n, const double *x, double *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = sin(x[i]) * rsqrt(fabs(x[i]) + 1);
}

extern "C" __global__ void quick(int n, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __sinf(x[i]) + __cosf(x[i]) + __logf(fabsf(x[i]) + 1) + __powf(2.f, x[i]) + __fdividef(x[i], 3.f) + __saturatef(x[i]);
}

extern "C" __global__ void classify(int n, const double *x, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = isnan(x[i]) + 2 * isinf(x[i]) + 4 * signbit(x[i]) + 8 * (int)lrint(x[i]) + ilogb(x[i]);
}
