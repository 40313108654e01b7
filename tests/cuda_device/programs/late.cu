// Programs that wait as they must, and that do not, chosen by name: each prints the values that the host sees.
#include "check.h"

#include <cstring>

static const int N = 1024;
static const size_t BYTES = N * sizeof(int);

__global__ void add(int *x, int value) { x[blockIdx.x * blockDim.x + threadIdx.x] += value; }

__global__ void copy(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x]; }

static int mark;
static void CUDART_CB set_mark(void *) { mark = 1; }

int main(int argc, char **argv) {
    auto is = [&](const char *name) { return argc > 1 && !strcmp(argv[1], name); };
    int *x, *y, *pinned, pageable[N];
    cudaStream_t a, b;
    cudaEvent_t start, event;
    CHECK(cudaMalloc(&x, BYTES));
    CHECK(cudaMalloc(&y, BYTES));
    CHECK(cudaMallocHost(&pinned, BYTES));
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&event));
    for (int i = 0; i < N; i++) pinned[i] = pageable[i] = 5;
    CHECK(cudaMemset(x, 0, BYTES));
    CHECK(cudaMemset(y, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    if (is("destination read too early")) {  // 0 if it is waited for
        CHECK(cudaMemcpyAsync(pinned, x, BYTES, cudaMemcpyDeviceToHost, a));
        std::printf("%d\n", pinned[7]);
    } else if (is("source written too early")) {  // 5
        CHECK(cudaMemcpyAsync(x, pinned, BYTES, cudaMemcpyHostToDevice, a));
        pinned[7] = 6;
        CHECK(cudaMemcpyAsync(y, x, BYTES, cudaMemcpyDeviceToDevice, a));
        CHECK(cudaStreamSynchronize(a));
        CHECK(cudaMemcpy(pageable, y, BYTES, cudaMemcpyDeviceToHost));
        std::printf("%d\n", pageable[7]);
    } else if (is("no event")) {  // 3
        add<<<4, 256, 0, a>>>(x, 3);
        copy<<<1, 256, 0, b>>>(y, x);
        CHECK(cudaStreamSynchronize(b));
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(pageable, y, BYTES, cudaMemcpyDeviceToHost));
        std::printf("%d\n", pageable[7]);
    } else if (is("host function")) {  // 1
        CHECK(cudaLaunchHostFunc(a, set_mark, nullptr));
        std::printf("%d\n", mark);
    } else if (is("freed in another stream")) {  // no error
        int *pool;
        CHECK(cudaMallocAsync(&pool, BYTES, a));
        add<<<4, 256, 0, a>>>(pool, 3);
        CHECK(cudaFreeAsync(pool, b));
        std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
        return 0;
    } else if (is("ordered")) {
        pageable[7] = 8;
        CHECK(cudaEventRecord(start, a));
        CHECK(cudaMemcpyAsync(x, pageable, BYTES, cudaMemcpyHostToDevice, a));
        pageable[7] = 9;  // it was staged
        add<<<4, 256, 0, a>>>(x, 3);
        CHECK(cudaEventRecord(event, a));
        CHECK(cudaStreamWaitEvent(b, event, 0));
        CHECK(cudaMemcpy2DAsync(y, 64, x, 64, 64, N / 16, cudaMemcpyDeviceToDevice, b));
        CHECK(cudaLaunchHostFunc(b, set_mark, nullptr));
        float ms = 0;
        bool late = mark == 0;
        EXPECT(!late || cudaEventElapsedTime(&ms, start, event) == cudaErrorNotReady);
        EXPECT(!late || (cudaStreamQuery(b) == cudaErrorNotReady && mark == 0));
        while (cudaStreamQuery(b) == cudaErrorNotReady) {
        }
        EXPECT(mark == 1);
        CHECK(cudaEventElapsedTime(&ms, start, event));
        EXPECT(ms > 0);
        CHECK(cudaMemcpyAsync(pageable, y, BYTES, cudaMemcpyDeviceToHost, b));  // waits: it is pageable
        std::printf("%d\n", pageable[7]);
    } else if (is("polls memory")) {
        CHECK(cudaMemcpyAsync(pinned, x, BYTES, cudaMemcpyDeviceToHost, a));
        while (*(volatile int *)pinned != 0) {
        }
        std::printf("%d\n", pinned[7]);
    } else if (is("fault")) {
        add<<<4, 256, 0, a>>>(nullptr, 3);
        cudaGetLastError();
        std::printf("%s\n", cudaGetErrorName(cudaStreamSynchronize(a)));
        EXPECT(cudaMalloc(&x, BYTES) == cudaErrorIllegalAddress);
        return 0;
    } else if (is("never waited for")) {
        add<<<4, 256, 0, a>>>(x, 3);
        add<<<4, 256, 0, b>>>(y, 3);
        return 0;
    }
    CHECK(cudaFree(x));
    return 0;
}
