// Histograms, convolutions, elementwise kernels and scans of published NVBench logs. Written for this repository after the
// descriptions of the measured kernels: block sizes, elements per thread, memory of the mask, precision of the clamp.

// 512 bins of words; `own` bins in shared memory of a CTA, or those of the grid
extern "C" __global__ void bins_global(unsigned *words, unsigned *bins, unsigned count, unsigned size) {
    unsigned first = blockIdx.x * blockDim.x + threadIdx.x, step = blockDim.x * gridDim.x;
    for (unsigned i = first; i < size; i += step) bins[i] = 0;
    __syncthreads();
    for (unsigned i = first; i < count; i += step) atomicAdd(bins + words[i], 1);
}
extern "C" __global__ void bins_shared(unsigned *words, unsigned *bins, unsigned count, unsigned size) {
    extern __shared__ unsigned own[];
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) atomicAdd(own + words[i], 1);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) atomicAdd(bins + i, own[i]);
}

// convolutions; results are clamped to 0..1 in f64, as measured
__constant__ float fixed[11 * 11];
__device__ float unit(float value) { return (float)fmin(fmax((double)value, 0.0), 1.0); }
__device__ bool within(int at, int size) { return at >= 0 && at < size; }

extern "C" __global__ void line_global(float *in, float *mask, float *out, int width, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, first = i - width / 2;
    if (i >= count) return;
    float sum = 0;
    for (int j = 0; j < width; ++j)
        if (within(first + j, count)) sum += in[first + j] * mask[j];
    out[i] = unit(sum);
}
extern "C" __global__ void line_constant(float *in, float *out, int width, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, first = i - width / 2;
    float sum = 0;
    for (int j = 0; j < width; ++j)
        if (within(first + j, count)) sum += in[first + j] * fixed[j];
    out[i] = unit(sum);
}
// the elements of a CTA and those beside them in shared memory
extern "C" __global__ void line_tiled(float *in, float *out, int width, int count) {
    extern __shared__ float tile[];
    int t = threadIdx.x, size = blockDim.x, beside = width / 2, i = blockIdx.x * size + t;
    if (t >= size - beside) tile[t - (size - beside)] = i - size < 0 ? 0 : in[i - size];
    tile[beside + t] = in[i];
    if (t < beside) tile[beside + size + t] = i + size >= count ? 0 : in[i + size];
    __syncthreads();
    float sum = 0;
    for (int j = 0; j < width; ++j) sum += tile[t + j] * fixed[j];
    out[i] = unit(sum);
}
// only the elements of a CTA in shared memory, those beside them through the caches
extern "C" __global__ void line_cached(float *in, float *out, int width, int count) {
    extern __shared__ float tile[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, begin = blockIdx.x * blockDim.x, end = begin + blockDim.x;
    tile[t] = in[i];
    __syncthreads();
    float sum = 0;
    for (int j = 0; j < width; ++j) {
        int at = i - width / 2 + j;
        if (within(at, count)) sum += (at >= begin && at < end ? tile[at - begin] : in[at]) * fixed[j];
    }
    out[i] = unit(sum);
}

template <bool CONSTANT> __device__ void plane_of(float *in, float *mask, float *out, int size, int height, int width, int channels) {
    int y = blockIdx.y * blockDim.y + threadIdx.y, x = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= height || x >= width) return;
    int top = y - size / 2, left = x - size / 2;
    for (int c = 0; c < channels; ++c) {
        float sum = 0;
        for (int k = 0; k < size; ++k)
            for (int l = 0; l < size; ++l)
                if (within(top + k, height) && within(left + l, width))
                    sum += in[((top + k) * width + left + l) * channels + c] * (CONSTANT ? fixed : mask)[k * size + l];
        out[(y * width + x) * channels + c] = unit(sum);
    }
}
extern "C" __global__ void plane_global(float *in, float *mask, float *out, int size, int height, int width, int channels) {
    plane_of<false>(in, mask, out, size, height, width, channels);
}
extern "C" __global__ void plane_constant(float *in, float *out, int size, int height, int width, int channels) {
    plane_of<true>(in, nullptr, out, size, height, width, channels);
}
// a thread per input of a tile; those inside compute an output
extern "C" __global__ void plane_tiled(float *in, float *out, int size, int height, int width, int channels) {
    extern __shared__ float tile[];
    int tx = threadIdx.x, ty = threadIdx.y, columns = blockDim.x - size + 1, rows = blockDim.y - size + 1;
    int y = blockIdx.y * rows + ty, x = blockIdx.x * columns + tx, top = y - size / 2, left = x - size / 2;
    for (int c = 0; c < channels; ++c) {
        bool inside = within(top, height) && within(left, width);
        tile[ty * blockDim.x + tx] = inside ? in[(top * width + left) * channels + c] : 0;
        __syncthreads();
        if (ty < rows && tx < columns && y < height && x < width) {
            float sum = 0;
            for (int k = 0; k < size; ++k)
                for (int l = 0; l < size; ++l) sum += tile[(ty + k) * blockDim.x + tx + l] * fixed[k * size + l];
            out[(y * width + x) * channels + c] = unit(sum);
        }
        __syncthreads();
    }
}

