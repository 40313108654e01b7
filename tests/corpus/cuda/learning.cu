// Steps of training and inference. Launch: a thread an element unless said otherwise.
#include <cuda_bf16.h>

extern "C" __global__ void adamw(int n, float rate, float beta1, float beta2, float eps, float decay, float c1, float c2,
                                 const float *gradient, float *m, float *v, float *weight) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float g = gradient[i];
    m[i] = beta1 * m[i] + (1 - beta1) * g;
    v[i] = beta2 * v[i] + (1 - beta2) * g * g;
    weight[i] -= rate * (m[i] / c1 / (sqrtf(v[i] / c2) + eps) + decay * weight[i]);
}

// Rotary places: (rows, heads, 2 * half); one block of `half` threads a row and head.
extern "C" __global__ void rotary(int heads, int half, const int *places, const float *frequencies, float *x) {
    int row = blockIdx.x, head = blockIdx.y, i = threadIdx.x;
    float sine, cosine;
    sincosf(places[row] * frequencies[i], &sine, &cosine);
    float *p = x + ((size_t)row * heads + head) * 2 * half;
    float a = p[i], b = p[i + half];
    p[i] = a * cosine - b * sine, p[i + half] = a * sine + b * cosine;
}

extern "C" __global__ void embed(int columns, const int *tokens, const __nv_bfloat162 *table, __nv_bfloat162 *y) {
    for (int i = threadIdx.x; i < columns / 2; i += blockDim.x)
        y[(size_t)blockIdx.x * (columns / 2) + i] = table[(size_t)tokens[blockIdx.x] * (columns / 2) + i];
}

// One warp a row.
extern "C" __global__ void cross_entropy(int rows, int classes, const float *logits, const int *labels, float *loss,
                                         float *gradient) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float *x = logits + (size_t)row * classes;
    float top = -3.4e38f, sum = 0;
    for (int i = lane; i < classes; i += 32) top = fmaxf(top, x[i]);
    for (int d = 16; d; d >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
    for (int i = lane; i < classes; i += 32) sum += expf(x[i] - top);
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
    int label = labels[row];
    if (lane == 0) loss[row] = logf(sum) + top - x[label];
    for (int i = lane; i < classes; i += 32)
        gradient[(size_t)row * classes + i] = expf(x[i] - top) / sum - (i == label ? 1.f : 0.f);
}

// Masked by bits of a counter-based generator.
extern "C" __global__ void dropout(int n, unsigned seed, float keep, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned k = seed, c = i;
    for (int round = 0; round < 7; round++) {
        unsigned high = __umulhi(0xD2511F53u, c), low = 0xD2511F53u * c;
        c = high ^ k ^ low, k += 0x9E3779B9u;
    }
    y[i] = c * 2.3283064e-10f < keep ? x[i] / keep : 0.f;
}

// The k largest of each row of at most 1024, k at most 8; one warp a row.
extern "C" __global__ void top_k(int rows, int columns, int k, const float *x, float *values, int *places) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    unsigned taken = 0;
    for (int round = 0; round < k; round++) {
        float best = -3.4e38f;
        int where = -1;
        for (int i = lane, bit = 0; i < columns; i += 32, bit++)
            if (!(taken >> bit & 1) && x[row * columns + i] > best) best = x[row * columns + i], where = i;
        float all = best;
        int winner = where;
        for (int d = 16; d; d >>= 1) {
            float other = __shfl_xor_sync(~0u, all, d);
            int place = __shfl_xor_sync(~0u, winner, d);
            if (other > all || (other == all && (unsigned)place < (unsigned)winner)) all = other, winner = place;
        }
        if (winner == where && where >= 0) taken |= 1u << (where / 32);
        if (lane == 0) values[row * k + round] = all, places[row * k + round] = winner;
    }
}

// Nothing but the ordering of two dependent launches.
#if __CUDA_ARCH__ >= 900
extern "C" __global__ void dependent(int n, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cudaGridDependencySynchronize();
    if (i < n) y[i] = x[i] * 2;
    cudaTriggerProgrammaticLaunchCompletion();
}
#endif
