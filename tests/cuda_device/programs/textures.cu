#include "check.h"

__global__ void sample(cudaTextureObject_t texture, float *out, int width) {
    int x = threadIdx.x, y = threadIdx.y;
    out[y * width + x] = tex2D<float>(texture, x + 1.0f, y + 0.5f);
}

__global__ void bits(cudaTextureObject_t texture, unsigned *out, int width) {
    int x = threadIdx.x, y = threadIdx.y;
    out[y * width + x] = tex2D<unsigned>(texture, x, y);
}

__global__ void store(cudaSurfaceObject_t surface) {
    surf2Dwrite(float(100 * threadIdx.y + threadIdx.x), surface, threadIdx.x * sizeof(float), threadIdx.y);
}

int main() {
    const int width = 16, height = 8;
    float image[height][width], result[height][width], *out;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) image[y][x] = 10 * y + x;
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &channels, width, height, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, image, sizeof image[0], sizeof image[0], height, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    CHECK(cudaMalloc(&out, sizeof result));
    sample<<<1, dim3(width, height)>>>(texture, out, width);
    CHECK(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) EXPECT(result[y][x] == (x + 1 < width ? image[y][x] + 0.5f : image[y][x]));
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    store<<<1, dim3(width, height)>>>(surface);
    CHECK(cudaMemcpy2DFromArray(result, sizeof result[0], array, 0, 0, sizeof result[0], height, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) EXPECT(result[y][x] == 100 * y + x);
    CHECK(cudaDestroyTextureObject(texture));

    // a view of the same bytes, as integers, is read as it was stored
    cudaResourceViewDesc view = {}, again;
    view.format = cudaResViewFormatUnsignedInt1;
    view.width = width;
    view.height = height;
    how.filterMode = cudaFilterModePoint;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, &view));
    CHECK(cudaGetTextureObjectResourceViewDesc(&again, texture));
    EXPECT(again.format == view.format && again.width == width);
    bits<<<1, dim3(width, height)>>>(texture, (unsigned *)out, width);
    CHECK(cudaMemcpy(image, out, sizeof image, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) EXPECT(image[y][x] == 100 * y + x);
    CHECK(cudaDestroyTextureObject(texture));
    view.width = 8;
    FAILS(cudaCreateTextureObject(&texture, &resource, &how, &view), cudaErrorInvalidValue);
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
    std::puts("a texture interpolates, a surface stores");
}
