// Transposes of matrices of 16 bits without bounds: by elements in the order of the rows or columns, and by tiles. Written for this
// repository after the descriptions of the measured kernels.
#include <cuda_fp16.h>
#define KERNEL(name) extern "C" __global__ void name

__device__ __forceinline__ size_t first() { return blockDim.x * blockIdx.x + threadIdx.x; }

// a copy in the order of the rows
KERNEL(move_copy)(half *out, const half *in, size_t rows, size_t columns) {
    const size_t i = first(), row = i / columns, column = i % columns;
    out[row * columns + column] = in[row * columns + column];
}

// lanes along a row of the matrix that is read
KERNEL(move_rows)(half *out, const half *in, size_t rows, size_t columns) {
    const size_t i = first(), row = i / columns, column = i % columns;
    out[column * rows + row] = in[row * columns + column];
}

// lanes along a row of the matrix that is written
KERNEL(move_columns)(half *out, const half *in, size_t rows, size_t columns) {
    const size_t i = first(), row = i % rows, column = i / rows;
    out[column * rows + row] = in[row * columns + column];
}

KERNEL(move_fours)(half *out, const half *in, size_t rows, size_t columns) {
    const size_t i = first() * 4;
#pragma unroll
    for (size_t j = 0; j < 4; j++) {
        const size_t row = (i + j) % rows, column = (i + j) / rows;
        out[column * rows + row] = in[row * columns + column];
    }
}

// eight are read one by one and written by one access
KERNEL(move_eights)(half *out, const half *in, size_t rows, size_t columns) {
    const size_t i = first() * 8;
    half found[8];
#pragma unroll
    for (size_t j = 0; j < 8; j++) {
        const size_t row = (i + j) % rows, column = (i + j) / rows;
        found[j] = in[row * columns + column];
    }
    *reinterpret_cast<float4 *>(out + i) = *reinterpret_cast<float4 *>(found);
}

// a tile of TALL x 16 by as many threads, kept by rows or by columns; lanes go along rows, and along columns where they write
template <int TALL, bool COLUMNS, int PADDING>
__device__ __forceinline__ void by_tiles(half *out, const half *in, size_t rows, size_t columns) {
    __shared__ half tile[16 * (TALL + PADDING)];
    const size_t thread = blockDim.x * threadIdx.y + threadIdx.x, across = thread / blockDim.y, down = thread % blockDim.y;
    const size_t top = blockDim.y * blockIdx.y, start = blockDim.x * blockIdx.x;
    const half found = in[(top + threadIdx.y) * columns + start + threadIdx.x];
    tile[COLUMNS ? threadIdx.x * TALL + threadIdx.y : threadIdx.y * 16 + threadIdx.x] = found;
    __syncthreads();
    out[(start + across) * rows + top + down] = tile[COLUMNS ? across * TALL + down : down * 16 + across];
}

KERNEL(move_tiles)(half *out, const half *in, size_t rows, size_t columns) { by_tiles<16, false, 0>(out, in, rows, columns); }

KERNEL(move_turned)(half *out, const half *in, size_t rows, size_t columns) { by_tiles<16, true, 0>(out, in, rows, columns); }

KERNEL(move_tall)(half *out, const half *in, size_t rows, size_t columns) { by_tiles<32, true, 0>(out, in, rows, columns); }

// the padding is allocated, but no row moves
KERNEL(move_padded)(half *out, const half *in, size_t rows, size_t columns) { by_tiles<32, true, 1>(out, in, rows, columns); }

// two neighboring tiles of 32 x 16
KERNEL(move_twice)(half *out, const half *in, size_t rows, size_t columns) {
    __shared__ half tile[32 * 32];
    const size_t thread = blockDim.x * threadIdx.y + threadIdx.x, across = thread / blockDim.y, down = thread % blockDim.y;
    const size_t top = blockDim.y * blockIdx.y, start = 2 * blockDim.x * blockIdx.x;
    const size_t from = (top + threadIdx.y) * columns + start + threadIdx.x;
    tile[threadIdx.y * 32 + threadIdx.x] = in[from];
    tile[threadIdx.y * 32 + threadIdx.x + 16] = in[from + 16];
    __syncthreads();
    out[(start + across) * rows + top + down] = tile[down * 32 + across];
    out[(start + across + blockDim.x) * rows + top + down] = tile[down * 32 + across + 16];
}
