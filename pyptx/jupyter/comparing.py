"""`--diff REF`: the version that a cell's kernel is compared with, and the comparison."""

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
from pyptx.jupyter.running import Shown
from pyptx.views.diffs.diff import Diff, compiled_of, diff

__all__ = ["Earlier", "Other", "compare", "earlier"]

Other = Version | Compiled                              # a version that was kept, or what a file holds
Earlier = Callable[[Version], Other | None]             # the cell's own version -> what it is compared with
FILES = (".ptx", ".cubin")


def earlier(ref: str, kernel: str) -> Earlier:
    """What REF names for a kernel, asked before the cell's own version is kept or labelled: a version, or a file.

    `@-1` and the like count the versions that are not the cell's own: a cell that is run again without a change is
    still compared with the one before.

    Returns:
        A function of the cell's own version. It gives None, and a warning, where `@-1` goes back too far.
    Raises:
        UsageError: no version is called so, or several are; the file cannot be read, or is not PTX that assembles.
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
        warnings.warn(f"--diff {ref}: {kernel} has {len(others) or 'no'} other version{'s' * (len(others) != 1)} to "
                      "compare with", stacklevel=2)
        return None
    return before


def compare(before: Other, own: Version, shown: Shown) -> Diff:
    """The cell's kernel beside an earlier version, which stands on the left; both as for launches of one block."""
    block = shown.block or (before.block if isinstance(before, Version) else None)
    return diff(before, replace(shown.compiled, name=own.ref), block=block,
                dynamic_shared_bytes=shown.dynamic_shared_bytes, counters=(None, shown.counters))
