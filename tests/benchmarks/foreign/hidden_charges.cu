// Electric and magnetic forces between charges that move: of all pairs to a matrix whose rows are summed, or by tiles in shared memory.
// Written for this repository after the descriptions of the measured kernels.
#define KERNEL(name) extern "C" __global__ void name

struct Charge {
    float x, y, z, vx, vy, vz, charge;
};

#define CHARGES const float *xs, const float *ys, const float *zs, const float *vxs, const float *vys, const float *vzs, const float *charges
#define READ(i) Charge{xs[i], ys[i], zs[i], vxs[i], vys[i], vzs[i], charges[i]}

const float PI = 3.14159265f, ELECTRIC = 1 / (4 * PI * 8.8541878e-12f), MAGNETIC = 1.2566371e-6f / (4 * PI), SOFT = 1e-12f;

// a force and that on a charge by another; by fast math where the source is compiled with it
template <bool FAST> __device__ __forceinline__ float3 with(float3 force, const Charge &on, const Charge &by) {
    const float x = on.x - by.x, y = on.y - by.y, z = on.z - by.z, square = x * x + y * y + z * z + SOFT;
    float inverse;
    if (FAST)
        asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(square));
    else
        inverse = rsqrtf(square);
    const float cubed = inverse * inverse * inverse;
    const float near = ELECTRIC * by.charge * on.charge * cubed, moving = MAGNETIC * by.charge * on.charge * cubed;
    const float along = on.vx * x + on.vy * y + on.vz * z, both = on.vx * by.vx + on.vy * by.vy + on.vz * by.vz;
    return make_float3(force.x + near * x + moving * (along * by.vx - both * x), force.y + near * y + moving * (along * by.vy - both * y),
                       force.z + near * z + moving * (along * by.vz - both * z));
}

// a pair of a thread, strides of the grid down and across
KERNEL(charge_pairs)(CHARGES, float4 *forces, size_t count) {
    const size_t down = blockDim.y * gridDim.y, across = blockDim.x * gridDim.x;
    for (size_t i = threadIdx.y + blockDim.y * blockIdx.y; i < count; i += down) {
        const Charge on = READ(i);
        for (size_t j = threadIdx.x + blockDim.x * blockIdx.x; j < count; j += across) {
            float3 force = make_float3(0, 0, 0);
            if (i != j) force = with<false>(force, on, READ(j));
            forces[i * count + j] = make_float4(force.x, force.y, force.z, 0);
        }
    }
}

// a row of a CTA, by a tree in shared memory
KERNEL(charge_sums)(const float4 *forces, float4 *sums, size_t count) {
    extern __shared__ float4 shared[];
    const size_t row = blockIdx.x, thread = threadIdx.x, threads = blockDim.x;
    if (row >= count) return;
    float4 sum = make_float4(0, 0, 0, 0);
    for (size_t j = thread; j < count; j += threads) {
        const float4 force = forces[row * count + j];
        sum.x += force.x, sum.y += force.y, sum.z += force.z;
    }
    shared[thread] = sum;
    __syncthreads();
    for (size_t half = threads / 2; half > 0; half /= 2) {
        if (thread < half) {
            shared[thread].x += shared[thread + half].x;
            shared[thread].y += shared[thread + half].y;
            shared[thread].z += shared[thread + half].z;
        }
        __syncthreads();
    }
    if (thread == 0) sums[row] = shared[0];
}

// a charge of a thread, 256 others at a time
KERNEL(charge_tiles)(CHARGES, float4 *sums, size_t count) {
    const int TILE = 256;
    __shared__ float x[TILE], y[TILE], z[TILE], vx[TILE], vy[TILE], vz[TILE], charge[TILE];
    const size_t i = blockIdx.x * blockDim.x + threadIdx.x, thread = threadIdx.x;
    if (i >= count) return;
    const Charge on = READ(i);
    float3 force = make_float3(0, 0, 0);
    for (size_t start = 0; start < count; start += TILE) {
        if (start + thread < count) {
            const Charge other = READ(start + thread);
            x[thread] = other.x, y[thread] = other.y, z[thread] = other.z;
            vx[thread] = other.vx, vy[thread] = other.vy, vz[thread] = other.vz, charge[thread] = other.charge;
        }
        __syncthreads();
        const size_t end = min(start + TILE, count);
        for (size_t j = start; j < end; j++) {
            const size_t at = j - start;
            if (i == j) continue;
            force = with<true>(force, on, {x[at], y[at], z[at], vx[at], vy[at], vz[at], charge[at]});
        }
        __syncthreads();
    }
    sums[i] = make_float4(force.x, force.y, force.z, 0);
}
