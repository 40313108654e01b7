"""The machine instructions of a line with an explanation of each: "Why is this 11 instructions?"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyptx._lazy import pattern
from pyptx.errors import OptionError

if TYPE_CHECKING:
    from pyptx.views.code.linked import LinkedView

__all__ = ["expansion_text"]

_MNEMONIC = pattern(r"^\s*(?:@!?%?[\w$]+\s+)?([a-z][\w.:]*)")


def expansion_text(view: LinkedView, line: int, pane: str) -> str:
    """Return the machine instructions of a Python line or PTX line, one sentence each, and cheaper forms.

    Raises:
        OptionError: there is no such line or pane.
    """
    if pane not in ("python", "ptx"):
        raise OptionError(f"pane={pane!r}; expected 'python' or 'ptx'")
    return "\n".join(_lines(view, _ptx_rows(view, line, pane)))


def _ptx_rows(view: LinkedView, line: int, pane: str) -> list[int]:
    if pane == "ptx":
        if not 1 <= line <= len(view.ptx.text):
            raise OptionError(f"PTX line {line} does not exist; the last one is {len(view.ptx.text)}")
        return [line - 1]
    rows = {row for row, number in enumerate(view.python.line) if number == line}
    if not rows:
        raise OptionError(f"the view has no Python line {line}", hint="pane='ptx' takes a line of the PTX")
    return [row for row, stack in enumerate(view.ptx.stack) if stack >= 0 and rows & set(view.stacks[stack])]


def _lines(view: LinkedView, rows: list[int]) -> Iterator[str]:
    machine = {row: [at for at, ptx in enumerate(view.sass.ptx) if ptx == row] for row in rows}
    made = [row for row in rows if machine[row]]
    if not made:
        yield "no machine instructions"
    for row in made:
        count = len(machine[row])
        yield f"PTX {row + 1}: {view.ptx.text[row].strip()}  {count} SASS instruction{'s' * (count != 1)}"
        for at in machine[row]:
            opcode = view.sass.text[at].split()[1 if view.sass.text[at].startswith("@") else 0].partition(".")[0]
            yield f"  {view.sass.address[at]:04x}  {view.sass.text[at]:<44}  {view.help.get(opcode, '')}".rstrip()
        match = _MNEMONIC.match(view.ptx.text[row])
        for mnemonic, price in view.reference.get("cheaper", {}).get(match[1] if match else "", ()):
            yield f"  cheaper: {mnemonic} ({price})"
