"""The prompt of `pyptx debug`: its commands, and how it shows what they find."""

from pyptx.cli.debugging.prompt import Prompt

__all__ = ["Prompt"]
