"""Statements as lists, without jumps to where control goes anyway: what `meaning` compares.

A list is a kind and what it names: `["label", name]`; `["", guard, negated, mnemonic, operand, ...]` an instruction.
"""

from __future__ import annotations

__all__ = ["without_jumps"]


def without_jumps(items: list[list]) -> list[list]:
    """The statements without jumps to where control goes anyway, and without labels that nothing names."""
    changed = True
    while changed:
        changed = False
        used = _named(items)
        items = [item for item in items if item[0] != "label" or item[1] in used]
        out: list[list] = []
        for i, item in enumerate(items):
            if item[0] == "" and item[3] == "bra" and len(item) == 5:
                behind = _labels_at(items, i + 1)
                if item[4] in behind:
                    changed = True
                    continue
                if item[1] and i + 1 < len(items):
                    after = items[i + 1]
                    if (after[0] == "" and after[3] == "bra" and not after[1] and len(after) == 5
                            and item[4] in _labels_at(items, i + 2)):
                        out.append(["", item[1], not item[2], "bra", after[4]])
                        items[i + 1] = ["nothing"]
                        changed = True
                        continue
            if item[0] != "nothing":
                out.append(item)
        items = out
    used = _named(items)
    first: dict[str, str] = {}
    previous: str | None = None
    out = []
    for item in items:
        if item[0] == "label":
            if item[1] not in used:
                continue
            if previous is not None:                            # two labels of one place are one label
                first[item[1]] = previous
                continue
            previous = item[1]
        else:
            previous = None
        out.append(item)
    return [[item[0], *(first.get(p, p) if type(p) is str else p for p in item[1:])] for item in out] if first else out


def _named(items: list[list]) -> set[str]:
    """Every name in the statements, but for those of the labels themselves."""
    return {part for item in items if item[0] != "label" for part in item[1:] if type(part) is str}


def _labels_at(items: list[list], i: int) -> set[str]:
    found = set()
    while i < len(items) and items[i][0] in ("label", "nothing"):
        if items[i][0] == "label":
            found.add(items[i][1])
        i += 1
    return found
