// Texture and surface functions of CUDA C++, each in every dimension it has. Launch: a thread an element of the output.
#include <surface_indirect_functions.h>
#include <texture_indirect_functions.h>

__device__ int index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// An image of another size, by linear filtering between normalized coordinates.
extern "C" __global__ void resize(cudaTextureObject_t image, cudaSurfaceObject_t out, int width, int height) {
    int i = index(), column = i % width, row = i / width;
    if (i >= width * height) return;
    float4 v = tex2D<float4>(image, (column + 0.5f) / width, (row + 0.5f) / height);
    surf2Dwrite(make_uchar4(v.x * 255 + 0.5f, v.y * 255 + 0.5f, v.z * 255 + 0.5f, v.w * 255 + 0.5f), out,
                column * 4, row);
}

// Points of a volume, as a mean of what lies around them.
extern "C" __global__ void volume(cudaTextureObject_t box, const float3 *points, float *y, int n) {
    int i = index();
    if (i < n) y[i] = tex3D<float>(box, points[i].x, points[i].y, points[i].z);
}

// Elements of linear memory by their number.
extern "C" __global__ void table(cudaTextureObject_t words, cudaTextureObject_t pixels, const int *where, int4 *y, int n) {
    int i = index();
    if (i >= n) return;
    uchar4 p = tex1Dfetch<uchar4>(pixels, where[i]);
    y[i] = make_int4(tex1Dfetch<int>(words, where[i]), p.x, p.y + p.z, p.w);
}

extern "C" __global__ void layers(cudaTextureObject_t lines, cudaTextureObject_t images, const float2 *points, float2 *y,
                                  int count, int n) {
    int i = index();
    if (i >= n) return;
    y[i] = make_float2(tex1DLayered<float>(lines, points[i].x, i % count),
                       tex2DLayered<float>(images, points[i].x, points[i].y, i % count));
}

extern "C" __global__ void sky(cudaTextureObject_t cube, cudaTextureObject_t cubes, const float3 *rays, float2 *y,
                               int count, int n) {
    int i = index();
    if (i >= n) return;
    float3 r = rays[i];
    y[i] = make_float2(texCubemap<float>(cube, r.x, r.y, r.z), texCubemapLayered<float>(cubes, r.x, r.y, r.z, i % count));
}

extern "C" __global__ void levels(cudaTextureObject_t image, const float3 *points, float2 *y, int n) {
    int i = index();
    if (i >= n) return;
    float3 p = points[i];
    float step = exp2f(p.z) / 64;
    y[i] = make_float2(tex2DLod<float>(image, p.x, p.y, p.z),
                       tex2DGrad<float>(image, p.x, p.y, make_float2(step, 0), make_float2(0, step)));
}

// The four elements around a point, and the sum of what a 3 x 3 neighbourhood holds.
extern "C" __global__ void corners(cudaTextureObject_t image, const float2 *points, float4 *y, float *sums, int n) {
    int i = index();
    if (i >= n) return;
    y[i] = tex2Dgather<float4>(image, points[i].x, points[i].y, 0);
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) sum += tex2D<float>(image, points[i].x + dx, points[i].y + dy);
    sums[i] = sum;
}

// A five-point stencil between surfaces; what lies outside counts as zero.
extern "C" __global__ void smooth(cudaSurfaceObject_t in, cudaSurfaceObject_t out, int width, int height) {
    int i = index(), x = i % width * 4, y = i / width;
    if (i >= width * height) return;
    float sum = surf2Dread<float>(in, x, y);
    sum += surf2Dread<float>(in, x - 4, y, cudaBoundaryModeZero) + surf2Dread<float>(in, x + 4, y, cudaBoundaryModeZero);
    sum += surf2Dread<float>(in, x, y - 1, cudaBoundaryModeZero) + surf2Dread<float>(in, x, y + 1, cudaBoundaryModeZero);
    surf2Dwrite(sum / 5, out, x, y, cudaBoundaryModeTrap);
}

// Slices of a volume to the layers of an array, upside down.
extern "C" __global__ void slices(cudaSurfaceObject_t box, cudaSurfaceObject_t images, cudaSurfaceObject_t line, int width,
                                  int height, int depth) {
    int i = index(), x = i % width, y = i / width % height, z = i / width / height;
    if (z >= depth) return;
    float2 v = surf3Dread<float2>(box, x * 8, y, z);
    surf2DLayeredwrite(v, images, x * 8, height - 1 - y, z);
    if (y == 0 && z == 0) surf1Dwrite(surf1Dread<short2>(line, x * 4, cudaBoundaryModeClamp), line, (x + width) * 4);
}
