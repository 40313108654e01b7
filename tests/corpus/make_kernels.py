"""Write tests/corpus/ptx/pyptx/*.ptx: what our own examples and the kernels of the contract trace to.

python tests/corpus/make_kernels.py
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from compat.kernels_ampere import ampere_gemm
from compat.kernels_blackwell import blackwell_gemm
from compat.kernels_hopper import hopper_gemm
from corpus import write

import pyptx
from examples.rms_norm import rms_norm
from examples.sgemm import sgemm

REPOSITORY = Path(__file__).parents[2]
GEMM = {"M": 1024, "N": 1024, "K": 512}
KERNELS = {
    "rms_norm": (rms_norm, "sm_90a", {"M": 8, "N": 1024}),
    "rms_norm_wide": (rms_norm, "sm_120", {"M": 8, "N": 8192}),
    "rms_norm_old": (rms_norm, "sm_75", {"M": 8, "N": 4096}),
    "sgemm": (sgemm, "sm_90a", {"M": 256, "N": 256, "K": 256}),
    "sgemm_small": (sgemm, "sm_80", {"M": 128, "N": 128, "K": 64, "BM": 128, "BN": 64, "BK": 16}),
    "ampere_gemm": (ampere_gemm, None, GEMM),
    "hopper_gemm": (hopper_gemm, None, GEMM),
    "blackwell_gemm": (blackwell_gemm, None, GEMM),
}


def main() -> None:
    for name, (kernel, arch, sizes) in KERNELS.items():
        arch = arch or kernel.arch
        code = kernel.__wrapped__.__code__
        source = Path(code.co_filename).relative_to(REPOSITORY)
        row = write(
            f"pyptx/{name}.{arch}.ptx",
            kernel.specialize(arch=arch, **sizes).emitted.text,
            source=f"../../{source}",
            generator=f"pyptx {pyptx.__version__}",
            options=[f"{k}={v}" for k, v in sizes.items()],
        )
        print(row["file"])


if __name__ == "__main__":
    main()
