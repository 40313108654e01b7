#include "check.h"

__global__ void add(int *x, int value) { x[threadIdx.x] += value; }

int main() {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int host[32] = {}, *x;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&x, sizeof host));
    CHECK(cudaMemset(x, 0, sizeof host));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 32, 0, stream>>>(x, 1);
    add<<<1, 32, 0, stream>>>(x, 10);
    CHECK(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, stream));
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    CHECK(cudaStreamEndCapture(stream, &graph));
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT(nodes == 3);
    EXPECT(host[0] == 0);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++) CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int v : host) EXPECT(v == 33);

    cudaGraph_t built;
    cudaGraphNode_t node;
    int value = 5;
    void *arguments[] = {&x, &value};
    cudaKernelNodeParams params = {};
    params.func = reinterpret_cast<void *>(add);
    params.gridDim = 1;
    params.blockDim = 32;
    params.kernelParams = arguments;
    CHECK(cudaGraphCreate(&built, 0));
    CHECK(cudaGraphAddKernelNode(&node, built, nullptr, 0, &params));
    cudaGraphNode_t copy;
    CHECK(cudaGraphAddMemcpyNode1D(&copy, built, &node, 1, host, x, sizeof host, cudaMemcpyDeviceToHost));
    cudaGraphExec_t second;
    CHECK(cudaGraphInstantiate(&second, built, 0));
    CHECK(cudaGraphLaunch(second, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(host[31] == 38);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    std::puts("graphs by capture and by nodes");
}
