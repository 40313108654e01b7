"""The texts of Triton's compilation stages, read from its cache, and its IRs as panes of a view."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from triton.runtime.cache import get_cache_manager

from pyptx.errors import ArgumentValueError, OptionError
from pyptx.triton.mlir_text import read_mlir
from pyptx.triton.source_lines import triton_places
from pyptx.views.code.ir_pane import IrLines

__all__ = ["IRS", "CompilerStages"]

IRS = ("ttir", "ttgir")
_TEXTS = (*IRS, "llir", "ptx")


@dataclass(frozen=True)
class CompilerStages:
    """The stages of one compiled kernel.

    Attributes:
        key: the hash of the compiled kernel, which names its folder in Triton's cache.
        name: of the kernel.
        source_file: the file of the kernel's Python function, if it is known.
    """

    key: str
    name: str
    source_file: str | None = None

    def text(self, stage: str) -> str:
        """Return the text of a stage: "ttir", "ttgir", "llir" or "ptx".

        Raises:
            ArgumentValueError: Triton's cache does not hold it.
        """
        files = get_cache_manager(self.key).get_group(f"{self.name[:150]}.json") or {}  # Triton shortens long names
        paths = {path.suffix[1:]: path for path in map(Path, files.values())}
        if stage not in paths:
            kept = ", ".join(known for known in _TEXTS if known in paths) or "nothing"
            raise ArgumentValueError(
                f"Triton's cache holds no {stage} of {self.name}, but {kept}",
                hint="compile the kernel again, without TRITON_STORE_BINARY_ONLY",
            )
        return paths[stage].read_text()

    def ir(self, name: str) -> IrLines:
        """Return Triton's IR with the place of each line.

        Args:
            name: "ttgir" or "ttir".
        Raises:
            OptionError: another name.
        """
        if name not in IRS:
            raise OptionError(f"ir={name!r}; expected {' or '.join(map(repr, IRS))}")
        code = read_mlir(self.text(name))
        return IrLines(name.upper(), code.text, triton_places(code.chains, self.source_file))
