// Callbacks of streams of eight threads run at the same time, and start threads that call the runtime.
#include "check.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

static const int COUNT = 8, SIZE = 1000;
static std::atomic<int> right{0};

struct Work {
    int number, *device, *host;
    cudaStream_t stream;
    std::thread second;
};

__global__ void increment(int *values) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < SIZE) values[i]++;
}

static void finish(Work *work) {
    bool same = true;
    for (int i = 0; i < SIZE; i++) same &= work->host[i] == work->number + i + 1;
    CHECK(cudaFree(work->device));
    CHECK(cudaFreeHost(work->host));
    CHECK(cudaStreamDestroy(work->stream));
    right += same;
}

static void CUDART_CB done(cudaStream_t, cudaError_t status, void *data) {
    CHECK(status);
    Work *work = static_cast<Work *>(data);
    std::this_thread::sleep_for(std::chrono::milliseconds(20 - 2 * work->number));  // the first to begin are the last to end
    work->second = std::thread(finish, work);
}

static void begin(Work *work) {
    CHECK(cudaStreamCreate(&work->stream));
    CHECK(cudaMalloc(&work->device, SIZE * sizeof(int)));
    CHECK(cudaMallocHost(&work->host, SIZE * sizeof(int)));
    for (int i = 0; i < SIZE; i++) work->host[i] = work->number + i;
    CHECK(cudaMemcpyAsync(work->device, work->host, SIZE * sizeof(int), cudaMemcpyHostToDevice, work->stream));
    increment<<<4, 256, 0, work->stream>>>(work->device);
    CHECK(cudaMemcpyAsync(work->host, work->device, SIZE * sizeof(int), cudaMemcpyDeviceToHost, work->stream));
    CHECK(cudaStreamAddCallback(work->stream, done, work, 0));
}

int main() {
    std::vector<Work> all(COUNT);
    std::vector<std::thread> threads;
    for (int i = 0; i < COUNT; i++) {
        all[i].number = i;
        threads.emplace_back(begin, &all[i]);
    }
    for (auto &thread : threads) thread.join();
    CHECK(cudaDeviceSynchronize());
    for (auto &work : all) work.second.join();
    if (right == COUNT) puts("callbacks of eight threads");
    return right != COUNT;
}
