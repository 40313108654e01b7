"""Commands that go on and back, and those that say where to stop."""

from __future__ import annotations

import re
from typing import Any

from pyptx.cli.debugging.commands import command, number
from pyptx.debug import DebugError

__all__: list[str] = []


@command("step [N]", "execute one warp-instruction of the focused warp, or N", "s", group="going on", repeats=True,
         more="Other warps run on as the schedule says.", examples=(("step", "one PTX instruction"), ("s 20", "20")))
def _step(prompt: Any, rest: str) -> None:
    prompt.stopped(prompt.session.step(number(rest, "step [N]: N", 1)))


@command("next [into]", "go on until the focused warp stands at another Python line", "n", group="going on",
         repeats=True, more="Functions that the line calls are run through; `next into` stops in them.\n"
         "Of PTX that was loaded: at another line of PTX.",
         examples=(("next", "the next line of this function"), ("n into", "or the first line of what it calls")))
def _next(prompt: Any, rest: str) -> None:
    if rest not in ("", "into"):
        raise DebugError(f"next {rest}: expected `next` or `next into`")
    prompt.stopped(prompt.session.next(into=bool(rest)))


@command("warp", "go on until another warp has its turn", "w", group="going on", repeats=True,
         more="`focus warp 4` looks at another warp without going on.", examples=(("warp", "who runs next?"),))
def _warp(prompt: Any, rest: str) -> None:
    if rest:
        raise DebugError(f"warp takes nothing; `focus warp {rest}` looks at another warp")
    prompt.stopped(prompt.session.next_warp())


@command("continue", "go on to the next breakpoint, watchpoint, error, or the end", "c", "cont", "resume",
         group="going on", repeats=True, more="Ctrl-C stops it where it is.", examples=(("c", ""),))
def _continue(prompt: Any, rest: str) -> None:
    prompt.stopped(prompt.session.resume())


@command("finish", "go on until the focused warp is about to exit or return", "fin", group="going on",
         examples=(("finish", ""),))
def _finish(prompt: Any, rest: str) -> None:
    prompt.stopped(prompt.session.finish())


@command("until PLACE", "go on until a warp comes to a place", "u", "run_to", group="going on",
         examples=(("until 114", "line 114 of the kernel's file"), ("u ptx:40", "line 40 of the PTX"),
                   ("u op:wgmma.mma_async", "the next of these instructions")))
def _until(prompt: Any, rest: str) -> None:
    prompt.stopped(prompt.session.run_to(_place(rest, "until")))


@command("goto STEP", "go to a step, back or on, past all breakpoints", "g", group="going back",
         more="Steps count warp-instructions of the whole grid; each stop names its own.",
         examples=(("goto 1200", "the same place each time, as runs are deterministic"),))
def _goto(prompt: Any, rest: str) -> None:
    prompt.stopped(prompt.session.goto(number(rest, "goto STEP: STEP")))


@command("back [N]", "go back one instruction of the focused warp, or N", "bk", group="going back", repeats=True,
         examples=(("back", ""), ("bk 10", "")))
def _back(prompt: Any, rest: str) -> None:
    prompt.stopped(prompt.session.back(number(rest, "back [N]: N", 1)))


@command("backline", "go back to the Python line before", "bl", group="going back", repeats=True,
         examples=(("bl", "undoes `next`"),))
def _backline(prompt: Any, rest: str) -> None:
    prompt.stopped(prompt.session.back_line())


@command("reverse", "go back to the last breakpoint or watchpoint", "rc", group="going back", repeats=True,
         more="With a watchpoint on a wrong value: who wrote it last.",
         examples=(("watch c[3, 5]", "after the kernel has ended"), ("rc", "to the instruction that wrote it")))
def _reverse(prompt: Any, rest: str) -> None:
    prompt.stopped(prompt.session.reverse())


@command("rewind", "go back to the start", "rw", group="going back", examples=(("rw", ""),))
def _rewind(prompt: Any, rest: str) -> None:
    prompt.stopped(prompt.session.rewind())


# where to stop ------------------------------------------------------------------------------------------------------

