// Numbers. Launch: fft256 one block of 128 threads for 256 complex numbers; nbody blocks of 128 threads; the others a
// thread an element.
extern "C" __global__ void fft256(const float2 *x, float2 *y) {
    __shared__ float2 s[2][256];
    int t = threadIdx.x, from = 0;
    x += blockIdx.x * 256, y += blockIdx.x * 256;
    s[0][t] = x[t], s[0][t + 128] = x[t + 128];
    for (int n = 1; n < 256; n *= 2, from ^= 1) {
        __syncthreads();
        float sine, cosine;
        int k = t & (n - 1);
        __sincosf(-3.14159265f * k / n, &sine, &cosine);
        float2 a = s[from][t], b = s[from][t + 128];
        float2 c = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
        int at = 2 * t - k;
        s[from ^ 1][at] = make_float2(a.x + c.x, a.y + c.y);
        s[from ^ 1][at + n] = make_float2(a.x - c.x, a.y - c.y);
    }
    __syncthreads();
    y[t] = s[from][t], y[t + 128] = s[from][t + 128];
}

extern "C" __global__ void __launch_bounds__(128) nbody(int n, float softening, const float4 *bodies, float4 *forces) {
    __shared__ float4 s[128];
    float4 me = bodies[blockIdx.x * 128 + threadIdx.x];
    float3 f = make_float3(0, 0, 0);
    for (int start = 0; start < n; start += 128) {
        __syncthreads();
        s[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < 128; i++) {
            float dx = s[i].x - me.x, dy = s[i].y - me.y, dz = s[i].z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            float pull = s[i].w * inverse * inverse * inverse;
            f.x += dx * pull, f.y += dy * pull, f.z += dz * pull;
        }
    }
    forces[blockIdx.x * 128 + threadIdx.x] = make_float4(f.x, f.y, f.z, 0);
}

extern "C" __global__ void mandelbrot(int width, int height, int most, unsigned short *steps) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y, i = 0;
    if (column >= width || row >= height) return;
    float cx = 3.f * column / width - 2.f, cy = 2.f * row / height - 1.f, x = 0, y = 0;
    while (i < most && x * x + y * y < 4.f) {
        float next = x * x - y * y + cx;
        y = 2 * x * y + cy, x = next, i++;
    }
    steps[row * width + column] = i;
}

// The share of n points in the quarter circle, with a generator of its own in each thread.
extern "C" __global__ void monte_carlo(int n, unsigned long long seed, unsigned *inside) {
    unsigned long long state = seed + blockIdx.x * blockDim.x + threadIdx.x;
    unsigned count = 0;
    for (int i = 0; i < n; i++) {
        float p[2];
        for (int j = 0; j < 2; j++) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            unsigned mixed = (unsigned)(((state >> 18) ^ state) >> 27);
            p[j] = (mixed >> 8) * (1.f / 16777216);
        }
        count += p[0] * p[0] + p[1] * p[1] < 1.f;
    }
    atomicAdd(inside, count);
}

extern "C" __global__ void rounding(int n, const float *a, const float *b, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float u = a[i], v = b[i];
    y[8 * i] = __fadd_rz(u, v), y[8 * i + 1] = __fmul_ru(u, v), y[8 * i + 2] = __fmaf_rd(u, v, u);
    y[8 * i + 3] = __fdiv_rn(u, v), y[8 * i + 4] = __fsqrt_rn(fabsf(u)), y[8 * i + 5] = __frcp_rz(v);
    y[8 * i + 6] = rintf(u) + truncf(v) + floorf(u) + ceilf(v), y[8 * i + 7] = copysignf(u, v) + fmodf(u, 3.f);
}
