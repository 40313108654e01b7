"""Problems of the GPU benchmark: the examples that solve one, what others offer for it, and arrays on a device.

The first of the other candidates is the reference of the ratio. Sizes `dry` are for the simulator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from pyptx.cli.kernels import load_module
from pyptx.kernel import Kernel
from pyptx.testing import of_package

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@cache
def example(path: str) -> ModuleType:
    return load_module(str(EXAMPLES / f"{path}.py"))


@dataclass(frozen=True)
class Problem:
    """One case on its arrays.

    Attributes:
        candidates: name -> what does the work once and returns the result.
        kernels: names of the candidates that are examples -> their kernel, whose target says where they run.
        wanted: the result, in f32 or f64.
        close: greatest difference allowed, as a share of the largest number of the result, or of `least`.
        work: floating-point operations, or bytes that must move.
        roof: ("dram", ""), or pipe and type of the tensor or CUDA cores.
    """

    candidates: Mapping[str, Callable[[], Any]]
    kernels: Mapping[str, Kernel]
    wanted: Callable[[], Any]
    close: float
    work: float
    roof: tuple[str, str] = ("dram", "")
    notes: str = ""
    least: float = 1e-30


@dataclass(frozen=True)
class Case:
    name: str
    make: Callable[..., Problem]
    sizes: Mapping[str, Any]
    dry: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)  # of the kernels in a dry run

    @property
    def label(self) -> str:
        return f"{self.name}, {', '.join(f'{name} {value}' for name, value in self.sizes.items())}"


class Arrays:
    """Arrays of one device: normally distributed, the same for all candidates (values change power, and so time)."""

    def __init__(self, torch: Any, device: Any, dry: bool):
        self.torch, self.device, self.dry = torch, device, dry
        self.generator = torch.Generator(device=device).manual_seed(0)

    def normal(self, *shape: int, dtype: str = "bfloat16") -> Any:
        x = self.torch.randn(shape, generator=self.generator, device=self.device, dtype=self.torch.float32)
        return x.to(getattr(self.torch, dtype))

    def lost(self) -> bool:
        """Return True if a fault has ended the GPU's context: nothing more can be done in this process."""
        if self.device.type == "cpu":
            return False
        try:
            self.torch.cuda.synchronize(self.device)
        except RuntimeError:
            return True
        return False

    def forget(self) -> None:
        """Give back what no array uses."""
        if self.device.type != "cpu":
            self.torch.cuda.empty_cache()

    def compiled(self, function: Callable) -> Callable:
        """Return the function compiled by torch.compile; in a dry run, the function itself."""
        return function if self.dry else self.torch.compile(function, dynamic=False)

    def of(self, array: np.ndarray) -> Any:
        return of_package("torch", array).to(self.device)

    def scaled(self, M: int, N: int, K: int) -> list[Any]:
        """e4m3 matrices M x K and N x K and the scales of their blocks, as fp8_gemm takes them (its `inputs`, but on
        the device: NumPy takes seconds for large ones)."""
        (a, a_scales), (b, b_scales) = (
            self._quantized(self.normal(*shape, dtype="float32"), rows) for shape, rows in (((M, K), 1), ((N, K), 128))
        )
        return [a, b, a_scales.t().contiguous(), b_scales]

    def _quantized(self, x: Any, rows: int) -> tuple[Any, Any]:
        """x as e4m3, and the scales of its blocks of `rows` x 128 numbers."""
        down, across = -(-x.shape[0] // rows), -(-x.shape[1] // 128)
        padded = self.torch.zeros(down * rows, across * 128, device=x.device)
        padded[: x.shape[0], : x.shape[1]] = x
        blocks = padded.view(down, rows, across, 128)
        scales = blocks.abs().amax((1, 3)).clamp(min=1e-12) / 448
        small = (blocks / scales[:, None, :, None]).view(padded.shape)[: x.shape[0], : x.shape[1]]
        return small.to(self.torch.float8_e4m3fn).contiguous(), scales

    def packed(self, M: int, N: int, K: int) -> tuple[list[Any], float]:
        """Matrices M x K and N x K of e2m1, their scales, and the scale of all, as nvfp4_gemm takes them."""
        random = [self.normal(*shape, dtype="float32").cpu().numpy() for shape in ((M, K), (N, K))]
        arrays, alpha = example("blackwell/nvfp4_gemm").inputs(*random)
        return [self.of(array) for array in arrays], alpha

    def settled(self, found: Any, expected: Any) -> Any:
        """An array that a kernel has made and that decides how much work others have; the model, which runs none, takes the expected one."""
        return found


def known(kernel: Kernel, options: Mapping[str, Any]) -> dict[str, Any]:
    """Those options that a kernel has."""
    return {name: value for name, value in options.items() if name in kernel.template_params}


def triton_of(name: str, arrays: Arrays, *inputs: Any) -> dict[str, Callable[[], Any]]:
    """The Triton version, where there is one, Triton is installed and there is a GPU."""
    if arrays.dry:
        return {}
    try:
        from triton_versions import VERSIONS
    except ImportError:
        return {}
    if (
        inputs[0].ndim == 2
        and inputs[0].shape[1] > 65536
        and name in ("softmax", "rms_norm", "layer_norm", "cross_entropy")
    ):
        return {}  # a row is a program there, and takes minutes to compile
    return {"Triton": lambda: VERSIONS[name](*inputs)} if name in VERSIONS else {}
