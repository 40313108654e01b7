// C++ names, structs by value, captured values. Launch: a thread an element.
namespace math {
template <typename T> struct Polynomial {
    T c[4];
    __device__ T operator()(T x) const { return c[0] + x * (c[1] + x * (c[2] + x * c[3])); }
};
template <typename T, int N> __global__ void evaluate(Polynomial<T> p, const T *x, T *y, int n) {
    int i = blockIdx.x * blockDim.x * N + threadIdx.x;
#pragma unroll
    for (int k = 0; k < N; k++, i += blockDim.x)
        if (i < n) y[i] = p(x[i]);
}
template __global__ void evaluate<float, 2>(Polynomial<float>, const float *, float *, int);
template __global__ void evaluate<double, 1>(Polynomial<double>, const double *, double *, int);
template __global__ void evaluate<int, 4>(Polynomial<int>, const int *, int *, int);
}

struct Matrix {
    float *data;
    int rows, columns;
    __device__ float &operator()(int r, int c) { return data[r * columns + c]; }
};

__global__ void outer(Matrix result, const float *left, const float *right) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
    if (c < result.columns && r < result.rows) result(r, c) = left[r] * right[c];
}

template <class F> __global__ void apply(F f, int n, float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = f(x[i], i);
}
struct Wave {
    float amplitude, phase;
    char padding[5];
    __device__ float operator()(float v, int i) const { return v + amplitude * __sinf(i * phase); }
};
template __global__ void apply<Wave>(Wave, int, float *);

struct Big {
    int numbers[64];
};
__global__ void lookup(const __grid_constant__ Big table, int n, const int *x, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = table.numbers[x[i] & 63];
}
