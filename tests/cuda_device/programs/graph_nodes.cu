// Nodes of graphs that allocate memory, that decide at run time, and that cudaGraphAddNode makes.
#include "check.h"

#include <cstring>

static const int N = 1000;
static const size_t BYTES = N * sizeof(int);

__global__ void fill(int *x, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) x[i] = value;
}

__global__ void add(const int *x, int *sum) {
    for (int i = threadIdx.x; i < N; i += blockDim.x) atomicAdd(sum, x[i]);
}

__global__ void step(int *left, cudaGraphConditionalHandle handle) { cudaGraphSetConditional(handle, --*left > 0); }

__global__ void mark(int *x, int value) { *x += value; }

static cudaGraphNodeParams kernel(const void *function, void **arguments) {
    cudaGraphNodeParams made = { cudaGraphNodeTypeKernel };
    made.kernel.func = const_cast<void *>(function);
    made.kernel.gridDim = dim3(1);
    made.kernel.blockDim = dim3(1);
    made.kernel.kernelParams = arguments;
    return made;
}

static void memory_nodes(cudaStream_t stream) {
    int *sum, host = 0;
    CHECK(cudaMalloc(&sum, sizeof *sum));
    CHECK(cudaMemset(sum, 0, sizeof *sum));
    CHECK(cudaDeviceSynchronize());
    int *inside;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMallocAsync(&inside, BYTES, stream));
    fill<<<4, 256, 0, stream>>>(inside, 3);
    add<<<1, 128, 0, stream>>>(inside, sum);
    CHECK(cudaFreeAsync(inside, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    size_t bytes = 1;
    for (int i = 0; i < 2; i++) CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &bytes));
    EXPECT(bytes == 0);
    CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &bytes));
    EXPECT(bytes == BYTES);
    CHECK(cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host == 2 * 3 * N);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));

    // an allocation that outlives its graph must be freed before the next launch
    cudaMemAllocNodeParams wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.poolProps.allocType = cudaMemAllocationTypePinned;
    wanted.poolProps.location.type = cudaMemLocationTypeDevice;
    wanted.bytesize = BYTES;
    cudaGraphNode_t node;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &wanted));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, stream));
    EXPECT(cudaGraphLaunch(exec, stream) == cudaErrorInvalidValue);
    CHECK(cudaFreeAsync(wanted.dptr, stream));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFree(wanted.dptr));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    for (int i = 0; i < 3; i++) CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaFreeAsync(wanted.dptr, stream));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(sum));
}

// left = 4; while (--left > 0) x += 1; then x += 10 if the loop's last value is 0
static void conditional_nodes(cudaStream_t stream) {
    int *left, *x, host = 0, one = 1, ten = 10;
    CHECK(cudaMalloc(&left, sizeof *left));
    CHECK(cudaMalloc(&x, sizeof *x));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t set, clear, loop, branch, inner;
    cudaGraphConditionalHandle turns, after;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&turns, graph, 1, cudaGraphCondAssignDefault));
    CHECK(cudaGraphConditionalHandleCreate(&after, graph, 0, cudaGraphCondAssignDefault));

    cudaGraphNodeParams params = { cudaGraphNodeTypeMemset };
    params.memset.dst = x;
    params.memset.elementSize = 4;
    params.memset.width = params.memset.height = 1;
    CHECK(cudaGraphAddNode(&clear, graph, nullptr, nullptr, 0, &params));
    params.memset.dst = left;
    params.memset.value = 4;
    params.memset.elementSize = 1;
    CHECK(cudaGraphAddNode(&set, graph, &clear, nullptr, 1, &params));

    params = { cudaGraphNodeTypeConditional };
    params.conditional.handle = turns;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    CHECK(cudaGraphAddNode(&loop, graph, &set, nullptr, 1, &params));
    cudaGraph_t body = params.conditional.phGraph_out[0];
    CHECK(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    mark<<<1, 1, 0, stream>>>(x, 1);
    step<<<1, 1, 0, stream>>>(left, turns);
    CHECK(cudaStreamEndCapture(stream, nullptr));

    params = { cudaGraphNodeTypeConditional };
    params.conditional.handle = after;
    params.conditional.type = cudaGraphCondTypeIf;
    params.conditional.size = 2;
    CHECK(cudaGraphAddNode(&branch, graph, &loop, nullptr, 1, &params));
    void *then[] = { &x, &one }, *otherwise[] = { &x, &ten };
    cudaGraph_t bodies[] = { params.conditional.phGraph_out[0], params.conditional.phGraph_out[1] };
    cudaGraphNodeParams of_body = kernel((const void *)mark, then);
    CHECK(cudaGraphAddNode(&inner, bodies[0], nullptr, nullptr, 0, &of_body));
    of_body = kernel((const void *)mark, otherwise);
    CHECK(cudaGraphAddNode(&inner, bodies[1], nullptr, nullptr, 0, &of_body));

    CHECK(cudaMemset(left, 0, sizeof *left));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++) CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(&host, x, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host == 14);
    cudaGraph_t copy;
    EXPECT(cudaGraphClone(&copy, graph) == cudaErrorNotSupported);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(left));
    CHECK(cudaFree(x));
}

int main() {
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    memory_nodes(stream);
    conditional_nodes(stream);
    CHECK(cudaStreamDestroy(stream));
    puts("nodes that allocate, decide and repeat");
}
