"""Kernels of numba.cuda: compiled to PTX by numba, with the methods of entries, by Python line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pyptx.analysis.ptx_rows import statement_rows
from pyptx.emitter import emit_lines
from pyptx.errors import ArgumentTypeError, BackendError
from pyptx.ir.visit import with_places
from pyptx.isa import targets
from pyptx.jit.specialization import specializations
from pyptx.launch_config import LaunchConfig
from pyptx.parser import parse
from pyptx.views.code.source_locations import source_places
from pyptx.workbench.kernel import compiled_type
from pyptx.workbench.source_entry import SourceEntry

__all__ = ["NumbaEntry", "numba"]

PARTS = ("meminfo", "parent", "size", "itemsize", "")  # of an array; then its shape and its strides


def numba(kernel: Callable[..., Any], signature: str | Sequence[Any], *, arch: str = "sm_90") -> NumbaEntry:
    """Compile a kernel of numba.cuda with numba, and return it as an entry; no GPU is needed.

    Args:
        kernel: a function under `@cuda.jit`, or a plain function.
        signature: types of its arguments: "(float32, float32[::1])", or a tuple of numba's types.
        arch: the target, "sm_90".
    Returns:
        The entry: `launch(grid, block, *args)`, `view`, `check`, `debug`, ... Arguments are NumPy arrays and numbers.
    Raises:
        BackendError: numba-cuda is not installed.
        Exception: errors of numba's compiler.
    """
    try:
        from numba import cuda  # pyright: ignore[reportMissingImports]  (optional)
        from numba.core import sigutils  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise BackendError("numba-cuda is not installed", hint="pip install 'pyptx-workbench[numba]'") from error
    function = getattr(kernel, "py_func", kernel)
    types, _ = sigutils.normalize_signature(signature)
    number = targets.parse(arch).number
    ptx, _ = cuda.compile_ptx(  # pyright: ignore[reportPrivateImportUsage]  (documented there)
        function, types, cc=divmod(number, 10), lineinfo=True
    )
    module = parse(ptx)
    text = emit_lines(module).text
    library = str(Path(cuda.__file__).parent)
    places = source_places(text, str, lambda file: file.startswith(library), lambda mangled: function.__name__)
    rows = statement_rows(module, text.removesuffix("\n").split("\n"))
    placed = with_places(module, (places[row] for row in rows))
    entry = next(f for f in placed.entries)
    specialization = specializations(placed, artifact=compiled_type)[entry.name]
    names = _parameter_names(inspect.signature(function).parameters, types)
    return NumbaEntry(specialization, function.__name__, names)


def _parameter_names(names: Iterable[str], types: Sequence[Any]) -> list[str]:
    """Return a name for each parameter in PTX: the data of an array has its name."""
    found = []
    for name, kind in zip(names, types, strict=True):
        rank = getattr(kind, "ndim", None)
        if rank is None:
            found.append(name)
            continue
        found += [f"{name}.{part}" if part else name for part in PARTS]
        found += [f"{name}.{part}[{k}]" for part in ("shape", "strides") for k in range(rank)]
    return found


class NumbaEntry(SourceEntry):
    """A kernel of numba.cuda; its arguments are NumPy arrays and numbers, as numba takes them."""

    def _configured(self, config: LaunchConfig | None, args: Sequence[Any]) -> tuple[LaunchConfig, Sequence[Any]]:
        config, args = super()._configured(config, args)
        expanded: list[Any] = []
        for arg in args:
            if isinstance(arg, np.ndarray) and arg.ndim:
                if not (arg.flags.c_contiguous or arg.flags.f_contiguous):
                    raise ArgumentTypeError(
                        f"{self.name}: an array of strides {arg.strides} is not contiguous",
                        hint="pass np.ascontiguousarray(array)",
                    )
                expanded += [0, 0, arg.size, arg.itemsize, arg, *arg.shape, *arg.strides]
            else:
                expanded.append(arg)
        if len(expanded) != len(self.params):
            raise ArgumentTypeError(
                f"{self.name}: the arguments are {len(expanded)} values in PTX, {len(self.params)} expected; an array of n "
                "dimensions is 5 + 2n",
                hint="pass arrays of the dimensions in the signature, and numbers",
            )
        return config, expanded
