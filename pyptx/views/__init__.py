"""Views: pure data with a JSON form, and their text, HTML and standalone page."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pyptx.views.code.linked import MIME, LinkedView, linked

if TYPE_CHECKING:
    from pyptx.views.comparisons.comparison import ComparisonTable
    from pyptx.views.diagrams.banks import shared_tile
    from pyptx.views.diagrams.fragments import fragments
    from pyptx.views.diagrams.timeline import timeline
    from pyptx.views.diffs.diff import Diff
    from pyptx.views.rooflines.elements import Point
    from pyptx.views.rooflines.roofline import Roofline

__all__ = [
    "MIME",
    "ComparisonTable",
    "Diff",
    "LinkedView",
    "Point",
    "Roofline",
    "fragments",
    "linked",
    "shared_tile",
    "timeline",
]

_LAZY = {  # loaded on first use: the linked view needs none of them
    "ComparisonTable": "pyptx.views.comparisons.comparison",
    "Diff": "pyptx.views.diffs.diff",
    "Point": "pyptx.views.rooflines.elements",
    "Roofline": "pyptx.views.rooflines.roofline",
    "fragments": "pyptx.views.diagrams.fragments",
    "shared_tile": "pyptx.views.diagrams.banks",
    "timeline": "pyptx.views.diagrams.timeline",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'pyptx.views' has no attribute {name!r}")
