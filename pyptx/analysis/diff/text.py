"""Two texts compared line by line: PTX up to the names of its registers and labels, or any text to the letter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from pyptx.analysis.diff.align import align
from pyptx.analysis.diff.rows import CLASSES, Compared, Row, hunks_of

__all__ = ["compare_text"]

# %rd12, %acc2_3, $L3: numbered names stand for something else; special registers with a number in their name do not
_PTX_NAME = re.compile(r"%(?!clock|pm\d|envreg\d|reserved_smem)[A-Za-z]\w*\d\b|\$[\w$]+")
_STEM = re.compile(r"%[A-Za-z]+|\$")
_IDENTICAL, _RENAMED, _, _DIFFERENT = range(len(CLASSES))


def compare_text(left: Sequence[str], right: Sequence[str], *, ptx: bool = False) -> Compared:
    """Compare lines.

    Args:
        left, right: the lines; blanks at the end do not count, in PTX those at the beginning neither.
        ptx: names of registers and labels may differ where one name stands for one other throughout: "renamed".
    """
    left, right = ([line.strip() if ptx else line.rstrip() for line in lines] for lines in (left, right))
    names_a, names_b = ([tuple(_PTX_NAME.findall(line)) if ptx else () for line in lines] for lines in (left, right))
    keys_a, keys_b = ([_PTX_NAME.sub(_letter, line) if ptx else line for line in lines] for lines in (left, right))
    pairs = align(keys_a, keys_b, left, right)
    forth = _names(pairs, names_a, names_b)
    if any(forth.get(x) != y for i, j in pairs for x, y in zip(names_a[i], names_b[j], strict=True)):
        finer_a = [(key, *(forth.get(name, f"<{name}") for name in names))
                   for key, names in zip(keys_a, names_a, strict=True)]
        finer_b = [(key, *names) for key, names in zip(keys_b, names_b, strict=True)]
        pairs = align(keys_a, keys_b, finer_a, finer_b)
        forth = _names(pairs, names_a, names_b)
    rows: list[Row] = []
    at_a = at_b = 0
    for i, j in (*pairs, (len(left), len(right))):
        both = min(i - at_a, j - at_b)
        rows += (Row(at_a + n, at_b + n, _DIFFERENT, "text") for n in range(both))
        rows += (Row(row, -1, _DIFFERENT, "only left") for row in range(at_a + both, i))
        rows += (Row(-1, row, _DIFFERENT, "only right") for row in range(at_b + both, j))
        if i < len(left):
            same = all(forth.get(x) == y for x, y in zip(names_a[i], names_b[j], strict=True))
            rows.append(Row(i, j, _IDENTICAL if same and left[i] == right[j] else _RENAMED) if same else
                        Row(i, j, _DIFFERENT, "another register"))
        at_a, at_b = i + 1, j + 1
    return Compared(tuple(rows), hunks_of(rows))


def _letter(match: re.Match[str]) -> str:
    return _STEM.match(match[0])[0]


def _names(pairs, names_a, names_b) -> dict[str, str]:
    """Name on the left -> name on the right, one to one, as most of the lines have it."""
    votes: Counter[tuple[str, str]] = Counter()
    for i, j in pairs:
        votes.update(zip(names_a[i], names_b[j], strict=True))
    forth: dict[str, str] = {}
    taken: set[str] = set()
    for (x, y), _ in votes.most_common():
        if x not in forth and y not in taken:
            forth[x] = y
            taken.add(y)
    return forth
