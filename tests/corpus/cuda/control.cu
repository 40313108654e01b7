// Control flow and calls. Launch: a thread an element.
#include <cassert>
#include <cstdio>

struct Pair {
    int sum;
    double product;
};

__device__ __noinline__ Pair combine(int a, double b, const Pair &c) {
    return {a + c.sum, b * c.product};
}
__device__ __noinline__ int power(int base, int exponent) {             // calls itself
    if (exponent == 0) return 1;
    int half = power(base, exponent / 2);
    return exponent & 1 ? half * half * base : half * half;
}
__device__ __noinline__ float scaled(float a, int b) { return a * b; }
__device__ __noinline__ float shifted(float a, int b) { return a + b; }
typedef float (*Function)(float, int);
__device__ Function functions[2] = {scaled, shifted};

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    float side;
    __device__ Square(float s) : side(s) {}
    __device__ float area() const override { return side * side; }
};
struct Circle : Shape {
    float radius;
    __device__ Circle(float r) : radius(r) {}
    __device__ float area() const override { return 3.14159265f * radius * radius; }
};

extern "C" __global__ void switched(int n, const int *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = y[i];
    switch (x[i]) {
    case 0: v += 1; break;
    case 1: v *= 2; break;
    case 2: v -= 3;
    case 3: v = v * v; break;
    case 4: v = 1 / v; break;
    case 5: v = sqrtf(v); break;
    case 6: return;
    case 7: v = -v; break;
    default: v = 0;
    }
    y[i] = v;
}

extern "C" __global__ void called(int n, int *x, double *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Pair p = combine(x[i], y[i], {i, 2.});
    x[i] = p.sum + power(3, x[i] & 7), y[i] = p.product;
}

extern "C" __global__ void indirect(int n, const int *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = functions[x[i] & 1](y[i], x[i]);
}

extern "C" __global__ void virtual_calls(int n, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Square square(y[i]);
    Circle circle(y[i]);
    Shape *shape = i & 1 ? (Shape *)&square : &circle;
    y[i] = shape->area();
}

extern "C" __global__ void nested(int n, int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, total = 0;
    if (i >= n) return;
    for (int a = 0; a < x[i]; a++) {
        if (a % 3 == 0) continue;
        for (int b = a; b < n; b *= 2) {
            if ((a ^ b) == 7) goto out;
            total += b > 4 ? a - b : a | b;
            if (b == 0) break;
        }
        do total = total * 5 + 1;
        while (total < a);
    }
out:
    x[i] = total;
}

extern "C" __global__ void reports(int n, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    assert(x[i] >= 0);
    if (x[i] > 100) printf("element %d is %d, %s\n", i, x[i], x[i] & 1 ? "odd" : "even");
    if (x[i] == 12345) __trap();
}

extern "C" __global__ void local_table(int n, const int *x, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, seen[16] = {};
    if (i >= n) return;
    for (int j = 0; j < 16; j++) seen[(x[i] >> j) & 15] += j + 1;
    y[i] = seen[x[i] & 15];
}
