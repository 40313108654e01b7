"""Compilation of CUDA C++ to PTX, cached by everything that the text depends on."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pyptx.cache import CacheEntry, CacheKey, get_global_cache
from pyptx.errors import Diagnostic, OptionError
from pyptx.nvrtc.diagnostics import CudaError, diagnostics_of
from pyptx.nvrtc.headers import IMPLICIT, STANDARD, is_host_library, toolkit_folders
from pyptx.nvrtc.host_code import device_macros, without_host_code
from pyptx.nvrtc.includes import fingerprint, included_headers
from pyptx.nvrtc.library import Output, compiler_version, run_nvrtc

__all__ = ["Compilation", "Source", "compile_source"]

_OWN = ("-arch", "--gpu-architecture", "-gpu-architecture", "--gpu-code", "-code")
MAX_REFUSED = 64
_refused: dict[str, Output] = {}  # by the digest of the key
_VERSION = 5  # of the preparation of sources, part of the cache key


@dataclass(frozen=True)
class Source:
    """A CUDA C++ source.

    Attributes:
        text: the source.
        name: its name for the compiler: the absolute path of a file, else a file name.
        folder: folder of the file; None for a text.
    """

    text: str
    name: str
    folder: Path | None = None


@dataclass(frozen=True)
class Compilation:
    """PTX of a source.

    Attributes:
        ptx: the text.
        lowered: mangled name of each instantiated template.
        warnings: of the compiler, each at its line.
        headers: headers of the user that were read, by path.
    """

    ptx: str
    lowered: Mapping[str, str]
    warnings: tuple[Diagnostic, ...]
    headers: tuple[str, ...]


def compile_source(
    source: Source,
    *,
    arch: str,
    options: Sequence[str] = (),
    defines: Mapping[str, object] | None = None,
    include: Sequence[str | os.PathLike[str]] = (),
    templates: Sequence[str] = (),
    relocatable: bool = False,
    file_of: Callable[[str], str] = str,
) -> Compilation:
    """Compile a source for a target, or take the PTX from the cache.

    Args:
        arch: "sm_90a".
        options: of NVRTC.
        defines: macros; None defines a macro without a value.
        include: folders of headers.
        templates: kernel templates to instantiate, such as "scale<float, 4>".
        relocatable: functions and variables of other sources may be used.
        file_of: as for `diagnostics_of`.
    Raises:
        CudaError: the source has errors.
        MissingToolError: NVRTC is not installed.
        OptionError: an option that pyptx sets itself, or an unknown one.
    """
    folders = [Path(folder) for folder in include]
    given = [*map(str, options)]
    for option in given:
        if option.partition("=")[0] in _OWN:
            raise OptionError(f"{option} is set by pyptx", hint="pass arch=, such as arch='sm_100a'")
    headers, others, complete = included_headers(source.text, source.folder, folders)
    arguments = [
        f"--gpu-architecture=compute_{arch.removeprefix('sm_')}",
        "-lineinfo",
        f"--pre-include={IMPLICIT[0]}",
        *([] if any(o.startswith(("-std", "--std")) for o in given) else ["--std=c++17"]),
        *(["--relocatable-device-code=true"] if relocatable else []),
        *(_define(name, value) for name, value in (defines or {}).items()),
        *(f"-I{folder}" for folder in folders),
        *given,
    ]
    key = CacheKey(
        "cuda:" + hashlib.sha256(f"{source.name}\0{source.text}".encode()).hexdigest(),
        {
            "nvrtc": compiler_version(),
            "preparation": _VERSION,
            "toolkit": [str(folder) for folder in toolkit_folders()],
            "options": arguments,
            "templates": list(templates),
            **fingerprint(headers, others),
        },
        (),
        arch,
    )
    kept = get_global_cache().get(key) if complete else None
    if kept is not None and {"log", "lowered"} <= kept.metadata.keys():
        output = Output(kept.ptx_source, kept.metadata["log"], kept.metadata["lowered"])
    else:
        own = {name for header in headers for name in header.names}
        texts = {IMPLICIT[0]: IMPLICIT[1], **{name: body for name, body in STANDARD.items() if name not in own}}
        texts |= {name: "" for name in others if is_host_library(name) and not _in_toolkit(name)}
        device = device_macros([source.text, *(header.text for header in headers), "\n".join(_macro_lines(defines))])
        keep_host = any(option.lstrip("-").startswith("default-device") for option in given)
        prepare = str if keep_host else partial(without_host_code, device=device)
        for header in headers:  # NVRTC reads the files itself unless they have host code
            prepared = prepare(header.text)
            if prepared != header.text:
                texts |= dict.fromkeys(header.names, f'#line 1 "{header.path}"\n{prepared}')
        output = _refused.get(key.hash())
        if output is None:
            output = run_nvrtc(
                prepare(source.text),
                source.name,
                [*arguments, *(f"-I{folder}" for folder in toolkit_folders())],
                texts,
                templates,
            )
            if complete:
                _keep(key, output)
    found = diagnostics_of(output.log, file_of)
    if output.ptx is None:
        errors = [one for one in found if one.severity == "error"]
        if not errors:
            errors = [Diagnostic("error", output.log.strip() or "NVRTC reports no reason")]
        raise CudaError(errors)
    return Compilation(
        output.ptx,
        output.lowered,
        tuple(one for one in found if one.severity == "warning"),
        tuple(str(header.path) for header in headers),
    )


def _keep(key: CacheKey, output: Output) -> None:
    """Store PTX in the cache, and a refusal in this process: an editor asks again for a text that has not changed."""
    if output.ptx is not None:
        about = {"log": output.log, "lowered": output.lowered}
        get_global_cache().put(CacheEntry(key, output.ptx, None, about))
        return
    while len(_refused) >= MAX_REFUSED:
        del _refused[next(iter(_refused))]
    _refused[key.hash()] = output


def _in_toolkit(name: str) -> bool:
    return any((folder / name).is_file() for folder in toolkit_folders())


def _macro_lines(defines: Mapping[str, object] | None) -> list[str]:
    return [f"#define {name} {'' if value is None else value}" for name, value in (defines or {}).items()]


def _define(name: str, value: object) -> str:
    if value is None:
        return f"-D{name}"
    return f"-D{name}={int(value) if isinstance(value, bool) else value}"
