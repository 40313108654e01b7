"""The debugger as a reader sees it: a kernel at one moment of its run, as text, HTML and data for the live view."""

from pyptx.views.debugger.view import MIME, VERSION, DebugView

__all__ = ["MIME", "VERSION", "DebugView"]
