"""The page that says, target by target, how many forms of the table the simulator runs, and which it refuses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from oracle.examples import Example

from pyptx.isa.targets import Target

__all__ = ["page"]

_SHOWN = "sm_80 sm_86 sm_89 sm_90 sm_90a sm_100a sm_100f sm_103a sm_110a sm_120a".split()

_WHILE_RUNNING = """
## What it refuses as a kernel runs

Descriptors are values, so these are found when the instruction runs, and end the launch with an error:

- `tcgen05.mma` of four-bit types whose instruction descriptor asks for K = 96 (sm_103a), and a matrix descriptor with
  the absolute leading address that belongs to it.
""".rstrip().split("\n")


def page(tried: list[tuple[Example, tuple[Target, ...], str | None]]) -> Iterator[str]:
    """Lines of Markdown. An example: the targets that have it, and why it is refused (None: it runs)."""
    yield "# What the simulator runs"
    yield ""
    yield ("Made by `pytest tests/sim/test_forms.py --bless` from the table: every form with every choice of every "
           "slot is loaded and encoded for both engines. A form counts for a target when the target has it.")
    yield ""
    yield "| target | forms | simulated | but for some choices | refused |"
    yield "| --- | --- | --- | --- | --- |"
    for name in _SHOWN:
        forms: dict[object, set[bool]] = defaultdict(set)
        for example, targets, refusal in tried:
            if any(t.name == name for t in targets):
                forms[example.form].add(refusal is None)
        counts = [sum(found == wanted for found in forms.values()) for wanted in ({True}, {True, False}, {False})]
        yield f"| {name} | {len(forms)} | {' | '.join(map(str, counts))} |"
    yield from _refused("What these targets have and the simulator refuses",
                        [(e, r) for e, targets, r in tried if r is not None and targets])
    yield from _WHILE_RUNNING
    yield from _refused("What none of these targets has", [(e, r) for e, targets, r in tried if r and not targets])


def _refused(title: str, refused: list[tuple[Example, str]]) -> Iterator[str]:
    yield ""
    yield f"## {title}"
    reasons: dict[str, dict[str, None]] = defaultdict(dict)
    for example, refusal in refused:
        reasons[refusal.partition(" is not simulated")[2].removeprefix(": ") or "not yet simulated"][
            example.form.syntax] = None
    for reason, forms in reasons.items():
        yield ""
        yield f"{reason[0].upper()}{reason[1:]}:"
        yield ""
        yield "```text"
        yield from sorted(forms)
        yield "```"
