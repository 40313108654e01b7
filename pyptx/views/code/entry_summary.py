"""The summary of each entry in a linked view: resources, instruction mix, occupancy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from math import prod
from typing import Any

from pyptx.analysis import occupancy
from pyptx.analysis.sass.dependences import SassDataflow
from pyptx.assembly import Assembly
from pyptx.isa import targets
from pyptx.views.code.panes import Entry, SassPane

__all__ = ["entries_of", "limits_of"]

INSTRUCTION_BYTES = 16


def entries_of(
    compiled: Assembly,
    sass: SassPane,
    dataflow: SassDataflow,
    groups: Sequence[str],
    block: int | Sequence[int] | None,
    dynamic_bytes: int,
) -> tuple[Entry, ...]:
    """Summarize each entry of a compiled module; rows are those of `sass`."""
    names = [line.entry for line in compiled.sass]
    entries = []
    for name, used in compiled.resources.items():
        rows = [row for row, entry in enumerate(names) if entry == name]
        mix = Counter(groups[sass.group[row]] for row in rows)
        entries.append(
            Entry(
                name=name,
                start=rows[0] if rows else 0,
                count=len(rows),
                registers=used.registers,
                spill_stores=used.spill_stores,
                spill_loads=used.spill_loads,
                shared_bytes=used.shared_bytes,
                constant_bytes=used.constant_bytes,
                stack_bytes=used.stack_bytes,
                barriers=used.barriers,
                live=max((0, *(sass.live[row] for row in rows))),
                mix=dict(mix.most_common()),
                occupancy=_occupancy(compiled, name, block, dynamic_bytes),
                dynamic_shared_bytes=dynamic_bytes,
                code_bytes=INSTRUCTION_BYTES * len(rows),
                holders=_holders(dataflow, sass, rows),
            )
        )
    return tuple(entries)


def _holders(dataflow: SassDataflow, sass: SassPane, rows: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return (PTX row, count) of the definitions of the registers live at the first peak; row -1 stands for ptxas."""
    if not rows or max(sass.live[row] for row in rows) <= 0:
        return ()
    peak = max(rows, key=lambda row: sass.live[row])
    found: Counter[int] = Counter()
    for row, count in dataflow.register_holders(peak).items():
        found[sass.ptx[row]] += count
    # nvdisasm also counts registers that the ABI reserves and no instruction defines: the stack pointer, for example
    if (reserved := sass.live[peak] - found.total()) > 0:
        found[-1] += reserved
    return tuple(sorted(found.items(), key=lambda item: (-item[1], item[0] < 0, item[0])))


def limits_of(target: str) -> dict[str, int]:
    """Return the hardware limits of a target: the fields of `pyptx.isa.targets.Limits`."""
    return asdict(targets.parse(target).limits)


def _occupancy(
    compiled: Assembly, name: str, block: int | Sequence[int] | None, dynamic_bytes: int
) -> dict[str, Any] | None:
    if block is None:
        sizes = (
            tuple(map(int, directive.values))
            for entry in compiled.module.entries
            if entry.name == name
            for directive in entry.directives
            if directive.name in ("reqntid", "maxntid")
        )
        block = next(sizes, None)
    if block is None:
        return None
    used = compiled.resources[name]
    fits = occupancy(
        compiled.target,
        threads=block if isinstance(block, int) else prod(map(int, block)),
        registers=used.registers,
        shared_bytes=used.shared_bytes,
        dynamic_shared_bytes=dynamic_bytes,
    )
    return {
        "threads": fits.threads,
        "blocks": fits.blocks,
        "warps": fits.warps,
        "max_warps": fits.max_warps,
        "limiters": list(fits.limiters),
        "why": fits.why,
    }
