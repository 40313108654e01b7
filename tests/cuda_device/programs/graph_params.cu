// Parameters of the nodes of a captured graph, read and changed; child graphs, user objects, copies of variables.
#include "check.h"

__global__ void add(int *x, int value) { x[threadIdx.x] += value; }

__global__ void multiply(int *x, int value) { x[threadIdx.x] *= value; }

__device__ int variable[32];

static const size_t BYTES = 32 * sizeof(int);
static cudaStream_t stream, other;
static int *x, *y, *host;

static void CUDART_CB count(void *data) { ++*(int *)data; }

static int run(cudaGraphExec_t exec) {
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    return host[7];
}

static void captured_nodes() {
    int calls = 0;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(x, 0, BYTES, stream));
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(other, fork));
    CHECK(cudaMemsetAsync(y, 0, BYTES, other));
    add<<<1, 32, 0, stream>>>(x, 3);
    add<<<1, 32, 0, other>>>(y, 4);
    CHECK(cudaEventRecord(join, other));
    CHECK(cudaStreamWaitEvent(stream, join));
    multiply<<<1, 32, 0, stream>>>(x, 5);
    CHECK(cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaLaunchHostFunc(stream, count, &calls));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT(run(exec) == 15 && calls == 1);

    cudaGraphNode_t nodes[7], kernel = nullptr, copy = nullptr;
    size_t size = 7, edges;
    CHECK(cudaGraphGetNodes(graph, nodes, &size));
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    EXPECT(size == 7 && edges == 7);
    for (cudaGraphNode_t node : nodes) {
        cudaGraphNodeType type;
        CHECK(cudaGraphNodeGetType(node, &type));
        if (type == cudaGraphNodeTypeKernel && !kernel) kernel = node;
        if (type == cudaGraphNodeTypeMemcpy) copy = node;
    }
    cudaKernelNodeParams found;
    CHECK(cudaGraphKernelNodeGetParams(kernel, &found));
    EXPECT(found.func == (void *)add && found.blockDim.x == 32);
    EXPECT(*(int **)found.kernelParams[0] == x && *(int *)found.kernelParams[1] == 3);
    int seven = 7;
    void *arguments[] = { &x, &seven };
    found.kernelParams = arguments;
    CHECK(cudaGraphExecKernelNodeSetParams(exec, kernel, &found));
    EXPECT(run(exec) == 35);
    cudaMemcpy3DParms box;
    CHECK(cudaGraphMemcpyNodeGetParams(copy, &box));
    EXPECT(box.extent.width == BYTES && box.dstPtr.ptr == host);
    CHECK(cudaGraphExecMemcpyNodeSetParams1D(exec, copy, host, y, BYTES, cudaMemcpyDeviceToHost));
    EXPECT(run(exec) == 4);
    cudaGraphNodeParams any = {};
    CHECK(cudaGraphNodeGetParams(kernel, &any));
    EXPECT(any.type == cudaGraphNodeTypeKernel && any.kernel.func == (void *)add);
    any.kernel.kernelParams = arguments;
    CHECK(cudaGraphNodeSetParams(kernel, &any));
    cudaGraphExecUpdateResultInfo result;
    CHECK(cudaGraphExecUpdate(exec, graph, &result));
    EXPECT(run(exec) == 35);

    cudaLaunchAttributeValue value = {}, read = {};
    value.priority = -1;
    CHECK(cudaGraphKernelNodeSetAttribute(kernel, cudaLaunchAttributePriority, &value));
    CHECK(cudaGraphKernelNodeGetAttribute(kernel, cudaLaunchAttributePriority, &read));
    EXPECT(read.priority == -1);

    // an executable graph has the edges of its instantiation
    cudaGraph_t same;
    CHECK(cudaGraphClone(&same, graph));
    CHECK(cudaGraphDestroyNode(kernel));
    EXPECT(run(exec) == 35);
    FAILS(cudaGraphExecUpdate(exec, graph, &result), cudaErrorGraphExecUpdateFailure);
    EXPECT(result.result == cudaGraphExecUpdateErrorTopologyChanged);
    CHECK(cudaGraphExecUpdate(exec, same, &result));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(same));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaEventDestroy(fork));
    CHECK(cudaEventDestroy(join));
}

static void child_graphs() {
    cudaGraph_t graph, child, copied;
    cudaGraphNode_t set, node;
    cudaGraphExec_t exec;
    cudaMemsetParams params = {};
    params.dst = host;
    params.elementSize = 4;
    params.width = 32;
    params.height = 1;
    params.value = 9;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphCreate(&child, 0));
    CHECK(cudaGraphAddMemsetNode(&set, child, nullptr, 0, &params));
    CHECK(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
    CHECK(cudaGraphChildGraphNodeGetGraph(node, &copied));
    EXPECT(copied != child);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT(run(exec) == 9);
    params.value = 11;
    CHECK(cudaGraphMemsetNodeSetParams(set, &params));
    EXPECT(run(exec) == 9);
    CHECK(cudaGraphExecChildGraphNodeSetParams(exec, node, child));
    EXPECT(run(exec) == 11);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(child));
    CHECK(cudaGraphDestroy(graph));
}

static void variables_and_objects() {
    cudaGraph_t graph;
    cudaGraphNode_t in, out;
    cudaGraphExec_t exec;
    int values[32], destroyed = 0;
    for (int i = 0; i < 32; i++) values[i] = i;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemcpyNodeToSymbol(&in, graph, nullptr, 0, variable, values, BYTES, 0, cudaMemcpyHostToDevice));
    CHECK(cudaGraphAddMemcpyNodeFromSymbol(&out, graph, &in, 1, host, variable, BYTES, 0, cudaMemcpyDeviceToHost));
    cudaUserObject_t object;
    CHECK(cudaUserObjectCreate(&object, &destroyed, count, 1, cudaUserObjectNoDestructorSync));
    CHECK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    EXPECT(run(exec) == 7 && destroyed == 0);
    CHECK(cudaGraphExecDestroy(exec));
    EXPECT(destroyed == 1);
}

int main() {
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&x, BYTES));
    CHECK(cudaMalloc(&y, BYTES));
    CHECK(cudaMallocHost(&host, BYTES));
    captured_nodes();
    child_graphs();
    variables_and_objects();
    puts("nodes are read and changed");
}
