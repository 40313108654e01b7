"""Launches that are resolved but not executed: what tools ask of a kernel or of an entry of loaded PTX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from pyptx._frozen import frozen
from pyptx.jit.specialization import Specialization
from pyptx.launch_config import LaunchConfig
from pyptx.runtime import LaunchPlan

__all__ = ["Launchable", "ResolvedLaunch"]


@frozen(eq=False)
class ResolvedLaunch:
    """A launch on the simulator with every default filled in.

    Attributes:
        args: all arguments of the entry in parameter order, tensor maps included.
        settings: backend options.
        uninitialized: parameters whose arrays were allocated for the outputs and hold no values yet.
    """

    specialization: Specialization
    plan: LaunchPlan
    args: list[Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    uninitialized: tuple[str, ...] = ()


class Launchable(Protocol):
    """A kernel, or an entry of loaded PTX."""

    @property
    def name(self) -> str: ...

    def resolve(
        self, config: LaunchConfig | None, args: Sequence[Any], params: Mapping[str, Any], out: Any = None
    ) -> ResolvedLaunch:
        """Resolve a launch on the simulator.

        Args:
            config: None: `args` are the input arrays of a call, or empty and the sizes are in `params`.
            args: with `config`, all arguments in parameter order.
            params: sizes, template parameters and raw parameters; the other names are backend options.
            out: arrays for the outputs; None: they are allocated.
        Raises:
            LaunchError, TypeError: the arguments do not fit.
        """
        ...
