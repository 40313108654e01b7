// Right and wrong orders of calls, chosen by names: `pyptx exec --check` reports the wrong ones.
#include "check.h"

#include <cstring>

static const int N = 1024;
static const size_t BYTES = N * sizeof(int);

__global__ void fill(int *x, int value) { x[blockIdx.x * blockDim.x + threadIdx.x] = value; }

__global__ void twice(const int *x, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i];
}

__global__ void count(int *x) { atomicAdd(x, 1); }

static int run(const char *name) {
    auto is = [&](const char *other) { return !strcmp(name, other); };
    unsigned flags = is("blocking streams") ? cudaStreamDefault : cudaStreamNonBlocking;
    int *x, *y, *host;
    cudaStream_t a, b;
    cudaEvent_t event;
    CHECK(cudaMalloc(&x, BYTES));
    CHECK(cudaMalloc(&y, BYTES));
    CHECK(cudaMallocHost(&host, BYTES));
    CHECK(cudaStreamCreateWithFlags(&a, flags));
    CHECK(cudaStreamCreateWithFlags(&b, flags));
    CHECK(cudaEventCreate(&event));
    CHECK(cudaDeviceSynchronize());

    if (is("no event")) {
        fill<<<4, 256, 0, a>>>(x, 3);
        twice<<<4, 256, 0, b>>>(x, y);
    } else if (is("event")) {
        fill<<<4, 256, 0, a>>>(x, 3);
        CHECK(cudaEventRecord(event, a));
        CHECK(cudaStreamWaitEvent(b, event, 0));
        twice<<<4, 256, 0, b>>>(x, y);
    } else if (is("event too early")) {
        CHECK(cudaEventRecord(event, a));
        fill<<<4, 256, 0, a>>>(x, 3);
        CHECK(cudaStreamWaitEvent(b, event, 0));
        twice<<<4, 256, 0, b>>>(x, y);
    } else if (is("host waits")) {
        fill<<<4, 256, 0, a>>>(x, 3);
        CHECK(cudaStreamSynchronize(a));
        twice<<<4, 256, 0, b>>>(x, y);
    } else if (is("blocking streams")) {
        fill<<<4, 256, 0, a>>>(x, 3);
        CHECK(cudaMemset(y, 0, BYTES));  // of the legacy stream, which waits for the others
        twice<<<4, 256, 0, b>>>(x, y);
    } else if (is("memset")) {
        CHECK(cudaMemset(x, 1, BYTES));
        fill<<<4, 256, 0, a>>>(x, 3);
    } else if (is("halves")) {
        fill<<<2, 256, 0, a>>>(x, 3);
        fill<<<2, 256, 0, b>>>(x + N / 2, 4);
    } else if (is("atomics")) {
        count<<<1, 32, 0, a>>>(x);
        count<<<1, 32, 0, b>>>(x);
    } else if (is("copies")) {
        CHECK(cudaMemcpyAsync(x, host, BYTES, cudaMemcpyHostToDevice, a));
        CHECK(cudaMemcpyAsync(y, x, BYTES, cudaMemcpyDeviceToDevice, b));
    } else if (is("buffer reused")) {
        CHECK(cudaMemcpyAsync(x, host, BYTES, cudaMemcpyHostToDevice, a));
        host[7] = 1;
    } else if (is("buffer reused later")) {
        CHECK(cudaMemcpyAsync(x, host, BYTES, cudaMemcpyHostToDevice, a));
        CHECK(cudaStreamSynchronize(a));
        host[7] = 1;
    } else if (is("released")) {
        int *pool;
        CHECK(cudaMallocAsync(&pool, BYTES, a));
        fill<<<4, 256, 0, a>>>(pool, 3);
        CHECK(cudaFreeAsync(pool, b));
    } else if (is("graph")) {
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
        CHECK(cudaEventRecord(event, a));
        CHECK(cudaStreamWaitEvent(b, event, 0));
        fill<<<4, 256, 0, a>>>(x, 3);
        twice<<<4, 256, 0, b>>>(x, y);  // a branch of its own
        CHECK(cudaEventRecord(event, b));
        CHECK(cudaStreamWaitEvent(a, event, 0));
        CHECK(cudaStreamEndCapture(a, &graph));
        CHECK(cudaGraphInstantiate(&exec, graph, 0));
        CHECK(cudaGraphLaunch(exec, a));
        CHECK(cudaStreamSynchronize(a));
        CHECK(cudaGraphExecDestroy(exec));
        CHECK(cudaGraphDestroy(graph));
    } else if (is("freed twice")) {
        CHECK(cudaFree(x));
        EXPECT(cudaFree(x) == cudaErrorInvalidValue);
        CHECK(cudaMalloc(&x, BYTES));
    } else if (is("copied after the release")) {
        CHECK(cudaFree(x));
        EXPECT(cudaMemcpy(host, x, BYTES, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
        CHECK(cudaMalloc(&x, BYTES));
    } else if (is("not recorded")) {
        CHECK(cudaStreamWaitEvent(b, event, 0));
    } else if (is("unread")) {
        fill<<<4, 2048, 0, a>>>(x, 3);  // more threads than a block has
    } else if (is("read")) {
        fill<<<4, 2048, 0, a>>>(x, 3);
        EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    } else if (is("left")) {
        cudaArray_t array;
        cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
        CHECK(cudaMallocArray(&array, &channels, 4, 4));
    } else {
        fprintf(stderr, "unknown: %s\n", name);
        return 2;
    }
    CHECK(cudaDeviceSynchronize());
    if (is("left")) return 0;
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaFreeHost(host));
    CHECK(cudaStreamDestroy(a));
    CHECK(cudaStreamDestroy(b));
    CHECK(cudaEventDestroy(event));
    return 0;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (int status = run(argv[i])) return status;
    return 0;
}
