"""Errors of calls: a status code of the driver API, and a diagnosis for the user."""

from __future__ import annotations

from pyptx.cuda_device.error_codes import CODES

__all__ = ["DriverError", "code"]

_NUMBERS = {name.removeprefix("CUDA_ERROR_"): number for number, (name, _) in CODES.items()}


def code(name: str) -> int:
    """Return the number of an error: 1 for "INVALID_VALUE"."""
    return _NUMBERS[name]


class DriverError(Exception):
    """A call that fails.

    Args:
        name: of the status code, without CUDA_ERROR_.
        diagnosis: what happened and why, printed on stderr; empty for answers that programs ask for, such as
            NOT_READY.
    """

    def __init__(self, name: str, diagnosis: str = ""):
        super().__init__(diagnosis)
        self.name, self.code, self.diagnosis = name, code(name), diagnosis
