// The prefix sums of a textbook: a pass for each power of two that adds the element that far before, from one array to another, and a
// shift at the end. Written for this repository after the descriptions of the measured kernels.
extern "C" __global__ void pass(int n, int offset, int *out, const int *in) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n) return;
    if (k >= offset)
        out[k] = in[k - offset] + in[k];
    else
        out[k] = in[k];
}

extern "C" __global__ void shift(int n, int *out, const int *in) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) out[k] = k == 0 ? 0 : in[k - 1];
}
