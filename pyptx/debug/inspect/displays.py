"""Displays: tiles of memory, fragments, and columns of tensor memory that are shown at each stop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pyptx.debug.errors import DebugError
from pyptx.debug.inspect.fragments import FragmentTile, fragment
from pyptx.debug.inspect.launch import StoppedLaunch
from pyptx.debug.inspect.memory import Tile, tensor_tile, tile

__all__ = ["Display", "Displays"]


@dataclass(eq=False)
class Display:
    """One displayed item: its kind, its name, and the options it is read with; `before`: values at the last stop."""

    kind: str  # memory, fragment, tmem
    name: str
    what: Any
    options: dict[str, Any]
    before: np.ndarray | None = field(default=None, repr=False)

    def read(self, launch: StoppedLaunch) -> Tile | FragmentTile:
        """Return the current values.

        Raises:
            DebugError: it does not exist at this stop.
        """
        state = launch.warp_state()
        if self.kind == "fragment":
            return fragment(state, self.what, **self.options)
        if self.kind == "tmem":
            return tensor_tile(state, **self.options)
        return tile(state, self.what, lane=launch.focus.lane, **self.options)

    def changed(self, values: np.ndarray) -> np.ndarray:
        """Return which values differ from those at the last stop."""
        if self.before is None or self.before.shape != values.shape:
            return np.zeros(values.shape, bool)
        same = self.before == values
        if values.dtype.kind == "f":
            same |= np.isnan(self.before) & np.isnan(values)
        return ~same


class Displays:
    """The displayed items of a session, in order."""

    def __init__(self):
        self.items: list[Display] = []

    def memory(self, launch: StoppedLaunch, what: str | int, **options: Any) -> Display:
        """Add a tile; options as for pyptx.debug.inspect.memory.tile."""
        return self._add(launch, Display("memory", what if isinstance(what, str) else f"0x{what:x}", what, options))

    def fragment(self, launch: StoppedLaunch, name: str, **options: Any) -> Display:
        """Add a fragment; options as for pyptx.debug.inspect.fragments.fragment."""
        return self._add(launch, Display("fragment", name, name, options))

    def tmem(self, launch: StoppedLaunch, column: int | None, columns: int, type: str, **options: Any) -> Display:
        """Add columns of tensor memory."""
        options |= {"column": column, "columns": columns, "type": type}
        return self._add(launch, Display("tmem", "tmem" if column is None else f"tmem {column}", column, options))

    def _add(self, launch: StoppedLaunch, item: Display) -> Display:
        item.read(launch)  # raises if it cannot be displayed
        self.items = [other for other in self.items if (other.kind, other.name) != (item.kind, item.name)]
        self.items.append(item)
        return item

    def hide(self, kind: str, name: str) -> None:
        """Remove an item.

        Raises:
            DebugError: it is not displayed.
        """
        kept = [item for item in self.items if (item.kind, item.name) != (kind, name)]
        if len(kept) == len(self.items):
            shown = ", ".join(f"{i.kind} {i.name}" for i in self.items) or "nothing"
            raise DebugError(f"{kind} {name} is not displayed; displayed: {shown}")
        self.items = kept

    def remember(self, launch: StoppedLaunch) -> None:
        """Record the current values, so that changes can be highlighted."""
        for item in self.items:
            try:
                item.before = np.array(item.read(launch).values)
            except DebugError:
                item.before = None
