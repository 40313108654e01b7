"""Fixtures of the renderer's tests."""

from support.pages import page

__all__ = ["page"]
