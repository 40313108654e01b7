"""Write tests/corpus/ptx/nvcc/*.ptx: our CUDA sources, compiled for several targets. Needs nvcc 13.5.

    python tests/corpus/make_nvcc.py [-I folder of CUDA's headers]

nvcc is the one of the wheel nvidia-cuda-nvcc if that is installed, else the one on the path; headers that the wheels
of the compiler lack come from nvidia-cuda-cccl and nvidia-cuda-crt.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from corpus import FOLDER, without_paths, write

from pyptx.toolchain import find

OLD, NEW = ("75", "80"), ("90", "120")
EVERY = (*OLD, *NEW)
TARGETS = {
    "elementwise": ("75", "80", "86", "89", "90", "100", "120"),
    "reduce": EVERY,
    "scan": EVERY,
    "softmax": EVERY,
    "norms": EVERY,
    "sgemm": ("75", "90", "120"),
    "hgemm": ("80", "90", "120"),
    "mma_types": ("80", "89", "90a", "120a"),
    "wmma": ("75", "80", "90"),
    "attention": ("75", "80"),
    "hopper_gemm": ("90a",),
    "tma": ("90", "90a", "100", "120"),
    "cluster": ("90", "100", "120"),
    "tcgen05_gemm": ("100a", "103a", "110a", "100f"),
    "mxfp": ("120a", "121a"),
    "atomics": ("75", "86", "90", "110"),
    "bits": EVERY,
    "move": EVERY,
    "sort": OLD,
    "stencil": EVERY,
    "numeric": ("75", "90"),
    "functions": ("75", "100"),
    "graph": EVERY,
    "control": ("75", "80", "90", "120"),
    "convert": ("75", "89", "100a", "120a"),
    "warp": ("75", "80", "90", "100"),
    "async": ("80", "89", "90", "120"),
    "templates": ("75", "87", "90", "120"),
    "globals": ("75", "90", "120"),
    "texture": ("75", "90"),
    "images": ("80", "90", "120"),
    "learning": ("80", "90"),
    "blocks": ("90",),
    "together": ("80", "90"),
    "library": ("80", "90"),
    "narrow": ("80", "100a"),
    "words": ("80", "120"),
}
SPECIAL = {  # name -> source, target, options
    "saxpy_debug": ("elementwise", "80", ["-G"]),
    "reduce_debug": ("reduce", "90", ["-G"]),
    "control_debug": ("control", "75", ["-G"]),
    "templates_debug": ("templates", "120", ["-G"]),
    "softmax_lines": ("softmax", "90", ["-lineinfo"]),
    "norms_lines": ("norms", "80", ["-lineinfo"]),
    "control_lines": ("control", "100", ["-lineinfo"]),
    "hgemm_lines": ("hgemm", "89", ["-lineinfo"]),
    "functions_fast": ("functions", "90", ["-use_fast_math"]),
    "softmax_fast": ("softmax", "120", ["-use_fast_math"]),
    "numeric_fast": ("numeric", "80", ["-use_fast_math"]),
    "sgemm_no_fma": ("sgemm", "80", ["-fmad=false"]),
    "globals_linked": ("globals", "90", ["-rdc=true", "-DLINKED"]),
    "control_linked": ("control", "90", ["-rdc=true"]),
    "templates_linked": ("templates", "80", ["-rdc=true"]),
    "reduce_plain": ("reduce", "75", ["-Xcicc", "-O0"]),
    "graph_plain": ("graph", "90", ["-Xcicc", "-O0"]),
    "sort_plain": ("sort", "120", ["-Xcicc", "-O1"]),
    "stencil_32": ("stencil", "90", ["-maxrregcount=32"]),
    "norms_exact": ("norms", "90", ["-ftz=true", "-prec-div=false"]),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-I", dest="include", action="append", default=[], help="a folder of headers")
    parser.add_argument("--only", help="write only files whose names start so")
    arguments = parser.parse_args()
    wheel = find("ptxas").parent / "nvcc"
    nvcc = str(wheel if wheel.exists() else shutil.which("nvcc"))
    version = re.search(r"V([\d.]+)", subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout)[1]
    headers = [f"-I{os.path.abspath(folder)}" for folder in arguments.include]
    jobs = {f"{source}.sm_{arch}": (source, arch, []) for source, archs in TARGETS.items() for arch in archs}
    jobs |= {f"{name}.sm_{arch}": (source, arch, options) for name, (source, arch, options) in SPECIAL.items()}
    build = Path(tempfile.gettempdir()) / "corpus"  # the same folder always: its name stands in debug data
    shutil.copytree(FOLDER / "cuda", build)
    try:
        for name, (source, arch, options) in jobs.items():
            if not name.startswith(arguments.only or ""):
                continue
            command = [
                nvcc,
                "-ptx",
                "-diag-suppress",
                "20044",
                f"-arch=compute_{arch}",
                *options,
                *headers,
                f"{source}.cu",
                "-o",
                "out.ptx",
            ]
            subprocess.run(command, cwd=build, check=True)
            text = without_paths((build / "out.ptx").read_text())
            row = write(
                f"nvcc/{name}.ptx", text, source=f"cuda/{source}.cu", generator=f"nvcc {version}", options=options
            )
            print(row["file"], len(text))
    finally:
        shutil.rmtree(build)


if __name__ == "__main__":
    main()
