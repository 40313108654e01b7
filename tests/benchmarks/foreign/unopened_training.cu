// Kernels of training GPT-2 in f32: embeddings, a residual, layer norms and gradients of a bias. Written for this repository after
// the descriptions of the measured kernels, which are compiled with --use_fast_math: divisions by a length take its division.
#define KERNEL(name) extern "C" __global__ void name

__device__ float over_warp(float v) {
#pragma unroll
    for (int off = 16; off; off /= 2) v += __shfl_xor_sync(~0u, v, off);
    return v;
}

// an element of a thread: the row of a token plus that of its place
KERNEL(embed_each)(float *out, const int *tokens, const float *words, const float *places, int batch, int time, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * time * width) return;
    int both = i / width, b = both / time, t = both % time, c = i % width;
    int token = tokens[b * time + t];
    out[b * time * width + t * width + c] = words[token * width + c] + places[t * width + c];
}

// four of them
KERNEL(embed_fours)(float4 *out, const int *tokens, const float4 *words, const float4 *places, int batch, int time, int width) {
    int fours = width / 4, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * time * fours) return;
    int both = i / fours, b = both / time, t = both % time, c = i % fours;
    int token = tokens[b * time + t];
    float4 word = words[token * fours + c], place = places[t * fours + c];
    out[b * time * fours + t * fours + c] = {word.x + place.x, word.y + place.y, word.z + place.z, word.w + place.w};
}

KERNEL(residual)(float *out, const float *a, const float *b, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = a[i] + b[i];
}

// a warp for a column
KERNEL(bias_warps)(float *bias, const float *gradients, int batch, int time, int width) {
    int column = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (column >= width) return;
    float sum = 0;
    for (int row = lane; row < batch * time; row += 32) sum += gradients[row * width + column];
    sum = over_warp(sum);
    if (lane == 0) bias[column] += sum;
}

// 32 columns of a CTA, whose warps take rows in turn
KERNEL(bias_columns)(float *bias, const float *gradients, int batch, int time, int width) {
    extern __shared__ float part[];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32, first = blockIdx.x * 32;
    const float *own = gradients + first + lane;
    float sum = 0;
    int row = warp;
    for (; row + 3 * warps < batch * time; row += 4 * warps)  // the measured times imply four loads at once
        for (int k = 0; k < 4; k++) sum += own[(row + k * warps) * width];
    for (; row < batch * time; row += warps) sum += own[row * width];
    part[lane + warp * 32] = sum;
    __syncthreads();
    sum = 0;
    if (warp == 0) {
        for (int i = 0; i < warps; i++) sum += part[lane + i * 32];
        bias[first + lane] += sum;
    }
}

// layer norm of a row by a warp, with rows, weights and biases in shared memory; the variance from deviations or from squares
template <bool SQUARES>
__device__ void norm(float *__restrict__ out, float *__restrict__ mean, float *__restrict__ inverse, const float *__restrict__ in,
                     const float *__restrict__ weight, const float *__restrict__ bias, int rows, int width) {
    extern __shared__ float4 shared[];
    int fours = width / 4;
    float4 *weights = shared, *biases = shared + fours, *own = shared + (2 + threadIdx.y) * width / 4;
    for (int i = threadIdx.x + 32 * threadIdx.y; i < fours; i += blockDim.y * 32) {
        weights[i] = reinterpret_cast<const float4 *>(weight)[i];
        biases[i] = reinterpret_cast<const float4 *>(bias)[i];
    }
    __syncthreads();
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    const float4 *from = reinterpret_cast<const float4 *>(in + row * width);
    float4 *to = reinterpret_cast<float4 *>(out + row * width);
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < fours; i += 32) {
        float4 v = __ldcs(from + i);
        sum += v.x, sum += v.y, sum += v.z, sum += v.w;
        if (SQUARES) squares += v.x * v.x, squares += v.y * v.y, squares += v.z * v.z, squares += v.w * v.w;
        own[i] = v;
    }
    float center = __fdividef(over_warp(sum), width), variance;
    if (SQUARES) {
        variance = __fdividef(over_warp(squares), width) - center * center;
    } else {
        for (int i = threadIdx.x; i < fours; i += 32) {
            float4 v = own[i];
            squares += (v.x - center) * (v.x - center), squares += (v.y - center) * (v.y - center);
            squares += (v.z - center) * (v.z - center), squares += (v.w - center) * (v.w - center);
        }
        variance = __fdividef(over_warp(squares), width);
    }
    float scale = rsqrtf(variance + 1e-5f);
    for (int i = threadIdx.x; i < fours; i += 32) {
        float4 v = own[i], w = weights[i], b = biases[i];
        __stcs(to + i, make_float4(scale * (v.x - center) * w.x + b.x, scale * (v.y - center) * w.y + b.y,
                                   scale * (v.z - center) * w.z + b.z, scale * (v.w - center) * w.w + b.w));
    }
    if (threadIdx.x == 0 && mean != nullptr) __stcs(mean + row, center);
    if (threadIdx.x == 0 && inverse != nullptr) __stcs(inverse + row, scale);
}

#define NORM                                                                                                                      \
    (float *__restrict__ out, float *__restrict__ mean, float *__restrict__ inverse, const float *__restrict__ in,                 \
     const float *__restrict__ weight, const float *__restrict__ bias, int rows, int width)
KERNEL(norm_deviations) NORM { norm<false>(out, mean, inverse, in, weight, bias, rows, width); }
KERNEL(norm_squares) NORM { norm<true>(out, mean, inverse, in, weight, bias, rows, width); }
