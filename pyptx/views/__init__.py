"""Views: what a reader looks at, as pure data with a JSON form, and its text and HTML."""

from importlib import import_module

from pyptx.views.code.linked import MIME, LinkedView, linked

__all__ = ["MIME", "Diff", "LinkedView", "Point", "Roofline", "diff", "fragments", "linked", "shared_tile",
           "timeline"]

_LATE = {"Diff": "diffs.diff", "Point": "rooflines.parts", "Roofline": "rooflines.roofline", "diff": "diffs.diff",
         "fragments": "pictures.fragments", "shared_tile": "pictures.banks", "timeline": "pictures.timeline"}


def __getattr__(name: str):
    """What the linked view does not need, on use: diffs compile and align, pictures ask the simulator for layouts."""
    if name in _LATE:
        return getattr(import_module(f"pyptx.views.{_LATE[name]}"), name)
    raise AttributeError(f"module 'pyptx.views' has no attribute {name!r}")
