"""The pages that are generated from the program itself, each from its one source.

The instruction table gives the instruction set, the parser of arguments the command line, `environment_variables.VARIABLES`
the variables, the exception classes and the `raise` statements the errors, the sanitizer its rules, and the entry points of
the simulated device its APIs.
"""

from __future__ import annotations

from pathlib import Path

from generators.command_line import command_line
from generators.device_api import driver_api, runtime_api
from generators.environment import environment
from generators.errors import errors
from generators.instructions import families, family_page, instruction_index
from generators.rules import rules

__all__ = ["write"]


def write(folder: Path) -> None:
    """Write every page below `folder`, and leave alone what has not changed."""
    pages = {
        "cli.md": command_line(),
        "rules.md": rules(),
        "driver-api.md": driver_api(),
        "runtime-api.md": runtime_api(),
        "environment.md": environment(),
        "errors.md": errors(),
        "isa/index.md": instruction_index(families()),
        **{f"isa/{name}.md": family_page(name) for name in families()},
    }
    for name, lines in pages.items():
        path, text = folder / name, "\n".join(lines) + "\n"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
