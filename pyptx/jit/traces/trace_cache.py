"""Lookup and storage of traces."""

from __future__ import annotations

import hashlib
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pyptx._gc import gc_paused
from pyptx._loc import PACKAGE_DIR
from pyptx._version import __version__
from pyptx.cache import get_global_cache
from pyptx.jit.declaration import Declaration
from pyptx.jit.specialization import Specialization
from pyptx.jit.traced import Traced
from pyptx.jit.traces.dependencies import Dependencies, NotCacheableError
from pyptx.jit.traces.known import describe
from pyptx.jit.traces.record import Record, package_files, unchanged
from pyptx.jit.traces.replaced import replaced_function
from pyptx.jit.traces.restored import Restored, text_hash
from pyptx.specs import Tile

__all__ = ["cached_specialization"]

_FORMAT = 1  # of keys and records
_DAMAGED = (KeyError, TypeError, ValueError, IndexError, AttributeError)

Trace = Callable[[], Specialization]


def cached_specialization(
    kernel: Declaration,
    trace: Trace,
    *,
    arch: str,
    version: tuple[int, int] | None,
    env: Mapping[str, int],
    template: Mapping[str, Any],
    artifact: Any,
    forget: Callable[[], None],
) -> Specialization:
    """Return the specialization that an earlier process recorded, or trace it, and record it once it is assembled.

    Args:
        trace: traces the kernel for these values.
        arch, version, env, template, artifact: see `trace_kernel`.
        forget: drops launches of the specialization, if its machine code turns out not to be that of its trace.
    """
    if os.environ.get("PYPTX_TRACE_CACHE", "1") == "0":
        return _not_cached(kernel, trace(), "PYPTX_TRACE_CACHE is 0")
    find_key = partial(_key, kernel, arch, version, env, template)
    try:
        key, dependencies = find_key()
    except NotCacheableError as reason:
        return _not_cached(kernel, trace(), str(reason))
    kept = get_global_cache().get_trace(key)
    if kept is not None:
        try:
            found = _restored(kept, key, find_key, trace, env, template, artifact, kernel, forget)
        except _DAMAGED:  # written by another version of pyptx
            found = None
        if found is not None:
            return found
    return _recorded(kernel, key, find_key, trace, dependencies)


def _restored(
    kept: Mapping[str, Any],
    key: str,
    find_key: Callable[[], tuple[str, Dependencies]],
    trace: Trace,
    env: Mapping[str, int],
    template: Mapping[str, Any],
    artifact: Any,
    kernel: Declaration,
    forget: Callable[[], None],
) -> Specialization | None:
    """Return the specialization of a record; None if pyptx has changed since."""
    if not unchanged(kept["files"]):
        return None
    if kept["refused"] is not None:
        return _not_cached(kernel, trace(), str(kept["refused"]))
    record, tool = Record.from_json(kept["record"]), dict(kept["tool"])

    def machine_code(target: str) -> Any:
        from pyptx.assembly import cached_machine_code  # late: the simulator needs no assembler
        from pyptx.toolchain.locate import remember_version

        remember_version("ptxas", tool["path"], tool["modified_ns"], tool["version"])
        return cached_machine_code(record.text_hash, target)

    def differs(source: Any) -> None:
        try:
            same = find_key()[0] == key
        except NotCacheableError:
            same = False
        if not same:
            warnings.warn(
                f"kernel {kernel.name}: functions or values that it reads have changed since its launch; its text and tree "
                "are those of now",
                RuntimeWarning,
                stacklevel=4,
            )
            return
        get_global_cache().drop_trace(key)
        forget()
        warnings.warn(
            f"kernel {kernel.name}: its Python emits other PTX than in an earlier process, although nothing that pyptx "
            "knows it to read has changed. Launches of this process used the earlier PTX. The cached trace was deleted; "
            "the next launch uses a new one. Set PYPTX_TRACE_CACHE=0 for kernels that are not deterministic.",
            RuntimeWarning,
            stacklevel=4,
        )

    return Specialization(
        Restored(record, lambda: trace().source, differs, machine_code),
        record.dynamic_bytes,
        record.tma_tensors,
        {**env, **template},
        artifact,
        cluster_needed=record.cluster_needed,
    )


