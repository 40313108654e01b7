"""The baseline of a diff: the version or file that `--diff REF` names."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath

from IPython.core.error import UsageError

from pyptx import history
from pyptx.compiled import Compiled
from pyptx.errors import PtxError
from pyptx.history import Version, VersionError
from pyptx.jupyter.kernel_runs import CompiledKernel
from pyptx.views.diffs.diff import Diff
from pyptx.workbench.comparing import compiled_of, diff

__all__ = ["Baseline", "BaselineLookup", "compare", "lookup_baseline"]

Baseline = Version | Compiled  # a recorded version, or the code of a file
BaselineLookup = Callable[[Version], Baseline | None]  # the cell's own version -> its baseline
FILES = (".cu", ".ptx", ".cubin")


def lookup_baseline(ref: str, kernel: str) -> BaselineLookup:
    """Resolve REF for a kernel, before the cell's own version is recorded or labeled.

    `@-1` and the like skip the cell's own version: a cell that is run again unchanged is still compared with the
    version before it.

    Returns:
        A function of the cell's own version. It returns None, with a warning, where `@-1` goes back too far.
    Raises:
        UsageError: the reference is unknown or ambiguous; the file cannot be read, or does not assemble.
    """
    if PurePath(ref).suffix in FILES:
        try:
            file = compiled_of(ref)
        except (OSError, ValueError, PtxError) as error:
            raise UsageError(f"--diff {ref}: {error}") from None
        return lambda own: file
    relative = re.fullmatch(rf"(?:{re.escape(kernel)})?@-([1-9]\d*)", ref)
    try:
        if not relative:
            found = history.version(ref, kernel=kernel)
            return lambda own: found
        known = [version for version in history.versions() if version.kernel == kernel]
    except VersionError as error:
        raise UsageError(f"--diff {ref}: {error}") from None

    def before(own: Version) -> Version | None:
        others, back = [version for version in known if version != own], int(relative[1])
        if back <= len(others):
            return others[-back]
        warnings.warn(
            f"--diff {ref}: {kernel} has {len(others) or 'no'} other version{'s' * (len(others) != 1)} to compare with",
            stacklevel=2,
        )
        return None

    return before


def compare(before: Baseline, own: Version, made: CompiledKernel) -> Diff:
    """Compare the baseline (left) with the cell's kernel (right), both for the same block size."""
    block = made.block or (before.block if isinstance(before, Version) else None)
    return diff(
        before,
        replace(made.compiled, name=own.ref),
        block=block,
        dynamic_shared_bytes=made.dynamic_shared_bytes,
        counters=(None, made.counters),
    )
