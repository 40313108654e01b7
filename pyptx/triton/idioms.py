"""Findings in Triton's code that are right by the PTX ISA and that its users cannot change."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["COMPILER_IDIOMS"]

COMPILER_IDIOMS: Mapping[str, str] = MappingProxyType(
    {
        "missing-mbarrier-fence": "Triton emits no fence after mbarrier.init in a kernel with one CTA",
        "mbarrier": "warp-specialized kernels invalidate mbarriers while a tcgen05.commit to them is in flight",
    }
)
"""Rules and reasons for `ignore=`: `simulate(check=True, ignore=pyptx.triton.COMPILER_IDIOMS)`."""
