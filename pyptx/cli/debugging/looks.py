"""Commands that show registers, memory, matrices, barriers, warps, the timeline, and where they stand."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from pyptx.cli.debugging import show
from pyptx.cli.debugging.commands import command, number, options
from pyptx.cli.debugging.info import INFOS
from pyptx.debug import DebugError
from pyptx.debug.document import value_text
from pyptx.debug.looking.fragments import fragment, named_fragments
from pyptx.debug.looking.memory import tensor_tile, tile
from pyptx.debug.looking.values import TYPES, decoded, typed
from pyptx.debug.timeline import timeline_of

__all__: list[str] = []

_FORMAT = re.compile(r"/(\S+)\s*(.*)", re.DOTALL)
_FEW = 16                                               # values of an array that are printed in full


@command("print[/FORMAT] EXPR", "the value of an expression in the focused warp", "p", group="looking",
         more="EXPR is Python over the kernel's names, registers (%r4), special registers (%tid.x), lane, tid, warp,\n"
              "cta, step, the arguments, and shared(TYPE, ADDRESS), globals(TYPE, ADDRESS), load(TYPE, ADDRESS).\n"
              "FORMAT is x (hexadecimal), b (binary), or a type to read the bits as: f32, bf16x2, s32, e4m3 ...",
         examples=(("p sums[0][3]", "all lanes of a register"), ("p/x %rd4", ""), ("p/bf16x2 %r12", ""),
                   ("p c[0, :8]", "of an argument"), ('p shared("f32", start + lane * 4)', "")))
def _print(prompt: Any, rest: str) -> None:
    kind, text = _split(rest)
    if not text:
        raise DebugError("print EXPR: an expression is missing")
    value, base = prompt.session.evaluate(text), kind if kind in ("x", "b", "d") else ""
    if kind and not base:
        value = _as(value, kind, text)
    values = show.values_of(value)
    if values is None:
        prompt.say(f"{text} = {value_text(value, prompt.session.focus.lane)}")
        return
    texts = {show.shown(v, base=base) for v in values}
    if len(texts) == 1:
        prompt.say(f"{text} = {texts.pop()} in all lanes")
        return
    prompt.say(f"{text} = {show.summary(values, prompt.session.focus.lane, base)}")
    for line in show.lanes(values, prompt.session.focus.lane, base):
        prompt.say(line)


def _split(rest: str) -> tuple[str, str]:
    found = _FORMAT.fullmatch(rest)
    if found is None:
        return "", rest
    kind = found[1]
    if kind not in ("x", "b", "d") and kind not in TYPES:
        raise DebugError(f"/{kind}: expected /x, /b, /d or a type: {', '.join(TYPES)}")
    return kind, found[2].strip()


def _as(value: Any, kind: str, text: str) -> Any:
    array = show.values_of(value)
    if array is None:
        raise DebugError(f"/{kind} reads the bits of a register; {text} is none")
    bits = array.view(f"<u{array.dtype.itemsize}") if array.dtype.kind in "iuf" else array.astype(np.uint32)
    found = typed(bits.astype(np.uint64 if bits.dtype.itemsize == 8 else np.uint32), kind)
    return tuple(found) if found.ndim == 2 else found


@command("x/[N]TYPE ADDRESS", "memory at an address", group="looking",
         more="ADDRESS is a number or an expression, of the focused lane. Below 2^32 it lies in shared memory;\n"
              "space=global, local, const, param or generic says otherwise.",
         examples=(("x/8f32 0x440", "eight numbers of shared memory"), ("x/16b8 to_a", ""),
                   ("x/4u64 %rd3 space=global", "")))
def _examine(prompt: Any, rest: str) -> None:
    found = re.fullmatch(r"/(\d*)([a-z]\w*)\s+(.+)", rest)
    if found is None:
        raise DebugError("x/[N]TYPE ADDRESS, as in x/8f32 0x440")
    what, given = options(found[3], "space")
    count, kind = int(found[1] or 1), found[2]
    part = tile(prompt.session.state(), what, type=kind, shape=(1, count), lane=prompt.session.focus.lane,
                columns=(0, min(count, 64)), **given)
    size = 16 // decoded(np.zeros(16, np.uint8), kind).size
    values, per = part.values[0], max(1, 32 // size)
    for first in range(0, len(values), per):
        cells = " ".join(show.shown(v, base="x" if kind[0] == "b" and kind != "bf16" else "")
                         for v in values[first:first + per])
        prompt.say(f"  0x{part.address + first * size:x}: {cells}")


@command("tile WHAT [type=] [shape=] [swizzle=] [rows=] [columns=] [space=] [banks]",
         "memory as a tile: an allocation, a stage of it, an argument, an address", "t", group="looking",
         more="swizzle=128B (64B, 32B) reads a tile that TMA or wgmma sees so; `banks` shows the bank of each element\n"
              "instead of its value. Changes since the stop before have a star when it is on display.",
         examples=(("tile ring[0] type=f16 shape=128,64 swizzle=128B", ""), ("t c rows=8,8 columns=0,8", ""),
                   ("t 0x440 type=u32 shape=4,4", ""), ("t ring[0] type=f16 shape=8,64 swizzle=128B banks", "")))
def _tile(prompt: Any, rest: str) -> None:
    text, given = options(rest, "type", "shape", "swizzle", "rows", "columns", "space")
    banks = text.endswith(" banks")
    what = text.removesuffix(" banks").strip()
    if not what:
        raise DebugError("tile WHAT: a name or an address is missing")
    part = tile(prompt.session.state(), what, lane=prompt.session.focus.lane, **given)
    if banks and part.bank is None:
        raise DebugError(f"{what} lies in {part.space} memory, which has no banks")
    prompt.say(part.title + (", banks" if banks else ""))
    prompt.matrix(part.bank if banks else part.values, part.first, part.shape,
                  "x" if part.type[1:] in ("b8", "b16", "b32", "b64") and not banks else "", _rows(given))


@command("fragment NAME [rows=] [columns=] [owners]", "registers as the matrix they hold", "f", group="looking",
         more="NAME is that of the registers, or A, B, C, D of the matrix instruction that is next. `owners` shows\n"
              "which warp, lane and register hold each element.",
         examples=(("f sums[0]", ""), ("f sums[0] rows=16,16 columns=0,8", ""), ("f D owners", "")))
def _fragment(prompt: Any, rest: str) -> None:
    text, given = options(rest, "rows", "columns")
    owners = text.endswith(" owners")
    name = text.removesuffix(" owners").strip()
    if not name:
        known = ", ".join(found for found, _ in named_fragments(prompt.session.state())) or "none"
        raise DebugError(f"fragment NAME: a name is missing; fragments here: {known}")
    part = fragment(prompt.session.state(), name, **given)
    prompt.say(part.title)
    values: Any = part.values
    if owners:
        values = np.array([[f"w{w}t{lane}r{r}" for w, lane, r in row] for row in part.owner.tolist()], object)
    prompt.matrix(values, part.first, part.shape, most=_rows(given))


def _rows(given: dict[str, Any]) -> int:
    """How many rows of a matrix are shown: those asked for."""
    return given["rows"][1] if len(given.get("rows", ())) > 1 else 16


@command("tmem [COLUMN [COUNT]] [type=] [rows=]", "tensor memory of the focused CTA", group="looking",
         examples=(("tmem", "the first allocated columns"), ("tmem 64 8 type=f32", ""),
                   ("tmem 0 8 type=f32 rows=32,16", "lanes 32 to 47")))
def _tmem(prompt: Any, rest: str) -> None:
    text, given = options(rest, "type", "rows")
    words = text.split()
    first = number(words[0], "tmem COLUMN: COLUMN") if words else None
    count = number(words[1], "tmem COLUMN COUNT: COUNT") if len(words) > 1 else 8
    kind = given.get("type", "b32")
    part = tensor_tile(prompt.session.state(), first, count, kind, given.get("rows"))
    prompt.say(part.title)
    prompt.matrix(part.values, part.first, part.shape, "x" if kind == "b32" else "", _rows(given))


@command("timeline [FROM]", "what warps did and what became of asynchronous operations, so far", "tl", group="looking",
         more="= a warp runs, . it waits; i issued, ~ in flight, # completed and not waited for, w waited for.\n"
              "Time is counted in warp-instructions of the whole grid.",
         examples=(("timeline", "from the start"), ("tl 1200", "from step 1200 on")))
def _timeline(prompt: Any, rest: str) -> None:
    for line in show.timeline(timeline_of(prompt.session), prompt.width, number(rest, "timeline FROM: FROM", 0)):
        prompt.say(line)


@command("info WHAT", "breakpoints, warps, barriers, registers, locals, arguments, operations, display", "i",
         group="looking", more="info registers [all | NAME...]   those with names in Python, all, or some by lane\n"
         "info operations                  asynchronous operations under way",
         examples=(("info barriers", "phases, arrivals and bytes to come, who waits"), ("i warps", ""),
                   ("i registers %r1 %r2", ""), ("i locals", "the names of the kernel's Python here")))
def _info(prompt: Any, rest: str) -> None:
    word, _, more = rest.partition(" ")
    begins = [name for name in INFOS if name.startswith(word)] if word else []
    if not begins:
        raise DebugError(f"info {word}: expected one of {', '.join(INFOS)}")
    INFOS[begins[0]](prompt, more.strip())


@command("list [LINE | ptx [LINE]]", "lines of Python, or of PTX, around the place or a line", "l", group="looking",
         examples=(("l", ""), ("l 80", ""), ("l ptx", ""), ("l ptx 40", "")))
def _list(prompt: Any, rest: str) -> None:
    words, session = rest.split(), prompt.session
    if words[:1] == ["ptx"] or session.lines.own_file is None:
        wanted = words[1:] if words[:1] == ["ptx"] else words
        at = number(wanted[0], "list ptx LINE: LINE") if wanted else session.stop.ptx or 1
        prompt.lines(show.ptx_excerpt(session.lines.ptx_text, at, 8))
        return
    file = session.stop.file or session.lines.own_file
    at = number(words[0], "list LINE: LINE") if words else session.stop.line or session.lines.files[file][0]
    prompt.lines(show.excerpt(file, at, 8))


@command("where", "the place, and the calls of Python functions that led to it", "bt", group="looking",
         examples=(("where", ""),))
def _where(prompt: Any, rest: str) -> None:
    prompt.where()


@command("focus [cta N] [warp N] [lane N]", "look at another CTA, warp or lane; nothing moves", "fo", group="looking",
         examples=(("focus warp 4", ""), ("focus cta 1,0 warp 2 lane 7", ""), ("focus", "what is looked at")))
def _focus(prompt: Any, rest: str) -> None:
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


@command("lane N", "look at another lane", group="looking", examples=(("lane 7", ""),))
def _lane(prompt: Any, rest: str) -> None:
    prompt.session.look_at(lane=number(rest, "lane N: N"))
    prompt.say(f"lane {prompt.session.focus.lane}")


@command("display [EXPR | tile ... | fragment ... | tmem ...]", "show something at each stop", "disp", group="looking",
         examples=(("display stage", ""), ("display fragment sums[0] columns=0,8", ""),
                   ("display tile c rows=0,4 columns=0,8", ""), ("display", "show it all now")))
def _display(prompt: Any, rest: str) -> None:
    if rest:
        if rest.split()[0] in ("tile", "fragment", "tmem"):
            prompt.do(rest)                             # says what is wrong with it
            prompt.displayed.append(rest)
            return
        prompt.session.watch(rest)
    prompt.show_displayed()


@command("undisplay [EXPR]", "show it no longer; without EXPR nothing", "und", group="looking",
         examples=(("undisplay stage", ""), ("undisplay", "")))
def _undisplay(prompt: Any, rest: str) -> None:
    if not rest:
        prompt.session.watches.clear()
        prompt.displayed.clear()
    elif rest in prompt.displayed:
        prompt.displayed.remove(rest)
    else:
        prompt.session.unwatch(rest)
