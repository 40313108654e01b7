// Kernels that move memory. Written for this repository after the descriptions of the measured ones.

// copy: one element per thread
template <typename T> __device__ void copy_of(const T *from, T *to) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    to[i] = from[i];
}
extern "C" __global__ void copy_1(const char *from, char *to) { copy_of(from, to); }
extern "C" __global__ void copy_2(const short *from, short *to) { copy_of(from, to); }
extern "C" __global__ void copy_4(const float *from, float *to) { copy_of(from, to); }
extern "C" __global__ void copy_8(const float2 *from, float2 *to) { copy_of(from, to); }
extern "C" __global__ void copy_16(const float4 *from, float4 *to) { copy_of(from, to); }

// streams of f64: one element per thread; shared memory limits an SM to two CTAs
#define STREAM double *A, const double *B, const double *C, const double *D
#define LIMIT extern __shared__ double spoiler[]; if (A == nullptr) A[0] = spoiler[threadIdx.x];
extern "C" __global__ void stream_read(STREAM) {
    LIMIT
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double value = B[i];
    if (value == 123.0) A[i] = value;
}
extern "C" __global__ void stream_scale(STREAM) {
    LIMIT
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    A[i] = B[i] * 1.2;
}
extern "C" __global__ void stream_triad(STREAM) {
    LIMIT
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    A[i] = B[i] * D[i] + C[i];
}

// transposes of f32, 32 x 32 tiles; a thread moves COARSEN elements of a column
extern "C" __global__ void transpose_naive(const float *from, float *to, int size) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    to[(size_t)x * size + y] = from[(size_t)y * size + x];
}
template <int PAD, int COARSEN> __device__ void transpose_of(const float *from, float *to, int size) {
    __shared__ float tile[32][32 + PAD];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 32 / COARSEN) tile[threadIdx.y + j][threadIdx.x] = from[(size_t)(y + j) * size + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 32 / COARSEN) to[(size_t)(y + j) * size + x] = tile[threadIdx.x][threadIdx.y + j];
}
#define TRANSPOSE(name, pad, coarsen) \
    extern "C" __global__ void name(const float *from, float *to, int size) { transpose_of<pad, coarsen>(from, to, size); }
TRANSPOSE(transpose_tiled, 0, 1)
TRANSPOSE(transpose_padded, 1, 1)
TRANSPOSE(transpose_coarsen_2, 1, 2)
TRANSPOSE(transpose_coarsen_4, 1, 4)
TRANSPOSE(transpose_coarsen_8, 1, 8)

// D3Q19 lattice: 19 loads from neighbors, a collision of few operations, 19 stores, a flag of one byte; 256^3 cells
extern "C" __global__ void lattice(const float *from, float *to, const unsigned char *flags) {
    const int X = 256, CELLS = X * X * X;
    const int cx[19] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 0, 0, 1, -1, 1, -1, 0, 0};
    const int cy[19] = {0, 0, 0, 1, -1, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 1, -1};
    const int cz[19] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 1, -1, 1, -1, 0, 0, -1, 1, -1, 1};
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % X, y = i / X % X, z = i / (X * X);
    if (flags[i]) return;
    float f[19], rho = 0, u = 0, v = 0, w = 0;
#pragma unroll
    for (int k = 0; k < 19; ++k) {
        int a = (x - cx[k] + X) % X, b = (y - cy[k] + X) % X, c = (z - cz[k] + X) % X;
        f[k] = from[(size_t)k * CELLS + (c * X + b) * X + a];
    }
#pragma unroll
    for (int k = 0; k < 19; ++k) {
        rho += f[k];
        u += cx[k] * f[k];
        v += cy[k] * f[k];
        w += cz[k] * f[k];
    }
    float inverse = 1 / rho, square;
    u *= inverse;
    v *= inverse;
    w *= inverse;
    square = 1 - 1.5f * (u * u + v * v + w * w);
#pragma unroll
    for (int k = 0; k < 19; ++k) {
        float weight = k == 0 ? 1 / 3.0f : k < 7 ? 1 / 18.0f : 1 / 36.0f, c = 3 * (cx[k] * u + cy[k] * v + cz[k] * w);
        to[(size_t)k * CELLS + i] = f[k] + 1.6f * (weight * rho * (square + c + 0.5f * c * c) - f[k]);
    }
}

// 16 bytes per lane in each iteration: a warp reads (writes) PIECE bytes each of 512 / PIECE distant streams. A piece of
// less than 64 bytes is alone in its 64 bytes
template <int PIECE> __device__ size_t piece_at(int iterations) {
    const int LANES = PIECE / 16, APART = LANES < 4 ? 4 : LANES;
    int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    size_t stream = (size_t)warps * iterations * APART;
    return lane / LANES * stream + (size_t)warp * APART + lane % LANES;
}
template <int PIECE> __device__ size_t piece_step() {
    return (size_t)gridDim.x * blockDim.x / 32 * (PIECE < 64 ? 4 : PIECE / 16);
}
template <int PIECE> __device__ void read_of(const float4 *from, float *to, int iterations) {
    size_t at = piece_at<PIECE>(iterations), step = piece_step<PIECE>();
    float sum = 0;
#pragma unroll 4
    for (int i = 0; i < iterations; ++i) {
        float4 four = __ldcs(from + at + i * step);
        sum += four.x + four.y + four.z + four.w;
    }
    if (sum == 123.0f) *to = sum;
}
template <int PIECE> __device__ void write_of(float4 *to, int iterations) {
    size_t at = piece_at<PIECE>(iterations), step = piece_step<PIECE>();
#pragma unroll 4
    for (int i = 0; i < iterations; ++i) to[at + i * step] = make_float4(1, 2, 3, 4);
}
#define PIECES(size) \
    extern "C" __global__ void read_##size(const float4 *from, float *to, int n) { read_of<size>(from, to, n); } \
    extern "C" __global__ void write_##size(float4 *to, int n) { write_of<size>(to, n); }
PIECES(512)
PIECES(256)
PIECES(128)
PIECES(32)
extern "C" __global__ void read_16(const float4 *from, float *to, int n) { read_of<16>(from, to, n); }

// histograms of bytes, 256 bins
extern "C" __global__ void histogram_global(const unsigned char *from, unsigned *bins, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) atomicAdd(&bins[from[i]], 1);
}
extern "C" __global__ void histogram_shared(const unsigned char *from, unsigned *bins, unsigned count) {
    __shared__ unsigned own[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) atomicAdd(&own[from[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], own[i]);
}
extern "C" __global__ void histogram_vector(const uint4 *from, unsigned *bins, unsigned count) {
    __shared__ unsigned own[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count / 16; i += gridDim.x * blockDim.x) {
        uint4 four = from[i];
        unsigned words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int k = 0; k < 16; ++k) atomicAdd(&own[words[k / 4] >> 8 * (k % 4) & 255], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], own[i]);
}
