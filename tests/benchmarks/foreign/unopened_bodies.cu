// Velocities and places of bodies that attract each other: structures of bodies, with tiles in shared memory, and arrays of numbers.
// Written for this repository after the descriptions of the measured kernels.
#define KERNEL(name) extern "C" __global__ void name
#define TILE 256

struct Body {
    float x, y, z, vx, vy, vz, mass;
};

// what the body of a thread gets from another
__device__ void attract(float dx, float dy, float dz, float mass, float soft, float &ax, float &ay, float &az) {
    float squares = dx * dx + dy * dy + dz * dz + soft * soft, inverse = rsqrtf(squares);
    float pull = mass * inverse * inverse * inverse;
    ax += dx * pull, ay += dy * pull, az += dz * pull;
}

// every body from global memory
KERNEL(forces_each)(Body *bodies, int count, float step, float soft) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float ax = 0, ay = 0, az = 0;
    for (int j = 0; j < count; j++)
        attract(bodies[j].x - bodies[i].x, bodies[j].y - bodies[i].y, bodies[j].z - bodies[i].z, bodies[j].mass, soft, ax, ay, az);
    bodies[i].vx += step * ax, bodies[i].vy += step * ay, bodies[i].vz += step * az;
}

KERNEL(move_bodies)(Body *bodies, int count, float step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    bodies[i].x += step * bodies[i].vx, bodies[i].y += step * bodies[i].vy, bodies[i].z += step * bodies[i].vz;
}

// tiles of bodies in shared memory
KERNEL(forces_tiles)(Body *bodies, int count, float step, float soft) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i < count ? bodies[i].x : 0, y = i < count ? bodies[i].y : 0, z = i < count ? bodies[i].z : 0;
    float ax = 0, ay = 0, az = 0;
    __shared__ float xs[TILE], ys[TILE], zs[TILE], masses[TILE];
    for (int tile = 0; tile < count; tile += TILE) {
        int other = tile + threadIdx.x;
        if (other < count) {
            xs[threadIdx.x] = bodies[other].x;
            ys[threadIdx.x] = bodies[other].y;
            zs[threadIdx.x] = bodies[other].z;
            masses[threadIdx.x] = bodies[other].mass;
        } else {
            masses[threadIdx.x] = 0;
        }
        __syncthreads();
        for (int j = 0; j < TILE; j++) attract(xs[j] - x, ys[j] - y, zs[j] - z, masses[j], soft, ax, ay, az);
        __syncthreads();
    }
    if (i < count) bodies[i].vx += step * ax, bodies[i].vy += step * ay, bodies[i].vz += step * az;
}

// the same from arrays of each number
KERNEL(forces_arrays)(const float *px, const float *py, const float *pz, const float *mass, float *vx, float *vy, float *vz, int count,
                      float step, float soft) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i < count ? px[i] : 0, y = i < count ? py[i] : 0, z = i < count ? pz[i] : 0;
    float ax = 0, ay = 0, az = 0;
    __shared__ float xs[TILE], ys[TILE], zs[TILE], masses[TILE];
    for (int tile = 0; tile < count; tile += TILE) {
        int other = tile + threadIdx.x;
        xs[threadIdx.x] = other < count ? px[other] : 0;
        ys[threadIdx.x] = other < count ? py[other] : 0;
        zs[threadIdx.x] = other < count ? pz[other] : 0;
        masses[threadIdx.x] = other < count ? mass[other] : 0;
        __syncthreads();
        for (int j = 0; j < TILE; j++) attract(xs[j] - x, ys[j] - y, zs[j] - z, masses[j], soft, ax, ay, az);
        __syncthreads();
    }
    if (i < count) vx[i] += step * ax, vy[i] += step * ay, vz[i] += step * az;
}

KERNEL(move_arrays)(float *px, float *py, float *pz, const float *vx, const float *vy, const float *vz, int count, float step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    px[i] += step * vx[i], py[i] += step * vy[i], pz[i] += step * vz[i];
}
