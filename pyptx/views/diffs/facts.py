"""The head of a diff: the verdict, and what both sides use with the change."""

from __future__ import annotations

from typing import NamedTuple

from pyptx.analysis.diff.rows import Compared
from pyptx.analysis.sass.issue import executions, issue_cycles

__all__ = ["Fact", "delta_text", "facts_of", "shown", "verdict_of"]

CYCLES = "issue cycles of a warp, modelled"             # of a launch that was counted
CYCLES_ONCE = "issue cycles, each line once, modelled"


class Fact(NamedTuple):
    """One number of both sides; None: not known.

    Attributes:
        label: "registers", "occupancy" ...; of an instruction group, its name.
        unit: "", "B" or "%".
        good: 1 when more is better, -1 when less is, 0 when it says nothing by itself.
        kind: "use" or "group".
    """

    label: str
    left: float | int | None
    right: float | int | None
    unit: str
    good: int
    kind: str = "use"


def facts_of(left, right, one, other) -> tuple[Fact, ...]:
    """What both sides use. Entries are added up, except registers and occupancy, where the worst counts.

    Args:
        left, right: linked views.
        one, other: the Compiled they show.
    """
    found = []
    for label, unit, good, number in (
            ("registers", "", -1, lambda view: max((entry.registers for entry in view.entries), default=0)),
            ("live registers at most", "", -1, lambda view: max((entry.live for entry in view.entries), default=0)),
            ("spills", "B", -1, lambda view: sum(entry.spill_stores + entry.spill_loads for entry in view.entries)),
            ("shared memory", "B", -1, lambda view: sum(entry.shared_bytes for entry in view.entries)),
            ("stack", "B", -1, lambda view: sum(entry.stack_bytes for entry in view.entries)),
            ("occupancy", "%", 1, _occupancy),
            ("instructions", "", 0, lambda view: len(view.sass.text))):
        found.append(Fact(label, number(left), number(right), unit, good))
    found.append(Fact("code", 16 * len(one.sass), 16 * len(other.sass), "B", 0))
    found.append(_cycles(left, right))
    mixes = [_mix(view) for view in (left, right)]
    for group in dict.fromkeys((*mixes[0], *mixes[1])):
        found.append(Fact(group, mixes[0].get(group, 0), mixes[1].get(group, 0), "", 0, "group"))
    return tuple(fact for fact in found if fact.left or fact.right)


def _cycles(left, right) -> Fact:
    """Modelled issue cycles: as the launches of both sides were counted, else every line once."""
    times = [executions(view.sass.ptx, view.ptx.counters.get("issues", ())) for view in (left, right)]
    if None not in times:
        return Fact(CYCLES, *(round(issue_cycles(view.sass.stall, own)) for view, own in
                              zip((left, right), times, strict=True)), "", -1)
    return Fact(CYCLES_ONCE, issue_cycles(left.sass.stall), issue_cycles(right.sass.stall), "", 0)


def _occupancy(view) -> float | None:
    fits = [entry.occupancy for entry in view.entries if entry.occupancy]
    return min((round(100 * one["warps"] / one["max_warps"], 1) for one in fits), default=None)


def _mix(view) -> dict[str, int]:
    found: dict[str, int] = {}
    for entry in view.entries:
        for group, count in entry.mix.items():
            found[group] = found.get(group, 0) + count
    return found


def verdict_of(level: str, compared: Compared, facts: tuple[Fact, ...]) -> str:
    """One sentence: what kind of change it is, how many lines, and the use that changed."""
    counts = {name: max(pair) for name, pair in compared.counts().items()}
    lines = "instructions" if level == "sass" else "lines"
    names = "registers or spelling" if any(row.kind == 1 and row.why for row in compared.rows) else "registers"
    if counts["different"]:
        left, right = compared.counts()["different"]
        many = (f"{_count(left, lines)} differ{'s' * (left == 1)}" if left == right else
                f"{_count(left or right, lines)} only on the {'left' if left else 'right'}" if not (left and right) else
                f"{_count(left, lines)} on the left became {right} on the right")
        sentence = f"Different: {many}"
        also = [f"{counts[name]} {name}" for name in ("renamed", "rescheduled") if counts[name]]
        sentence += f" ({', '.join(also)})" if also else ""
    elif counts["rescheduled"]:
        sentence = f"The same {lines} in another order: {counts['rescheduled']} rescheduled"
        sentence += f", {counts['renamed']} with other {names}" if counts["renamed"] else ""
    elif counts["renamed"]:
        sentence = f"The same {lines} with other {names}: {counts['renamed']} renamed"
    else:
        sentence = "Identical" if level == "sass" else f"The {'PTX' if level == 'ptx' else 'Python'} is identical"
    if compared.control_only:
        sentence += f"; {compared.control_only} differ in scheduling bits only"
    changed = [f"{fact.label} {shown(fact, fact.left)} → {shown(fact, fact.right)}" for fact in facts
               if fact.kind == "use" and fact.good and fact.left != fact.right and fact.left is not None
               and fact.right is not None and fact.label != "live registers at most"]
    return sentence + (f". {_sentence('; '.join(changed))}" if changed else "") + "."


def _count(number: int, things: str) -> str:
    return f"1 {things[:-1]}" if number == 1 else f"{number} {things}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def shown(fact: Fact, value: float | int | None) -> str:
    """A number with its unit: "40", "1.5 KiB", "37.5 %", "?" """
    if value is None:
        return "?"
    if fact.unit == "B":
        return f"{value} B" if value < 1024 else f"{value / 1024:.4g} KiB"
    return f"{value:g} {fact.unit}".rstrip()


def delta_text(fact: Fact) -> str:
    """ "+12 (+30 %)", "" when nothing changed or is not known."""
    if fact.left is None or fact.right is None or fact.left == fact.right:
        return ""
    change = fact.right - fact.left
    sign = "+" if change > 0 else "−"
    amount = sign + shown(fact, abs(change))
    if fact.unit == "%":
        return amount.replace(" %", " points")
    return f"{amount} ({sign}{100 * abs(change) / fact.left:.0f} %)" if fact.left else amount
