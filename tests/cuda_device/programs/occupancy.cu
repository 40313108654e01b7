// Occupancy queries against NVIDIA's calculator, cuda_occupancy.h, for kernels of few and of many registers and with launch bounds.
#include "check.h"

#include <cuda_occupancy.h>

__global__ void small(float *x) { x[threadIdx.x] = x[threadIdx.x + 1] * 2; }

__global__ void __launch_bounds__(256, 2) bounded(float *x) {
    __shared__ float kept[3000];
    kept[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = kept[255 - threadIdx.x];
}

__global__ void large(float *x) {
    float r[60], sum = 0;
#pragma unroll
    for (int i = 0; i < 60; i++) r[i] = x[i * threadIdx.x];
#pragma unroll
    for (int i = 0; i < 60; i++) sum += r[i] * r[(i + 7) % 60];
#pragma unroll
    for (int i = 0; i < 60; i++) x[i] = r[59 - i] + sum;
}

static int compared = 0;

static void compare(void (*kernel)(float *), const cudaDeviceProp &device) {
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, kernel));
    cudaOccDeviceProp properties(device);
    cudaOccFuncAttributes function(attributes);
    cudaOccDeviceState state;
    state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
    for (int threads : { 1, 32, 33, 64, 128, 160, 256, 320, 512, 1000, 1024 }) {
        if (threads > attributes.maxThreadsPerBlock) continue;      // cannot be launched
        for (size_t bytes : { 0, 1, 4096, 20000, 36000, 49152, 49153, 80000, 100000, 200000 }) {
            int found;
            cudaOccResult result;
            int known = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &function, &state, threads, bytes);
            CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found, kernel, threads, bytes));
            EXPECT(found == (known ? 0 : result.activeBlocksPerMultiprocessor));
            compared++;
        }
    }
    int grid, block, known_grid, known_block;
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel));
    EXPECT(!cudaOccMaxPotentialOccupancyBlockSize(&known_grid, &known_block, &properties, &function, &state, nullptr, 0));
    EXPECT(grid == known_grid && block == known_block);
    for (int threads : { 64, 256 })
        for (int blocks = 1; blocks < 9; blocks++) {
            size_t bytes, known_bytes;
            int failed = cudaOccAvailableDynamicSMemPerBlock(&known_bytes, &properties, &function, &state, blocks, threads);
            EXPECT(!cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, kernel, blocks, threads) == !failed);
            EXPECT(failed || bytes == known_bytes);
            compared++;
        }
}

int main() {
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    for (auto kernel : { small, bounded, large }) {
        compare(kernel, device);
        CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(device.sharedMemPerBlockOptin) - 16384));
        compare(kernel, device);
    }
    printf("%d queries on compute capability %d.%d\n", compared, device.major, device.minor);
}
