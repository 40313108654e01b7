// Green contexts: SMs are divided, contexts get parts of them, and kernels run in their streams.
#include "check.h"

#include <cooperative_groups.h>

__global__ void add(int *x, int value) { x[blockIdx.x * blockDim.x + threadIdx.x] += value; }

__global__ void meet(int *x) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    if (!threadIdx.x) atomicAdd(x, 1);
    grid.sync();
    if (!threadIdx.x && *x != (int)gridDim.x) x[1] = 1;
}

int main() {
    const int N = 1024;
    cudaDevResource whole, parts[4], rest, found;
    unsigned count = 2;
    CHECK(cudaDeviceGetDevResource(0, &whole, cudaDevResourceTypeSm));
    EXPECT(whole.sm.smCount == 132 && whole.sm.smCoscheduledAlignment == 8 && whole.sm.minSmPartitionSize == 8);
    CHECK(cudaDevSmResourceSplitByCount(nullptr, &count, &whole, nullptr, 0, 10));
    EXPECT(count == 8);     // 16 SMs each
    count = 2;
    CHECK(cudaDevSmResourceSplitByCount(parts, &count, &whole, &rest, 0, 10));
    EXPECT(count == 2 && parts[0].sm.smCount == 16 && parts[1].sm.smCount == 16 && rest.sm.smCount == 100);
    FAILS(cudaDevSmResourceSplitByCount(parts + 2, &count, &parts[0], nullptr, 0, 8), cudaErrorInvalidResourceConfiguration);
    FAILS(cudaDevSmResourceSplitByCount(parts + 2, &count, &whole, nullptr, 0, 200), cudaErrorInvalidValue);

    cudaDevResourceDesc_t description;
    cudaExecutionContext_t context, device;
    CHECK(cudaDevResourceGenerateDesc(&description, parts, 1));
    CHECK(cudaGreenCtxCreate(&context, description, 0, 0));
    CHECK(cudaDeviceGetExecutionCtx(&device, 0));
    CHECK(cudaExecutionCtxGetDevResource(context, &found, cudaDevResourceTypeSm));
    EXPECT(found.sm.smCount == 16);
    CHECK(cudaExecutionCtxGetDevResource(device, &found, cudaDevResourceTypeSm));
    EXPECT(found.sm.smCount == 132);
    CHECK(cudaExecutionCtxGetDevResource(context, &found, cudaDevResourceTypeWorkqueueConfig));
    EXPECT(found.wqConfig.wqConcurrencyLimit > 0);
    unsigned long long first, second;
    int number = -1;
    CHECK(cudaExecutionCtxGetId(context, &first));
    CHECK(cudaExecutionCtxGetId(device, &second));
    CHECK(cudaExecutionCtxGetDevice(&number, context));
    EXPECT(first != second && number == 0);

    cudaStream_t stream, other;
    CHECK(cudaExecutionCtxStreamCreate(&stream, context, cudaStreamDefault, 0));
    CHECK(cudaExecutionCtxStreamCreate(&other, device, cudaStreamNonBlocking, 0));
    CHECK(cudaStreamGetDevResource(stream, &found, cudaDevResourceTypeSm));
    EXPECT(found.sm.smCount == 16);
    CHECK(cudaStreamGetDevResource(other, &found, cudaDevResourceTypeSm));
    EXPECT(found.sm.smCount == 132);

    // work in the green context, an event of the whole of it, and work after it
    int *x, host[N];
    cudaEvent_t event;
    CHECK(cudaMalloc(&x, sizeof host));
    CHECK(cudaMemset(x, 0, sizeof host));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    add<<<4, 256, 0, stream>>>(x, 1);
    CHECK(cudaExecutionCtxRecordEvent(context, event));
    CHECK(cudaStreamWaitEvent(other, event));
    add<<<4, 256, 0, other>>>(x, 2);
    CHECK(cudaEventRecord(event, other));
    CHECK(cudaExecutionCtxWaitEvent(context, event));
    add<<<4, 256, 0, stream>>>(x, 4);
    CHECK(cudaExecutionCtxSynchronize(context));
    CHECK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) EXPECT(host[i] == 7);

    // a cooperative grid fits the SMs of the context
    int blocks;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, meet, 1024, 0));
    void *arguments[] = { &x };
    CHECK(cudaMemset(x, 0, sizeof host));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaLaunchCooperativeKernel(meet, 16 * blocks, 1024, arguments, 0, stream));
    FAILS(cudaLaunchCooperativeKernel(meet, 17 * blocks, 1024, arguments, 0, stream), cudaErrorCooperativeLaunchTooLarge);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemset(x, 0, sizeof host));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaLaunchCooperativeKernel(meet, 17 * blocks, 1024, arguments, 0, other));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 17 * blocks && !host[1]);

    // after the context, its streams are detached
    CHECK(cudaExecutionCtxDestroy(context));
    FAILS(cudaStreamSynchronize(stream), cudaErrorStreamDetached);
    FAILS(cudaExecutionCtxDestroy(context), cudaErrorInvalidValue);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaStreamDestroy(other));
    CHECK(cudaEventDestroy(event));
    CHECK(cudaFree(x));
    printf("green contexts of 16 of 132 SMs\n");
}
