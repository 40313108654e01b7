"""Compile foreign/*.cu to PTX:  python tests/benchmarks/build_foreign.py [--nvcc NVCC] [NAME ...]

The PTX is part of the repository, so that a report needs no compiler; this is for changes of the sources. Nothing is
fetched: nvcc is that of the wheel nvidia-cuda-nvcc, or the one given. The files were made by nvcc 13.0, whose PTX older
assemblers take too.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from pyptx.toolchain.locate import find

FOLDER = Path(__file__).parent / "foreign"
ARCHITECTURES = {  # the least that the instructions need
    "sgemm": "compute_75",
    "memory": "compute_75",
    "rates": "compute_75",
    "sums": "compute_75",
    "products": "compute_80",
    "mma_products": "compute_80",
    "blackwell": "compute_100a",
    "patterns": "compute_75",
    "vectors": "compute_75",
    "float_steps": "compute_75",
    "bf16_steps": "compute_80",
    "attention_f16": "compute_80",
    "attention_bf16": "compute_80",
    "gradients": "compute_80",
    "five_streams": "compute_75",
    "batch_sums": "compute_80",
    "gated_rows": "compute_80",
    "register_tiles": "compute_75",
    "half_products": "compute_80",
    "residual_norm": "compute_90",
    "residual_norm_wide": "compute_100",
    "fresh_tree_sums": "compute_75",
    "fresh_lecture_sums": "compute_75",
    "fresh_atomic_sums": "compute_80",
    "fresh_moves": "compute_75",
    "fresh_stencils": "compute_75",
    "fresh_softmax": "compute_75",
    "fresh_products": "compute_75",
    "fresh_attention": "compute_75",
    "fresh_wmma": "compute_80",
    "fresh_flash": "compute_80",
    "fresh_scan": "compute_75",
    "blind_moves": "compute_75",
    "blind_products": "compute_75",
    "blind_softmax": "compute_80",
    "blind_bodies": "compute_75",
    "blind_mma": "compute_80",
    "blind_wmma": "compute_80",
    "sealed_residual": "compute_75",
    "sealed_rows": "compute_75",
    "sealed_decode": "compute_75",
    "sealed_norms": "compute_75",
    "sealed_vectors": "compute_75",
    "sealed_lessons": "compute_75",
    "sealed_chains": "compute_75",
    "sealed_products": "compute_80",
    "sealed_wmma": "compute_80",
    "sealed_wgmma": "compute_90a",
    "unopened_lessons": "compute_75",
    "unopened_training": "compute_75",
    "unopened_matrix": "compute_75",
    "unopened_bias": "compute_80",
    "unopened_bodies": "compute_75",
    "unopened_attention": "compute_75",
    "unopened_tiles": "compute_120",
    "hidden_stages": "compute_75",
    "hidden_products": "compute_80",
    "hidden_forward": "compute_90",
    "hidden_prefill": "compute_90",
    "hidden_decode": "compute_90",
    "hidden_ladder": "compute_120",
    "hidden_flash": "compute_75",
    "hidden_vectors": "compute_80",
    "hidden_transposes": "compute_80",
    "hidden_sums": "compute_80",
    "hidden_convolution": "compute_75",
    "hidden_charges": "compute_80",
}
INLINE = {"// begin inline asm", "// end inline asm"}  # comments around each instruction written as asm


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(ARCHITECTURES)}; all without one")
    parser.add_argument("--nvcc", type=Path, help="compiler")
    given = parser.parse_args(arguments)
    unknown = set(given.names) - ARCHITECTURES.keys()
    if unknown:
        raise SystemExit(f"there is no {', '.join(sorted(unknown))}.cu; expected {', '.join(ARCHITECTURES)}")
    nvcc = given.nvcc or find("ptxas").with_name("nvcc")
    for name in given.names or ARCHITECTURES:
        source, result = FOLDER / f"{name}.cu", FOLDER / f"{name}.ptx"
        command = [nvcc, "-O3", "-std=c++17", f"-arch={ARCHITECTURES[name]}", "-ptx", source, "-o", result]
        subprocess.run(command, check=True)
        lines = result.read_text(encoding="utf-8").splitlines(keepends=True)
        result.write_text("".join(line for line in lines if line.strip() not in INLINE), encoding="utf-8")
        print(f"{result}: {result.stat().st_size} bytes")


if __name__ == "__main__":
    sys.exit(main())
