// Calls with arguments that CUDA refuses, each by the code of its documentation.
#include "check.h"

#include <cstring>

__global__ void store(int *x) { *x = 1; }

__global__ void __launch_bounds__(64) bounded(int *x) { *x = 2; }

__global__ void __cluster_dims__(2, 1, 1) clustered(int *x) { *x = 3; }

__device__ int variable[4];

static int *memory;
static cudaStream_t stream;
static cudaEvent_t event;

static void allocations() {
    int host;
    void *p;
    size_t pitch;
    FAILS(cudaMalloc(nullptr, 4), cudaErrorInvalidValue);
    FAILS(cudaMalloc(&p, size_t(1) << 50), cudaErrorMemoryAllocation);
    FAILS(cudaFree(memory + 1), cudaErrorInvalidValue);
    FAILS(cudaFree(&host), cudaErrorInvalidValue);
    CHECK(cudaFree(nullptr));
    CHECK(cudaFreeArray(nullptr));
    FAILS(cudaHostAlloc(&p, 16, 0x1000), cudaErrorInvalidValue);
    FAILS(cudaMallocManaged(&p, 16, 7), cudaErrorInvalidValue);
    FAILS(cudaMallocPitch(&p, nullptr, 4, 4), cudaErrorInvalidValue);
    FAILS(cudaHostUnregister(&host), cudaErrorHostMemoryNotRegistered);
    CHECK(cudaMallocPitch(&p, &pitch, 100, 10));
    FAILS(cudaMemcpy2D(p, pitch, &host, 4, 8, 1, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
    CHECK(cudaFree(p));
    FAILS(cudaFreeAsync((void *)8, stream), cudaErrorInvalidValue);
    cudaMemPool_t pool;
    FAILS(cudaMemPoolCreate(&pool, nullptr), cudaErrorInvalidValue);

    cudaArray_t array;
    cudaChannelFormatDesc channels = { 12, 0, 0, 0, cudaChannelFormatKindFloat };
    FAILS(cudaMallocArray(&array, &channels, 4, 4), cudaErrorInvalidChannelDescriptor);
    channels = cudaCreateChannelDesc<float>();
    FAILS(cudaMallocArray(&array, &channels, 1 << 20, 1 << 20), cudaErrorInvalidValue);
    CHECK(cudaMallocArray(&array, &channels, 4, 4));
    FAILS(cudaMemcpy2DToArray(array, 8, 0, &host, 16, 16, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK(cudaFreeArray(array));
}

static void copies() {
    int host = 0;
    FAILS(cudaMemcpy(memory, &host, 4, cudaMemcpyKind(9)), cudaErrorInvalidMemcpyDirection);
    FAILS(cudaMemcpy(memory, &host, 128, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(&host, nullptr, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    FAILS(cudaMemset(memory, 0, 65), cudaErrorInvalidValue);
    FAILS(cudaMemcpyToSymbol(variable, &host, 4, 16), cudaErrorInvalidValue);
    FAILS(cudaMemcpyToSymbol(host, &host, 4), cudaErrorInvalidSymbol);
}

static void streams_and_events() {
    cudaEvent_t other;
    cudaStream_t made;
    float milliseconds;
    FAILS(cudaEventRecord(nullptr, stream), cudaErrorInvalidResourceHandle);
    FAILS(cudaStreamWaitEvent(stream, nullptr, 0), cudaErrorInvalidResourceHandle);
    FAILS(cudaStreamWaitEvent(stream, event, 5), cudaErrorInvalidValue);
    FAILS(cudaEventElapsedTime(&milliseconds, event, event), cudaErrorInvalidResourceHandle);
    FAILS(cudaEventCreateWithFlags(&other, 0x80), cudaErrorInvalidValue);
    FAILS(cudaStreamCreateWithFlags(&made, 0x10), cudaErrorInvalidValue);
    FAILS(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
    FAILS(cudaLaunchHostFunc(stream, nullptr, nullptr), cudaErrorInvalidValue);
}

static void launches() {
    int host, blocks;
    cudaFuncAttributes attributes;
    store<<<1, 2048>>>(memory);
    FAILS(cudaGetLastError(), cudaErrorInvalidConfiguration);
    store<<<1, 1, 1 << 20>>>(memory);
    FAILS(cudaGetLastError(), cudaErrorInvalidValue);
    bounded<<<1, 128>>>(memory);
    FAILS(cudaGetLastError(), cudaErrorInvalidValue);
    clustered<<<3, 32>>>(memory);
    FAILS(cudaGetLastError(), cudaErrorInvalidClusterSize);
    FAILS(cudaLaunchKernel((void *)&host, 1, 1, nullptr, 0, 0), cudaErrorInvalidDeviceFunction);
    FAILS(cudaFuncGetAttributes(&attributes, &host), cudaErrorInvalidDeviceFunction);
    FAILS(cudaFuncSetAttribute(store, cudaFuncAttributePreferredSharedMemoryCarveout, 200), cudaErrorInvalidValue);
    FAILS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, store, 0, 0), cudaErrorInvalidValue);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, store, 32, 49153));
    EXPECT(blocks == 0);
}

static void graphs() {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    FAILS(cudaGraphCreate(&graph, 3), cudaErrorInvalidValue);
    FAILS(cudaGraphInstantiate(&exec, nullptr, 0), cudaErrorInvalidValue);
    FAILS(cudaGraphLaunch(nullptr, stream), cudaErrorInvalidValue);
    FAILS(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
    cudaGraphNode_t nodes[2];
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddEmptyNode(&nodes[0], graph, nullptr, 0));
    CHECK(cudaGraphAddEmptyNode(&nodes[1], graph, nodes, 1));
    FAILS(cudaGraphAddDependencies(graph, &nodes[0], &nodes[1], nullptr, 1), cudaErrorInvalidValue);
    CHECK(cudaGraphDestroy(graph));
}

static void devices() {
    int number, version;
    char bus[32];
    cudaDeviceProp properties;
    FAILS(cudaSetDevice(1), cudaErrorInvalidDevice);
    FAILS(cudaGetDeviceProperties(&properties, 3), cudaErrorInvalidDevice);
    FAILS(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
    FAILS(cudaDeviceDisablePeerAccess(1), cudaErrorInvalidDevice);
    FAILS(cudaDeviceGetPCIBusId(bus, 4, 0), cudaErrorInvalidValue);
    FAILS(cudaDeviceGetByPCIBusId(&number, "nothing"), cudaErrorInvalidValue);
    FAILS(cudaDeviceGetByPCIBusId(&number, "0000:7f:00.0"), cudaErrorInvalidDevice);
    CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    CHECK(cudaDeviceGetByPCIBusId(&number, bus));
    FAILS(cudaSetDeviceFlags(0x7777), cudaErrorInvalidValue);
    FAILS(cudaDeviceSetLimit(cudaLimit(77), 1), cudaErrorUnsupportedLimit);
    CHECK(cudaRuntimeGetVersion(&version));
    EXPECT(!strcmp(cudaGetErrorName(cudaError_t(12345)), "unrecognized error code"));
}

int main() {
    CHECK(cudaMalloc(&memory, 64));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&event));
    allocations();
    copies();
    streams_and_events();
    launches();
    graphs();
    devices();
    CHECK(cudaDeviceSynchronize());
    puts("refused by the codes of the documentation");
}
