// Stencils and convolutions. Launch: grid (width/16, height/16), block (16, 16); heat3d block (8, 8, 4).
__constant__ float weights[25];

extern "C" __global__ void convolve(int width, int height, const float *x, float *y) {
    __shared__ float s[20][20];
    int left = blockIdx.x * 16 - 2, top = blockIdx.y * 16 - 2;
    for (int i = threadIdx.y * 16 + threadIdx.x; i < 400; i += 256) {
        int column = left + i % 20, row = top + i / 20;
        bool inside = column >= 0 && column < width && row >= 0 && row < height;
        s[i / 20][i % 20] = inside ? x[row * width + column] : 0.f;
    }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 5; i++)
#pragma unroll
        for (int j = 0; j < 5; j++) sum += weights[i * 5 + j] * s[threadIdx.y + i][threadIdx.x + j];
    int column = left + 2 + threadIdx.x, row = top + 2 + threadIdx.y;
    if (column < width && row < height) y[row * width + column] = sum;
}

extern "C" __global__ void heat3d(int nx, int ny, int nz, double c, const double *x, double *y) {
    int i = blockIdx.x * 8 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y, k = blockIdx.z * 4 + threadIdx.z;
    if (i < 1 || j < 1 || k < 1 || i >= nx - 1 || j >= ny - 1 || k >= nz - 1) return;
    long long at = ((long long)k * ny + j) * nx + i, plane = (long long)nx * ny;
    y[at] = x[at] + c * (x[at - 1] + x[at + 1] + x[at - nx] + x[at + nx] + x[at - plane] + x[at + plane] - 6 * x[at]);
}

extern "C" __global__ void life(int width, int height, const unsigned char *x, unsigned char *y) {
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y, alive = 0;
    if (column >= width || row >= height) return;
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++)
            if (i || j) alive += x[(row + i + height) % height * width + (column + j + width) % width];
    y[row * width + column] = alive == 3 || (alive == 2 && x[row * width + column]);
}

extern "C" __global__ void max_pool(int width, int height, const float *x, float *y, unsigned char *which) {
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y, best = 0;
    if (column >= width / 2 || row >= height / 2) return;
    float v = x[2 * row * width + 2 * column];
#pragma unroll
    for (int i = 1; i < 4; i++) {
        float w = x[(2 * row + i / 2) * width + 2 * column + i % 2];
        if (w > v) v = w, best = i;
    }
    y[row * (width / 2) + column] = v, which[row * (width / 2) + column] = best;
}
