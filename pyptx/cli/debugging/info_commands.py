"""Subcommands of `info`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyptx.cli.debugging.formatting import lane_rows, lane_summary, lane_values
from pyptx.cli.debugging.prompt import Prompt
from pyptx.cli.debugging.registry import info
from pyptx.debug import DebugError
from pyptx.debug.document import value_text
from pyptx.debug.inspect.barriers import barriers_of, wait_reason
from pyptx.debug.inspect.c_types import Located
from pyptx.debug.inspect.values import bits_of, typed

_MOST_ROWS = 64


@info("breakpoints")
def _breakpoints(prompt: Prompt, rest: str) -> None:
    prompt.say(repr(prompt.session.breakpoints))


@info("warps")
def _warps(prompt: Prompt, rest: str) -> None:
    session = prompt.session
    rows, left = [], 0
    turn = session.launch.machine.position
    for resident in session.launch.machine.residents():
        for warp in range(session.launch.plan.warps):
            if len(rows) >= _MOST_ROWS:
                left += 1
                continue
            live = resident.live_lanes(warp)
            group = session.launch.group(resident.id, warp) if live else None
            runs = turn is not None and (turn.cta, turn.warp) == (resident.id, warp) and not session.stop.over
            focus = (session.focus.cta, session.focus.warp) == (resident.id, warp)
            state, at, text = "exited", "", ""
            if group is not None:
                state = "runs" if runs else {"ready": "ready"}.get(group.state, "waits")
                at = session.launch.lines.location_text(group.instruction)
                text = (
                    f"for {wait_reason(session.launch, group)}"
                    if state == "waits"
                    else session.launch.lines.text(group.instruction)
                )
                if group.lanes != 0xFFFFFFFF:
                    text += f"   [lanes 0x{group.lanes:08x}]"
            rows.append((f"{'>' if focus else ' '} {session.launch.cta_text(resident.id)}", warp, state, at, text))
    prompt.table(("CTA", "warp", "state", "at", "instruction, or reason to wait"), rows)
    if left:
        prompt.say(f"and {left} more warps")


@info("barriers")
def _barriers(prompt: Prompt, rest: str) -> None:
    session = prompt.session
    own = session.launch.resident(session.focus.cta)
    if own is None:
        raise DebugError("the run is over", hint="`back` goes back to a step with barriers")
    rows = []
    for resident in session.launch.machine.residents():
        if resident.cluster != own.cluster:
            continue
        for b in barriers_of(session.launch, resident):
            waits = ", ".join(
                f"warp {warp}" + (f" of CTA {session.launch.cta_text(cta)}" if cta != resident.id else "")
                for cta, warp in b.waiters
            )
            what = "arrivals" if b.kind == "mbarrier" else "warps"
            rows.append(
                (
                    f"{b.name}",
                    session.launch.cta_text(resident.id),
                    "" if b.address is None else f"0x{b.address:x}",
                    "" if b.phase is None else b.phase,
                    f"{b.expected - b.pending} of {b.expected} {what}",
                    "" if not b.tx else f"{b.tx} bytes",
                    waits,
                )
            )
    if not rows:
        prompt.say("no barrier was used yet")
        return
    prompt.table(("barrier", "CTA", "address", "phase", "arrived", "pending bytes", "waiting"), rows)


@info("registers")
def _registers(prompt: Prompt, rest: str) -> None:
    session = prompt.session
    state, lane = session.launch.warp_state(), session.focus.lane
    if rest and rest != "all":
        for name in rest.split():
            value = session.evaluate(name)
            values = lane_values(value)
            if values is None:
                raise DebugError(f"{name} is not a single register", hint=f"`print {name}` shows it")
            prompt.say(f"{name} = {lane_summary(values, lane)}")
            for line in lane_rows(values, lane):
                prompt.say(line)
        return
    names = session.launch.names
    owners, types = (
        (names.owners_at(state.instruction), names.types_at(state.instruction)) if names is not None else ({}, {})
    )
    before = session.state.registers_before(state.resident.id, state.warp)
    offsets, now = session.launch.machine.register_offsets, state.resident.registers(state.warp)
    rows, hidden = [], 0
    for name, (register, declared) in state.in_scope().items():
        owner = owners.get(name, "")
        if (
            (names is not None and rest != "all" and not owner)
            or owner.count("[") > 1
            or (owner.endswith("]") and rest != "all" and not owner.endswith(("[0]", "[1]", "[2]", "[3]")))
        ):
            hidden += 1
            continue
        bits = bits_of(offsets, now, register)
        changed = before is not None and not np.array_equal(bits_of(offsets, before, register), bits)
        values = typed(bits, types.get(name, declared))
        text = lane_summary(values, lane) if values.ndim == 1 else value_text(tuple(values), lane)
        rows.append((f"{'*' if changed else ' '} {name}", owner, f".{declared}", text))
    prompt.table(("register", "name", "type", f"value in warp {state.warp} (* changed)"), rows)
    if hidden:
        prompt.say(f"{hidden} more; `info registers all` lists them")


@info("locals")
def _locals(prompt: Prompt, rest: str) -> None:
    session = prompt.session
    state, names = session.launch.warp_state(), session.launch.names
    if names is None:
        raise DebugError(
            "this kernel was loaded from PTX and has no names of variables",
            hint="`info registers` lists registers; CUDA C++ has names with -G (`--option=-G`, `pyptx.cuda(..., debug=True)`)",
        )
    if names.problem:
        raise DebugError(names.problem)
    kinds = {name: str(one.type) for name, one in names.at(state.instruction).items() if isinstance(one, Located)}
    rows = []
    for name in names.bound(state.instruction):
        try:
            value = state.lookup(name)
        except DebugError:
            continue
        values = lane_values(value)
        if isinstance(value, tuple) and len(value) > 4:
            text = f"{len(value)} values, [0] is {_short(value[0], session.focus.lane)}"
        elif values is not None:
            text = lane_summary(values, session.focus.lane)
        elif isinstance(value, tuple | dict):
            parts = value.items() if isinstance(value, dict) else enumerate(value)
            text = ", ".join(f"{k}: {_short(part, session.focus.lane)}" for k, part in parts)
        else:
            text = value_text(value, session.focus.lane)
        rows.append((name, kinds[name], text) if name in kinds else (name, text))
    head = ("name", "type") if kinds else ("name",)
    prompt.table((*head, f"value in warp {state.warp}"), rows)


def _short(value: Any, lane: int) -> str:
    values = lane_values(value)
    if values is not None:
        return lane_summary(values, lane)
    return f"{len(value)} values" if isinstance(value, tuple) else value_text(value, lane)


@info("arguments")
def _arguments(prompt: Prompt, rest: str) -> None:
    rows = []
    for name, value in prompt.session.launch.arguments.items():
        kind = (
            f"{value.dtype}[{', '.join(map(str, value.shape))}]"
            if isinstance(value, np.ndarray)
            else type(value).__name__
        )
        address = next(
            (
                f"0x{s.address:x}"
                for s in prompt.session.launch.run.segments
                if isinstance(value, np.ndarray) and s.buffer.host == value.__array_interface__["data"][0]
            ),
            "",
        )
        rows.append((name, kind, address, "" if isinstance(value, np.ndarray) else value))
    prompt.table(("argument", "type", "address", "value"), rows)


@info("operations")
def _operations(prompt: Prompt, rest: str) -> None:
    session = prompt.session
    rows, seen = [], set()
    for resident in session.launch.machine.residents():
        if resident.cluster in seen:
            continue
        seen.add(resident.cluster)
        for f in resident.async_operations():
            rows.append(
                (
                    f.number,
                    f"CTA {session.launch.cta_text(f.cta)} warp {f.warp}",
                    session.launch.lines.location_text(f.instruction),
                    session.launch.lines.text(f.instruction),
                )
            )
    if not rows:
        eager = session.launch.plan.schedule == "eager"
        prompt.say(
            "no asynchronous operation is in flight"
            + (
                "; in the eager schedule they complete immediately, `--schedule late` keeps them in flight"
                if eager
                else ""
            )
        )
        return
    prompt.table(("number", "issued by", "at", "operation"), rows)


@info("displays")
def _display(prompt: Prompt, rest: str) -> None:
    shown = [*prompt.session.watches, *prompt.displayed]
    prompt.say("\n".join(shown) or "nothing is displayed; `display EXPR` shows a value at each stop")
