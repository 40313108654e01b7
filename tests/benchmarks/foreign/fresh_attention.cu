// Attention of heads of 128 f16 without mma: a thread for each row with the scores in global memory, and tiles of 64 x 64 with the
// scores and the sums in shared memory. Written for this repository after the descriptions of the measured kernels.
#include <cuda_fp16.h>
#define KERNEL(name) extern "C" __global__ void name
const int D = 128;

KERNEL(by_rows)(const half *q, const half *k, const half *v, half *o, float *scores, int n, float scale) {
    int head = blockIdx.y, row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    size_t base = (size_t)head * n * D;
    float *s = scores + ((size_t)head * n + row) * n, most = -INFINITY, sum = 0;
    for (int j = 0; j < n; j++) {
        float dot = 0;
        for (int d = 0; d < D; d++) dot += __half2float(q[base + (size_t)row * D + d]) * __half2float(k[base + (size_t)j * D + d]);
        s[j] = dot * scale;
        most = fmaxf(most, s[j]);
    }
    for (int j = 0; j < n; j++) {
        s[j] = expf(s[j] - most);
        sum += s[j];
    }
    for (int j = 0; j < n; j++) s[j] /= sum;
    for (int d = 0; d < D; d++) {
        float dot = 0;
        for (int j = 0; j < n; j++) dot += s[j] * __half2float(v[base + (size_t)j * D + d]);
        o[base + (size_t)row * D + d] = __float2half(dot);
    }
}

KERNEL(by_tiles)(const half *q, const half *k, const half *v, half *o, int n, float scale) {
    const int R = 64, C = 64;
    extern __shared__ char shared[];
    half *sq = reinterpret_cast<half *>(shared), *sk = sq + R * D, *sv = sk + C * D;
    float *ss = reinterpret_cast<float *>(sv + C * D), *so = ss + R * C, *sm = so + R * D, *sl = sm + R;
    int tid = threadIdx.x, threads = blockDim.x;
    size_t base = (size_t)blockIdx.y * n * D, first = base + (size_t)blockIdx.x * R * D;
    for (int i = tid; i < R * D; i += threads) sq[i] = q[first + i], so[i] = 0.0f;
    if (tid < R) sm[tid] = -INFINITY, sl[tid] = 0.0f;
    __syncthreads();
    for (int from = 0; from < n; from += C) {
        for (int i = tid; i < C * D; i += threads) {
            sk[i] = k[base + (size_t)from * D + i];
            sv[i] = v[base + (size_t)from * D + i];
        }
        __syncthreads();
        for (int i = tid; i < R * C; i += threads) {
            int r = i / C, c = i % C;
            float dot = 0;
            for (int d = 0; d < D; d++) dot += __half2float(sq[r * D + d]) * __half2float(sk[c * D + d]);
            ss[i] = dot * scale;
        }
        __syncthreads();
        if (tid < R) {
            float most = sm[tid];
            for (int j = 0; j < C; j++) most = fmaxf(most, ss[tid * C + j]);
            float alpha = expf(sm[tid] - most), sum = sl[tid] * alpha;
            for (int d = 0; d < D; d++) so[tid * D + d] *= alpha;
            for (int j = 0; j < C; j++) {
                float p = expf(ss[tid * C + j] - most);
                sum += p;
                for (int d = 0; d < D; d++) so[tid * D + d] += p * __half2float(sv[j * D + d]);
            }
            sm[tid] = most, sl[tid] = sum;
        }
        __syncthreads();
    }
    if (tid < R)
        for (int d = 0; d < D; d++) o[first + tid * D + d] = __float2half(so[tid * D + d] / sl[tid]);
}
