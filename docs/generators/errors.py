"""The index of errors: exception classes, and the messages with which each is raised."""

from __future__ import annotations

import ast
import html
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pyptx
from pyptx.errors import PtxError

__all__ = ["errors"]

PACKAGE = Path(pyptx.__file__).parent
# parts whose exceptions users do not see under their names: their messages come back inside others
INTERNAL = ("compat", "cuda_device", "isa", "jupyter", "cli")


class Raised(NamedTuple):
    """A `raise` statement: its message and hint, with ... for what is filled in."""

    message: str
    hint: str


def errors() -> Iterator[str]:
    classes = public_classes()
    messages = raised()
    yield "# Errors"
    yield ""
    yield (
        "Every exception that pyptx raises on purpose derives from `pyptx.PtxError` and from the built-in exception "
        "that fits it. It has a `message`, a `place` (the Python line at fault, or None) and a `hint` (a suggested fix, "
        "or None). On the command line, the exit status is 2."
    )
    yield ""
    yield (
        "Search this page for the beginning of a message; … stands for what is filled in. Errors of CUDA programs under "
        "`pyptx exec` are those of CUDA: [driver API](driver-api.md)."
    )
    yield ""
    yield "| exception | also | meaning |"
    yield "| --- | --- | --- |"
    for name, cls in classes.items():
        bases = [base.__name__ for base in cls.__mro__[1:] if base.__module__ == "builtins"]
        builtin = next((base for base in bases if base not in ("Exception", "BaseException", "object")), "")
        summary = (inspect.getdoc(cls) or "").partition("\n\n")[0].replace("\n", " ")
        shown = f"[`{name}`](#{anchor(name)})" if messages.get(name) else f"`{name}`"
        yield f"| {shown} | {f'`{builtin}`' if builtin else ''} | {summary} |"
    for name in classes:
        if messages.get(name):
            yield f"\n## {name}\n"
            yield "| message | hint |"
            yield "| --- | --- |"
            for one in sorted(set(messages[name])):
                yield f"| {cell(one.message)} | {cell(one.hint)} |"


def public_classes() -> dict[str, type[PtxError]]:
    """The exception classes that a user can catch, base classes first."""
    for module in (
        "parser",
        "debug",
        "check",
        "codegen",
        "history",
        "tune",
        "tune.isolation",
        "tune.build",
        "nvrtc.diagnostics",
    ):
        import_module(f"pyptx.{module}")

    def below(cls: type[PtxError]) -> Iterator[type[PtxError]]:
        yield cls
        for inner in sorted(cls.__subclasses__(), key=lambda one: one.__name__):
            yield from below(inner)

    found = (cls for cls in below(PtxError) if not cls.__name__.startswith("_"))
    return {cls.__name__: cls for cls in found if cls.__module__.split(".")[1] not in INTERNAL}


def raised() -> dict[str, list[Raised]]:
    """The messages of each class, from the sources."""
    found: dict[str, list[Raised]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] in INTERNAL:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                name = ast.unparse(node.exc.func).rpartition(".")[2]
                hints = [keyword.value for keyword in node.exc.keywords if keyword.arg == "hint"]
                hint = template(hints[0]) if hints else ""
                one = Raised(template(node.exc.args[0]), "" if hint == "…" else hint)
                if len(one.message.replace("…", "").split()) >= 3:  # else nothing to search for
                    found.setdefault(name, []).append(one)
    return found


def template(node: ast.expr) -> str:
    """The text of a string expression, with … for values."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(template(value) for value in values)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return template(left) + template(right)
        case _:
            return "…"


def cell(text: str) -> str:
    """Text of a table cell, as it is printed."""
    return html.escape(" ".join(text.split()), quote=False).translate(
        {ord(special): f"&#{ord(special)};" for special in "|`*_[]{}<>\\$~#"}
    )


def anchor(name: str) -> str:
    return name.lower()
