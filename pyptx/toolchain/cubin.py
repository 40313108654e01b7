"""Assembling of PTX text to a cubin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace

from pyptx._frozen import frozen
from pyptx.errors import AssembleError, Diagnostic, OptionError
from pyptx.toolchain.elf import constant_bytes
from pyptx.toolchain.locate import version_of
from pyptx.toolchain.nvjitlink import library_version, run_nvjitlink
from pyptx.toolchain.nvlink import link_cubins, linked_resources, linker
from pyptx.toolchain.process import TIME_LIMIT_S
from pyptx.toolchain.ptxas import run_ptxas
from pyptx.toolchain.ptxas_log import Resources, parse_diagnostics, parse_resources

__all__ = ["Cubin", "assemble", "assemble_linked", "assembler", "check_options"]

# Options that conflict with the contents of a Cubin, and their replacements.
_REFUSED = {
    "-o": "the cubin is returned",
    "--output-file": "the cubin is returned",
    "-arch": "give the target as `target`",
    "--gpu-name": "give the target as `target`",
    "-optf": "give the options themselves",
    "--options-file": "give the options themselves",
    "-ias": "give the text as `ptx`",
    "--input-as-string": "give the text as `ptx`",
    "-suppress-debug-info": "it removes the PTX lines",
    "--suppress-debug-info": "it removes the PTX lines",
    "-c": "PTX that calls functions of other modules is assembled with it",
    "--compile-only": "PTX that calls functions of other modules is assembled with it",
}


@frozen
class Cubin:
    """Machine code for one target.

    Attributes:
        data: the ELF file.
        target: "sm_90a".
        log: output of the assembler, with -v.
        resources: resource usage of each entry.
        tool: assembler and version, "ptxas 13.5.37".
        warnings: advisories such as C7508, with PTX lines if reported.
    """

    data: bytes = field(repr=False)
    target: str
    log: str = field(repr=False)
    resources: dict[str, Resources]
    tool: str
    warnings: tuple[Diagnostic, ...] = ()


def assembler(tool: str = "ptxas") -> str:
    """Return name and version of an assembler, "ptxas 13.5.37".

    Args:
        tool: "ptxas" or "nvjitlink".
    Raises:
        OptionError: there is no such assembler.
        MissingToolError: the assembler is not installed.
    """
    if tool not in ("ptxas", "nvjitlink"):
        raise OptionError(f"unknown assembler {tool!r}; expected 'ptxas' or 'nvjitlink'")
    return f"ptxas {version_of('ptxas')}" if tool == "ptxas" else f"nvJitLink {library_version()}"


def assemble(
    ptx: str,
    *,
    target: str,
    options: Iterable[str] = (),
    tool: str = "ptxas",
    relocatable: bool = False,
    limit_s: float = TIME_LIMIT_S,
) -> Cubin:
    """Assemble PTX with line information (-lineinfo).

    Args:
        ptx: text of one module, without the NUL that ends a C string if it has one. Lines in messages and in the cubin
            refer to it, 1-based.
        target: "sm_75" .. "sm_121a"; it may be later than the `.target` of the text.
        options: ptxas options as strings, e.g. "-O1", "--maxrregcount=128".
        tool: "ptxas", or "nvjitlink": in-process and three times as fast, with the same verdict on the PTX, but it
            compiles for linking, which generates different and mostly slower code (see `nvjitlink`).
        relocatable: generate machine code for linking, as `ptxas -c` does: functions may be undefined, and it cannot be
            launched.
        limit_s: time limit in seconds.
    Raises:
        AssembleError: the text, an option or the target is refused; its diagnostics have PTX lines.
        MissingToolError, ToolError: the assembler is not installed, crashes, or exceeds the time limit.
    """
    options = check_options(options)
    name = assembler(tool)
    run = run_ptxas if tool == "ptxas" else run_nvjitlink
    extra = ("-c",) if relocatable and tool == "ptxas" else ()  # nvJitLink always compiles for linking
    cubin, log = run(ptx.removesuffix("\0"), target, (*options, *extra), limit_s=limit_s)
    found = parse_diagnostics(log)
    if not cubin:
        errors = [diagnostic for diagnostic in found if diagnostic.severity == "error"]
        if not errors:
            errors = [Diagnostic("error", f"{name} produced no cubin; its output: {log.strip() or 'none'}")]
        raise AssembleError(errors, summary=f"{name} refused the PTX for {target}")
    constants = constant_bytes(cubin)
    used = {entry: replace(one, constant_bytes=constants.get(entry, 0)) for entry, one in parse_resources(log).items()}
    return Cubin(cubin, target, log, used, name, tuple(d for d in found if d.severity == "warning"))


def assemble_linked(
    objects: Sequence[str], *, target: str, options: Iterable[str] = (), limit_s: float = TIME_LIMIT_S
) -> Cubin:
    """Assemble PTX texts for linking, and link them to one cubin.

    Args:
        objects: texts; a line number in messages and in the cubin is the line in its own text.
        target, options, limit_s: as for `assemble`.
    Raises:
        AssembleError: a text is refused, or the texts cannot be linked.
        MissingToolError, ToolError: ptxas or a linker is not installed, crashes, or exceeds the time limit.
    """
    name = linker()
    parts = [assemble(text, target=target, options=options, relocatable=True, limit_s=limit_s) for text in objects]
    linked, log = link_cubins([part.data for part in parts], target, limit_s=limit_s)
    if not linked:
        errors = [d for d in parse_diagnostics(log) if d.severity == "error"]
        errors = errors or [Diagnostic("error", f"{name} produced no cubin; its output: {log.strip() or 'none'}")]
        raise AssembleError(errors, summary=f"{name} refused to link for {target}")
    constants = constant_bytes(linked)
    used = linked_resources({entry: one for part in parts for entry, one in part.resources.items()}, log)
    used = {entry: replace(one, constant_bytes=constants.get(entry, 0)) for entry, one in used.items()}
    warnings = tuple(dict.fromkeys(d for part in parts for d in part.warnings))
    return Cubin(linked, target, "".join(part.log for part in parts) + log, used, f"{parts[0].tool}, {name}", warnings)


def check_options(options: Iterable[str]) -> tuple[str, ...]:
    """Return the options as a tuple.

    Raises:
        AssembleError: an option is set by pyptx itself or conflicts with it; the hint names the replacement.
    """
    if isinstance(options, str):
        options = (options,)
    options = tuple(options)
    for option in options:
        name = option.partition("=")[0] if isinstance(option, str) else None
        if name is None or not option.strip():
            raise AssembleError(
                [
                    Diagnostic(
                        "error",
                        f"{option!r} is not a ptxas option",
                        hint='pass strings such as "-O1" or "--maxrregcount=128"',
                    )
                ]
            )
        if name in _REFUSED:
            raise AssembleError([Diagnostic("error", f"option {option!r} is set by pyptx", hint=_REFUSED[name])])
    return options
