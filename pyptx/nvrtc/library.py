"""NVRTC, NVIDIA's compiler of CUDA C++ as a library: the only module that calls it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from pyptx.errors import MissingToolError, OptionError, ToolError

__all__ = ["HINT", "Output", "compiler_version", "run_nvrtc"]

HINT = "pip install 'pyptx-workbench[cuda]'"


class Output(NamedTuple):
    """Result of a compilation.

    Attributes:
        ptx: None if there are errors.
        log: errors and warnings.
        lowered: mangled name of each name expression.
    """

    ptx: str | None
    log: str
    lowered: dict[str, str]


@lru_cache
def _nvrtc() -> Any:
    """Return the module `cuda.bindings.nvrtc`, whose library is loaded.

    Raises:
        MissingToolError: the module or the library is not installed.
    """
    try:
        from cuda.bindings import nvrtc  # pyright: ignore[reportAttributeAccessIssue]  (a compiled module)

        nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError, OSError) as error:  # RuntimeError: the bindings do not find the library
        raise MissingToolError("NVRTC from the CUDA toolkit was not found; it compiles CUDA C++", hint=HINT) from error
    return nvrtc


@lru_cache
def compiler_version() -> str:
    """Return the version of NVRTC, "13.5".

    Raises:
        MissingToolError: NVRTC is not installed.
    """
    _, major, minor = _nvrtc().nvrtcVersion()
    return f"{major}.{minor}"


def run_nvrtc(
    text: str, name: str, options: Sequence[str], headers: Mapping[str, str], expressions: Sequence[str]
) -> Output:
    """Compile CUDA C++ to PTX.

    Args:
        name: name of the source in messages and line information; the compiler searches its folder for headers.
        headers: text by the name in `#include`.
        expressions: kernel templates to instantiate, such as "scale<float, 4>".
    Raises:
        MissingToolError: NVRTC is not installed.
        OptionError: an option is unknown.
        ToolError: it fails.
    """
    nvrtc = _nvrtc()
    bodies, names = [body.encode() for body in headers.values()], [found.encode() for found in headers]
    status, program = nvrtc.nvrtcCreateProgram(text.encode(), name.encode(), len(names), bodies, names)
    _require(nvrtc, status, "creates no program")
    try:
        for expression in expressions:
            (status,) = nvrtc.nvrtcAddNameExpression(program, expression.encode())
            _require(nvrtc, status, f"refuses {expression!r}")
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
        log = _text(nvrtc, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        if status == nvrtc.nvrtcResult.NVRTC_ERROR_COMPILATION:
            return Output(None, log, {})
        if status == nvrtc.nvrtcResult.NVRTC_ERROR_INVALID_OPTION:
            raise OptionError(f"NVRTC {compiler_version()}: {log.strip().removeprefix('nvrtc: error: ')}")
        _require(nvrtc, status, log.strip() or "fails")
        lowered = {}
        for expression in expressions:
            status, found = nvrtc.nvrtcGetLoweredName(program, expression.encode())
            _require(nvrtc, status, f"has no name for {expression!r}")
            lowered[expression] = found.decode()
        return Output(_text(nvrtc, nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program), log, lowered)
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _text(nvrtc: Any, size_of: Any, read: Any, program: Any) -> str:
    status, size = size_of(program)
    _require(nvrtc, status, "returns no text")
    buffer = bytes(size)
    (status,) = read(program, buffer)
    _require(nvrtc, status, "returns no text")
    return buffer.rstrip(b"\0").decode(errors="replace")


def _require(nvrtc: Any, status: Any, problem: str) -> None:
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise ToolError(f"NVRTC {compiler_version()} {problem} ({status.name})")
