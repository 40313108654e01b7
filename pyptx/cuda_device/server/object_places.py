"""The table of texture and surface objects."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

__all__ = ["ObjectPlaces"]


@dataclass
class ObjectPlaces:
    """Records of all objects by number, None where an object was destroyed."""

    records: list[np.ndarray | None] = field(default_factory=list)

    def add(self, record: np.ndarray) -> int:
        """Store a record and return its number."""
        place = next((k for k, known in enumerate(self.records) if known is None), len(self.records))
        self.records[place : place + 1] = [record]
        return place
