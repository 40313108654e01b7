// Kernels of lessons: a convolution of 17 x 17 weights by outputs of a thread, and sums over points with a table of 33 values. Written
// for this repository after the descriptions of the measured kernels. The weights are those of the test.
#include <cstddef>
#define KERNEL(name) extern "C" __global__ void name
const int AROUND = 8, WIDE = 2 * AROUND + 1, SIDE_X = 32, SIDE_Y = 8;

struct Weights {
    float value[WIDE * WIDE];
    constexpr Weights() : value() {
        for (int i = 0; i < WIDE * WIDE; i++) value[i] = static_cast<float>(i % 13 + 1) / 2048.0f;
    }
};
__constant__ Weights weights;

__device__ int inside(int at, int side) { return min(max(at, 0), side - 1); }

template <int WIDTH, int HEIGHT> __device__ void convolved(const float *__restrict__ in, float *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    float sum = 0;
#pragma unroll
    for (int dy = -AROUND; dy <= AROUND; dy++) {
        int row = inside(y + dy, HEIGHT);
#pragma unroll
        for (int dx = -AROUND; dx <= AROUND; dx++)
            sum = fmaf(in[static_cast<size_t>(row) * WIDTH + inside(x + dx, WIDTH)], weights.value[(dy + AROUND) * WIDE + dx + AROUND], sum);
    }
    out[static_cast<size_t>(y) * WIDTH + x] = sum;
}

// OUT outputs of a thread, one below the other, from a tile in shared memory
template <int OUT, int WIDTH, int HEIGHT> __device__ void convolved_tile(const float *__restrict__ in, float *out) {
    const int COLUMNS = SIDE_X + 2 * AROUND, ROWS = SIDE_Y * OUT + 2 * AROUND;
    __shared__ float tile[ROWS][COLUMNS];
    int left = blockIdx.x * SIDE_X, top = blockIdx.y * SIDE_Y * OUT, tid = threadIdx.y * SIDE_X + threadIdx.x;
    for (int i = tid; i < ROWS * COLUMNS; i += SIDE_X * SIDE_Y) {
        int row = inside(top + i / COLUMNS - AROUND, HEIGHT), column = inside(left + i % COLUMNS - AROUND, WIDTH);
        tile[i / COLUMNS][i % COLUMNS] = in[static_cast<size_t>(row) * WIDTH + column];
    }
    __syncthreads();
    float sums[OUT] = {};
#pragma unroll
    for (int r = 0; r < WIDE - 1 + OUT; r++) {
#pragma unroll
        for (int dx = 0; dx < WIDE; dx++) {
            float v = tile[threadIdx.y * OUT + r][threadIdx.x + dx];
#pragma unroll
            for (int q = 0; q < OUT; q++)
                if (r - q >= 0 && r - q < WIDE) sums[q] = fmaf(v, weights.value[(r - q) * WIDE + dx], sums[q]);
        }
    }
    int x = left + threadIdx.x;
#pragma unroll
    for (int q = 0; q < OUT; q++) {
        int y = top + threadIdx.y * OUT + q;
        if (x < WIDTH && y < HEIGHT) out[static_cast<size_t>(y) * WIDTH + x] = sums[q];
    }
}

#define IMAGE (const float *__restrict__ in, float *out)
KERNEL(convolution) IMAGE { convolved<2048, 2048>(in, out); }
KERNEL(convolution_1) IMAGE { convolved_tile<1, 2048, 2048>(in, out); }
KERNEL(convolution_2) IMAGE { convolved_tile<2, 2048, 2048>(in, out); }
KERNEL(convolution_4) IMAGE { convolved_tile<4, 2048, 2048>(in, out); }
KERNEL(convolution_8) IMAGE { convolved_tile<8, 2048, 2048>(in, out); }

const int TABLE = 33, TILE = 256, PLACES = 136, MASSES = PLACES + TILE * 8;  // bytes before the points and their weights
extern __shared__ char shared[];

__device__ __forceinline__ float from_table(const float *table, float distance) {
    if (distance >= 1.0f) return 0.0f;
    float t = distance * static_cast<float>(TABLE - 1);
    int k = static_cast<int>(t);
    if (k > TABLE - 2) k = TABLE - 2;
    float rest = t - static_cast<float>(k);
    return table[k] + (table[k + 1] - table[k]) * rest;
}

__device__ __forceinline__ float one_point(const float *table, float2 a, float2 b, float weight) {
    float dx = a.x - b.x, dy = a.y - b.y;
    return weight * from_table(table, dx * dx + dy * dy);
}

#define POINTS \
    (const float2 *__restrict__ asked, const float2 *__restrict__ points, const float *__restrict__ mass, const float *__restrict__ table, \
     float *__restrict__ out, int queries, int count)
KERNEL(points) POINTS {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= queries) return;
    float2 own = asked[i];
    float sum = 0;
    for (int j = 0; j < count; j++) sum += one_point(table, own, points[j], mass[j]);
    out[i] = sum;
}

// a tile of points in shared memory, whose last is short or filled up with points without weight
template <bool FULL> __device__ void points_by_tiles POINTS {
    float *own_table = reinterpret_cast<float *>(shared), *own_mass = reinterpret_cast<float *>(shared + MASSES);
    float2 *places = reinterpret_cast<float2 *>(shared + PLACES);
    for (int k = threadIdx.x; k < TABLE; k += TILE) own_table[k] = table[k];
    int i = blockIdx.x * TILE + threadIdx.x;
    float2 own = asked[i < queries ? i : queries - 1];
    float sum = 0;
    for (int first = 0; first < count; first += TILE) {
        int some = count - first < TILE ? count - first : TILE;
        __syncthreads();
        if (static_cast<int>(threadIdx.x) < some) {
            places[threadIdx.x] = points[first + threadIdx.x];
            own_mass[threadIdx.x] = mass[first + threadIdx.x];
        } else if (FULL) {
            places[threadIdx.x] = make_float2(0, 0);
            own_mass[threadIdx.x] = 0;
        }
        __syncthreads();
        if (FULL) {
#pragma unroll 8
            for (int j = 0; j < TILE; j++) sum += one_point(own_table, own, places[j], own_mass[j]);
        } else
            for (int j = 0; j < some; j++) sum += one_point(own_table, own, places[j], own_mass[j]);
    }
    if (i < queries) out[i] = sum;
}

KERNEL(points_short) POINTS { points_by_tiles<false>(asked, points, mass, table, out, queries, count); }
KERNEL(points_full) POINTS { points_by_tiles<true>(asked, points, mass, table, out, queries, count); }
