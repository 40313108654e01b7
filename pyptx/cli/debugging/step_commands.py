"""Commands that step forward and go back."""

from __future__ import annotations

from pyptx.cli.debugging.prompt import Prompt
from pyptx.cli.debugging.registry import command, number, required_location
from pyptx.debug import DebugError


@command(
    "step [N]",
    "execute N instructions of the focused warp (default 1)",
    "s",
    group="stepping forward",
    repeats=True,
    more="Other warps run as the schedule decides.",
    examples=(("step", "one PTX instruction"), ("s 20", "20")),
)
def _step(prompt: Prompt, rest: str) -> None:
    prompt.stopped(prompt.session.step(number(rest, "step [N]: N", 1)))


@command(
    "next [into]",
    "run until the focused warp reaches another Python line",
    "n",
    group="stepping forward",
    repeats=True,
    more="Helper functions called by the line are stepped over; `next into` stops in them.\n"
    "In a kernel loaded from PTX: another PTX line.",
    examples=(("next", "the next line of this function"), ("n into", "or the first line of a function it calls")),
)
def _next(prompt: Prompt, rest: str) -> None:
    if rest not in ("", "into"):
        raise DebugError(f"next {rest}: expected `next` or `next into`")
    prompt.stopped(prompt.session.next(into=bool(rest)))


@command(
    "warp",
    "run until another warp is scheduled",
    "w",
    group="stepping forward",
    repeats=True,
    more="`focus warp 4` selects another warp without running.",
    examples=(("warp", "the next warp that runs"),),
)
def _warp(prompt: Prompt, rest: str) -> None:
    if rest:
        raise DebugError("warp takes no argument", hint=f"`focus warp {rest}` selects another warp")
    prompt.stopped(prompt.session.next_warp())


@command(
    "continue",
    "run to the next breakpoint, watchpoint, or error, or to the end",
    "c",
    "cont",
    "resume",
    group="stepping forward",
    repeats=True,
    more="Ctrl-C interrupts it.",
    examples=(("c", ""),),
)
def _continue(prompt: Prompt, rest: str) -> None:
    prompt.stopped(prompt.session.resume())


@command(
    "finish",
    "run until the focused warp is about to exit or return",
    "fin",
    group="stepping forward",
    examples=(("finish", ""),),
)
def _finish(prompt: Prompt, rest: str) -> None:
    prompt.stopped(prompt.session.finish())


@command(
    "until LOCATION",
    "run until a warp reaches a location",
    "u",
    "run_to",
    group="stepping forward",
    examples=(
        ("until 114", "line 114 of the kernel's file"),
        ("u ptx:40", "line 40 of the PTX"),
        ("u op:wgmma.mma_async", "the next instruction with this opcode"),
    ),
)
def _until(prompt: Prompt, rest: str) -> None:
    prompt.stopped(prompt.session.run_to(required_location(rest, "until")))


@command(
    "goto STEP",
    "go to a step, forward or backward, past all breakpoints",
    "g",
    group="going back",
    more="Steps count warp-instructions of the whole grid; each stop shows its step.",
    examples=(("goto 1200", "the same position each time, as runs are deterministic"),),
)
def _goto(prompt: Prompt, rest: str) -> None:
    prompt.stopped(prompt.session.goto(number(rest, "goto STEP: STEP")))


@command(
    "back [N]",
    "go back N instructions of the focused warp (default 1)",
    "bk",
    group="going back",
    repeats=True,
    examples=(("back", ""), ("bk 10", "")),
)
def _back(prompt: Prompt, rest: str) -> None:
    prompt.stopped(prompt.session.back(number(rest, "back [N]: N", 1)))


@command(
    "backline",
    "go back to the previous Python line",
    "bl",
    group="going back",
    repeats=True,
    examples=(("bl", "undoes `next`"),),
)
def _backline(prompt: Prompt, rest: str) -> None:
    prompt.stopped(prompt.session.back_line())


@command(
    "reverse",
    "go back to the last breakpoint or watchpoint",
    "rc",
    group="going back",
    repeats=True,
    more="With a watchpoint on a wrong value, this finds the instruction that wrote it.",
    examples=(("watch c[3, 5]", "after the kernel has ended"), ("rc", "to the instruction that wrote it")),
)
def _reverse(prompt: Prompt, rest: str) -> None:
    prompt.stopped(prompt.session.reverse())


@command("rewind", "go back to the start", "rw", group="going back", examples=(("rw", ""),))
def _rewind(prompt: Prompt, rest: str) -> None:
    prompt.stopped(prompt.session.rewind())
