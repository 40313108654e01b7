// The five kernels of a stream benchmark in f64: CTAs of 1024, a thread for each element, a grid of four CTAs per SM for the
// product. Written for this repository after the description of the measured kernels.
#define STREAM(name) extern "C" __global__ void name
const double SCALE = 0.4;

STREAM(five_copy)(const double *a, double *c) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i];
}

STREAM(five_scale)(double *b, const double *c) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = SCALE * c[i];
}

STREAM(five_add)(const double *a, const double *b, double *c) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

STREAM(five_triad)(double *a, const double *b, const double *c) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = b[i] + SCALE * c[i];
}

// threads stride over the arrays; a tree over the CTA, whose sum the host adds up
STREAM(five_dot)(const double *a, const double *b, double *sums, int count) {
    __shared__ double tree[1024];
    unsigned t = threadIdx.x;
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < count; i += blockDim.x * gridDim.x) sum += a[i] * b[i];
    tree[t] = sum;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) tree[t] += tree[t + half];
    }
    if (t == 0) sums[blockIdx.x] = tree[0];
}
