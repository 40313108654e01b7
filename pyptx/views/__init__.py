"""Views: what a reader looks at, as pure data with a JSON form, and its text and HTML."""

from pyptx.views.linked import MIME, LinkedView, linked

__all__ = ["MIME", "LinkedView", "linked"]
