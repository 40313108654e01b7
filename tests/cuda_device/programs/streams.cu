#include "check.h"

__global__ void scale(int *x, int factor) { x[blockIdx.x * blockDim.x + threadIdx.x] *= factor; }

static int called;
static void CUDART_CB note(void *data) { called += *static_cast<int *>(data); }

int main() {
    const int n = 1024;
    int *pinned, *device[2], seven = 7;
    cudaStream_t streams[2];
    cudaEvent_t start, stop, ready;
    CHECK(cudaHostAlloc(&pinned, n * sizeof(int), cudaHostAllocDefault));
    for (int i = 0; i < n; i++) pinned[i] = i;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    for (int s = 0; s < 2; s++) {
        CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
        CHECK(cudaMalloc(&device[s], n * sizeof(int)));
    }
    CHECK(cudaEventRecord(start, streams[0]));
    CHECK(cudaMemcpyAsync(device[0], pinned, n * sizeof(int), cudaMemcpyHostToDevice, streams[0]));
    scale<<<n / 256, 256, 0, streams[0]>>>(device[0], 3);
    CHECK(cudaEventRecord(ready, streams[0]));
    CHECK(cudaStreamWaitEvent(streams[1], ready, 0));
    CHECK(cudaMemcpyAsync(device[1], device[0], n * sizeof(int), cudaMemcpyDeviceToDevice, streams[1]));
    scale<<<n / 256, 256, 0, streams[1]>>>(device[1], 5);
    CHECK(cudaMemcpyAsync(pinned, device[1], n * sizeof(int), cudaMemcpyDeviceToHost, streams[1]));
    CHECK(cudaLaunchHostFunc(streams[1], note, &seven));
    CHECK(cudaStreamSynchronize(streams[1]));
    CHECK(cudaEventRecord(stop, streams[0]));
    CHECK(cudaEventSynchronize(stop));
    float ms = -1;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    for (int i = 0; i < n; i++) EXPECT(pinned[i] == 15 * i);
    EXPECT(called == 7);
    EXPECT(ms >= 0 && cudaStreamQuery(streams[0]) == cudaSuccess && cudaEventQuery(ready) == cudaSuccess);
    EXPECT(cudaEventElapsedTime(&ms, start, ready) == cudaErrorInvalidResourceHandle);
    EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle && cudaGetLastError() == cudaSuccess);
    for (int s = 0; s < 2; s++) CHECK(cudaStreamDestroy(streams[s]));
    CHECK(cudaFreeHost(pinned));
    std::puts("two streams in order");
}
