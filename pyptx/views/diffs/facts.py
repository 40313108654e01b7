"""The summary of a diff: the verdict, and the resources of both sides."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pyptx.analysis.diff.comparison import Comparison
from pyptx.analysis.sass.issue import execution_counts, issue_cycles
from pyptx.assembly import Assembly
from pyptx.views.code.linked import LinkedView

__all__ = ["USES", "Fact", "delta_text", "facts_of", "mix_of", "shown", "verdict_of"]

CYCLES = "issue cycles of a warp, modeled"  # of a launch with counters
CYCLES_ONCE = "issue cycles, each line once, modeled"


class Fact(NamedTuple):
    """A number of both sides; None if unknown.

    Attributes:
        label: "registers", "occupancy" ...; of an instruction group, its name.
        unit: "", "B" or "%".
        good: 1 if more is better, -1 if less is better, 0 if neither.
        kind: "use" or "group".
    """

    label: str
    left: float | int | None
    right: float | int | None
    unit: str
    good: int
    kind: str = "use"


def _occupancy(view: LinkedView) -> float | None:
    fits = [entry.occupancy for entry in view.entries if entry.occupancy]
    return min((round(100 * one["warps"] / one["max_warps"], 1) for one in fits), default=None)


class Use(NamedTuple):
    """A number of a linked view, over all its entries; the rest as for Fact."""

    label: str
    unit: str
    good: int
    number: Callable[[LinkedView], float | int | None]


USES = (
    Use("registers", "", -1, lambda view: max((entry.registers for entry in view.entries), default=0)),
    Use("peak live registers", "", -1, lambda view: max((entry.live for entry in view.entries), default=0)),
    Use("spills", "B", -1, lambda view: sum(entry.spill_stores + entry.spill_loads for entry in view.entries)),
    Use("shared memory", "B", -1, lambda view: sum(entry.shared_bytes for entry in view.entries)),
    Use("stack", "B", -1, lambda view: sum(entry.stack_bytes for entry in view.entries)),
    Use("occupancy", "%", 1, _occupancy),
    Use("instructions", "", 0, lambda view: len(view.sass.text)),
)


def facts_of(left: LinkedView, right: LinkedView, one: Assembly, other: Assembly) -> tuple[Fact, ...]:
    """Return the resources of both sides, summed over entries; for registers and occupancy, of the worst entry.

    Args:
        left, right: linked views.
        one, other: the Assembly of each view.
    """
    found = [Fact(use.label, use.number(left), use.number(right), use.unit, use.good) for use in USES]
    found.append(Fact("code", 16 * len(one.sass), 16 * len(other.sass), "B", 0))
    found.append(_cycles(left, right))
    mixes = [mix_of(view) for view in (left, right)]
    for group in dict.fromkeys((*mixes[0], *mixes[1])):
        found.append(Fact(group, mixes[0].get(group, 0), mixes[1].get(group, 0), "", 0, "group"))
    return tuple(fact for fact in found if fact.left or fact.right)


def _cycles(left: LinkedView, right: LinkedView) -> Fact:
    """Return modeled issue cycles, weighted by the counters of both launches, else with each line once."""
    counts = [execution_counts(view.sass.ptx, view.ptx.counters.get("issues", ())) for view in (left, right)]
    if None not in counts:
        before, after = (issue_cycles(view.sass.stall, own) for view, own in zip((left, right), counts, strict=True))
        return Fact(CYCLES, round(before), round(after), "", -1)
    return Fact(CYCLES_ONCE, issue_cycles(left.sass.stall), issue_cycles(right.sass.stall), "", 0)


def mix_of(view: LinkedView) -> dict[str, int]:
    """Return the number of instructions of each group."""
    found: dict[str, int] = {}
    for entry in view.entries:
        for group, count in entry.mix.items():
            found[group] = found.get(group, 0) + count
    return found


def verdict_of(level: str, compared: Comparison, facts: tuple[Fact, ...]) -> str:
    """Return one sentence: the kind of change, the number of lines, and the resources that changed."""
    counts = {name: max(pair) for name, pair in compared.counts().items()}
    lines = "instructions" if level == "sass" else "lines"
    names = "registers or spelling" if any(row.kind == 1 and row.why for row in compared.rows) else "registers"
    if counts["different"]:
        left, right = compared.counts()["different"]
        many = (
            f"{_count(left, lines)} differ{'s' * (left == 1)}"
            if left == right
            else f"{_count(left or right, lines)} only on the {'left' if left else 'right'}"
            if not (left and right)
            else f"{_count(left, lines)} on the left became {right} on the right"
        )
        sentence = f"Different: {many}"
        also = [f"{counts[name]} {name}" for name in ("renamed", "rescheduled") if counts[name]]
        sentence += f" ({', '.join(also)})" if also else ""
    elif counts["rescheduled"]:
        sentence = f"Identical {lines} in another order: {counts['rescheduled']} rescheduled"
        sentence += f", {counts['renamed']} with different {names}" if counts["renamed"] else ""
    elif counts["renamed"]:
        sentence = f"Identical {lines} with different {names}: {counts['renamed']} renamed"
    else:
        sentence = "Identical" if level == "sass" else f"The {'PTX' if level == 'ptx' else 'Python'} is identical"
    if compared.control_only:
        sentence += f"; {compared.control_only} differ in scheduling bits only"
    changed = [
        f"{fact.label} {shown(fact, fact.left)} → {shown(fact, fact.right)}"
        for fact in facts
        if fact.kind == "use"
        and fact.good
        and fact.left != fact.right
        and fact.left is not None
        and fact.right is not None
        and fact.label != "peak live registers"
    ]
    return sentence + (f". {_sentence('; '.join(changed))}" if changed else "") + "."


def _count(number: int, things: str) -> str:
    return f"1 {things[:-1]}" if number == 1 else f"{number} {things}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def shown(fact: Fact, value: float | int | None) -> str:
    """Return a number with its unit: "40", "1.5 KiB", "37.5 %", "?"."""
    if value is None:
        return "?"
    if fact.unit == "B":
        return f"{value} B" if value < 1024 else f"{value / 1024:.4g} KiB"
    return f"{value:g} {fact.unit}".rstrip()


def delta_text(fact: Fact) -> str:
    """Return the change, such as "+12 (+30 %)"; empty if there is none or it is unknown."""
    if fact.left is None or fact.right is None or fact.left == fact.right:
        return ""
    change = fact.right - fact.left
    sign = "+" if change > 0 else "−"
    amount = sign + shown(fact, abs(change))
    if fact.unit == "%":
        return amount.replace(" %", " points")
    return f"{amount} ({sign}{100 * abs(change) / fact.left:.0f} %)" if fact.left else amount
