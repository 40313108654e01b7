"""Commands that show registers, memory, matrices, the timeline, and source lines."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from pyptx.cli.debugging.formatting import (
    lane_rows,
    lane_summary,
    lane_values,
    ptx_excerpt,
    source_excerpt,
    timeline_rows,
)
from pyptx.cli.debugging.prompt import Prompt
from pyptx.cli.debugging.registry import INFOS, command, number, options
from pyptx.debug import DebugError
from pyptx.debug.document import value_text
from pyptx.debug.inspect.fragments import fragment, named_fragments
from pyptx.debug.inspect.memory import tensor_tile, tile
from pyptx.debug.inspect.values import TYPES, element_bytes, number_text, typed
from pyptx.debug.timeline import session_timeline

_FORMAT = re.compile(r"/(\S+)\s*(.*)", re.DOTALL)


@command(
    "print[/FORMAT] EXPR",
    "print the value of an expression in the focused warp",
    "p",
    group="inspection",
    more="EXPR is Python over the kernel's names, registers (%r4), special registers (%tid.x), lane, tid, warp,\n"
    "cta, step, the arguments, and shared(TYPE, ADDRESS), globals(TYPE, ADDRESS), load(TYPE, ADDRESS).\n"
    "FORMAT is x (hexadecimal), b (binary), or a type to reinterpret the bits as: f32, bf16x2, s32, e4m3 ...",
    examples=(
        ("p sums[0][3]", "all lanes of a register"),
        ("p/x %rd4", ""),
        ("p/bf16x2 %r12", ""),
        ("p c[0, :8]", "elements of an argument"),
        ('p shared("f32", start + lane * 4)', ""),
    ),
)
def _print(prompt: Prompt, rest: str) -> None:
    kind, text = _split(rest)
    if not text:
        raise DebugError("print EXPR: the expression is missing")
    value, base = prompt.session.evaluate(text), kind if kind in ("x", "b", "d") else ""
    if kind and not base:
        value = _reinterpreted(value, kind, text)
    values = lane_values(value)
    if values is None:
        prompt.say(f"{text} = {value_text(value, prompt.session.focus.lane)}")
        return
    texts = {number_text(v, base=base) for v in values}
    if len(texts) == 1:
        prompt.say(f"{text} = {texts.pop()} in all lanes")
        return
    prompt.say(f"{text} = {lane_summary(values, prompt.session.focus.lane, base)}")
    for line in lane_rows(values, prompt.session.focus.lane, base):
        prompt.say(line)


def _split(rest: str) -> tuple[str, str]:
    found = _FORMAT.fullmatch(rest)
    if found is None:
        return "", rest
    kind = found[1]
    if kind not in ("x", "b", "d") and kind not in TYPES:
        raise DebugError(f"unknown format /{kind}; expected /x, /b, /d, or a type: {', '.join(TYPES)}")
    return kind, found[2].strip()


def _reinterpreted(value: Any, kind: str, text: str) -> Any:
    array = lane_values(value)
    if array is None:
        raise DebugError(f"/{kind} applies to a register; {text} is not one")
    bits = array.view(f"<u{array.dtype.itemsize}") if array.dtype.kind in "iuf" else array.astype(np.uint32)
    found = typed(bits.astype(np.uint64 if bits.dtype.itemsize == 8 else np.uint32), kind)
    return tuple(found) if found.ndim == 2 else found


@command(
    "x/[N]TYPE ADDRESS",
    "print memory at an address",
    group="inspection",
    more="ADDRESS is a number, or an expression for the focused lane. Below 2^32 it is in shared memory, unless\n"
    "space=global, local, const, param, or generic is given.",
    examples=(
        ("x/8f32 0x440", "eight elements of shared memory"),
        ("x/16b8 to_a", ""),
        ("x/4u64 %rd3 space=global", ""),
    ),
)
def _examine(prompt: Prompt, rest: str) -> None:
    found = re.fullmatch(r"/(\d*)([a-z]\w*)\s+(.+)", rest)
    if found is None:
        raise DebugError("x/[N]TYPE ADDRESS, as in x/8f32 0x440")
    what, given = options(found[3], "space")
    count, kind = int(found[1] or 1), found[2]
    part = tile(
        prompt.session.launch.warp_state(),
        what,
        type=kind,
        shape=(1, count),
        lane=prompt.session.focus.lane,
        columns=(0, min(count, 64)),
        **given,
    )
    size = element_bytes(kind)
    values, per = part.values[0], max(1, 32 // size)
    for first in range(0, len(values), per):
        cells = " ".join(
            number_text(v, base="x" if kind[0] == "b" and kind != "bf16" else "") for v in values[first : first + per]
        )
        prompt.say(f"  0x{part.address + first * size:x}: {cells}")


@command(
    "tile NAME [type=] [shape=] [swizzle=] [rows=] [columns=] [space=] [banks]",
    "show memory as a tile: an allocation, one stage of it, an argument, or an address",
    "t",
    group="inspection",
    more="swizzle=128B (64B, 32B) reads a swizzled tile; `banks` shows the bank of each element instead of its\nvalue.",
    examples=(
        ("tile ring[0] type=f16 shape=128,64 swizzle=128B", ""),
        ("t c rows=8,8 columns=0,8", ""),
        ("t 0x440 type=u32 shape=4,4", ""),
        ("t ring[0] type=f16 shape=8,64 swizzle=128B banks", ""),
    ),
)
def _tile(prompt: Prompt, rest: str) -> None:
    text, given = options(rest, "type", "shape", "swizzle", "rows", "columns", "space")
    banks = text.endswith(" banks")
    what = text.removesuffix(" banks").strip()
    if not what:
        raise DebugError("tile NAME: the name or address is missing")
    part = tile(prompt.session.launch.warp_state(), what, lane=prompt.session.focus.lane, **given)
    if not banks:
        prompt.say(part.title)
        base = "x" if part.type[1:] in ("b8", "b16", "b32", "b64") else ""
        prompt.matrix(part.values, part.first, part.shape, base, _rows(given))
        return
    if part.bank is None:
        raise DebugError(f"{what} is in {part.space} memory, which has no banks")
    prompt.say(f"{part.title}, banks")
    prompt.matrix(part.bank, part.first, part.shape, most=_rows(given))


@command(
    "fragment NAME [rows=] [columns=] [owners]",
    "show registers as the matrix they hold",
    "f",
    group="inspection",
    more="NAME is a name of registers, or A, B, C, D for an operand of the next matrix instruction. `owners` shows\n"
    "the warp, lane, and register that hold each element.",
    examples=(("f sums[0]", ""), ("f sums[0] rows=16,16 columns=0,8", ""), ("f D owners", "")),
)
def _fragment(prompt: Prompt, rest: str) -> None:
    text, given = options(rest, "rows", "columns")
    owners = text.endswith(" owners")
    name = text.removesuffix(" owners").strip()
    if not name:
        known = ", ".join(found for found, _ in named_fragments(prompt.session.launch.warp_state())) or "none"
        raise DebugError(f"fragment NAME: the name is missing; fragments here: {known}")
    part = fragment(prompt.session.launch.warp_state(), name, **given)
    prompt.say(part.title)
    values: Any = part.values
    if owners:
        values = np.array([[f"w{w}t{lane}r{r}" for w, lane, r in row] for row in part.owner.tolist()], object)
    prompt.matrix(values, part.first, part.shape, most=_rows(given))


def _rows(given: dict[str, Any]) -> int:
    """Return the number of rows to show."""
    return given["rows"][1] if len(given.get("rows", ())) > 1 else 16


@command(
    "tmem [COLUMN [COUNT]] [type=] [rows=]",
    "show tensor memory of the focused CTA",
    group="inspection",
    examples=(
        ("tmem", "the first allocated columns"),
        ("tmem 64 8 type=f32", ""),
        ("tmem 0 8 type=f32 rows=32,16", "lanes 32 to 47"),
    ),
)
def _tmem(prompt: Prompt, rest: str) -> None:
    text, given = options(rest, "type", "rows")
    words = text.split()
    first = number(words[0], "tmem COLUMN: COLUMN") if words else None
    count = number(words[1], "tmem COLUMN COUNT: COUNT") if len(words) > 1 else 8
    kind = given.get("type", "b32")
    part = tensor_tile(prompt.session.launch.warp_state(), first, count, kind, given.get("rows"))
    prompt.say(part.title)
    prompt.matrix(part.values, part.first, part.shape, "x" if kind == "b32" else "", _rows(given))


@command(
    "timeline [FROM]",
    "show the activity of warps and asynchronous operations so far",
    "tl",
    group="inspection",
    more="= a warp runs, . it waits; i issued, ~ in flight, # completed but not waited for, w waited for.\n"
    "Time is counted in warp-instructions of the whole grid.",
    examples=(("timeline", "from the start"), ("tl 1200", "from step 1200 on")),
)
def _timeline(prompt: Prompt, rest: str) -> None:
    for line in timeline_rows(
        session_timeline(prompt.session.launch), prompt.width, number(rest, "timeline FROM: FROM", 0)
    ):
        prompt.say(line)


@command(
    "info TOPIC",
    "show breakpoints, warps, barriers, registers, locals, arguments, operations, or displays",
    "i",
    group="inspection",
    more="info registers [all | NAME...]   those with Python names, all, or some by lane\n"
    "info operations                  asynchronous operations in flight",
    examples=(
        ("info barriers", "phases, pending arrivals and bytes, waiting warps"),
        ("i warps", ""),
        ("i registers %r1 %r2", ""),
        ("i locals", "the Python names visible here"),
    ),
)
def _info(prompt: Prompt, rest: str) -> None:
    word, _, more = rest.partition(" ")
    begins = [name for name in INFOS if name.startswith(word)] if word else []
    if not begins:
        raise DebugError(f"info TOPIC: expected one of {', '.join(INFOS)}")
    INFOS[begins[0]](prompt, more.strip())


@command(
    "list [LINE | ptx [LINE]]",
    "show Python or PTX lines around the current location or a line",
    "l",
    group="inspection",
    examples=(("l", ""), ("l 80", ""), ("l ptx", ""), ("l ptx 40", "")),
)
def _list(prompt: Prompt, rest: str) -> None:
    words, session = rest.split(), prompt.session
    if words[:1] == ["ptx"] or session.launch.lines.own_file is None:
        wanted = words[1:] if words[:1] == ["ptx"] else words
        at = number(wanted[0], "list ptx LINE: LINE") if wanted else session.stop.ptx or 1
        prompt.lines(ptx_excerpt(session.launch.lines.ptx_text, at, 8))
        return
    file = session.stop.file or session.launch.lines.own_file
    at = number(words[0], "list LINE: LINE") if words else session.stop.line or session.launch.lines.files[file][0]
    prompt.lines(source_excerpt(file, at, 8))


@command(
    "where",
    "show the current location and its Python call stack",
    "bt",
    group="inspection",
    examples=(("where", ""),),
)
def _where(prompt: Prompt, rest: str) -> None:
    prompt.where()


@command(
    "focus [cta N] [warp N] [lane N]",
    "select another CTA, warp, or lane; nothing runs",
    "fo",
    group="inspection",
    examples=(("focus warp 4", ""), ("focus cta 1,0 warp 2 lane 7", ""), ("focus", "show the focus")),
)
def _focus(prompt: Prompt, rest: str) -> None:
    words = rest.replace("=", " ").split()
    if len(words) % 2 or any(word not in ("cta", "warp", "lane") for word in words[::2]):
        raise DebugError(f"focus {rest}: expected focus [cta N] [warp N] [lane N]")
    given: dict[str, Any] = dict(zip(words[::2], words[1::2], strict=True))
    if "cta" in given:
        parts = [number(part, "focus cta N: N") for part in given["cta"].split(",")]
        given["cta"] = parts[0] if len(parts) == 1 else tuple(parts)
    for name in ("warp", "lane"):
        if name in given:
            given[name] = number(given[name], f"focus {name} N: N")
    if given:
        prompt.session.look_at(**given)
    prompt.where()


@command("lane N", "select another lane", group="inspection", examples=(("lane 7", ""),))
def _lane(prompt: Prompt, rest: str) -> None:
    prompt.session.look_at(lane=number(rest, "lane N: N"))
    prompt.say(f"lane {prompt.session.focus.lane}")


@command(
    "display [EXPR | tile ... | fragment ... | tmem ...]",
    "show an expression, tile, or fragment at each stop",
    "disp",
    group="inspection",
    examples=(
        ("display stage", ""),
        ("display fragment sums[0] columns=0,8", ""),
        ("display tile c rows=0,4 columns=0,8", ""),
        ("display", "show everything now"),
    ),
)
def _display(prompt: Prompt, rest: str) -> None:
    if rest:
        if rest.split()[0] in ("tile", "fragment", "tmem"):
            prompt.do(rest)  # raises if it cannot be displayed
            prompt.displayed.append(rest)
            return
        prompt.session.watch(rest)
    prompt.show_displayed()


@command(
    "undisplay [EXPR]",
    "remove a display, or all",
    "und",
    group="inspection",
    examples=(("undisplay stage", ""), ("undisplay", "")),
)
def _undisplay(prompt: Prompt, rest: str) -> None:
    if not rest:
        prompt.session.watches.clear()
        prompt.displayed.clear()
    elif rest in prompt.displayed:
        prompt.displayed.remove(rest)
    else:
        prompt.session.unwatch(rest)
