// Accesses of the host to memory that the device uses, chosen by name, right and wrong ones.
#include "check.h"

#include <cstring>

static const int N = 4096;
static const size_t BYTES = N * sizeof(int);

__global__ void fill(int *x, int value) { x[blockIdx.x * blockDim.x + threadIdx.x] = value; }

__managed__ int variable[N];

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    auto is = [&](const char *other) { return !strcmp(name, other); };
    volatile int *seen;
    int *x, *pinned, *managed, sum = 0;
    cudaStream_t stream;
    CHECK(cudaMalloc(&x, BYTES));
    CHECK(cudaMallocHost(&pinned, BYTES));
    CHECK(cudaMallocManaged(&managed, BYTES));
    CHECK(cudaStreamCreate(&stream));
    for (int i = 0; i < N; i++) pinned[i] = managed[i] = variable[i] = i;
    if (is("destination read")) {
        CHECK(cudaMemcpyAsync(pinned, x, BYTES, cudaMemcpyDeviceToHost, stream));
        sum += pinned[9];  // wrong
    } else if (is("source written")) {
        CHECK(cudaMemcpyAsync(x, pinned, BYTES, cudaMemcpyHostToDevice, stream));
        sum += pinned[9];
        pinned[9] = 1;  // wrong
    } else if (is("source written by memset")) {
        CHECK(cudaMemcpyAsync(x, pinned, BYTES, cudaMemcpyHostToDevice, stream));
        memset(pinned, 0, BYTES);  // wrong
    } else if (is("managed read during a kernel")) {
        fill<<<N / 256, 256, 0, stream>>>(managed, 3);
        sum += managed[9];  // wrong
    } else if (is("managed variable read during a kernel")) {
        fill<<<N / 256, 256, 0, stream>>>(variable, 3);
        sum += variable[9];  // wrong
    } else if (is("right")) {
        CHECK(cudaMemcpyAsync(pinned, x, BYTES / 2, cudaMemcpyDeviceToHost, stream));
        sum += pinned[N - 1] + managed[9];  // others
        fill<<<N / 256, 256, 0, stream>>>(managed, 3);
        CHECK(cudaStreamSynchronize(stream));
        sum += pinned[9] + managed[9];
        CHECK(cudaMemcpyAsync(x, pinned, BYTES, cudaMemcpyHostToDevice, stream));
        CHECK(cudaDeviceSynchronize());
        memset(pinned, 0, BYTES);
        managed[1] = 2;
        EXPECT(sum == N - 1 + 9 + 0 + 3);
    } else if (is("device memory")) {
        seen = x;
        sum += seen[9];  // wrong
    } else if (is("freed memory")) {
        CHECK(cudaFreeHost(pinned));
        seen = pinned;
        sum += seen[9];  // wrong
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(x));
    std::printf("%s\n", sum >= 0 ? name : "");
}