// sums of two arrays, neighbors in y or in x; bytes of colors to gray
extern "C" __global__ void add_rows(float *a, float *b, float *c, int columns, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y, i = row * columns + column;
    if (row < rows && column < columns) c[i] = a[i] + b[i];
}
extern "C" __global__ void add_columns(float *a, float *b, float *c, int columns, int rows) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x, i = row * columns + column;
    if (row < rows && column < columns) c[i] = a[i] + b[i];
}
extern "C" __global__ void gray(unsigned char *colors, unsigned char *out, int columns, int rows) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x, i = row * columns + column;
    if (row < 0 || row >= rows || column < 0 || column >= columns) return;
    unsigned char r = colors[3 * i], g = colors[3 * i + 1], b = colors[3 * i + 2];
    out[i] = (unsigned char)(0.21f * r + 0.71f * g + 0.07f * b);
}

// scans of a section by a CTA, whose sum goes to `sums`; the sums of the sections before are added by another launch
extern "C" __global__ void scan_tree(unsigned *in, unsigned *out, int count, unsigned *sums) {
    extern __shared__ unsigned section[];
    int t = threadIdx.x, size = blockDim.x, i = 2 * blockIdx.x * size + t;
    section[t] = i < count ? in[i] : 0;
    section[t + size] = i + size < count ? in[i + size] : 0;
    __syncthreads();
    for (unsigned step = 1; step <= size; step *= 2) {
        unsigned at = (t + 1) * step * 2 - 1;
        if (at < 2 * size) section[at] += section[at - step];
        __syncthreads();
    }
    for (unsigned step = size / 2; step > 0; step /= 2) {
        unsigned at = (t + 1) * step * 2 - 1;
        if (at + step < 2 * size) section[at + step] += section[at];
        __syncthreads();
    }
    if (i < count) out[i] = section[t];
    if (i + size < count) out[i + size] = section[t + size];
    if (sums && t == size - 1) sums[blockIdx.x] = section[2 * size - 1];
}
// each thread a part, then the ends of the parts, then the rest of the parts
extern "C" __global__ void scan_parts(unsigned *in, unsigned *out, int count, int length, unsigned *sums) {
    extern __shared__ unsigned section[];
    int t = threadIdx.x, begin = blockIdx.x * length, part = length / blockDim.x, first = part * t, last = first + part;
    for (int j = t; j < length; j += blockDim.x) section[j] = begin + j < count ? in[begin + j] : 0;
    __syncthreads();
    unsigned sum = 0;
    if (begin + first < count)
        for (int i = first; i < last; ++i) section[i] = sum += section[i];
    __syncthreads();
    for (unsigned step = 1; step <= blockDim.x; step *= 2) {
        __syncthreads();
        unsigned at = (t + 1) * step * 2 * part - 1;
        if (at < length) section[at] += section[at - step * part];
    }
    for (unsigned step = length / 4; step >= part; step /= 2) {
        __syncthreads();
        unsigned at = (t + 1) * step * 2 - 1;
        if (at + step < length) section[at + step] += section[at];
    }
    __syncthreads();
    if (t != 0) {
        unsigned before = section[first - 1];
        for (int i = first; i < last - 1; ++i) section[i] += before;
    }
    __syncthreads();
    for (int i = t; i < length; i += blockDim.x)
        if (begin + i < count) out[begin + i] = section[i];
    if (sums && t == blockDim.x - 1) sums[blockIdx.x] = section[length - 1];
}
extern "C" __global__ void scan_add(unsigned *out, int count, unsigned *sums, int length) {
    for (int j = threadIdx.x, i = blockIdx.x * length; j < length; j += blockDim.x)
        if (i + j < count) out[i + j] += sums[blockIdx.x];
}
