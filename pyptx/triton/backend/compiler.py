"""Triton asks each backend for a compiler; kernels for the simulator are compiled by Triton's own for NVIDIA GPUs."""

from __future__ import annotations

from typing import Any

from triton.backends.compiler import BaseBackend

from pyptx.errors import UnsupportedError

__all__ = ["NoCompiler"]

_NOTHING = "this backend compiles nothing"


class NoCompiler(BaseBackend):
    """A compiler for no target."""

    @staticmethod
    def supports_target(target: Any) -> bool:
        return False

    def hash(self) -> str:
        raise UnsupportedError(_NOTHING)

    def parse_options(self, options: dict) -> object:
        raise UnsupportedError(_NOTHING)

    def add_stages(self, stages: dict, options: object, language: Any) -> None:
        raise UnsupportedError(_NOTHING)

    def load_dialects(self, context: Any) -> None:
        raise UnsupportedError(_NOTHING)

    def get_module_map(self) -> dict:
        raise UnsupportedError(_NOTHING)
