"""Targets that Triton kernels are compiled for."""

from __future__ import annotations

from typing import NamedTuple

from pyptx.errors import OptionError
from pyptx.isa import targets

__all__ = ["TARGETS", "TritonTarget", "parse"]

TARGETS = ("sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a")
"""Targets that are tested. Triton selects the architecture-specific features (the suffix) itself."""

DEFAULT = "sm_90a"


class TritonTarget(NamedTuple):
    """A target as Triton's compiler takes it: compute capability times ten."""

    name: str
    capability: int

    @property
    def shared_bytes(self) -> int:
        """Shared memory that a CTA can have, in bytes."""
        return targets.parse(self.name).limits.smem_per_cta


def parse(name: str) -> TritonTarget:
    """Return the target called `name`; "sm_90" and "sm_90a" are the same.

    Raises:
        OptionError: Triton does not compile for it.
    """
    known = {target.rstrip("af"): target for target in TARGETS}
    found = known.get(name.rstrip("af")) if isinstance(name, str) else None
    if found is None:
        raise OptionError(f"target {name!r}; Triton kernels are simulated for {', '.join(TARGETS)}")
    return TritonTarget(found, int(found[3:].rstrip("af")))
