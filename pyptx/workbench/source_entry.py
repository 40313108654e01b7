"""Entries compiled from another language, whose results and messages have the names of the source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyptx.errors import LaunchError, SimulationError
from pyptx.jit.specialization import Specialization
from pyptx.runtime import LaunchResult
from pyptx.workbench.program import Entry

if TYPE_CHECKING:
    from pyptx.check import Report
    from pyptx.compiled import Compiled

__all__ = ["SourceEntry"]


class SourceEntry(Entry):
    """A kernel with the names of its source.

    Args:
        name: of the kernel.
        parameters: names of the parameters in PTX order; "" where the source has none.
    """

    def __init__(self, specialization: Specialization, name: str, parameters: Sequence[str]):
        super().__init__(specialization)
        self._name, self._parameters = name, tuple(parameters) or ("",) * len(self.params)
        specialization.display_name = name

    @property
    def name(self) -> str:
        """Name of the kernel in the source."""
        return self._name

    @property
    def argument_names(self) -> tuple[str, ...]:
        """Names of the parameters in the source, else in PTX."""
        return tuple(name or slot.name for name, slot in zip(self._parameters, self.params, strict=False))

    @property
    def target(self) -> str:
        """The target it is compiled for, "sm_90a"."""
        return self._specialization.module.target.targets[0]

    @property
    def mangled(self) -> str:
        """Name of the entry in the PTX."""
        return self._function.name

    def compile(self, *args: Any, arch: str | None = None, options: Iterable[str] = ()) -> Compiled:
        """Validate and assemble; arguments and errors as for `Entry.compile`."""
        return replace(super().compile(*args, arch=arch, options=options), name=self.name)

    def launch(self, *args: Any, **settings: Any) -> LaunchResult:
        """Launch: `launch(grid, block, *args)`; arguments as for `Entry.launch`, of the types in the source."""
        try:
            return super().launch(*args, **settings)
        except (LaunchError, SimulationError) as error:
            error.message, error.hint = self._renamed(error.message), error.hint and self._renamed(error.hint)
            raise

    def check(self, *args: Any, **options: Any) -> Report:
        """Simulate a launch in several schedules and report races and other findings; arguments as for `Entry.check`."""
        report = super().check(*args, **options)
        findings = [
            replace(
                found,
                message=self._renamed(found.message),
                fix=found.fix and self._renamed(found.fix),
                tensor=found.tensor and self._renamed(found.tensor),
            )
            for found in report.findings
        ]
        self._specialization.last_check = replace(report, kernel=self.name, findings=tuple(findings))
        return self._specialization.last_check

    def _renamed(self, text: str) -> str:
        """Return a message with the names of the source."""
        for name, slot in zip(self._parameters, self.params, strict=False):
            if name:
                text = re.sub(rf"(?<![\w$]){re.escape(slot.name)}(?![\w$])", name, text)
        return text.replace(self.mangled, self.name) if self.mangled != self.name else text
