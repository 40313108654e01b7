"""The page of the command line."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from pyptx import cli

__all__ = ["command_line"]


def command_line() -> Iterator[str]:
    parser = cli.parser()
    yield "# Command line"
    yield ""
    yield "`pyptx COMMAND --help` prints the text below. `python -m pyptx` is the same command."
    yield ""
    yield f"```text\n{parser.format_help().rstrip()}\n```"
    yield from sections(parser, "##")


def sections(parser: argparse.ArgumentParser, level: str) -> Iterator[str]:
    """A section for each command, and below it for each of its own commands."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield f"\n{level} {command.prog}\n"
                yield f"```text\n{command.format_help().rstrip()}\n```"
                yield from sections(command, level + "#")
