"""What a session shows at each stop beside registers: tiles of memory, fragments, columns of tensor memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pyptx.debug.errors import DebugError
from pyptx.debug.looking.fragments import FragmentTile, fragment
from pyptx.debug.looking.memory import Tile, tensor_tile, tile

__all__ = ["Item", "Shown"]


@dataclass(eq=False)
class Item:
    """Something to show: of one kind, by a name, with options; `before` are its values at the stop before."""

    kind: str                       # memory, fragment, tmem
    name: str
    what: Any
    options: dict[str, Any]
    before: np.ndarray | None = field(default=None, repr=False)

    def read(self, session: Any) -> Tile | FragmentTile:
        """As it is now.

        Raises:
            DebugError: it is not there now.
        """
        state = session.state()
        if self.kind == "fragment":
            return fragment(state, self.what, **self.options)
        if self.kind == "tmem":
            return tensor_tile(state, **self.options)
        return tile(state, self.what, lane=session.focus.lane, **self.options)

    def changed(self, values: np.ndarray) -> np.ndarray:
        """Which values differ from the stop before."""
        if self.before is None or self.before.shape != values.shape:
            return np.zeros(values.shape, bool)
        same = self.before == values
        if values.dtype.kind == "f":
            same |= np.isnan(self.before) & np.isnan(values)
        return ~same


class Shown:
    """The items of a session, in order."""

    def __init__(self):
        self.items: list[Item] = []

    def memory(self, session: Any, what: str | int, **options: Any) -> Item:
        """Show a tile; options as of pyptx.debug.looking.memory.tile."""
        return self._add(session, Item("memory", what if isinstance(what, str) else f"0x{what:x}", what, options))

    def fragment(self, session: Any, name: str, **options: Any) -> Item:
        """Show a fragment; options as of pyptx.debug.looking.fragments.fragment."""
        return self._add(session, Item("fragment", name, name, options))

    def tmem(self, session: Any, column: int | None, columns: int, type: str, **options: Any) -> Item:
        """Show columns of tensor memory."""
        options |= {"column": column, "columns": columns, "type": type}
        return self._add(session, Item("tmem", "tmem" if column is None else f"tmem {column}", column, options))

    def _add(self, session: Any, item: Item) -> Item:
        item.read(session)                                  # says what is wrong with it
        self.hide(item.kind, item.name, missing=True)
        self.items.append(item)
        return item

    def hide(self, kind: str, name: str, *, missing: bool = False) -> None:
        """Show it no longer.

        Raises:
            DebugError: it is not shown.
        """
        kept = [item for item in self.items if (item.kind, item.name) != (kind, name)]
        if len(kept) == len(self.items) and not missing:
            raise DebugError(f"{kind} {name} is not shown; shown: "
                             f"{', '.join(f'{i.kind} {i.name}' for i in self.items) or 'nothing'}")
        self.items = kept

    def remember(self, session: Any) -> None:
        """Keep the values as they are, to tell what changes."""
        for item in self.items:
            try:
                item.before = np.array(item.read(session).values)
            except DebugError:
                item.before = None
