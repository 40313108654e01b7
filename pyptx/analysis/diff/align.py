"""Alignment of two texts by the longest common subsequence of their lines' keys, in near-linear time.

Runs of identical lines that occur once are matched first (they are never a coincidence), then the keys between them. The
subsequence is exact and computed bit-parallel: Crochemore, Iliopoulos, Pinzon and Reid,
"A fast and practical bit-vector algorithm for the longest common subsequence problem", 2001; Hyyrö 2004.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Hashable, Iterator, Sequence

__all__ = ["align", "longest_common_subsequence"]

RUN = 4  # consecutive equal lines that are not a coincidence
CELLS = 400_000_000  # bits of a table: 50 MB; larger problems are divided

Pair = tuple[int, int]


def align(
    a: Sequence[Hashable],
    b: Sequence[Hashable],
    exact_a: Sequence[Hashable] | None = None,
    exact_b: Sequence[Hashable] | None = None,
) -> list[Pair]:
    """Return pairs (row of a, row of b) of equal keys, both ascending.

    Args:
        a, b: keys of the lines; only equal keys are paired.
        exact_a, exact_b: finer keys; pairs that agree in them are preferred.
    """
    ids: dict[Hashable, int] = {}
    a, b = ([ids.setdefault(key, len(ids)) for key in keys] for keys in (a, b))
    if exact_a is None or exact_b is None:
        return list(longest_common_subsequence(a, b))
    fine: dict[Hashable, int] = {}
    exact_a, exact_b = ([fine.setdefault(key, len(fine)) for key in keys] for keys in (exact_a, exact_b))
    pairs: list[Pair] = []
    at = (0, 0)
    for i, j, length in (*_runs(exact_a, exact_b), (len(a), len(b), 0)):
        pairs += ((at[0] + x, at[1] + y) for x, y in longest_common_subsequence(a[at[0] : i], b[at[1] : j]))
        pairs += ((i + n, j + n) for n in range(length))
        at = i + length, j + length
    return pairs


def longest_common_subsequence(a: Sequence[int], b: Sequence[int]) -> Iterator[Pair]:
    """Yield a longest common subsequence as ascending pairs of positions."""
    first, end_a, end_b = 0, len(a), len(b)
    while first < min(end_a, end_b) and a[first] == b[first]:
        yield first, first
        first += 1
    while first < min(end_a, end_b) and a[end_a - 1] == b[end_b - 1]:
        end_a, end_b = end_a - 1, end_b - 1
    if first < end_a and first < end_b:
        yield from ((first + i, first + j) for i, j in _middle(a[first:end_a], b[first:end_b]))
    yield from zip(range(end_a, len(a)), range(end_b, len(b)), strict=True)


def _middle(a: Sequence[int], b: Sequence[int]) -> Iterator[Pair]:
    if len(a) * len(b) > CELLS and len(a) > 1:
        half = len(a) // 2
        cut = _best_cut(a[:half], a[half:], b)
        yield from longest_common_subsequence(a[:half], b[:cut])
        yield from ((half + i, cut + j) for i, j in longest_common_subsequence(a[half:], b[cut:]))
        return
    rows = list(_rows(a, b))
    found, i, j = [], len(a), len(b)
    while i and j:
        if rows[i - 1] >> (j - 1) & 1:
            j -= 1
        else:
            i -= 1
            if not i or rows[i - 1] >> (j - 1) & 1:
                j -= 1
                found.append((i, j))
    yield from reversed(found)


def _rows(a: Sequence[int], b: Sequence[int]) -> Iterator[int]:
    """Yield for each line of `a` a bit mask of its row in the table: bit j is zero where it grows from column j to j + 1."""
    where: dict[int, int] = {}
    for position, key in enumerate(b):
        where[key] = where.get(key, 0) | 1 << position
    row = full = (1 << len(b)) - 1
    for key in a:
        hits = row & where.get(key, 0)
        row = (row + hits | row - hits) & full
        yield row


def _best_cut(first: Sequence[int], second: Sequence[int], b: Sequence[int]) -> int:
    """Return the position that splits `b` into parts with the longest subsequences in common with the two."""
    (ahead,) = deque(_rows(first, b), maxlen=1)  # the last rows
    (behind,) = deque(_rows(second[::-1], b[::-1]), maxlen=1)
    left = cut = 0
    zeros_behind = [not behind >> position & 1 for position in range(len(b))]
    right = best = sum(zeros_behind)
    for position in range(len(b)):
        left += not ahead >> position & 1
        right -= zeros_behind[len(b) - 1 - position]
        if left + right > best:
            best, cut = left + right, position + 1
    return cut


def _runs(a: Sequence[int], b: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield (start in a, start in b, length) of equal runs around sequences of RUN lines that occur once in both."""
    at_a, at_b = _once(a), _once(b)
    anchors = _rising([(i, at_b[key]) for key, i in at_a.items() if i >= 0 and at_b.get(key, -1) >= 0])
    done_a = done_b = 0
    head = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    anchors = [(0, 0), *anchors] if head >= 1 else anchors
    if tail:
        anchors.append((len(a) - tail, len(b) - tail))
    for i, j in anchors:
        if i < done_a or j < done_b:
            continue
        while i > done_a and j > done_b and a[i - 1] == b[j - 1]:
            i, j = i - 1, j - 1
        length = 0
        while i + length < len(a) and j + length < len(b) and a[i + length] == b[j + length]:
            length += 1
        yield i, j, length
        done_a, done_b = i + length, j + length


def _once(keys: Sequence[int]) -> dict[tuple[int, ...], int]:
    """Return the position of each sequence of RUN keys; -1 for repeated ones."""
    found: dict[tuple[int, ...], int] = {}
    for position, key in enumerate(zip(*(keys[n:] for n in range(RUN)), strict=False)):
        found[key] = -1 if key in found else position
    return found


def _rising(pairs: list[Pair]) -> list[Pair]:
    """Return the longest increasing subsequence of the second numbers; the pairs ascend in the first."""
    tops: list[int] = []
    last: list[int] = []
    before = [-1] * len(pairs)
    for number, (_, j) in enumerate(pairs):
        place = bisect_left(tops, j)
        if place == len(tops):
            tops.append(j)
            last.append(number)
        else:
            tops[place], last[place] = j, number
        before[number] = last[place - 1] if place else -1
    chain, number = [], last[-1] if last else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]
