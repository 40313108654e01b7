"""The table of prompt commands: names, short forms, and help."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeVar

from pyptx.debug import DebugError

__all__ = [
    "COMMANDS",
    "INFOS",
    "Command",
    "command",
    "find",
    "help_text",
    "info",
    "number",
    "options",
    "required_location",
]

Run = TypeVar("Run", bound=Callable[..., None])


@dataclass(frozen=True)
class Command:
    """One command: a function of the prompt and the rest of the command line.

    Attributes:
        more: further lines of help.
        repeats: an empty line runs the command again.
        group: the heading under which `help` lists it, one of GROUPS.
        examples: pairs of a command line and its effect.
    """

    name: str
    shorts: tuple[str, ...]
    usage: str
    summary: str
    run: Callable[..., None]
    examples: tuple[tuple[str, str], ...]
    more: str
    repeats: bool
    group: str


COMMANDS: dict[str, Command] = {}
INFOS: dict[str, Callable[..., None]] = {}  # subcommands of `info`
GROUPS = ("stepping forward", "going back", "breakpoints", "inspection", "other")


def command(
    usage: str,
    summary: str,
    *shorts: str,
    group: str,
    examples: tuple[tuple[str, str], ...] = (),
    more: str = "",
    repeats: bool = False,
) -> Callable[[Run], Run]:
    """Register a command; its name is the first word of `usage`."""

    def add(run: Run) -> Run:
        name = re.split(r"\W", usage, maxsplit=1)[0]
        COMMANDS[name] = Command(name, shorts, usage, summary, run, examples, more, repeats, group)
        return run

    return add


def info(name: str) -> Callable[[Run], Run]:
    """Register a subcommand of `info`."""

    def add(run: Run) -> Run:
        INFOS[name] = run
        return run

    return add


def find(word: str) -> Command:
    """Return the command with a name, a short form, or an unambiguous prefix.

    Raises:
        DebugError: the command is unknown or ambiguous.
    """
    if word in COMMANDS:
        return COMMANDS[word]
    for known in COMMANDS.values():
        if word in known.shorts:
            return known
    begins = [known for name, known in COMMANDS.items() if name.startswith(word)]
    if len(begins) == 1:
        return begins[0]
    if begins:
        raise DebugError(f"{word!r} is ambiguous: {', '.join(known.name for known in begins)}")
    near = get_close_matches(word, COMMANDS, 1)
    hint = f"did you mean `{near[0]}`?" if near else f"`help` lists the commands, `print {word}` shows a value"
    raise DebugError(f"no command {word!r}", hint=hint)


def help_text(word: str) -> str:
    """Return the list of commands, or the help of one command with examples."""
    if word:
        known = find(word)
        lines = [known.usage, f"    {known.summary[0].upper()}{known.summary[1:]}."]
        lines += [f"    {line}" for line in known.more.split("\n") if line]
        lines += [f"    Short: {', '.join(known.shorts)}"] if known.shorts else []
        wide = max((len(line) for line, _ in known.examples), default=0)
        lines += (
            ["examples:", *(f"    {line:<{wide}}   {what}" for line, what in known.examples)] if known.examples else []
        )
        return "\n".join(lines)
    lines = []
    for group in GROUPS:
        lines.append(f"{group}:")
        for known in COMMANDS.values():
            if known.group == group:
                names = ", ".join((known.name, *known.shorts))
                lines.append(f"    {names:<20} {known.summary}")
    lines.append(
        "`help COMMAND` shows examples. An empty line repeats the last step. LOCATION is gemm.py:77, 77, ptx:40, "
        "a label, or op:wgmma."
    )
    return "\n".join(lines)


def number(text: str, what: str, default: int | None = None) -> int:
    """Parse an integer.

    Raises:
        DebugError: the text is not an integer.
    """
    if not text.strip() and default is not None:
        return default
    try:
        return int(text.strip(), 0)
    except ValueError:
        raise DebugError(f"{what} is an integer, not {text.strip()!r}") from None


def required_location(text: str, name: str) -> str:
    """Return the location after a command.

    Raises:
        DebugError: it is missing.
    """
    if not text:
        raise DebugError(
            f"{name} LOCATION: the location is missing; expected gemm.py:114, 114, ptx:40, a label, or op:wgmma"
        )
    return text


_OPTION = re.compile(r"(?:^|\s)(\w+)=(\S+)")


def options(text: str, *known: str) -> tuple[str, dict[str, Any]]:
    """Split `name=value` options off; values are numbers, pairs such as 128,64, or text.

    Raises:
        DebugError: an option is unknown.
    """
    found: dict[str, Any] = {}
    for name, value in _OPTION.findall(text):
        if name not in known:
            raise DebugError(f"unknown option {name}=; expected {', '.join(f'{k}=' for k in known)}")
        parts = value.split(",")
        if all(re.fullmatch(r"\d+", part) for part in parts):
            numbers = [int(part) for part in parts]
            scalar = len(numbers) == 1 and name not in ("shape", "rows", "columns")
            found[name] = numbers[0] if scalar else tuple(numbers)
        else:
            found[name] = value
    return _OPTION.sub("", text).strip(), found
