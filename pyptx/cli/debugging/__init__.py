"""The prompt of `pyptx debug`; importing the package registers all commands."""

from pyptx.cli.debugging import (  # noqa: F401  (each registers its commands)
    breakpoint_commands,
    general_commands,
    info_commands,
    inspect_commands,
    step_commands,
)
from pyptx.cli.debugging.prompt import Prompt, Quit

__all__ = ["Prompt", "Quit"]
