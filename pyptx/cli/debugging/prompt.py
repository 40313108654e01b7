"""The prompt: reads commands, carries them out, shows every stop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from shutil import get_terminal_size
from typing import Any

import numpy as np

from pyptx.cli.debugging import looks, moves, show  # noqa: F401  (they add their commands)
from pyptx.cli.debugging.commands import COMMANDS, command, find, help_text
from pyptx.cli.debugging.info import INFOS
from pyptx.cli.screen import console
from pyptx.debug import DebugError, Session, Stop
from pyptx.debug.document import value_text
from pyptx.debug.stopping.lines import short_name
from pyptx.errors import PtxError

__all__ = ["PROMPT", "Prompt", "Quit"]

PROMPT = "(pyptx) "
_AROUND = 2                                             # lines of Python before and behind that of a stop
_WIDE = 110                                             # columns where the output is no terminal


class Quit(Exception):
    """The user is done."""


class Prompt:
    """One session and the commands of its user.

    Attributes:
        displayed: commands whose output is shown at each stop, beside the session's watches.
    """

    def __init__(self, session: Session):
        self.session = session
        self.displayed: list[str] = []
        self._last = ""

    # reading ----------------------------------------------------------------------------------------------------------

    def do(self, line: str) -> None:
        """Carry one line out; an empty one repeats the last move.

        Raises:
            DebugError: it cannot be carried out.
            Quit: it was `quit`.
        """
        text = line.strip() or self._last
        if not text or text.startswith("#"):
            return
        word, rest = self._split(text)
        known = find(word)
        self._last = text if known.repeats else ""
        known.run(self, rest)

    @staticmethod
    def _split(text: str) -> tuple[str, str]:
        """The command, and what follows it; `p/x value` and `x/8f32 0x440` have their format right behind."""
        word, _, rest = text.partition(" ")
        if "/" in word:
            word, _, form = word.partition("/")
            return word, f"/{form} {rest.strip()}"
        return (word, rest.strip()) if word != "?" else ("help", rest.strip())

    def script(self, lines: Iterable[str], *, echo: bool) -> bool:
        """Carry lines out, as far as none fails; whether all were.

        Args:
            echo: show each line behind the prompt first.
        """
        for line in lines:
            if not line.strip():
                continue
            if echo:
                self.say(f"{PROMPT}{line.rstrip()}", "bold")
            try:
                self.do(line)
            except PtxError as error:
                self.say(str(error), "red")
                return False
        return True

    def interact(self) -> None:
        """Read commands from the terminal until `quit` or the end of the input."""
        while True:
            try:
                self.do(input(PROMPT))
            except EOFError:
                self.say("")
                return
            except Quit:
                return
            except KeyboardInterrupt:
                self.say("\n`quit` ends the debugger; Ctrl-C stops a move that takes long")
            except PtxError as error:
                self.say(str(error), "red")

    # completing -------------------------------------------------------------------------------------------------------

    def completions(self, line: str, word: str) -> list[str]:
        """What a word of a line may go on to: commands, places, names."""
        head, space, _ = line.lstrip().partition(" ")
        if not space:
            return sorted(f"{name} " for name in COMMANDS if name.startswith(word))
        try:
            name = find(head.partition("/")[0]).name
        except DebugError:
            return []
        return sorted({text for text in self._candidates(name) if text.startswith(word)})

    def _candidates(self, name: str) -> Iterator[str]:
        session = self.session
        if name in ("break", "tbreak", "until"):
            for file, lines in session.lines.files.items():
                yield from (f"{short_name(file)}:{line}" for line in lines)
            yield from session.lines.labels
            yield from (f"op:{node.opcode}" for node in session.run.program.instructions)
        elif name == "info":
            yield from INFOS
        elif name == "help":
            yield from COMMANDS
        elif name == "focus":
            yield from ("cta", "warp", "lane")
        elif name in ("print", "watch", "display", "tile", "fragment", "x", "condition"):
            yield from session.arguments
            try:
                state = session.state()
            except DebugError:
                return
            yield from state.names.at(state.instruction) if state.names is not None else ()
            yield from state.in_scope()

    # showing ----------------------------------------------------------------------------------------------------------

    @property
    def width(self) -> int:
        """Columns there are."""
        return get_terminal_size((_WIDE, 24)).columns if console.is_terminal else _WIDE

    def say(self, text: str, style: str | None = None) -> None:
        """Print a line, in a colour where there are any."""
        console.print(text, style=style, markup=False, emoji=False, soft_wrap=True)

    def lines(self, lines: Iterable[tuple[str, bool]]) -> None:
        """Print lines of code, the current one bold."""
        for text, here in lines:
            self.say(text, "bold green" if here else None)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Print rows under their heads, aligned to the left; on a terminal cut at its width."""
        texts = [[str(cell) for cell in row] for row in rows]
        wide = [max(len(row[k]) for row in [list(columns), *texts]) for k in range(len(columns))]
        for number, row in enumerate([list(columns), *texts]):
            line = "  ".join(cell.ljust(size) for cell, size in zip(row, wide, strict=True)).rstrip()
            self.say(line[:self.width] if console.is_terminal else line, "bold" if number == 0 else None)

    def matrix(self, values: np.ndarray, first: tuple[int, int], shape: tuple[int, int], base: str = "",
               most: int = 16) -> None:
        """Print a matrix with the numbers of its rows and columns, at most so many rows."""
        for line in show.matrix(np.asarray(values), first, shape, self.width, base=base, most=most):
            self.say(line)

    def stopped(self, stop: Stop) -> None:
        """Show a stop: why, where, the lines around it, what is on display."""
        if stop.text:
            bad = stop.reason in ("fault", "deadlock", "finding")
            said = stop.reason == "finding" or stop.text.startswith(stop.reason)
            self.say(f"{stop.reason}: {stop.text}" if bad and not said else stop.text, "red" if bad else "yellow")
        if stop.warp is not None:
            self.where(stack=False)
        self.show_displayed()

    def where(self, *, stack: bool = True) -> None:
        """Show the place of the focused warp."""
        session, focus = self.session, self.session.focus
        group = session.group(focus.cta, focus.warp)
        if group is None:
            gone = session.resident(focus.cta) is None
            what = "the run is over" if session.run.machine.ended else "does not run now" if gone else "has exited"
            self.say(f"CTA {session.cta_text(focus.cta)} warp {focus.warp}: {what}")
            return
        lanes = "" if group.lanes == 0xFFFFFFFF else f", lanes 0x{group.lanes:08x}"
        place, ptx = session.frame, session.lines.ptx(group.instruction)
        at = f", {short_name(place.file)}:{place.line} in {place.function}" if place is not None else ""
        self.say(f"step {session.step_number}: CTA {session.cta_text(focus.cta)} warp {focus.warp}{lanes}{at}", "cyan")
        if place is not None:
            self.lines(show.excerpt(place.file, place.line, _AROUND))
            if stack:
                self._stack(session.lines.stack(group.instruction), place)
        number = f"{f'ptx:{ptx}':<9}" if ptx is not None else ""
        self.say(f"{number}{session.lines.text(group.instruction)}", "bold")

    def _stack(self, stack: tuple[Any, ...], shown: Any) -> None:
        """The functions around an instruction: those that the shown one calls, and those that called it."""
        at = next((k for k, p in enumerate(stack) if p == shown), 0)
        for k, place in enumerate(stack):
            if k != at:
                what = "written by" if k < at else "called from"
                self.say(f"   {what} {short_name(place.file)}:{place.line} in {place.function}: "
                         f"{place.source_line.strip()}")

    def show_displayed(self) -> None:
        """Show what is on display."""
        for text in self.session.watches:
            try:
                value = self.session.evaluate(text)
                values = show.values_of(value)
                lane = self.session.focus.lane
                told = show.summary(values, lane) if values is not None else value_text(value, lane)
            except DebugError as error:
                told = f"({error.message})"
            self.say(f"{text} = {told}", "magenta")
        last = self._last
        for line in self.displayed:
            try:
                self.do(line)
            except DebugError as error:
                self.say(f"{line}: {error.message}", "red")
        self._last = last


@command("save FILE.npz", "write the arrays as they are now, by parameter", group="else",
         examples=(("save now.npz", ""),))
def _save(prompt: Any, rest: str) -> None:
    if not rest.endswith(".npz"):
        raise DebugError("save FILE.npz: the name of a file that ends in .npz is missing")
    np.savez(rest, **prompt.session.outputs())
    prompt.say(f"wrote {', '.join(prompt.session.outputs())} to {rest}")


@command("help [COMMAND]", "list the commands, or explain one", "h", "?", group="else",
         examples=(("help break", ""), ("h tile", "")))
def _help(prompt: Any, rest: str) -> None:
    prompt.say(help_text(rest))


@command("quit", "end the debugger", "q", "exit", group="else", examples=(("q", ""),))
def _quit(prompt: Any, rest: str) -> None:
    raise Quit


