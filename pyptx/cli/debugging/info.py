"""What `info` tells: one function for each word."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyptx.cli.debugging import show
from pyptx.debug import DebugError
from pyptx.debug.document import value_text, waits_for
from pyptx.debug.looking.barriers import barriers_of
from pyptx.debug.looking.values import bits_of, typed

__all__ = ["INFOS"]

_MANY = 64                                              # rows of a table


def _breakpoints(prompt: Any, rest: str) -> None:
    prompt.say(repr(prompt.session.breakpoints))


def _warps(prompt: Any, rest: str) -> None:
    session = prompt.session
    rows, left = [], 0
    turn = session.run.machine.turn
    for resident in session.run.machine.residents():
        for warp in range(session.run.plan.warps):
            if len(rows) >= _MANY:
                left += 1
                continue
            live = resident.warp(warp)[0]
            group = session.group(resident.id, warp) if live else None
            runs = turn is not None and (turn.cta, turn.warp) == (resident.id, warp) and not session.stop.over
            focus = (session.focus.cta, session.focus.warp) == (resident.id, warp)
            state, at, text = "exited", "", ""
            if group is not None:
                state = "runs" if runs else {"ready": "ready"}.get(group.state, "waits")
                at = session.lines.told(group.instruction)
                text = f"for {waits_for(session, group)}" if state == "waits" else session.lines.text(group.instruction)
                if group.lanes != 0xFFFFFFFF:
                    text += f"   [lanes 0x{group.lanes:08x}]"
            rows.append((f"{'>' if focus else ' '} {session.cta_text(resident.id)}", warp, state, at, text))
    prompt.table(("CTA", "warp", "state", "at", "instruction, or what it waits for"), rows)
    if left:
        prompt.say(f"and {left} more warps")


def _barriers(prompt: Any, rest: str) -> None:
    session = prompt.session
    own = session.resident(session.focus.cta)
    if own is None:
        raise DebugError("the run is over; `back` goes back to where barriers are")
    rows = []
    for resident in session.run.machine.residents():
        if resident.cluster != own.cluster:
            continue
        for b in barriers_of(session, resident):
            waits = ", ".join(f"warp {warp}" + (f" of CTA {session.cta_text(cta)}" if cta != resident.id else "")
                              for cta, warp in b.waiters)
            what = "arrivals" if b.kind == "mbarrier" else "warps"
            rows.append((f"{b.name}", session.cta_text(resident.id), "" if b.address is None else f"0x{b.address:x}",
                         "" if b.phase is None else b.phase, f"{b.expected - b.pending} of {b.expected} {what}",
                         "" if not b.tx else f"{b.tx} bytes", waits))
    if not rows:
        prompt.say("nobody has used a barrier yet")
        return
    prompt.table(("barrier", "CTA", "address", "phase", "came", "to come", "waiting"), rows)


def _registers(prompt: Any, rest: str) -> None:
    session = prompt.session
    state, lane = session.state(), session.focus.lane
    if rest and rest != "all":
        for name in rest.split():
            value = session.evaluate(name)
            values = show.values_of(value)
            if values is None:
                raise DebugError(f"{name} is no single register; `print {name}` shows it")
            prompt.say(f"{name} = {show.summary(values, lane)}")
            for line in show.lanes(values, lane):
                prompt.say(line)
        return
    names = session.names
    owners, types = (names.owners, names.types) if names is not None else ({}, {})
    before = session.changed_since(state.resident.id, state.warp)
    offsets, now = session.run.machine.offsets, state.resident.registers(state.warp)
    rows, hidden = [], 0
    for name, (register, declared) in state.in_scope().items():
        owner = owners.get(name, "")
        if (names is not None and rest != "all" and not owner) or owner.count("[") > 1 or \
                (owner.endswith("]") and rest != "all" and not owner.endswith(("[0]", "[1]", "[2]", "[3]"))):
            hidden += 1
            continue
        bits = bits_of(offsets, now, register)
        changed = before is not None and not np.array_equal(bits_of(offsets, before, register), bits)
        values = typed(bits, types.get(name, declared))
        text = show.summary(values, lane) if values.ndim == 1 else value_text(tuple(values), lane)
        rows.append((f"{'*' if changed else ' '} {name}", owner, f".{declared}", text))
    prompt.table(("register", "name", "type", f"value in warp {state.warp} (* changed)"), rows)
    if hidden:
        prompt.say(f"{hidden} more; `info registers all` lists them")


def _locals(prompt: Any, rest: str) -> None:
    session = prompt.session
    state, names = session.state(), session.names
    if names is None:
        raise DebugError("this kernel was loaded from PTX, which has no Python names; `info registers` lists registers")
    rows = []
    for name in names.known(state.instruction):
        try:
            value = state.lookup(name)
        except DebugError:
            continue
        values = show.values_of(value)
        if isinstance(value, tuple) and len(value) > 4:
            text = f"{len(value)} of them, [0] is {_short(value[0], session.focus.lane)}"
        elif values is not None:
            text = show.summary(values, session.focus.lane)
        elif isinstance(value, tuple | dict):
            parts = value.items() if isinstance(value, dict) else enumerate(value)
            text = ", ".join(f"{k}: {_short(part, session.focus.lane)}" for k, part in parts)
        else:
            text = value_text(value, session.focus.lane)
        rows.append((name, text))
    prompt.table(("name", f"value in warp {state.warp}"), rows)


def _short(value: Any, lane: int) -> str:
    values = show.values_of(value)
    if values is not None:
        return show.summary(values, lane)
    return f"{len(value)} values" if isinstance(value, tuple) else value_text(value, lane)


def _arguments(prompt: Any, rest: str) -> None:
    rows = []
    for name, value in prompt.session.arguments.items():
        kind = f"{value.dtype}[{', '.join(map(str, value.shape))}]" if isinstance(value, np.ndarray) else \
            type(value).__name__
        address = next((f"0x{s.address:x}" for s in prompt.session.run.segments if isinstance(value, np.ndarray)
                        and s.buffer.host == value.__array_interface__["data"][0]), "")
        rows.append((name, kind, address, "" if isinstance(value, np.ndarray) else value))
    prompt.table(("argument", "type", "address", "value"), rows)


def _operations(prompt: Any, rest: str) -> None:
    session = prompt.session
    rows, seen = [], set()
    for resident in session.run.machine.residents():
        if resident.cluster in seen:
            continue
        seen.add(resident.cluster)
        for f in resident.flights():
            rows.append((f.number, f"CTA {session.cta_text(f.cta)} warp {f.warp}", session.lines.told(f.instruction),
                         session.lines.text(f.instruction)))
    if not rows:
        eager = session.run.plan.schedule == "eager"
        prompt.say("no asynchronous operation is under way"
                   + ("; in the eager schedule they land at once, `--schedule late` keeps them in flight" if eager
                      else ""))
        return
    prompt.table(("number", "started by", "at", "operation"), rows)


def _display(prompt: Any, rest: str) -> None:
    shown = [*prompt.session.watches, *prompt.displayed]
    prompt.say("\n".join(shown) or "nothing is on display; `display EXPR` shows something at each stop")


INFOS = {"breakpoints": _breakpoints, "warps": _warps, "barriers": _barriers, "registers": _registers,
         "locals": _locals, "arguments": _arguments, "operations": _operations, "display": _display}
