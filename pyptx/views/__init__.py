"""Views: pure data with a JSON form, and their text, HTML and standalone page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyptx._lazy import from_modules
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

if not TYPE_CHECKING:
    __getattr__ = from_modules(
        __name__,
        {  # loaded on first use: the linked view needs none of them
            "ComparisonTable": "comparisons.comparison",
            "Diff": "diffs.diff",
            "Point": "rooflines.elements",
            "Roofline": "rooflines.roofline",
            "fragments": "diagrams.fragments",
            "shared_tile": "diagrams.banks",
            "timeline": "diagrams.timeline",
        },
    )
