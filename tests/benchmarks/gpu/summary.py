"""Summary page of the results of everything.py. Standard library only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["load_words", "page"]

Rows = Sequence[Mapping[str, Any]]


def page(
    steps: Sequence[str],
    state: Mapping[str, Any],
    forms: Mapping[str, Any] | None,
    tests: Rows | None,
    examples: Mapping[str, Any] | None,
    benchmark: Mapping[str, Any] | None,
    modeled: Mapping[str, Any],
    launches: Sequence[str] | None,
) -> str:
    """Steps, examples that are wrong, times beside the modeled ones, costs of a launch, tests that failed, forms that
    differ."""
    parts = [
        ["# What the GPU said"],
        list(_states(steps, state)),
        list(_examples((examples or {}).get("results", ()))),
        list(_times((benchmark or {}).get("results", ()), modeled["results"])),
        [f"    {text}" for text in launches or ()],
        list(_tests(tests or ())),
        list(_forms((forms or {}).get("rows", ()))),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _states(steps: Sequence[str], state: Mapping[str, Any]) -> Iterator[str]:
    for name in steps:
        if found := state.get(name):
            word = "not finished" if not found["whole"] else "right" if found["right"] else "WRONG"
            yield f"- {name}: {word}, {found['seconds']} s"


def _examples(rows: Rows) -> Iterator[str]:
    ours = [row for row in rows if "skipped" not in row]
    wrong = [row for row in ours if not row.get("right")]
    yield f"Examples at small sizes: {len(ours) - len(wrong)} right, {len(wrong)} not."
    for row in wrong:
        why = row["failed"] if "failed" in row else f"WRONG, off by {row['error']:.1e}"
        sizes = ", ".join(f"{name} {value}" for name, value in row["sizes"].items())
        yield f"- {row['case']} ({sizes}): {row['candidate']}: {' '.join(why.split())[-300:]}"


def _forms(rows: Rows) -> Iterator[str]:
    refused, wrong = [row for row in rows if "why" in row], [row for row in rows if row.get("differ")]
    yield f"{len(rows)} forms compared, {len(wrong)} differ, {len(refused)} were refused."
    for row in sorted(wrong, key=lambda row: row["approximate"])[:60]:
        yield (
            f"- {'approximate' if row['approximate'] else 'EXACT'}: `{row['form']}`: {row['differ']} of "
            f"{row['compared']} registers, by up to {row['furthest_last_places']} in the last place; "
            f"`{row['differences'][0]['statement']}`"
        )
    for row in refused[:20]:
        yield f"- refused by the {row['refused_by']}: `{row['form']}`: {row['why'].splitlines()[0][:160]}"


def _tests(rows: Rows) -> Iterator[str]:
    outcomes = [row["outcome"] for row in rows]
    yield f"Tests: {', '.join(f'{outcomes.count(one)} {one}' for one in sorted(set(outcomes))) or 'none'}."
    for row in rows:
        if row["outcome"] not in ("passed", "skipped"):
            yield f"- {row['outcome']}: {row['test']}: {' '.join(row['why'].split())[:300]}"


def _times(rows: Rows, modeled: Rows) -> Iterator[str]:
    """A row for each candidate; for ours also the measured over the modeled time."""
    known = {
        (row["case"], *row["sizes"].values(), row["candidate"]): row["seconds"] for row in modeled if "seconds" in row
    }
    if rows:
        yield "| case | candidate | rate | of the roof | ratio | microseconds | measured over modeled | load |"
        yield f"|{' --- |' * 8}"
    for row in rows:
        sizes = ", ".join(f"{name} {value}" for name, value in row["sizes"].items())
        cells = [f"{row['case']}, {sizes}", row["candidate"]]
        if "seconds" in row:
            seconds = row["seconds"][0]
            model = known.get((row["case"], *row["sizes"].values(), row["candidate"]))
            cells += [
                f"{row['rate']:.2f} {row['unit']}",
                f"{row['roof']:.1%}" if row["roof"] else "",
                f"{row['ratio'][0]:.3f}",
                f"{seconds * 1e6:.1f}",
                f"{seconds / model:.2f}" if model else "",
                ", ".join(load_words(row.get("load") or {})),
            ]
        else:
            why = row.get("failed") or row.get("skipped")
            if why is None:
                why = "right, not timed" if row["right"] else f"WRONG, off by {row['error']:.1e}"
            cells += [why.splitlines()[0][:120], "", "", "", "", ""]
        yield f"| {' | '.join(cells)} |"


def load_words(load: Mapping[str, Any]) -> Iterator[str]:
    """Time, clock and power while a candidate ran over and over."""
    if "seconds" in load:
        yield f"{load['seconds'] * 1e6:.1f} us in a row"
    if "clock_hz" in load:
        yield f"{load['clock_hz'] / 1e6:.0f} MHz"
    if "watts" in load:
        yield f"{load['watts']:.0f} W"
    if load.get("throttled"):
        yield "throttled"
