"""PTX of cubins: `ptxas -lineinfo` embeds the text that it assembled."""

from __future__ import annotations

from pyptx.emitter import emit
from pyptx.errors import InputError, PtxError, ToolError
from pyptx.linker import link
from pyptx.parser import parse
from pyptx.toolchain.cubin_info import read_cubin_info
from pyptx.toolchain.elf import embedded_modules

__all__ = ["entries_of", "ptx_of_cubin", "target_of"]


def ptx_of_cubin(cubin: bytes) -> str | None:
    """Return the PTX text that a cubin holds, without comments and indentation; None without it.

    A cubin that nvlink made holds one text for each of its modules; they are linked.

    Raises:
        InputError: the bytes are not a cubin, are damaged, or their modules cannot be linked.
    """
    try:
        modules = embedded_modules(cubin)
        if len(modules) < 2:
            return "\n".join(modules[0]) + "\n" if modules else None
        named = [(f"module {number}", parse("\n".join(lines) + "\n")) for number, lines in enumerate(modules, 1)]
        return emit(link(named).module)
    except PtxError as error:
        raise InputError(f"the PTX of a cubin cannot be read: {error.message or error}") from error


def entries_of(cubin: bytes) -> tuple[str, ...]:
    """Return the names of the kernels in a cubin; empty if it is damaged."""
    try:
        return tuple(read_cubin_info(cubin).resources)
    except ToolError:
        return ()


def target_of(cubin: bytes) -> str:
    """Return the target of a cubin, "sm_90a".

    Raises:
        InputError: the bytes are not a cubin.
    """
    try:
        return read_cubin_info(cubin).target
    except ToolError as error:
        raise InputError(error.message) from error
