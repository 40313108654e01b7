// Memory and an event that two processes share. The second process is this program again; handles go through a pipe.
#include "check.h"

#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

static const int N = 3000;

struct handles {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
};

__global__ void fill(int *x, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) x[i] += value * i;
}

static int use(int input) {
    handles shared;
    EXPECT(read(input, &shared, sizeof shared) == sizeof shared);
    int *x, *again;
    cudaEvent_t event;
    CHECK(cudaIpcOpenMemHandle((void **)&x, shared.memory, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenMemHandle((void **)&again, shared.memory, cudaIpcMemLazyEnablePeerAccess));
    EXPECT(again == x);
    CHECK(cudaIpcCloseMemHandle(again));
    CHECK(cudaIpcOpenEventHandle(&event, shared.event));
    CHECK(cudaStreamWaitEvent(nullptr, event));
    fill<<<12, 256>>>(x, 2);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaIpcCloseMemHandle(x));
    FAILS(cudaIpcCloseMemHandle(x), cudaErrorInvalidValue);
    fill<<<12, 256>>>(x, 2);      // no longer mapped
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1) return use(0);
    int pipes[2], status, host[N], *other, *x;
    EXPECT(!pipe(pipes));
    pid_t child = fork();       // before anything uses CUDA
    if (!child) {
        dup2(pipes[0], 0);
        execl(argv[0], argv[0], "use", nullptr);
        _exit(127);
    }
    handles shared;
    cudaEvent_t event, own;
    CHECK(cudaMalloc(&other, 300));     // so that the memory is not at the start of a page
    CHECK(cudaMalloc(&x, sizeof host));
    CHECK(cudaMemset(x, 0, sizeof host));
    FAILS(cudaEventCreateWithFlags(&event, cudaEventInterprocess), cudaErrorInvalidValue);
    CHECK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&own, cudaEventDisableTiming));
    FAILS(cudaIpcGetEventHandle(&shared.event, own), cudaErrorInvalidResourceHandle);
    FAILS(cudaIpcGetMemHandle(&shared.memory, host), cudaErrorInvalidValue);
    fill<<<12, 256>>>(x, 1);
    CHECK(cudaEventRecord(event));
    CHECK(cudaIpcGetMemHandle(&shared.memory, x));
    CHECK(cudaIpcGetEventHandle(&shared.event, event));
    void *mine;
    FAILS(cudaIpcOpenMemHandle(&mine, shared.memory, cudaIpcMemLazyEnablePeerAccess), cudaErrorDeviceUninitialized);
    EXPECT(write(pipes[1], &shared, sizeof shared) == sizeof shared);
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    CHECK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) EXPECT(host[i] == 3 * i);
    CHECK(cudaFree(x));
    CHECK(cudaFree(other));
    puts("two processes share memory");
}
