"""Views: what a reader looks at, as pure data with a JSON form, and its text and HTML."""

from pyptx.views.linked import MIME, LinkedView, linked

__all__ = ["MIME", "Diff", "LinkedView", "diff", "linked"]


def __getattr__(name: str):
    """`diff` and `Diff` on use: they compile and align, and the linked view needs none of it."""
    if name in ("Diff", "diff"):
        from pyptx.views import differ

        globals().update(Diff=differ.Diff, diff=differ.diff)
        return globals()[name]
    raise AttributeError(f"module 'pyptx.views' has no attribute {name!r}")
