// A sum of vectors with an element for each thread, and transposes: plain ones, and through tiles of shared memory with and without
// padding. Written for this repository after the descriptions of the measured kernels.
#define KERNEL(name) extern "C" __global__ void name

KERNEL(add)(const float *a, const float *b, float *c, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) c[i] = a[i] + b[i];
}

KERNEL(plain)(const float *in, float *out, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows) out[x * rows + y] = in[y * columns + x];
}

template <int TILE, int PAD> __device__ void tiled(const float *in, float *out, int rows, int columns) {
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < columns && y < rows) tile[threadIdx.y][threadIdx.x] = in[y * columns + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    if (x < rows && y < columns) out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}
#define TILED(name, tile, pad)                                                                                                     \
    KERNEL(name)(const float *in, float *out, int rows, int columns) { tiled<tile, pad>(in, out, rows, columns); }
TILED(tile_8, 8, 0)
TILED(tile_16, 16, 0)
TILED(tile_32, 32, 0)
TILED(padded_8, 8, 1)
TILED(padded_16, 16, 1)
TILED(padded_32, 32, 1)
