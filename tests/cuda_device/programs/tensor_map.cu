#include "check.h"
#include <cuda.h>
#include <cuda/barrier>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;

__global__ void load(const __grid_constant__ CUtensorMap map, float *out) {
    __shared__ alignas(128) float tile[8][16];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier arrived;
    if (threadIdx.x == 0) {
        init(&arrived, blockDim.x);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cde::cp_async_bulk_tensor_2d_global_to_shared(&tile, &map, 16 * blockIdx.x, 8 * blockIdx.y, arrived);
        token = cuda::device::barrier_arrive_tx(arrived, 1, sizeof tile);
    } else {
        token = arrived.arrive();
    }
    arrived.wait(std::move(token));
    int at = blockIdx.y * gridDim.x + blockIdx.x;
    for (int i = threadIdx.x; i < 128; i += blockDim.x) out[128 * at + i] = tile[i / 16][i % 16];
}

int main() {
    const int width = 32, height = 16;
    float image[height][width], result[4][8][16], *x, *out;
    for (int y = 0; y < height; y++)
        for (int c = 0; c < width; c++) image[y][c] = 100 * y + c;
    CHECK(cudaMalloc(&x, sizeof image));
    CHECK(cudaMalloc(&out, sizeof result));
    CHECK(cudaMemcpy(x, image, sizeof image, cudaMemcpyHostToDevice));
    void *entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
    EXPECT(found == cudaDriverEntryPointSuccess);
    auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
    CUtensorMap map;
    cuuint64_t sizes[] = {width, height}, strides[] = {width * sizeof(float)};
    cuuint32_t box[] = {16, 8}, steps[] = {1, 1};
    EXPECT(encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, x, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                  CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
    load<<<dim3(2, 2), 32>>>(map, out);
    CHECK(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int c = 0; c < width; c++) EXPECT(result[y / 8 * 2 + c / 16][y % 8][c % 16] == image[y][c]);
    std::puts("TMA loads four tiles");
}
