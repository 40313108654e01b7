// Electric and magnetic forces between all pairs of charged bodies: a matrix of the forces and its sums by rows, with a tree in shared
// memory, and sums by tiles of 256 bodies. Written for this repository after the descriptions of the measured kernels.
#define KERNEL(name) extern "C" __global__ void name
#define BODIES                                                                                                                      \
    const float *x, const float *y, const float *z, const float *vx, const float *vy, const float *vz, const float *q
const float SOFT = 1e-6f * 1e-6f, ELECTRIC = 8.98755179e9f, MAGNETIC = 1e-7f;

struct Body {
    float x, y, z, vx, vy, vz, q;
};

// the force on a from b
__device__ float3 force(const Body &a, const Body &b) {
    float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    float inverse = rsqrtf(x * x + y * y + z * z + SOFT), cube = inverse * inverse * inverse;
    float electric = ELECTRIC * b.q * a.q * cube, magnetic = MAGNETIC * b.q * a.q * cube;
    float along = a.vx * x + a.vy * y + a.vz * z, both = a.vx * b.vx + a.vy * b.vy + a.vz * b.vz;
    return make_float3(electric * x + magnetic * (along * b.vx - both * x), electric * y + magnetic * (along * b.vy - both * y),
                       electric * z + magnetic * (along * b.vz - both * z));
}

KERNEL(force_matrix)(BODIES, float4 *forces, size_t count) {
    size_t left = threadIdx.x + blockDim.x * blockIdx.x, first = threadIdx.y + blockDim.y * blockIdx.y;
    size_t across = blockDim.x * gridDim.x, down = blockDim.y * gridDim.y;
    for (size_t i = first; i < count; i += down) {
        Body a = {x[i], y[i], z[i], vx[i], vy[i], vz[i], q[i]};
        for (size_t j = left; j < count; j += across) {
            if (i == j) {
                forces[i * count + j] = make_float4(0, 0, 0, 0);
                continue;
            }
            float3 f = force(a, {x[j], y[j], z[j], vx[j], vy[j], vz[j], q[j]});
            forces[i * count + j] = make_float4(f.x, f.y, f.z, 0);
        }
    }
}

KERNEL(row_sums)(const float4 *forces, float4 *sums, size_t count) {
    extern __shared__ float4 part[];
    size_t row = blockIdx.x, tid = threadIdx.x, threads = blockDim.x;
    if (row >= count) return;
    float4 sum = make_float4(0, 0, 0, 0);
    for (size_t j = tid; j < count; j += threads) {
        float4 f = forces[row * count + j];
        sum.x += f.x, sum.y += f.y, sum.z += f.z;
    }
    part[tid] = sum;
    __syncthreads();
    for (size_t s = threads / 2; s > 0; s /= 2) {
        if (tid < s) {
            part[tid].x += part[tid + s].x;
            part[tid].y += part[tid + s].y;
            part[tid].z += part[tid + s].z;
        }
        __syncthreads();
    }
    if (tid == 0) sums[row] = part[0];
}

KERNEL(tiles)(BODIES, float4 *sums, size_t count) {
    const int TILE = 256;
    __shared__ float sx[TILE], sy[TILE], sz[TILE], svx[TILE], svy[TILE], svz[TILE], sq[TILE];
    size_t i = blockIdx.x * blockDim.x + threadIdx.x, tid = threadIdx.x;
    if (i >= count) return;
    Body a = {x[i], y[i], z[i], vx[i], vy[i], vz[i], q[i]};
    float3 sum = make_float3(0, 0, 0);
    for (size_t from = 0; from < count; from += TILE) {
        size_t at = from + tid;
        if (at < count) {
            sx[tid] = x[at], sy[tid] = y[at], sz[tid] = z[at];
            svx[tid] = vx[at], svy[tid] = vy[at], svz[tid] = vz[at], sq[tid] = q[at];
        }
        __syncthreads();
        size_t end = min(static_cast<unsigned long long>(from + TILE), static_cast<unsigned long long>(count));
        for (size_t j = from; j < end; j++) {
            size_t k = j - from;
            if (i == j) continue;
            float3 f = force(a, {sx[k], sy[k], sz[k], svx[k], svy[k], svz[k], sq[k]});
            sum.x += f.x, sum.y += f.y, sum.z += f.z;
        }
        __syncthreads();
    }
    sums[i] = make_float4(sum.x, sum.y, sum.z, 0);
}
