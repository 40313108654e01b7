"""The one door of a widget: a command by name, the document back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyptx.debug.errors import DebugError
from pyptx.errors import PtxError

__all__ = ["run_command"]


def _show(session: Any, kind: str, name: str | None = None, address: int | None = None, **options: Any) -> None:
    options = {key: value for key, value in options.items() if value is not None}
    what = name if name is not None else address
    if kind == "memory" and name == "tmem":
        kind = "tmem"
    if kind == "memory":
        if what is None:
            raise DebugError("show memory needs name= or address=")
        session.show_memory(what, **options)
    elif kind == "fragment":
        session.show_fragment(str(what), **{k: v for k, v in options.items() if k in ("rows", "columns")})
    elif kind == "tmem":
        first, count = options.pop("columns", (None, 32))
        session.show_tmem(first if first is not None else address, count, options.get("type", "b32"),
                          rows=options.get("rows"))
    else:
        raise DebugError(f"cannot show {kind!r}; expected memory, fragment or tmem")


_COMMANDS: dict[str, Callable[..., Any]] = {
    "step": lambda s, n=1: s.step(int(n)), "next": lambda s, into=False: s.next(into=into),
    "next_warp": lambda s: s.next_warp(), "resume": lambda s: s.resume(), "finish": lambda s: s.finish(),
    "run_to": lambda s, place: s.run_to(place), "back": lambda s, n=1: s.back(int(n)),
    "back_line": lambda s: s.back_line(), "rewind": lambda s: s.rewind(), "goto": lambda s, step: s.goto(int(step)),
    "reverse": lambda s: s.reverse(), "interrupt": lambda s: s.interrupt(),
    "focus": lambda s, cta=None, warp=None, lane=None: s.look_at(cta=cta, warp=warp, lane=lane),
    "break": lambda s, place, condition=None, warp=None, cta=None: s.breakpoints.add(place, condition, warp=warp,
                                                                                    cta=cta),
    "unbreak": lambda s, id: s.breakpoints.remove(int(id)),
    "enable": lambda s, id, on=True: s.breakpoints.enable(int(id), on),
    "condition": lambda s, id, condition=None: s.breakpoints.condition(int(id), condition),
    "watchpoint": lambda s, place, condition=None: s.breakpoints.watch(place, condition),
    "watch": lambda s, text: s.watch(text), "unwatch": lambda s, text: s.unwatch(text),
    "show": _show, "hide": lambda s, kind, name: s.hide(kind, name)}


def run_command(session: Any, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The document after a command of the table above, or {"error": what is wrong}."""
    command = _COMMANDS.get(name)
    if command is None:
        return {"error": f"no command {name!r}; expected one of {', '.join(_COMMANDS)}"}
    try:
        command(session, **arguments)
        return session.document()
    except PtxError as error:
        return {"error": str(error)}
    except TypeError as error:
        return {"error": f"{name}: {error}"}
