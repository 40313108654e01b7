// Kernels that move f32: transposes by elements, with 32 x 32 threads and tiles of shared memory, and with 32 x 8 threads that have
// several elements each; sums of two vectors; a x + y; and a tensor doubled in place by three-dimensional CTAs. Written for this
// repository after the descriptions of the measured kernels.
#define KERNEL(name) extern "C" __global__ void name
#define TRANSPOSE(name) KERNEL(name)(const float *in, float *out, int rows, int columns)

// reads down the columns of the input, writes along the rows of the output
TRANSPOSE(gather) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) out[column * rows + row] = in[row * columns + column];
}

TRANSPOSE(gather_cached) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) out[column * rows + row] = __ldg(in + row * columns + column);
}

// reads along the rows of the input, writes down the columns of the output
TRANSPOSE(scatter) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) out[column * rows + row] = in[row * columns + column];
}

// PAD columns of padding, or rows and columns mixed by XOR
template <int PAD, bool XOR> __device__ void square(const float *in, float *out, int rows, int columns) {
    __shared__ float tile[32][32 + PAD];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32 + x, row = blockIdx.y * 32 + y;
    if (row < rows && column < columns) tile[y][XOR ? x ^ y : x] = in[row * columns + column];
    __syncthreads();
    column = blockIdx.y * 32 + x, row = blockIdx.x * 32 + y;
    if (row < columns && column < rows) out[row * rows + column] = tile[x][XOR ? x ^ y : y];
}
TRANSPOSE(square_plain) { square<0, false>(in, out, rows, columns); }
TRANSPOSE(square_padded) { square<1, false>(in, out, rows, columns); }
TRANSPOSE(square_xor) { square<0, true>(in, out, rows, columns); }

template <int HIGH, int WIDE> __device__ void gather_several(const float *in, float *out, int rows, int columns) {
    int first = blockIdx.x * HIGH, left = blockIdx.y * WIDE;
#pragma unroll
    for (int x = threadIdx.x; x < HIGH; x += blockDim.x) {
        int row = first + x;
        if (row >= rows) break;
#pragma unroll
        for (int y = threadIdx.y; y < WIDE; y += blockDim.y) {
            int column = left + y;
            if (column < columns) out[column * rows + row] = in[row * columns + column];
        }
    }
}
TRANSPOSE(gather_16_64) { gather_several<16, 64>(in, out, rows, columns); }
TRANSPOSE(gather_32_32) { gather_several<32, 32>(in, out, rows, columns); }

// loops over blockDim.y rows at a time, with bounds of their own
template <int PAD, bool XOR> __device__ void looped(const float *in, float *out, int rows, int columns) {
    __shared__ float tile[32][32 + PAD];
    int first = blockIdx.y * 32, left = blockIdx.x * 32;
#pragma unroll
    for (int y = threadIdx.y; y < 32; y += blockDim.y) {
        int row = first + y;
        if (row >= rows) break;
#pragma unroll
        for (int x = threadIdx.x; x < 32; x += blockDim.x) {
            int column = left + x;
            if (column < columns) tile[y][XOR ? x ^ y : x] = in[row * columns + column];
        }
    }
    __syncthreads();
#pragma unroll
    for (int y = threadIdx.y; y < 32; y += blockDim.y) {
        int column = left + y;
        if (column >= columns) break;
#pragma unroll
        for (int x = threadIdx.x; x < 32; x += blockDim.x) {
            int row = first + x;
            if (row < rows) out[column * rows + row] = tile[x][XOR ? x ^ y : y];
        }
    }
}
TRANSPOSE(looped_plain) { looped<0, false>(in, out, rows, columns); }
TRANSPOSE(looped_padded) { looped<1, false>(in, out, rows, columns); }
TRANSPOSE(looped_xor) { looped<0, true>(in, out, rows, columns); }

// four rows for each thread, without loops
template <int PAD, bool XOR> __device__ void unrolled(const float *in, float *out, int rows, int columns) {
    __shared__ float tile[32][32 + PAD];
    int x = threadIdx.x, y = threadIdx.y, step = blockDim.y, row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x;
    if (column >= columns) return;
#pragma unroll
    for (int i = 0; i < 4; i++, y += step, row += step)
        if (row < rows) tile[y][XOR ? x ^ y : x] = in[row * columns + column];
    __syncthreads();
    row = blockIdx.y * 32 + x, y = threadIdx.y, column = blockIdx.x * 32 + y;
    if (row >= rows) return;
#pragma unroll
    for (int i = 0; i < 4; i++, y += step, column += step)
        if (column < columns) out[column * rows + row] = tile[x][XOR ? x ^ y : y];
}
TRANSPOSE(unrolled_plain) { unrolled<0, false>(in, out, rows, columns); }
TRANSPOSE(unrolled_padded) { unrolled<1, false>(in, out, rows, columns); }
TRANSPOSE(unrolled_xor) { unrolled<0, true>(in, out, rows, columns); }

KERNEL(add_each)(const float *a, const float *b, float *c, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) c[i] = a[i] + b[i];
}

KERNEL(add_strided)(const float *a, const float *b, float *c, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) c[i] = a[i] + b[i];
}

KERNEL(add_vectors)(const float *a, const float *b, float *c, int count) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    float4 x = *reinterpret_cast<const float4 *>(a + i), y = *reinterpret_cast<const float4 *>(b + i);
    *reinterpret_cast<float4 *>(c + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

KERNEL(saxpy)(float a, const float *x, const float *y, float *z, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) z[i] = a * x[i] + y[i];
}

KERNEL(doubled)(float *tensor, int width, int height, int depth) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < width && y < height && z < depth) tensor[x + y * width + z * width * height] *= 2;
}
