"""Commands that set, change, and delete breakpoints and watchpoints."""

from __future__ import annotations

import re

from pyptx.cli.debugging.prompt import Prompt
from pyptx.cli.debugging.registry import command, number, required_location
from pyptx.debug import Breakpoint, DebugError

_CONDITION = re.compile(r"(?:^|\s)if\s+(.+)$")
_WHERE = re.compile(r"(?:^|\s)(warp|cta)[\s=]+(\d+(?:,\d+)*)(?=\s|$)")
_CONDITIONS = (
    "COND is Python over the names of the kernel, registers (%r4), lane, tid, warp, cta, step, and the\n"
    "arguments; the breakpoint stops if it is true for an active lane."
)


@command(
    "break LOCATION [warp N] [cta N] [if COND]",
    "stop each time a warp reaches a location",
    "b",
    group="breakpoints",
    more=_CONDITIONS,
    examples=(
        ("b 114", "line 114 of the kernel's file"),
        ("b gemm.py:114 if stage == 0 and lane == 0", ""),
        ("b ptx:40 warp 4", "PTX line 40, in warp 4 only"),
        ("b op:wgmma.mma_async cta 0,1", "each of these instructions, in one CTA"),
    ),
)
def _break(prompt: Prompt, rest: str) -> None:
    prompt.say(repr(_add(prompt, rest, "break")))


@command(
    "tbreak LOCATION [warp N] [cta N] [if COND]",
    "set a breakpoint that is deleted at its first hit",
    "tb",
    group="breakpoints",
    more=_CONDITIONS,
    examples=(("tb 114 if step > 1000", ""),),
)
def _tbreak(prompt: Prompt, rest: str) -> None:
    prompt.say(f"{_add(prompt, rest, 'tbreak', temporary=True)!r}, once")


def _add(prompt: Prompt, rest: str, name: str, temporary: bool = False) -> Breakpoint:
    condition = _CONDITION.search(rest)
    place = rest[: condition.start()] if condition else rest
    where = {name: value for name, value in _WHERE.findall(place)}
    place = _WHERE.sub("", place).strip()
    cta = tuple(map(int, where["cta"].split(","))) if "cta" in where else None
    return prompt.session.breakpoints.add(
        required_location(place, name),
        condition[1].strip() if condition else None,
        warp=int(where["warp"]) if "warp" in where else None,
        cta=cta[0] if cta is not None and len(cta) == 1 else cta,
        temporary=temporary,
    )


@command(
    "watch LOCATION [if COND]",
    "stop when a register or memory changes",
    "wa",
    group="breakpoints",
    more="LOCATION is a name or register of the focused warp, an argument or an element of it, an allocation in\n"
    "shared memory, or an address: shared:0x440, shared:0x440:16 (bytes), global:0x7000...:4, tmem:0:4.",
    examples=(
        ("watch sums[0][3]", ""),
        ("watch c[3, 5]", "an element of an argument"),
        ("watch shared:0xc400:8", "an mbarrier"),
        ("watch %r11 if lane == 0", ""),
    ),
)
def _watch(prompt: Prompt, rest: str) -> None:
    condition = _CONDITION.search(rest)
    what = rest[: condition.start()].strip() if condition else rest
    if not what:
        raise DebugError("watch LOCATION: expected a register, a name, an element of an argument, or an address")
    prompt.say(repr(prompt.session.breakpoints.watch(what, condition[1].strip() if condition else None)))


@command(
    "condition N [COND]",
    "set the condition of a breakpoint, or remove it",
    group="breakpoints",
    more=_CONDITIONS,
    examples=(("condition 1 stage == 1", ""), ("condition 1", "always stop")),
)
def _condition(prompt: Prompt, rest: str) -> None:
    which, _, condition = rest.partition(" ")
    prompt.session.breakpoints.condition(number(which, "condition N: N"), condition.strip().removeprefix("if ") or None)
    prompt.say(repr(prompt.session.breakpoints[int(which, 0)]))


@command(
    "delete [N]", "delete a breakpoint, or all", "d", group="breakpoints", examples=(("delete 2", ""), ("d", "all"))
)
def _delete(prompt: Prompt, rest: str) -> None:
    if rest:
        prompt.session.breakpoints.remove(number(rest, "delete N: N"))
    else:
        prompt.session.breakpoints.clear()


@command("enable N", "enable a breakpoint", group="breakpoints", examples=(("enable 1", ""),))
def _enable(prompt: Prompt, rest: str) -> None:
    prompt.session.breakpoints.enable(number(rest, "enable N: N"))


@command("disable N", "disable a breakpoint", group="breakpoints", examples=(("disable 1", ""),))
def _disable(prompt: Prompt, rest: str) -> None:
    prompt.session.breakpoints.enable(number(rest, "disable N: N"), False)
