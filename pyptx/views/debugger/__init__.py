"""The view of a debugging session, as data, text and HTML."""

from pyptx.views.debugger.view import MIME, VERSION, DebugView

__all__ = ["MIME", "VERSION", "DebugView"]
