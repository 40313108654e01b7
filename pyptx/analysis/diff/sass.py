"""Semantic comparison of machine code: lines are identical, renamed, rescheduled or different.

Lines are aligned by content. Two lines are the same instruction when opcode, constants and operand shapes agree, branch
targets are paired with each other, and all registers hold corresponding values: the live ranges of both functions
(`live_ranges`) are matched one to one. The classes are

- identical: the same instruction with the same text, up to the location of constants on the target;
- renamed: the same instruction with other registers throughout the live ranges of its values; or in another canonical
  form (`canonical`): a sum on another unit, a parameter in a register instead of a constant bank;
- rescheduled: the same instruction at another place of the same basic block without violating a dependence; or in
  another basic block, if it only computes an invariant value and all uses of the value read this one;
- different: everything else.

Scheduling bits (stalls, barriers, reuse) do not affect the class; a row reports when they differ.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence

from pyptx.analysis.diff.align import align
from pyptx.analysis.diff.canonical import constant_layout
from pyptx.analysis.diff.comparison import CLASSES, Comparison, Row, group_hunks
from pyptx.analysis.diff.function import DiffFunction
from pyptx.analysis.diff.reordering import legal_moves
from pyptx.analysis.diff.value_matching import Propagation, refinement_matches

__all__ = ["CLASSES", "Comparison", "Row", "compare_sass"]

IDENTICAL, RENAMED, RESCHEDULED, DIFFERENT = range(4)
_REGISTER = re.compile(r"(?<![\w.])U?[RP](\d+|Z|T)")
ROUNDS = 4  # iterations of the search for moved lines


def compare_sass(left: Sequence, right: Sequence, targets: tuple[str, str] = ("", "")) -> Comparison:
    """Compare machine code, function by function.

    Args:
        left, right: the machine code. Functions are paired by name, or directly when each side has one.
        targets: targets of both sides, such as "sm_90a", which determine the layout of constants. Without them,
            constants are equal only at equal addresses.
    """
    layouts = [constant_layout(target) for target in targets]
    functions_a, functions_b = _functions(left), _functions(right)
    rows: list[Row] = []
    breaks = []
    for name_a, name_b in _pair_functions(list(functions_a), list(functions_b)):
        breaks.append(len(rows))
        of_a = range(0) if name_a is None else functions_a[name_a]
        of_b = range(0) if name_b is None else functions_b[name_b]
        rows += _rows(*max(_matches(left, of_a, right, of_b, layouts), key=lambda one: len(one[0].good) + len(one[1])))
    return Comparison(tuple(rows), group_hunks(rows, breaks))


def _functions(lines: Sequence) -> dict[str, range]:
    found: dict[str, range] = {}
    for row, line in enumerate(lines):
        found[line.entry] = range(found[line.entry].start if line.entry in found else row, row + 1)
    return found


def _pair_functions(a: list[str], b: list[str]) -> list[tuple[str | None, str | None]]:
    if len(a) == len(b) == 1:
        return [(a[0], b[0])]
    pairs: list[tuple[str | None, str | None]] = [(name, name if name in b else None) for name in a]
    return pairs + [(None, name) for name in b if name not in a]


class _Match:
    """A pairing of the lines of two functions, and of their values.

    Args:
        a, b: the functions.
        values: values of the left known to correspond to values of the right.
    """

    def __init__(self, a: DiffFunction, b: DiffFunction, values: dict[int, int] | None = None):
        self.a, self.b = a, b
        self.other = a.other_value(b)
        self.forward = dict(values or {})
        self.back = {y: x for x, y in self.forward.items()}
        self.pairs: list[tuple[int, int]] = []
        self.at: dict[int, int] = {}
        self.good: set[int] = set()

    def pair(self, pairs: list[tuple[int, int]]) -> _Match:
        """Pair lines; values not yet matched are matched by the majority of the pairs."""
        self.pairs, self.at = pairs, dict(pairs)
        votes: Counter[tuple[int, int]] = Counter()
        for i, j in pairs:
            votes.update(zip(self.a.webs.of[i], self.b.webs.of[j], strict=True))
        for (x, y), _ in votes.most_common():
            self.bind(x, y)
        starts = self._gaps()
        self.good = {i for i, j in pairs if self.same_values(i, j) and self._same_target(i, j, starts)}
        return self

    def bind(self, x: int, y: int) -> None:
        if x not in self.forward and y not in self.back and not self.other(x, y):
            self.forward[x], self.back[y] = y, x

    def same_values(self, i: int, j: int) -> bool:
        forward = self.forward
        return all(forward.get(x) == y for x, y in zip(self.a.webs.of[i], self.b.webs.of[j], strict=True))

    def _gaps(self) -> set[tuple[int, int]]:
        """Return the first lines of gaps between pairs: branches to them correspond."""
        at: tuple[int, int] = (0, 0)
        found: set[tuple[int, int]] = {at}
        for i, j in self.pairs:
            found.add(at)
            at = i + 1, j + 1
        return found | {at}

    def _same_target(self, i: int, j: int, starts: set[tuple[int, int]]) -> bool:
        x, y = self.a.targets[i], self.b.targets[j]
        return (x < 0 and y < 0) or self.at.get(x) == y >= 0 or (x, y) in starts

    def finer_keys(self) -> tuple[list, list]:
        """Return keys that include values, those of the left under the names of the right."""
        a = [
            (one.key, *(self.forward.get(web, -1 - web) for web in webs))
            for one, webs in zip(self.a.shapes, self.a.webs.of, strict=True)
        ]
        b = [(one.key, *webs) for one, webs in zip(self.b.shapes, self.b.webs.of, strict=True)]
        return a, b


def _matches(
    left: Sequence, of_a: range, right: Sequence, of_b: range, layouts: Sequence[str]
) -> Iterator[tuple[_Match, dict[int, int]]]:
    """Yield pairings of two functions with their moved lines, until no better one is possible."""
    best = -1
    for a, b in _variants(left, of_a, right, of_b, layouts):
        most = sum((Counter(one.key for one in a.shapes) & Counter(one.key for one in b.shapes)).values())
        if most <= best:  # an upper bound: all lines with an equal one are paired
            continue
        free = a.movable_lines(), b.movable_lines()
        for match in _pairings(a, b):
            moved = _moved(match, free)
            yield match, moved
            best = max(best, len(match.good) + len(moved))
            if best >= most:
                break


def _variants(
    left: Sequence, of_a: range, right: Sequence, of_b: range, layouts: Sequence[str]
) -> Iterator[tuple[DiffFunction, DiffFunction]]:
    """Yield variants of both functions: as they are; with known values in place of registers; with shifts folded into
    addresses where one side has them; and each with copies of one value merged."""

    def sides(fill: bool) -> tuple[DiffFunction, DiffFunction]:
        return (
            DiffFunction.of(left, of_a, layouts[0], fill=fill),
            DiffFunction.of(right, of_b, layouts[1], fill=fill),
        )

    plain, filled = sides(False), sides(True)
    both = [plain, filled] if any(x.shapes != y.shapes for x, y in zip(plain, filled, strict=True)) else [plain]
    yield from both
    for a, b in list(both):
        shifted = a.with_folded_shifts(), b.with_folded_shifts()
        if shifted != (a, b):
            both.append(shifted)
            yield shifted
    for a, b in both:
        a, b = a.with_merged_values(), b.with_merged_values()
        if a.webs.copies or b.webs.copies:
            yield a, b


def _pairings(a: DiffFunction, b: DiffFunction) -> Iterator[_Match]:
    """Yield pairings by text; by values; and by values propagated along the data flow, seeded by instructions that match
    completely, then by those that match except for addresses."""
    ids: dict[Hashable, int] = {}
    left, right = (_numbers((one.key for one in side.shapes), ids) for side in (a, b))
    exact_a, exact_b = (
        [(key, one.exact) for key, one in zip(own, side.raw, strict=True)] for own, side in ((left, a), (right, b))
    )
    plain = _Match(a, b).pair(align(left, right, exact_a, exact_b))
    yield plain
    yield _by_value(plain)
    loose = (*a.address_insensitive_keys(), *b.address_insensitive_keys())
    for keys_a, webs_a, keys_b, webs_b in ((left, a.webs.of, right, b.webs.of), loose):
        sure = list(refinement_matches(_numbers(keys_a, ids), _numbers(keys_b, ids), webs_a, webs_b))
        # when shapes differ, only the addresses do
        known = [
            (webs_a[i], webs_b[j]) if a.shapes[i].key == b.shapes[j].key else (webs_a[i][:-1], webs_b[j][:-1])
            for i, j in sure
        ]
        propagation = Propagation(left, right, a.webs.of, b.webs.of, a.other_value(b))
        for one, other in known:
            propagation.match_values(one, other)
        propagation.guess()
        reached = _Match(a, b, propagation.forward)
        yield _by_value(reached.pair(align(left, right, *reached.finer_keys())))


def _numbers(keys: Iterable[Hashable], ids: dict[Hashable, int]) -> list[int]:
    return [ids.setdefault(key, len(ids)) for key in keys]


def _by_value(match: _Match) -> _Match:
    """Return the pairing of lines with equal values, under the correspondence of an earlier pairing."""
    return _Match(match.a, match.b, match.forward).pair(align(*match.finer_keys()))


def _moved(match: _Match, free: tuple[list[bool], list[bool]]) -> dict[int, int]:
    """Return moved lines: index on the left -> index on the right.

    Args:
        match: the pairing.
        free: for each side and line, True when it may be in another block.
    """
    a, b = match.a, match.b
    left = [i for i in range(len(a.rows)) if i not in match.good]
    taken = {match.at[i] for i in match.good}
    right = [j for j in range(len(b.rows)) if j not in taken]
    if not left or not right:
        return {}
    blocks: dict[int, Counter[int]] = defaultdict(Counter)
    for i in match.good:
        blocks[a.webs.block[i]][b.webs.block[match.at[i]]] += 1
    block_of = {x: counted.most_common(1)[0][0] for x, counted in blocks.items()}
    moved: dict[int, int] = {}

    def place(side: int, block: int, number: int, far: bool) -> int | None:
        """Return the block to search for a line; -1 for any block, when it is movable."""
        return (-1 if free[side][number] else None) if far else block

    for far in (False, True):
        for _ in range(ROUNDS):
            waiting: dict[tuple, list[int]] = defaultdict(list)
            for j in reversed(right):
                known = (web if web in match.back else -1 for web in b.webs.of[j])
                waiting[place(1, b.webs.block[j], j, far), b.shapes[j].key, *known].append(j)
            before = len(moved)
            for i in left:
                known = (match.forward.get(web, -1) for web in a.webs.of[i])
                block = place(0, block_of.get(a.webs.block[i], -1), i, far)
                candidates = None if block is None else waiting.get((block, a.shapes[i].key, *known))
                if not candidates or a.targets[i] >= 0:
                    continue
                j = candidates[-1]
                for x, y in zip(a.webs.of[i], b.webs.of[j], strict=True):
                    match.bind(x, y)
                if match.same_values(i, j):
                    moved[i] = j
                    candidates.pop()
            if len(moved) == before:
                break
            gone = set(moved.values())
            left, right = [i for i in left if i not in moved], [j for j in right if j not in gone]
    loose = {i: j for i, j in moved.items() if free[0][i] and free[1][j]}
    bound = {i: j for i, j in moved.items() if i not in loose}
    return loose | legal_moves(a, b, {i: match.at[i] for i in match.good}, bound)


def _rows(match: _Match, moved: dict[int, int]) -> list[Row]:
    a, b = match.a, match.b
    origin = {j: i for i, j in moved.items()}
    rows: list[Row] = []
    at_a = at_b = 0
    for i, j in (*((i, j) for i, j in match.pairs if i in match.good), (len(a.rows), len(b.rows))):
        rows += _gap(match, range(at_a, i), range(at_b, j), moved, origin)
        if i < len(a.rows):
            kind = IDENTICAL if a.raw[i].exact == b.raw[j].exact else RENAMED
            why = "" if a.raw[i].key == b.raw[j].key else "spelling"
            rows.append(Row(a.rows[i], b.rows[j], kind, why, control=a.control(i) != b.control(j)))
        at_a, at_b = i + 1, j + 1
    return rows


def _gap(match: _Match, left: range, right: range, moved: dict[int, int], origin: dict[int, int]) -> list[Row]:
    """Return the rows between two pairs: different lines side by side, moved lines in place."""
    a, b = match.a, match.b
    own_a, own_b = [i for i in left if i not in moved], [j for j in right if j not in origin]
    beside = dict(_side_by_side([a.words[i] for i in own_a], [b.words[j] for j in own_b]))
    partner = {own_a[x]: own_b[y] for x, y in beside.items()}
    rows, at = [], right.start

    def right_until(end: int) -> None:
        nonlocal at
        for j in range(at, end):
            if j in origin:
                i = origin[j]
                rows.append(Row(-1, b.rows[j], RESCHEDULED, partner=a.rows[i], control=a.control(i) != b.control(j)))
            else:
                rows.append(Row(-1, b.rows[j], DIFFERENT, "only right"))
        at = max(at, end)

    for i in left:
        if i in moved:
            j = moved[i]
            rows.append(Row(a.rows[i], -1, RESCHEDULED, partner=b.rows[j], control=a.control(i) != b.control(j)))
        elif i in partner:
            j = partner[i]
            right_until(j)
            rows.append(Row(a.rows[i], b.rows[j], DIFFERENT, _why(match, i, j), control=a.control(i) != b.control(j)))
            at = j + 1
        else:
            rows.append(Row(a.rows[i], -1, DIFFERENT, "only left"))
    right_until(right.stop)
    return rows


def _side_by_side(a: list[str], b: list[str]) -> list[tuple[int, int]]:
    """Pair equal words, and the lines between them one by one."""
    pairs: list[tuple[int, int]] = []
    x = y = 0
    for i, j in (*align(a, b), (len(a), len(b))):
        pairs += zip(range(x, i), range(y, j), strict=False)
        if i < len(a):
            pairs.append((i, j))
        x, y = i + 1, j + 1
    return pairs


def _why(match: _Match, i: int, j: int) -> str:
    one, other = match.a.shapes[i], match.b.shapes[j]
    if one.key == other.key:
        return "another value" if not match.same_values(i, j) else "branch target"
    if match.a.opcode(i) != match.b.opcode(j):
        return "instruction"
    differ = [
        x
        for x, y in zip(match.a.canonical[i][1], match.b.canonical[j][1], strict=False)
        if _REGISTER.sub("", x) != _REGISTER.sub("", y)
    ]
    return "address" if differ and all("[" in one and not one.startswith("c[") for one in differ) else "operands"
