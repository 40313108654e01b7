"""The prompt: reads and runs commands, and shows every stop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from shutil import get_terminal_size

import numpy as np

from pyptx._loc import SourceLocation
from pyptx.cli.debugging.formatting import lane_summary, lane_values, matrix_rows, source_excerpt
from pyptx.cli.debugging.registry import COMMANDS, INFOS, find
from pyptx.cli.terminal import console
from pyptx.debug import DebugError, Session, Stop
from pyptx.debug.document import value_text
from pyptx.debug.source_lines import short_name
from pyptx.errors import PtxError

__all__ = ["PROMPT", "Prompt", "Quit"]

PROMPT = "(pyptx) "
_CONTEXT = 2  # lines of Python before and after that of a stop
_DEFAULT_WIDTH = 110  # columns if the output is not a terminal


class Quit(Exception):
    """The user quits the debugger."""


class Prompt:
    """A prompt for one session.

    Attributes:
        displayed: commands whose output is shown at each stop, in addition to the session's watches.
    """

    def __init__(self, session: Session):
        self.session = session
        self.displayed: list[str] = []
        self._last = ""

    # reading ----------------------------------------------------------------------------------------------------------

    def do(self, line: str) -> None:
        """Run one command line; an empty one repeats the last step.

        Raises:
            DebugError: the command fails.
            Quit: the command is `quit`.
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
        """Split a line into the command and its arguments; `p/x value` and `x/8f32 0x440` have a format attached."""
        word, _, rest = text.partition(" ")
        if "/" in word:
            word, _, form = word.partition("/")
            return word, f"/{form} {rest.strip()}"
        return (word, rest.strip()) if word != "?" else ("help", rest.strip())

    def script(self, lines: Iterable[str], *, echo: bool) -> bool:
        """Run command lines until one fails; return whether all succeeded.

        Args:
            echo: print the prompt and each line first.
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
                self.say("\n`quit` quits the debugger; Ctrl-C interrupts a running command")
            except PtxError as error:
                self.say(str(error), "red")

    # completing -------------------------------------------------------------------------------------------------------

    def completions(self, line: str, word: str) -> list[str]:
        """Return the completions of a word of a line: commands, locations, names."""
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
            for file, lines in session.launch.lines.files.items():
                yield from (f"{short_name(file)}:{line}" for line in lines)
            yield from session.launch.lines.labels
            yield from (f"op:{node.opcode}" for node in session.launch.program.instructions)
        elif name == "info":
            yield from INFOS
        elif name == "help":
            yield from COMMANDS
        elif name == "focus":
            yield from ("cta", "warp", "lane")
        elif name in ("print", "watch", "display", "tile", "fragment", "x", "condition"):
            yield from session.launch.arguments
            try:
                state = session.launch.warp_state()
            except DebugError:
                return
            yield from state.names.at(state.instruction) if state.names is not None else ()
            yield from state.in_scope()

    # showing ----------------------------------------------------------------------------------------------------------

    @property
    def width(self) -> int:
        """Columns of the terminal."""
        return get_terminal_size((_DEFAULT_WIDTH, 24)).columns if console.is_terminal else _DEFAULT_WIDTH

    def say(self, text: str, style: str | None = None) -> None:
        """Print a line, styled on a terminal."""
        console.print(text, style=style, markup=False, emoji=False, soft_wrap=True)

    def lines(self, lines: Iterable[tuple[str, bool]]) -> None:
        """Print source lines, with the current one highlighted."""
        for text, here in lines:
            self.say(text, "bold green" if here else None)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Print a left-aligned table with a header, cut off at the width of the terminal."""
        texts = [[str(cell) for cell in row] for row in rows]
        wide = [max(len(row[k]) for row in [list(columns), *texts]) for k in range(len(columns))]
        for number, row in enumerate([list(columns), *texts]):
            line = "  ".join(cell.ljust(size) for cell, size in zip(row, wide, strict=True)).rstrip()
            self.say(line[: self.width] if console.is_terminal else line, "bold" if number == 0 else None)

    def matrix(
        self, values: np.ndarray, first: tuple[int, int], shape: tuple[int, int], base: str = "", most: int = 16
    ) -> None:
        """Print a matrix with row and column numbers, at most `most` rows."""
        for line in matrix_rows(np.asarray(values), first, shape, self.width, base=base, most=most):
            self.say(line)

    def stopped(self, stop: Stop) -> None:
        """Show a stop: its reason, its location with source lines, and the displays."""
        if stop.text:
            bad = stop.reason in ("fault", "deadlock", "finding")
            has_prefix = stop.reason == "finding" or stop.text.startswith(stop.reason)
            self.say(f"{stop.reason}: {stop.text}" if bad and not has_prefix else stop.text, "red" if bad else "yellow")
        if stop.warp is not None:
            self.where(stack=False)
        self.show_displayed()

    def where(self, *, stack: bool = True) -> None:
        """Show the location of the focused warp."""
        session, focus = self.session, self.session.focus
        group = session.launch.group(focus.cta, focus.warp)
        if group is None:
            gone = session.launch.resident(focus.cta) is None
            what = "the run is over" if session.launch.machine.ended else "not running" if gone else "has exited"
            self.say(f"CTA {session.launch.cta_text(focus.cta)} warp {focus.warp}: {what}")
            return
        lanes = "" if group.lanes == 0xFFFFFFFF else f", lanes 0x{group.lanes:08x}"
        place, ptx = session.state.frame, session.launch.lines.ptx(group.instruction)
        at = f", {short_name(place.file)}:{place.line} in {place.function}" if place is not None else ""
        self.say(
            f"step {session.launch.step_number}: CTA {session.launch.cta_text(focus.cta)} warp {focus.warp}{lanes}{at}",
            "cyan",
        )
        if place is not None:
            self.lines(source_excerpt(place.file, place.line, _CONTEXT))
            if stack:
                self._stack(session.launch.lines.stack(group.instruction), place)
        number = f"{f'ptx:{ptx}':<9}" if ptx is not None else ""
        self.say(f"{number}{session.launch.lines.text(group.instruction)}", "bold")

    def _stack(self, stack: tuple[SourceLocation, ...], shown: SourceLocation) -> None:
        """Show the other frames of an instruction's stack: callees and callers of the shown one."""
        at = next((k for k, p in enumerate(stack) if p == shown), 0)
        for k, place in enumerate(stack):
            if k != at:
                what = "calls" if k < at else "called from"
                self.say(
                    f"   {what} {short_name(place.file)}:{place.line} in {place.function}: {place.source_line.strip()}"
                )

    def show_displayed(self) -> None:
        """Show all displays."""
        for text in self.session.watches:
            try:
                value = self.session.evaluate(text)
                values = lane_values(value)
                lane = self.session.focus.lane
                shown = lane_summary(values, lane) if values is not None else value_text(value, lane)
            except DebugError as error:
                shown = f"({error.message})"
            self.say(f"{text} = {shown}", "magenta")
        last = self._last
        for line in self.displayed:
            try:
                self.do(line)
            except DebugError as error:
                self.say(f"{line}: {error.message}", "red")
        self._last = last
