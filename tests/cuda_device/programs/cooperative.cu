#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void rotate(int *x, int rounds) {
    cg::grid_group grid = cg::this_grid();
    int n = gridDim.x * blockDim.x, i = grid.thread_rank();
    for (int r = 0; r < rounds; r++) {
        int next = x[(i + 1) % n];
        grid.sync();
        x[i] = next;
        grid.sync();
    }
}

int main() {
    const int n = 4 * 64;
    int host[n], *x, rounds = 3, per_sm;
    for (int i = 0; i < n; i++) host[i] = i;
    CHECK(cudaMalloc(&x, sizeof host));
    CHECK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, rotate, 64, 0));
    EXPECT(per_sm >= 4);
    void *arguments[] = {&x, &rounds};
    CHECK(cudaLaunchCooperativeKernel(rotate, 4, 64, arguments));
    CHECK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) EXPECT(host[i] == (i + rounds) % n);
    EXPECT(cudaLaunchCooperativeKernel(rotate, 1 << 20, 64, arguments) == cudaErrorCooperativeLaunchTooLarge);
    EXPECT(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
    std::puts("a grid synchronizes");
}
