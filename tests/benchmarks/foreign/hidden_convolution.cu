// A convolution of an image, a number of a thread, with weights in global memory. Written for this repository after the description
// of the measured kernel.
extern "C" __global__ void convolve(const float *__restrict__ image, float *__restrict__ out, int width, int height,
                                    const float *__restrict__ weights, int side) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, reach = side / 2;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int down = -reach; down <= reach; down++) {
        const int row = y + down;
        if (row < 0 || row >= height) continue;
        for (int across = -reach; across <= reach; across++) {
            const int column = x + across;
            if (column < 0 || column >= width) continue;
            sum += image[row * width + column] * weights[(down + reach) * side + across + reach];
        }
    }
    out[y * width + x] = sum;
}
