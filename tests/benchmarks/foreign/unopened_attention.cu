// Causal attention in f32 by three kernels that keep all scores: scores, softmax of their rows, and sums of values. Written for this
// repository after the description of the measured kernels, which are compiled with --use_fast_math.
#define KERNEL(name) extern "C" __global__ void name
#define SIZES int batch, int time, int width, int heads

// a score of a thread; queries, keys and values lie in rows of 3 * width
KERNEL(scores)(float *out, const float *in, SIZES) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * heads * time * time) return;
    int to = i % time, from = i / time % time;
    if (to > from) {
        out[i] = -INFINITY;
        return;
    }
    int h = i / (time * time) % heads, b = i / (heads * time * time), size = width / heads;
    const float *query = in + b * time * 3 * width + from * 3 * width + h * size;
    const float *key = in + b * time * 3 * width + to * 3 * width + h * size + width;
    float sum = 0;
    for (int k = 0; k < size; k++) sum += query[k] * key[k];
    sum *= 1.0 / sqrtf(size);  // in f64, as there
    out[i] = sum;
}

// a row of scores by a thread
KERNEL(softmax)(float *out, const float *in, int batch, int time, int heads) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * time * heads) return;
    int h = i % heads, t = i / heads % time, b = i / (heads * time);
    const float *row = in + b * heads * time * time + h * time * time + t * time;
    float *result = out + b * heads * time * time + h * time * time + t * time;
    float most = -10000, sum = 0;
    for (int k = 0; k <= t; k++)
        if (row[k] > most) most = row[k];
    for (int k = 0; k <= t; k++) {
        float v = __expf(row[k] - most);
        sum += v;
        result[k] = v;
    }
    float inverse = sum == 0 ? 0 : __fdividef(1.0f, sum);
    for (int k = 0; k < time; k++) {
        if (k <= t) result[k] *= inverse;
        else result[k] = 0;
    }
}

// a row of results by a thread, which it adds up in global memory
KERNEL(weighted)(float *out, const float *weights, const float *in, SIZES) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * time * heads) return;
    int h = i % heads, t = i / heads % time, b = i / (heads * time), size = width / heads;
    float *result = out + b * time * width + t * width + h * size;
    const float *row = weights + b * heads * time * time + h * time * time + t * time;
    for (int k = 0; k < size; k++) result[k] = 0;
    for (int to = 0; to <= t; to++) {
        const float *value = in + b * time * 3 * width + to * 3 * width + h * size + 2 * width;
        float weight = row[to];
        for (int k = 0; k < size; k++) result[k] += weight * value[k];
    }
}
