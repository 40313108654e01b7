"""PTX text to a cubin, with what its log says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace

from pyptx._value import value
from pyptx.errors import AssembleError, Diagnostic
from pyptx.toolchain.elf import constant_bytes
from pyptx.toolchain.locate import version_of
from pyptx.toolchain.log import Resources, diagnostics, resources
from pyptx.toolchain.nvjitlink import library_version, run_nvjitlink
from pyptx.toolchain.process import TIME_LIMIT_S
from pyptx.toolchain.ptxas import run_ptxas

__all__ = ["Cubin", "assemble", "assembler", "check_options"]

# Options that would take away what a Cubin promises, and what to do instead.
_REFUSED = {
    "-o": "the cubin is returned", "--output-file": "the cubin is returned",
    "-arch": "give the target as `target`", "--gpu-name": "give the target as `target`",
    "-optf": "give the options themselves", "--options-file": "give the options themselves",
    "-ias": "give the text as `ptx`", "--input-as-string": "give the text as `ptx`",
    "-suppress-debug-info": "it takes the PTX lines away", "--suppress-debug-info": "it takes the PTX lines away",
    "-c": "a relocatable object cannot be launched", "--compile-only": "a relocatable object cannot be launched"}


@value
class Cubin:
    """Machine code for one target.

    Attributes:
        data: the ELF file.
        target: "sm_90a".
        log: what the assembler wrote, with -v.
        resources: what each entry uses.
        tool: assembler and version, "ptxas 13.5.37".
        warnings: advisories such as C7508, with PTX lines where it names them.
    """

    data: bytes = field(repr=False)
    target: str
    log: str = field(repr=False)
    resources: dict[str, Resources]
    tool: str
    warnings: tuple[Diagnostic, ...] = ()


def assembler(tool: str = "ptxas") -> str:
    """Name and version of an assembler, "ptxas 13.5.37": part of what decides about the machine code.

    Raises:
        MissingToolError: it is not there.
    """
    if tool not in ("ptxas", "nvjitlink"):
        raise ValueError(f"unknown assembler {tool!r}; expected 'ptxas' or 'nvjitlink'")
    return f"ptxas {version_of('ptxas')}" if tool == "ptxas" else f"nvJitLink {library_version()}"


def assemble(ptx: str, *, target: str, options: Iterable[str] = (), tool: str = "ptxas",
             limit_s: float = TIME_LIMIT_S) -> Cubin:
    """Assemble PTX; the line of every machine instruction is kept (-lineinfo).

    Args:
        ptx: one module. Lines in messages and in the cubin are those of this text, 1-based.
        target: "sm_75" .. "sm_121a"; it may be later than the text's own `.target`.
        options: options of ptxas as strings, e.g. "-O1", "--maxrregcount=128".
        tool: "ptxas", or "nvjitlink": in-process and three times as fast, right about what is legal PTX, but it
            compiles for linking, which gives other and mostly slower code (see `nvjitlink.py`).
        limit_s: time limit in seconds.
    Raises:
        AssembleError: the text, an option or the target is refused; its diagnostics carry PTX lines.
        MissingToolError, ToolError: the assembler is not there, breaks or takes too long.
    """
    options = check_options(options)
    name = assembler(tool)
    run = run_ptxas if tool == "ptxas" else run_nvjitlink
    cubin, log = run(ptx, target, options, limit_s=limit_s)
    found = diagnostics(log)
    if not cubin:
        errors = [diagnostic for diagnostic in found if diagnostic.severity == "error"]
        if not errors:
            errors = [Diagnostic("error", f"{name} gave no cubin; it said: {log.strip() or 'nothing'}")]
        raise AssembleError(errors, summary=f"{name} refused the PTX for {target}")
    constants = constant_bytes(cubin)
    used = {entry: replace(one, constant_bytes=constants.get(entry, 0)) for entry, one in resources(log).items()}
    return Cubin(cubin, target, log, used, name, tuple(d for d in found if d.severity == "warning"))


def check_options(options: Iterable[str]) -> tuple[str, ...]:
    """The options as a tuple.

    Raises:
        AssembleError: one that pyptx itself sets, or that takes away what it needs; the hint says what to do instead.
    """
    if isinstance(options, str):
        options = (options,)
    options = tuple(options)
    for option in options:
        name = option.partition("=")[0] if isinstance(option, str) else None
        if name is None or not option.strip():
            raise AssembleError([Diagnostic("error", f"{option!r} is no option of ptxas",
                                            hint='expected strings such as "-O1" or "--maxrregcount=128"')])
        if name in _REFUSED:
            raise AssembleError([Diagnostic("error", f"option {option!r} is not for you to set", hint=_REFUSED[name])])
    return options
