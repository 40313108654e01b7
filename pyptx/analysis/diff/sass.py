"""Two pieces of machine code compared by what they do: identical, renamed, rescheduled or different.

Lines are aligned by content. A pair of lines is the same instruction when opcode, constants and operand shapes agree,
a branch goes to the line paired with the other's target, and every register holds corresponding values: the webs of
both functions (`webs.py`) are matched one to one, and each of its registers must lie in matched webs. So

- identical: the same instruction, written alike, constants at the place where the target keeps them;
- renamed: the same instruction, other registers, and that holds for the whole life of each of these values; or the same
  in another spelling (`spelling.py`): a sum by another unit, a parameter in a register instead of a constant bank;
- rescheduled: the same instruction at another place of the same basic block, where nothing it depends on, and nothing
  that depends on it, has changed sides; or in another basic block, where it only makes a value that is the same
  wherever it is computed, and everything that reads the value reads that of this line;
- different: everything else.

Scheduling bits (stalls, barriers, reuse) decide none of this; a row says when they differ.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence

from pyptx.analysis.diff.align import align
from pyptx.analysis.diff.colours import matches
from pyptx.analysis.diff.order import keep_order
from pyptx.analysis.diff.rows import CLASSES, Compared, Row, hunks_of
from pyptx.analysis.diff.side import Side
from pyptx.analysis.diff.spelling import generation
from pyptx.analysis.diff.spread import Spread

__all__ = ["CLASSES", "Compared", "Row", "compare_sass"]

IDENTICAL, RENAMED, RESCHEDULED, DIFFERENT = range(4)
_REGISTER = re.compile(r"(?<![\w.])U?[RP](\d+|Z|T)")
ROUNDS = 4                                              # of finding moved lines with the help of those found before


def compare_sass(left: Sequence, right: Sequence, targets: tuple[str, str] = ("", "")) -> Compared:
    """Compare machine code, function by function.

    Args:
        left, right: SassLines. Functions are paired by name, or as they come when each side has one.
        targets: what both sides are for, "sm_90a": tells where parameters and the like are kept. Without it constants
            are the same only at the same address.
    """
    layouts = [generation(target) for target in targets]
    functions_a, functions_b = _functions(left), _functions(right)
    rows: list[Row] = []
    breaks = []
    for name_a, name_b in _paired(list(functions_a), list(functions_b)):
        breaks.append(len(rows))
        of_a, of_b = functions_a.get(name_a, range(0)), functions_b.get(name_b, range(0))
        rows += _rows(*max(_matches(left, of_a, right, of_b, layouts), key=lambda one: len(one[0].good) + len(one[1])))
    return Compared(tuple(rows), hunks_of(rows, breaks))


def _functions(lines: Sequence) -> dict[str, range]:
    found: dict[str, range] = {}
    for row, line in enumerate(lines):
        found[line.entry] = range(found[line.entry].start if line.entry in found else row, row + 1)
    return found


def _paired(a: list[str], b: list[str]) -> list[tuple[str | None, str | None]]:
    if len(a) == len(b) == 1:
        return [(a[0], b[0])]
    return [(name, name if name in b else None) for name in a] + [(None, name) for name in b if name not in a]


class _Match:
    """Which lines of two functions are paired, and which webs of theirs are matched."""

    def __init__(self, a: Side, b: Side, values: dict[int, int] | None = None):
        """`values`: webs of the left that are known to be webs of the right."""
        self.a, self.b = a, b
        self.other = a.other_value(b)
        self.forth = dict(values or {})
        self.back = {y: x for x, y in self.forth.items()}
        self.pairs: list[tuple[int, int]] = []
        self.at: dict[int, int] = {}
        self.good: set[int] = set()

    def pair(self, pairs: list[tuple[int, int]]) -> _Match:
        """Take these lines as pairs; values not matched yet are matched as most of the pairs say."""
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
        if x not in self.forth and y not in self.back and not self.other(x, y):
            self.forth[x], self.back[y] = y, x

    def same_values(self, i: int, j: int) -> bool:
        forth = self.forth
        return all(forth.get(x) == y for x, y in zip(self.a.webs.of[i], self.b.webs.of[j], strict=True))

    def _gaps(self) -> set[tuple[int, int]]:
        """First lines of what lies between pairs: a branch to one may go to the other."""
        at = (0, 0)
        found = {at}
        for i, j in self.pairs:
            found.add(at)
            at = i + 1, j + 1
        return found | {at}

    def _same_target(self, i: int, j: int, starts: set[tuple[int, int]]) -> bool:
        x, y = self.a.targets[i], self.b.targets[j]
        return (x < 0 and y < 0) or self.at.get(x) == y >= 0 or (x, y) in starts

    def finer_keys(self) -> tuple[list, list]:
        """Keys that tell values apart: those of the left in the names of the right."""
        a = [(one.key, *(self.forth.get(web, -1 - web) for web in webs))
             for one, webs in zip(self.a.shapes, self.a.webs.of, strict=True)]
        b = [(one.key, *webs) for one, webs in zip(self.b.shapes, self.b.webs.of, strict=True)]
        return a, b


def _matches(left: Sequence, of_a: range, right: Sequence, of_b: range,
             layouts: Sequence[str]) -> Iterator[tuple[_Match, dict[int, int]]]:
    """Ways to pair the lines of two functions, and the lines that have moved in each; none better follows."""
    best = -1
    for a, b in _readings(left, of_a, right, of_b, layouts):
        most = sum((Counter(one.key for one in a.shapes) & Counter(one.key for one in b.shapes)).values())
        if most <= best:                                # not even if every line that has an equal were paired
            continue
        free = a.anywhere(), b.anywhere()
        for match in _pairings(a, b):
            moved = _moved(match, free)
            yield match, moved
            best = max(best, len(match.good) + len(moved))
            if best >= most:
                break


def _readings(left: Sequence, of_a: range, right: Sequence, of_b: range,
              layouts: Sequence[str]) -> Iterator[tuple[Side, Side]]:
    """Both functions as they stand; with fixed values in place of the registers that hold them; with shifts in their
    addresses where one side has them there; and each with copies of one value taken for one."""
    def sides(fill: bool) -> tuple[Side, Side]:
        return tuple(Side.of(lines, rows, layout, fill=fill) for lines, rows, layout in
                     ((left, of_a, layouts[0]), (right, of_b, layouts[1])))

    plain, filled = sides(False), sides(True)
    both = [plain, filled] if any(x.shapes != y.shapes for x, y in zip(plain, filled, strict=True)) else [plain]
    yield from both
    for a, b in list(both):
        shifted = a.scaled(), b.scaled()
        if shifted != (a, b):
            both.append(shifted)
            yield shifted
    for a, b in both:
        a, b = a.once(), b.once()
        if a.webs.copies or b.webs.copies:
            yield a, b


def _pairings(a: Side, b: Side) -> Iterator[_Match]:
    """Lines paired as the text stands; by the values they hold; by values that were followed along the data flow, from
    lines that are surely the same with all there is to them, then from those that are so but for the address."""
    ids: dict[Hashable, int] = {}
    keys = [_numbers((one.key for one in side.shapes), ids) for side in (a, b)]
    exact = ([(key, one.exact) for key, one in zip(own, side.raw, strict=True)]
             for own, side in zip(keys, (a, b), strict=True))
    plain = _Match(a, b).pair(align(*keys, *exact))
    yield plain
    yield _by_value(plain)
    loose = (*a.loose(), *b.loose())
    for keys_a, webs_a, keys_b, webs_b in ((keys[0], a.webs.of, keys[1], b.webs.of), loose):
        sure = list(matches(_numbers(keys_a, ids), _numbers(keys_b, ids), webs_a, webs_b))
        # where the shapes differ the address is another one, the data are the same
        known = [(webs_a[i], webs_b[j]) if a.shapes[i].key == b.shapes[j].key else (webs_a[i][:-1], webs_b[j][:-1])
                 for i, j in sure]
        spread = Spread(*keys, a.webs.of, b.webs.of, a.other_value(b))
        for one, other in known:
            spread.values(one, other)
        spread.guess()
        reached = _Match(a, b, spread.forth)
        yield _by_value(reached.pair(align(*keys, *reached.finer_keys())))


def _numbers(keys: Iterable[Hashable], ids: dict[Hashable, int]) -> list[int]:
    return [ids.setdefault(key, len(ids)) for key in keys]


def _by_value(match: _Match) -> _Match:
    """The match with those lines in pairs that hold the same values; votes of the pairs have told which."""
    return _Match(match.a, match.b, match.forth).pair(align(*match.finer_keys()))


def _moved(match: _Match, free: tuple[list[bool], list[bool]]) -> dict[int, int]:
    """Lines that are the same instruction elsewhere in the same block: index on the left -> on the right.

    Args:
        free: of each side, for each line whether it may as well stand in another block.
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
        """The block a line is looked for in; -1 for any, where it does the same in all of them."""
        return (-1 if free[side][number] else None) if far else block

    for far in (False, True):
        for _ in range(ROUNDS):
            waiting: dict[tuple, list[int]] = defaultdict(list)
            for j in reversed(right):
                known = (web if web in match.back else -1 for web in b.webs.of[j])
                waiting[place(1, b.webs.block[j], j, far), b.shapes[j].key, *known].append(j)
            before = len(moved)
            for i in left:
                known = (match.forth.get(web, -1) for web in a.webs.of[i])
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
    return loose | keep_order(a, b, {i: match.at[i] for i in match.good}, bound)


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
    """Rows between two pairs: what is really different side by side, and what has moved at its place."""
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
    """Equal words beside one another; between them, one by one, as many as both sides have."""
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
    differ = [x for x, y in zip(match.a.spelled[i][1], match.b.spelled[j][1], strict=False)
              if _REGISTER.sub("", x) != _REGISTER.sub("", y)]
    return "address" if differ and all("[" in one and not one.startswith("c[") for one in differ) else "operands"
