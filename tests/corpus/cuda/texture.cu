// Textures and surfaces. Launch: a thread an element of the output, blocks of (16, 16).
extern "C" __global__ void rotate(cudaTextureObject_t image, int width, int height, float angle, float *y) {
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (column >= width || row >= height) return;
    float u = column / (float)width - 0.5f, v = row / (float)height - 0.5f, c = cosf(angle), s = sinf(angle);
    y[row * width + column] = tex2D<float>(image, u * c - v * s + 0.5f, v * c + u * s + 0.5f);
}

extern "C" __global__ void look_up(cudaTextureObject_t line, cudaTextureObject_t volume, int n, float4 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 a = tex1Dfetch<float4>(line, i), b = tex3D<float4>(volume, i * 0.5f, 1.f, 2.f);
    float4 c = tex2DLod<float4>(line, 0.f, 1.f, 2.f), d = tex2DLayered<float4>(line, 0.25f, 0.5f, 3);
    y[i] = make_float4(a.x + b.x, a.y * b.y, a.z - c.z, a.w + d.w);
}

extern "C" __global__ void invert(cudaSurfaceObject_t in, cudaSurfaceObject_t out, int width, int height) {
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (column >= width || row >= height) return;
    uchar4 v;
    surf2Dread(&v, in, column * 4, row);
    surf2Dwrite(make_uchar4(255 - v.x, 255 - v.y, 255 - v.z, v.w), out, column * 4, row, cudaBoundaryModeClamp);
}
