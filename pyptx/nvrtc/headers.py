"""Headers of the CUDA toolkit from wheels, and stand-ins for headers of the C and C++ libraries of the host.

NVRTC has no headers of a host compiler. Those that declare types, limits or math get what CUDA's own library has of
them; those that only host code uses are empty, since host code is not compiled (see `host_code`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from pyptx.nvrtc.library import HINT

__all__ = ["IMPLICIT", "STANDARD", "is_host_library", "missing_header_hint", "toolkit_folders"]

_MATH = (
    "abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma "
    "fmax fmin fmod hypot ilogb ldexp lgamma log log10 log1p log2 logb lrint lround nan nearbyint nextafter pow "
    "remainder rint round scalbn sin sinh sqrt tan tanh tgamma trunc isnan isinf isfinite signbit"
)
_INTEGERS = " ".join(f"{sign}int{bits}_t" for bits in (8, 16, 32, 64) for sign in ("", "u"))
_INTEGERS += " intptr_t uintptr_t intmax_t uintmax_t"
_LIBRARY = "namespace std { using namespace cuda::std; }\n"


def _with_std(names: str) -> str:
    return "namespace std { " + " ".join(f"using ::{name};" for name in names.split()) + " }\n"


def _cuda_std(*headers: str) -> str:
    return "".join(f"#include <cuda/std/{name}>\n" for name in headers) + _LIBRARY


_STDINT = "#include <cuda/std/cstdint>\n" + "".join(f"using cuda::std::{name};\n" for name in _INTEGERS.split())
_CONSTANTS = """
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define HUGE_VALF INFINITY
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000)
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LN2 0.69314718055994530942
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
"""
_DRIVER = """
typedef unsigned int cuuint32_t;
typedef unsigned long long cuuint64_t;
typedef unsigned long long CUdeviceptr;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;
typedef struct CUtensorMap_st { alignas(64) cuuint64_t opaque[16]; } CUtensorMap;
"""
_LIMITS = "#include <cuda/std/climits>\n"
_FLOAT = "#include <cuda/std/cfloat>\n"
_BODIES = {
    "stdint.h cstdint inttypes.h cinttypes": _STDINT + _with_std(_INTEGERS),
    "stddef.h cstddef": "namespace std { using ::size_t; using ::ptrdiff_t; }\n",
    "math.h cmath": _CONSTANTS + _with_std(_MATH),
    "cuda.h cudaTypedefs.h": _DRIVER,
    "limits.h climits": _LIMITS,
    "float.h cfloat": _FLOAT,
    "limits": _cuda_std("limits"),
    "type_traits": _cuda_std("type_traits"),
    "utility": _cuda_std("utility"),
    "tuple": _cuda_std("tuple"),
    "array": _cuda_std("array"),
    "complex": _cuda_std("complex"),
    "functional": _cuda_std("functional"),
    "algorithm": _cuda_std("algorithm", "utility"),
    "numeric": _cuda_std("numeric"),
    "initializer_list": _cuda_std("initializer_list"),
    "optional": _cuda_std("optional"),
    "assert.h cassert stdio.h cstdio": "",
}
_HOST_ONLY = (
    "stdlib.h cstdlib string.h cstring time.h ctime errno.h unistd.h sys/time.h sys/types.h "
    "iostream fstream sstream ostream istream iomanip ios string string_view vector map unordered_map set "
    "unordered_set list deque queue stack memory chrono random thread mutex atomic exception stdexcept cerrno iterator "
    "future condition_variable filesystem regex typeinfo variant bitset new "
    "cuda_runtime_api.h cuda_profiler_api.h cublas_v2.h cublas.h cufft.h curand.h cusparse.h cusolverDn.h nvToolsExt.h "
    "nvtx3/nvToolsExt.h helper_cuda.h helper_functions.h helper_timer.h helper_string.h "
    "thrust/host_vector.h thrust/device_vector.h"
)
_LIBRARIES = re.compile(
    r"(?:sys|GL|opencv2?|boost|gtest|benchmark|nvtx3|thrust/system)/.*|"
    r"(?:cublas|cudnn|cufft|cusparse|cusolver|curand|nccl|nvml|npp|nvJPEG|mpi|omp|helper_|nvrtc|cudaProfiler|getopt|dirent|"
    r"pthread|signal|fcntl|locale|codecvt|ratio|format|span|ranges|source_location|immintrin|xmmintrin)[\w.]*"
)
STANDARD: dict[str, str] = {
    **{name: "#pragma once\n" + body for names, body in _BODIES.items() for name in names.split()},
    **dict.fromkeys(_HOST_ONLY.split(), "#pragma once\n"),
}
"""Text of each stand-in by its name in `#include`. A file of that name in a folder of the user takes precedence."""


def is_host_library(name: str) -> bool:
    """Return whether a header is one of a library for host code; without it, device code still compiles."""
    return _LIBRARIES.fullmatch(name) is not None and name != "curand_kernel.h"


_HAS_CUDA_STD = "#if __has_include(<cuda/std/cstdint>)\n"
_SYS_TYPES = """
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
typedef unsigned char u_int8_t;
typedef unsigned short u_int16_t;
typedef unsigned int u_int32_t;
typedef unsigned long u_int64_t;
"""  # of the C library on Linux, which nvcc includes
IMPLICIT = (
    "pyptx_implicit.h",
    f"#pragma once\nnamespace std {{}}\n{_SYS_TYPES}{_CONSTANTS}{_HAS_CUDA_STD}{_STDINT}#endif\n",
)
"""Name and text of a header that every source includes first: what nvcc includes with the headers of the runtime."""

_WHEELS = {"cuda_runtime.h": "nvidia-cuda-runtime", "cuda/std/cstdint": "nvidia-cuda-cccl"}


@lru_cache
def toolkit_folders() -> tuple[Path, ...]:
    """Return the include folders of the installed wheels: the runtime's headers, and those of CUB, Thrust and libcu++."""
    from importlib.util import find_spec

    spec = find_spec("nvidia")
    roots = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []
    found = []
    for probe in _WHEELS:
        places = [path for root in roots for path in sorted(root.glob("*/include"), reverse=True)]
        for folder in (part for place in places for part in (place, place / "cccl")):
            if (folder / probe).is_file():
                found.append(folder)
                break
    return tuple(dict.fromkeys(found))


def missing_header_hint(name: str) -> str | None:
    """Return a hint for a header that the compiler does not find."""
    has = [any((folder / probe).is_file() for folder in toolkit_folders()) for probe in _WHEELS]
    first = name.partition("/")[0]
    toolkit = first in ("cub", "thrust", "cuda", "nv", "cooperative_groups") or first.startswith(("cuda_", "mma"))
    if (toolkit and not all(has)) or (name in STANDARD and not has[1]):
        return f"{HINT} installs the headers of the CUDA toolkit"
    return "pass the folder that holds it: include=[...], on the command line -I FOLDER"
