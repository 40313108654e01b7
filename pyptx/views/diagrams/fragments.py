"""Matrix fragments of mma, wgmma and ldmatrix: the lane and register that hold each element.

    pyptx.views.fragments("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")

The layouts are those of the simulator (`pyptx.sim.layouts.fragments`).
Source: PTX ISA, "Matrix Fragments for mma", "Register Fragments for wgmma", "ldmatrix".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyptx import isa
from pyptx.errors import ShapeError, UnknownNameError
from pyptx.sim.decode.matrix import formats, product_of, shape_of
from pyptx.sim.layouts import fragments as layouts
from pyptx.sim.layouts.fragments import BITS, Fragment
from pyptx.views.diagrams.svg import FILLS, Cell, Diagram, grid, label

__all__ = ["FragmentView", "Matrix", "fragments"]

MAX_ROWS, MAX_COLUMNS = 16, 32  # drawn; the pattern repeats beyond
_UNIT, _LINE = 24, 18


@dataclass(frozen=True)
class Matrix:
    """One operand: the lane, the register, and the position in the register of each element [row][column].

    `registers` is the number per lane, `elements` the number in each register, counted from the low bits.
    """

    name: str
    type: str
    rows: int
    columns: int
    registers: int
    elements: int
    lane: tuple[tuple[int, ...], ...]
    register: tuple[tuple[int, ...], ...]
    element: tuple[tuple[int, ...], ...]
    note: str = ""

    def held_by(self, lane: int) -> list[tuple[int, int]]:
        """Return (row, column) of the elements that a lane holds, ordered by register and position."""
        found = [
            (self.register[r][c], self.element[r][c], r, c)
            for r in range(self.rows)
            for c in range(self.columns)
            if self.lane[r][c] == lane
        ]
        return [(r, c) for _, _, r, c in sorted(found)]

    @property
    def title(self) -> str:
        size = f"{self.rows} x {self.columns} {self.type}"
        registers = f"{self.registers} register{'s' if self.registers > 1 else ''} a lane"
        return f"{self.name}  {size}, {registers}" + (f"; {self.note}" if self.note else "")


@dataclass(frozen=True)
class FragmentView(Diagram):
    """The register operands of a matrix instruction; `marked` is the lane to highlight, or None."""

    instruction: str
    matrices: tuple[Matrix, ...]
    marked: int | None = None

    def __getitem__(self, name: str) -> Matrix:
        for matrix in self.matrices:
            if matrix.name == name:
                return matrix
        raise UnknownNameError(
            f"{self.instruction} has no operand {name!r} in registers; "
            f"it has {', '.join(m.name for m in self.matrices)}"
        )

    def __str__(self) -> str:
        return "\n\n".join((self.instruction, *("\n".join(_text(matrix)) for matrix in self.matrices)))

    __repr__ = __str__

    def svg(self) -> str:
        """Draw the operands one below the other; a cell is the elements of a row held by one register of a lane."""
        cells: list[Cell] = []
        labels, y, wide = [label(0, 14, self.instruction, size=12)], 34.0, 0
        for matrix in self.matrices:
            labels.append(label(0, y, matrix.title))
            shown = min(matrix.columns, MAX_COLUMNS)
            labels += [label(40 + c * _UNIT + _UNIT / 2, y + 16, str(c), "middle", 9) for c in range(shown)]
            rows = min(matrix.rows, MAX_ROWS)
            labels += [label(34, y + 34 + r * _LINE, str(r), "end", 9) for r in range(rows)]
            drawn = [*self._cells(matrix), *_legend(matrix, shown + 1)]
            cells += [cell._replace(y=cell.y + (y + 21) / _LINE) for cell in drawn]
            y += 21 + rows * _LINE
            if more := _more(matrix):
                y += 16
                labels.append(label(40, y, more))
            y += 30
            wide = max(wide, shown + 3)
        return grid(
            cells,
            labels,
            width=max(48 + wide * _UNIT, 7.6 * self._longest()),
            height=y - 18,
            left=40,
            top=0,
            unit=(_UNIT, _LINE),
            title=f"Register fragments of {self.instruction}",
        )

    def _longest(self) -> int:
        return max(map(len, (self.instruction, *(m.title for m in self.matrices))))

    def _cells(self, matrix: Matrix) -> Iterator[Cell]:
        for r, c, down, across in _runs(matrix):
            lane, register = matrix.lane[r][c], matrix.register[r][c]
            text = f"T{lane} r{register}" if across > 1 else f"T{lane}"
            yield Cell(
                c,
                r,
                across,
                down,
                FILLS[register % len(FILLS)],
                text,
                f"row {_span(r, down)}, column {_span(c, across)}: T{lane} r{register}",
                lane == self.marked,
            )


def fragments(instruction: str, *, lane: int | None = None, target: str = "sm_90a") -> FragmentView:
    """Return the fragment layouts of a matrix instruction's register operands.

    Args:
        instruction: complete mnemonic of an `mma`, `wgmma.mma_async`, `ldmatrix` or `movmatrix`; operands are ignored.
        lane: a lane to highlight.
        target: target architecture of the instruction.

    Raises:
        ShapeError: an unknown instruction, or one without fragments.
    Examples:
        >>> print(fragments("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"))
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
        ...
        C  16 x 8 f32, 4 registers a lane; D as C
           0  T0:r0    T0:r1    T1:r0    T1:r1    T2:r0    T2:r1    T3:r0    T3:r1
        ...
    """
    opcode, *words = instruction.strip().rstrip(";").split()[0].split(".")
    modifiers = tuple("." + word for word in words)
    if not isa.match(opcode, modifiers):
        raise ShapeError(
            f"{opcode}{''.join(modifiers)} is not a PTX instruction",
            hint="write the complete mnemonic, such as mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
        )
    if opcode == "mma":
        sparse = any(m.startswith(".sp") for m in modifiers)
        product, parts = product_of(modifiers, target, sparse)
        operands = [("A", product.a, parts[0]), ("B", product.b, parts[1]), ("C", product.c, parts[2])]
        operands += [("D", product.d, parts[3])] if product.c != product.d else []
        note = {"A": "its stored half" if sparse else "", "C": "D as C" if product.c == product.d else ""}
        matrices = tuple(_matrix(name, kind, part, note.get(name, "")) for name, kind, part in operands)
    elif opcode == "wgmma" and ".mma_async" in modifiers:
        (_, n, k), (d, a, _) = shape_of(modifiers), formats(modifiers)
        k //= 2 if ".sp" in modifiers else 1
        note = "rows of warp 0; warp w holds rows 16 w to 16 w + 15"
        matrices = (
            _matrix("A", a, layouts.left(16, k, BITS[a]), f"when in registers; {note}"),
            _matrix("D", d, layouts.accumulator(16, n, BITS[d]), note),
        )
    elif opcode in ("ldmatrix", "movmatrix") and ".m8n8" in modifiers:
        part = layouts.left(8, 8, 16)
        if ".trans" in modifiers:
            part = layouts.transposed(part)
        count = next((int(m[2:]) for m in modifiers if m in (".x2", ".x4")), 1)
        note = f"the first of {count}; matrix i: register i, rows at the addresses of lanes 8 i to 8 i + 7"
        matrices = (_matrix("matrix", "b16", part, note if opcode == "ldmatrix" else ""),)
    else:
        raise ShapeError(
            f"{instruction} has no fragment diagram; expected mma, wgmma.mma_async, ldmatrix with .m8n8 or movmatrix"
        )
    if lane is not None and not 0 <= lane < 32:
        raise ShapeError(f"lane={lane}; expected 0 to 31")
    return FragmentView(opcode + "".join(modifiers), matrices, lane)


def _matrix(name: str, kind: str, part: Fragment, note: str = "") -> Matrix:
    if part.batch is not None:
        note = "product 0 of four: lanes 4 q to 4 q + 3 and 16 + 4 q to 19 + 4 q hold product q"
    holders = part.holders()[: part.rows * part.columns].reshape(part.rows, part.columns)
    lane, slot = holders % 32, holders // 32

    def rows(values: Any) -> tuple[tuple[int, ...], ...]:
        return tuple(map(tuple, values.tolist()))

    return Matrix(
        name,
        kind,
        part.rows,
        part.columns,
        part.registers,
        part.elements,
        rows(lane),
        rows(slot // part.elements),
        rows(slot % part.elements),
        note,
    )


def _legend(matrix: Matrix, x: int) -> Iterator[Cell]:
    """Yield the legend of the register colors."""
    for i, register in enumerate(sorted({matrix.register[r][c] for r, c, _, _ in _runs(matrix)})[: len(FILLS)]):
        yield Cell(x, i, 1.5, 1, FILLS[register % len(FILLS)], f"r{register}", f"register {register} of each lane")


def _runs(matrix: Matrix) -> Iterator[tuple[int, int, int, int]]:
    """Yield (row, column, rows, columns) of the visible elements in one register of a lane.

    The elements of a register are adjacent in a row, or, for B, in a column.
    """
    rows, columns = min(matrix.rows, MAX_ROWS), min(matrix.columns, MAX_COLUMNS)
    seen = set()
    for r in range(rows):
        for c in range(columns):
            if (r, c) in seen:
                continue
            holder = matrix.lane[r][c], matrix.register[r][c]
            same = [
                (i, j)
                for i in range(r, min(r + matrix.elements, rows))
                for j in range(c, min(c + matrix.elements, columns))
                if (matrix.lane[i][j], matrix.register[i][j]) == holder
            ]
            seen.update(same)
            yield r, c, same[-1][0] - r + 1, same[-1][1] - c + 1


def _span(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first} to {first + count - 1}"


def _more(matrix: Matrix) -> str:
    left = [
        f"{whole - most} more {name}"
        for name, whole, most in (("rows", matrix.rows, MAX_ROWS), ("columns", matrix.columns, MAX_COLUMNS))
        if whole > most
    ]
    return f"and {' and '.join(left)} in the same pattern, in further registers" if left else ""


def _text(matrix: Matrix) -> Iterator[str]:
    yield matrix.title
    down = max(rows for _, _, rows, _ in _runs(matrix))
    lines: dict[int, list[str]] = {}
    for r, c, rows, columns in _runs(matrix):
        text = f"T{matrix.lane[r][c]}:r{matrix.register[r][c]}"
        lines.setdefault(r, [f"{_span(r, rows):>{4 if down == 1 else 9}} "]).append(f"{text:<{4 * columns + 4}}")
    for parts in lines.values():
        yield " ".join(parts).rstrip()
    if more := _more(matrix):
        yield "     " + more