def _recorded(
    kernel: Declaration,
    key: str,
    find_key: Callable[[], tuple[str, Dependencies]],
    trace: Trace,
    dependencies: Dependencies,
) -> Specialization:
    """Trace, watching what is executed; the trace is recorded when it has been assembled."""
    from pyptx.jit.traces.executed import Executed  # late: not for restored traces

    with gc_paused(), Executed() as executed:  # a collection would run finalizers of other objects
        found = trace()
    outside = executed.outside(dependencies.codes)
    reason = executed.obstacle or (outside and f"it calls {describe(outside)}, which no name that it reads leads to")
    try:
        if reason is None and find_key()[0] != key:
            reason = "it changes values that it reads"
    except NotCacheableError as changed:
        reason = str(changed)
    if reason is not None:
        files = package_files()
        if files is not None and executed.obstacle != "a profiler is active":
            get_global_cache().put_trace(key, {"kernel": _title(kernel), "files": files, "refused": reason})
        return _not_cached(kernel, found, reason)
    return _with_source(found, keep=lambda: _keep(kernel, key, found))


def _keep(kernel: Declaration, key: str, found: Specialization) -> None:
    """Store the record of a trace that has been assembled by the ptxas in use."""
    from pyptx.toolchain.locate import find, version_of  # late: only after ptxas ran

    files, module, entry = package_files(), found.module, found.entry
    if files is None:
        return  # this process may run other code than that of the files
    head = type(module)(
        module.version,
        module.target,
        module.address_size,
        (type(entry)(True, entry.name, entry.params, None, (), entry.linking, entry.directives),),
    )
    record = Record(head, text_hash(found.emitted.text), found.dynamic_bytes, found.tma_tensors, found.cluster_needed)
    ptxas = find("ptxas")
    tool = {"path": str(ptxas), "modified_ns": ptxas.stat().st_mtime_ns, "version": version_of("ptxas")}
    kept = {"kernel": _title(kernel), "files": files, "refused": None, "record": record.to_json(), "tool": tool}
    get_global_cache().put_trace(key, kept)


def _title(kernel: Declaration) -> str:
    """Return the name of a kernel and of its function, for people."""
    function = kernel.function
    return f"{kernel.name} ({getattr(function, '__module__', None)}.{getattr(function, '__qualname__', kernel.name)})"


def _not_cached(kernel: Declaration, found: Specialization, reason: str) -> Specialization:
    return _with_source(found, origin=f"traced, not cached: {reason}")


def _with_source(found: Specialization, **settings: Any) -> Specialization:
    """Return the specialization, whose source gets settings of `Traced`."""
    source = found.source
    found.source = Traced(source.module, source.entry, source.emitted, cluster_place=source.cluster_place, **settings)
    return found


def _key(
    kernel: Declaration,
    arch: str,
    version: tuple[int, int] | None,
    env: Mapping[str, int],
    template: Mapping[str, Any],
) -> tuple[str, Dependencies]:
    """Return the key of a trace, 32 hexadecimal digits, and what it depends on.

    Raises:
        NotCacheableError: it depends on something that cannot be part of a key.
    """
    if kernel.unit is not None:
        raise NotCacheableError("it belongs to a translation unit")
    if replaced := replaced_function():
        raise NotCacheableError(f"{replaced[0]} is replaced by {describe(replaced[1].__code__)}")
    if any(part.formatting is not None for part in kernel.directives):
        raise NotCacheableError("it has directives with a formatting")
    declared = (
        kernel.name,
        tuple(map(_tile, kernel.specs)),
        kernel.block,
        kernel.cluster,
        kernel.reqntid,
        kernel.smem_bytes,
        kernel.raw_params,
        kernel.extern_smem,
        tuple((directive.name, directive.values) for directive in kernel.directives),
        kernel.linking and kernel.linking.value,
        kernel.debug,
        kernel.tensor_maps,
    )
    values = arch, version, tuple(sorted(env.items())), tuple(template.items())
    found = Dependencies([kernel.function, declared, values])
    python = sys.implementation.cache_tag, sys.hexversion
    text = repr((_FORMAT, __version__, PACKAGE_DIR, python, found.tokens))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32], found


def _tile(tile: Tile) -> tuple[Any, ...]:
    """Return the properties of a Tile that a trace reads; its tensor map is made at the launch."""
    layout, box = tile.layout.value, tile.tma_box
    described = tile.tensor_map is not None
    return tile.shape, tile.dtype, layout, box, tile.tma_rank, tile.tma_padding, tile.tma_whole, tile.align, described
