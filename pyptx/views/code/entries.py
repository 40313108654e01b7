"""What each entry of a Compiled uses: the summary of a linked view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from math import prod
from typing import Any

from pyptx.analysis import occupancy
from pyptx.analysis.sass.dependences import holders
from pyptx.isa import targets
from pyptx.views.code.panes import Entry, SassPane

__all__ = ["entries_of", "limits_of"]

INSTRUCTION_BYTES = 16


def entries_of(compiled, sass: SassPane, groups: Sequence[str], block: int | Sequence[int] | None,
               dynamic_bytes: int) -> tuple[Entry, ...]:
    """Resources, instruction mix and occupancy of each entry; rows are those of `sass`."""
    names = [line.entry for line in compiled.sass]
    entries = []
    for name, used in compiled.resources.items():
        rows = [row for row, entry in enumerate(names) if entry == name]
        mix = Counter(groups[sass.group[row]] for row in rows)
        entries.append(Entry(
            name=name, start=rows[0] if rows else 0, count=len(rows), registers=used.registers,
            spill_stores=used.spill_stores, spill_loads=used.spill_loads, shared_bytes=used.shared_bytes,
            constant_bytes=used.constant_bytes, stack_bytes=used.stack_bytes, barriers=used.barriers,
            live=max((0, *(sass.live[row] for row in rows))), mix=dict(mix.most_common()),
            occupancy=_occupancy(compiled, name, block, dynamic_bytes), dynamic_shared_bytes=dynamic_bytes,
            code_bytes=INSTRUCTION_BYTES * len(rows), holders=_holders(compiled.sass, sass, rows)))
    return tuple(entries)


def _holders(lines: Sequence, sass: SassPane, rows: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """PTX rows, -1 for ptxas, that fill the registers at the first row where most are live, and how many."""
    if not rows or max(sass.live[row] for row in rows) <= 0:
        return ()
    peak = max(rows, key=lambda row: sass.live[row])
    found: Counter[int] = Counter()
    for row, count in holders(lines, peak).items():
        found[sass.ptx[row]] += count
    return tuple(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def limits_of(target: str) -> dict[str, int]:
    """What the hardware of a target offers: the fields of `pyptx.isa.targets.Limits`."""
    return asdict(targets.parse(target).limits)


def _occupancy(compiled, name: str, block: int | Sequence[int] | None, dynamic_bytes: int) -> dict[str, Any] | None:
    if block is None:
        sizes = (directive.values for entry in compiled.module.entries if entry.name == name
                 for directive in entry.directives if directive.name in ("reqntid", "maxntid"))
        block = next(sizes, None)
    if block is None:
        return None
    used = compiled.resources[name]
    fits = occupancy(compiled.target, threads=block if isinstance(block, int) else prod(map(int, block)),
                     registers=used.registers, shared_bytes=used.shared_bytes, dynamic_shared_bytes=dynamic_bytes)
    return {"threads": fits.threads, "blocks": fits.blocks, "warps": fits.warps, "max_warps": fits.max_warps,
            "limiters": list(fits.limiters), "why": fits.why}