_CONDITION = re.compile(r"(?:^|\s)if\s+(.+)$")
_WHERE = re.compile(r"(?:^|\s)(warp|cta)[\s=]+(\d+(?:,\d+)*)(?=\s|$)")
_CONDITIONS = ("COND is Python over the names of the kernel, registers (%r4), lane, tid, warp, cta, step and the\n"
               "arguments; it stops when that is true for a lane that is there.")


@command("break PLACE [warp N] [cta N] [if COND]", "stop each time a warp comes to a place", "b", group="stopping",
         more=_CONDITIONS, examples=(("b 114", "line 114 of the kernel's file"),
                                     ("b gemm.py:114 if stage == 0 and lane == 0", ""),
                                     ("b ptx:40 warp 4", "PTX line 40, in warp 4 only"),
                                     ("b op:wgmma.mma_async cta 0,1", "each of these in one CTA")))
def _break(prompt: Any, rest: str) -> None:
    prompt.say(repr(_add(prompt, rest, "break")))


@command("tbreak PLACE [warp N] [cta N] [if COND]", "the same, once", "tb", group="stopping", more=_CONDITIONS,
         examples=(("tb 114 if step > 1000", ""),))
def _tbreak(prompt: Any, rest: str) -> None:
    prompt.say(f"{_add(prompt, rest, 'tbreak', temporary=True)!r}, once")


def _add(prompt: Any, rest: str, what: str, temporary: bool = False):
    condition = _CONDITION.search(rest)
    place = rest[:condition.start()] if condition else rest
    where = {name: value for name, value in _WHERE.findall(place)}
    place = _WHERE.sub("", place).strip()
    cta = tuple(map(int, where["cta"].split(","))) if "cta" in where else None
    return prompt.session.breakpoints.add(
        _place(place, what), condition[1].strip() if condition else None,
        warp=int(where["warp"]) if "warp" in where else None,
        cta=cta[0] if cta is not None and len(cta) == 1 else cta, temporary=temporary)


@command("watch WHAT [if COND]", "stop when a register or memory changes", "wa", group="stopping",
         more="WHAT is a name or register of the focused warp, an argument or an element of it, an allocation in\n"
              "shared memory, or an address: shared:0x440, shared:0x440:16 (bytes), global:0x7000...:4, tmem:0:4.",
         examples=(("watch sums[0][3]", ""), ("watch c[3, 5]", "an element of an argument"),
                   ("watch shared:0xc400:8", "an mbarrier"), ("watch %r11 if lane == 0", "")))
def _watch(prompt: Any, rest: str) -> None:
    condition = _CONDITION.search(rest)
    what = rest[:condition.start()].strip() if condition else rest
    if not what:
        raise DebugError("watch WHAT: a register, a name, an element of an argument, or an address is missing")
    prompt.say(repr(prompt.session.breakpoints.watch(what, condition[1].strip() if condition else None)))


@command("condition N [COND]", "give a breakpoint a condition, or none", group="stopping", more=_CONDITIONS,
         examples=(("condition 1 stage == 1", ""), ("condition 1", "stop always")))
def _condition(prompt: Any, rest: str) -> None:
    which, _, condition = rest.partition(" ")
    prompt.session.breakpoints.condition(number(which, "condition N: N"),
                                         condition.strip().removeprefix("if ") or None)
    prompt.say(repr(prompt.session.breakpoints[int(which, 0)]))


@command("delete [N]", "forget a breakpoint, or all", "d", group="stopping", examples=(("delete 2", ""), ("d", "all")))
def _delete(prompt: Any, rest: str) -> None:
    if rest:
        prompt.session.breakpoints.remove(number(rest, "delete N: N"))
    else:
        prompt.session.breakpoints.clear()


@command("enable N", "let a breakpoint stop the run again", group="stopping", examples=(("enable 1", ""),))
def _enable(prompt: Any, rest: str) -> None:
    prompt.session.breakpoints.enable(number(rest, "enable N: N"))


@command("disable N", "let a breakpoint pass until it is enabled", group="stopping", examples=(("disable 1", ""),))
def _disable(prompt: Any, rest: str) -> None:
    prompt.session.breakpoints.enable(number(rest, "disable N: N"), False)


def _place(text: str, what: str) -> str:
    if not text:
        raise DebugError(f"{what} PLACE: gemm.py:114, 114, ptx:40, a label or op:wgmma is missing")
    return text
