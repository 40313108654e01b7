from __future__ import annotations

import pytest

from pyptx.nvrtc.host_code import device_macros, without_host_code


def kept(source: str) -> str:
    return " ".join(without_host_code(source, device_macros([source])).split())


@pytest.mark.parametrize(
    "source",
    [
        "__global__ void k(int *x) { x[0] = 1; }",
        "template <typename T> __device__ T twice(T v) { return v * 2; }",
        "#define DEV static __device__\n#define MINE DEV\nMINE float f(float x) { return x; }",
        "LIBRARY_INLINE float f(float x) { return x; }",
        "constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }",
        "struct P { float a; int b; };",
        "struct __align__(16) V { float x[4]; __device__ V() : x{1, 2, 3, 4} {} };",
        "struct D { int (*f)(int); D() = default; };",
        "__constant__ float c[] = {1, 2, 3};",
        "enum class E { A, B };",
        "extern \"C\" { __global__ void k() {} }",
        "namespace a { namespace b { __device__ int f() { return '}'; } } }",
        "typedef struct { int a; } T;",
        "using F = float (*)(float);",
        "static_assert(sizeof(int) == 4, \"(\");",
        "#define INSTANTIATE(T) template __global__ void k<T>(T *);\nINSTANTIATE(float);",
        "const int SIZE = 4; static constexpr float EPSILON = 1e-5f; using namespace std;",
        "struct Q { int x, y; float *data; }; typedef Q R; enum { N = 3 };",
        "template __global__ void k<float>(float *);",
    ],
)  # fmt: skip
def test_device_code_and_types_stay(source: str):
    assert kept(source) == " ".join(source.split())


@pytest.mark.parametrize(
    "source, left",
    [
        ("int main(int argc, char **argv) { k<<<1, 2>>>(0); return 0; }", ""),
        ("static void f(const char *s) { printf(\"}\"); } __device__ int g();", "__device__ int g();"),
        ("template <class F> double timed(F &&f) { return f(); }", ""),
        ("void declared(float *x, int n);", ""),
        ("KIND kind_of(char *s); static KIND other(int n) { return KIND(n); } struct S { MACRO S(); };", "struct S { MACRO S(); };"),
        (
            "class T { int e; public: T() { open(&e); } ~T() {} float stop(); };",
            "class T { int e; public: };",
        ),
        ("static size_t bytes = 32 * 1024; cublasHandle_t handle; float *h_a, *d_a; __device__ int kept;", "__device__ int kept;"),
        ("extern cudaDeviceProp properties; std::vector<float> data = {1, 2};", ""),
        ("struct Options { std::string name; int n; }; using V = std::vector<int>; struct P { int x; };", "; struct P { int x; };"),
        ("static void *space = NULL; LIBRARY_API int f(int x);", "LIBRARY_API int f(int x);"),
        ("#if 0\nvoid f(int {\n#endif\nint g() { return 1; }", "#if 0 void f(int { #endif"),
        ("#ifdef A\nint f() {\n#else\nint f(int x) {\n#endif\nreturn 1; }\n__device__ int d;", "#ifdef A #else #endif __device__ int d;"),
        ("float T::stop() { return 0; } struct Q { int x; };", "struct Q { int x; };"),
        ("// void f() {\nint main() { /* } */ return R\"(})\"[0]; }", "// void f() {"),
        ("namespace a { void f() { if (1) { } } __device__ int g; }", "namespace a { __device__ int g; }"),
    ],
)  # fmt: skip
def test_host_functions_become_blanks(source: str, left: str):
    assert kept(source) == left
    assert without_host_code(source).count("\n") == source.count("\n")
    assert len(without_host_code(source)) == len(source)
