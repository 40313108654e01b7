// Moving data. Launch: transpose grid (columns/32, rows/32), block (32, 8); the others a thread an element.
extern "C" __global__ void transpose(int rows, int columns, const float *x, float *y) {
    __shared__ float s[32][33];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
    for (int i = 0; i < 32; i += 8)
        if (row + i < rows && column < columns) s[threadIdx.y + i][threadIdx.x] = x[(row + i) * columns + column];
    __syncthreads();
    column = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
    for (int i = 0; i < 32; i += 8)
        if (row + i < columns && column < rows) y[(row + i) * rows + column] = s[threadIdx.x][threadIdx.y + i];
}

extern "C" __global__ void gather(int n, const int *index, const double *x, double *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __ldg(&x[index[i]]);
}

struct Particle {
    float3 place, speed;
    int kind;
};

extern "C" __global__ void unpack(int n, const Particle *p, float *x, float *y, float *z, int *kind) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle q = p[i];
    x[i] = q.place.x + q.speed.x, y[i] = q.place.y + q.speed.y, z[i] = q.place.z + q.speed.z, kind[i] = q.kind;
}

extern "C" __global__ void cached(int n, const int4 *x, int4 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int4 a = __ldcs(&x[i]), b = __ldcg(&y[i]);
        __stwt(&y[i], make_int4(a.x + b.x, a.y - b.y, a.z ^ b.z, a.w | b.w));
    }
}

extern "C" __global__ void reverse_bytes(int n, const uchar4 *x, uchar4 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[n - 1 - i] = make_uchar4(x[i].w, x[i].z, x[i].y, x[i].x);
}
