// The size of a block with the highest occupancy. The shared memory of a block may depend on its size, by a function of the program.

#include "client.h"

enum { MAX_THREADS_PER_BLOCK = 0, WARP_SIZE = 10, MULTIPROCESSORS = 16, MAX_THREADS_PER_SM = 39 };

EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *, uint64_t, int, size_t, unsigned);
EXPORT int cuFuncGetAttribute(int *, int, uint64_t);
EXPORT int cuDeviceGetAttribute(int *, int, int);

EXPORT int cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, uint64_t function, size_t (*shared)(int),
                                                     size_t shared_bytes, int limit, unsigned flags) {
    int largest, warp, multiprocessors, threads, best = 0, blocks = 0;
    if (!grid || !block) return INVALID_VALUE;
    int status = cuFuncGetAttribute(&largest, MAX_THREADS_PER_BLOCK, function);
    if (!status) status = cuDeviceGetAttribute(&warp, WARP_SIZE, 0);
    if (!status) status = cuDeviceGetAttribute(&multiprocessors, MULTIPROCESSORS, 0);
    if (!status) status = cuDeviceGetAttribute(&threads, MAX_THREADS_PER_SM, 0);
    if (status) return status;
    if (limit > 0 && limit < largest) largest = limit;
    for (int rounded = (largest + warp - 1) / warp * warp; rounded > 0 && best < threads; rounded -= warp) {
        int size = rounded < largest ? rounded : largest, found;
        status = cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&found, function, size, shared ? shared(size) : shared_bytes, flags);
        if (status) return status;
        if (found * size > best) {
            best = found * size;
            *block = size;
            blocks = found;
        }
    }
    if (!best) *block = 0;
    *grid = blocks * multiprocessors;
    return SUCCESS;
}

EXPORT int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, uint64_t function, size_t (*shared)(int), size_t shared_bytes, int limit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared, shared_bytes, limit, 0);
}
