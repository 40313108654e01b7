"""Textual comparison by lines: PTX up to renaming of registers and labels, other text exactly."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from pyptx.analysis.diff.align import align
from pyptx.analysis.diff.comparison import CLASSES, Comparison, Row, group_hunks

__all__ = ["compare_text"]

# %rd12, %acc2_3, $L3: numbered names may be renamed; special registers with a number in their name may not
_PTX_NAME = re.compile(r"%(?!clock|pm\d|envreg\d|reserved_smem)[A-Za-z]\w*\d\b|\$[\w$]+")
_STEM = re.compile(r"%[A-Za-z]+|\$")
_IDENTICAL, _RENAMED, _, _DIFFERENT = range(len(CLASSES))


def compare_text(left: Sequence[str], right: Sequence[str], *, ptx: bool = False) -> Comparison:
    """Compare lines.

    Args:
        left, right: the lines; trailing blanks are ignored, in PTX leading ones as well.
        ptx: registers and labels that are consistently renamed make a line "renamed".
    """
    left, right = ([line.strip() if ptx else line.rstrip() for line in lines] for lines in (left, right))
    names_a, names_b = ([tuple(_PTX_NAME.findall(line)) if ptx else () for line in lines] for lines in (left, right))
    keys_a, keys_b = ([_PTX_NAME.sub(_letter, line) if ptx else line for line in lines] for lines in (left, right))
    pairs = align(keys_a, keys_b, left, right)
    forward = _names(pairs, names_a, names_b)
    if any(forward.get(x) != y for i, j in pairs for x, y in zip(names_a[i], names_b[j], strict=True)):
        finer_a = [
            (key, *(forward.get(name, f"<{name}") for name in names))
            for key, names in zip(keys_a, names_a, strict=True)
        ]
        finer_b = [(key, *names) for key, names in zip(keys_b, names_b, strict=True)]
        pairs = align(keys_a, keys_b, finer_a, finer_b)
        forward = _names(pairs, names_a, names_b)
    rows: list[Row] = []
    at_a = at_b = 0
    for i, j in (*pairs, (len(left), len(right))):
        both = min(i - at_a, j - at_b)
        rows += (Row(at_a + n, at_b + n, _DIFFERENT, "text") for n in range(both))
        rows += (Row(row, -1, _DIFFERENT, "only left") for row in range(at_a + both, i))
        rows += (Row(-1, row, _DIFFERENT, "only right") for row in range(at_b + both, j))
        if i < len(left):
            same = all(forward.get(x) == y for x, y in zip(names_a[i], names_b[j], strict=True))
            rows.append(
                Row(i, j, _IDENTICAL if same and left[i] == right[j] else _RENAMED)
                if same
                else Row(i, j, _DIFFERENT, "another register")
            )
        at_a, at_b = i + 1, j + 1
    return Comparison(tuple(rows), group_hunks(rows))


def _letter(match: re.Match[str]) -> str:
    stem = _STEM.match(match[0])
    assert stem is not None, "a name has a stem"
    return stem[0]


def _names(pairs, names_a, names_b) -> dict[str, str]:
    """Return name on the left -> name on the right, one to one, by majority of the lines."""
    votes: Counter[tuple[str, str]] = Counter()
    for i, j in pairs:
        votes.update(zip(names_a[i], names_b[j], strict=True))
    forward: dict[str, str] = {}
    taken: set[str] = set()
    for (x, y), _ in votes.most_common():
        if x not in forward and y not in taken:
            forward[x] = y
            taken.add(y)
    return forward
