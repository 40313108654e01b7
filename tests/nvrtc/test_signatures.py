"""Names and types of kernels; the judge is the compiler's own demangler, of which the expected texts are."""

from __future__ import annotations

import pytest

from pyptx.nvrtc.mangling import demangle, local_names
from pyptx.nvrtc.signatures import declared_kernels, declared_variables, signature_of


@pytest.mark.parametrize(
    "mangled, expected",
    [
        ("_Z2k1PKfPfijN1a1PEP6float4S4_", "k1(const float*, float*, int, unsigned int, a::P, float4*, float4)"),
        (
            "_Z2k2PK6__halfS1_bmN1a1QIfEEPNS3_IiEE",
            "k2(const __half*, const __half*, bool, unsigned long, a::Q<float>, a::Q<int>*)",
        ),
        (
            "_Z2k3I6__halfLin1ELb0EEvPT_PKS1_S1_N1a1QIS1_EE",
            "k3<__half, -1, false>(__half*, const __half*, __half, a::Q<__half>)",
        ),
        ("_Z2k6IN1a1QEdLNS0_1EE1EEvT_IT0_EPy", "k6<a::Q, double, (a::E)1>(a::Q<double>, unsigned long long*)"),
        ("_ZN1a1b2k5ENS_1PEPS1_PKS1_NS_1EERA4_f", "a::b::k5(a::P, a::P*, const a::P*, a::E, float[4]&)"),
        ("_Z7nothingv", "nothing()"),
        ("_Z2k7PFviE", None),
        ("_Z4packIJiPfEEvDpT_", None),
        ("plain", None),
        ("_Z", None),
    ],
)
def test_mangled_names_are_read(mangled: str, expected: str | None):
    found = demangle(mangled)
    assert (None if found is None else f"{found.name}({', '.join(found.params)})") == expected


def test_parameters_have_the_names_of_the_source():
    declared = declared_kernels("""
        namespace n {
        template <typename T, int N>
        __global__ void __launch_bounds__(256, 2) scale(T *__restrict__ x, const T by = 1, int dims[3]);
        }
        extern "C" __global__ void __cluster_dims__(2, 1, 1) copy(const unsigned char *from, unsigned int n, float3 v) {}
        // __global__ void no(int x);
    """)
    assert [d.qualified for d in declared] == ["n::scale", "copy"]
    assert str(signature_of("_ZN1n5scaleIfLi4EEEvPT_S1_Pi", declared, 3)) == (
        "n::scale<float, 4>(float* x, float by, int* dims)"
    )
    assert str(signature_of("copy", declared, 3)) == "copy(unsigned char* from, unsigned int n, float3 v)"
    assert str(signature_of("_Z4packIJiPfEEvDpT_", declared, 2)) == "pack(?, ?)"


def test_variables_are_found_with_their_dimensions():
    found = declared_variables("""
        __constant__ float coefficients[3][N + 1];
        static __device__ unsigned long long counter = 0;
        __device__ float f(float x) { return x; }
        extern __constant__ const int4 table[];
    """)
    assert [(v.name, v.type, v.dimensions) for v in found] == [
        ("coefficients", "float", ("3", "N+1")),
        ("counter", "unsigned long long", ()),
        ("table", "int4", ()),
    ]


def test_shared_variables_of_functions_are_shown_by_name():
    assert local_names("byte 4 of _ZZ4racyPf6float4bE1s, _ZZN2ns1kEvE4tile_0") == "byte 4 of s, tile"
