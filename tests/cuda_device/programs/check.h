// Shared by the client programs: each prints what it found and ends with status 1 at the first difference.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                                  \
    do {                                                                                                             \
        cudaError_t status_ = (call);                                                                                \
        if (status_ != cudaSuccess) {                                                                                \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, cudaGetErrorName(status_),                   \
                         cudaGetErrorString(status_));                                                               \
            std::exit(1);                                                                                            \
        }                                                                                                            \
    } while (0)

#define FAILS(call, status)                                                                                          \
    do {                                                                                                             \
        cudaError_t status_ = (call);                                                                                \
        if (status_ != (status)) {                                                                                   \
            std::fprintf(stderr, "%s:%d: %s: %s, expected %s\n", __FILE__, __LINE__, #call,                          \
                         cudaGetErrorName(status_), cudaGetErrorName(status));                                       \
            std::exit(1);                                                                                            \
        }                                                                                                            \
        cudaGetLastError();                                                                                          \
    } while (0)

#define EXPECT(condition)                                                                                            \
    do {                                                                                                             \
        if (!(condition)) {                                                                                          \
            std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                           \
            std::exit(1);                                                                                            \
        }                                                                                                            \
    } while (0)
