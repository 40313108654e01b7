"""Variables of a module that its entries share on the simulator, as they do on a GPU."""

from __future__ import annotations

import numpy as np

from pyptx.sim.symbols.symbol_table import SymbolTable

__all__ = ["ModuleVariables"]


class ModuleVariables:
    """Memory of the `.global` and `.const` variables of a module, shared by the symbol tables of its entries."""

    def __init__(self) -> None:
        self._globals: dict[str, np.ndarray] = {}
        self._constants: dict[str, list[np.ndarray]] = {}  # in the constant memory of each entry

    def adopt(self, symbols: SymbolTable) -> None:
        """Make an entry use these variables; the first one supplies the initial values."""
        constants = np.frombuffer(symbols.const_bytes, np.uint8)
        for name, variable in symbols.top.variables.items():
            if variable.buffer is not None:
                variable.buffer.array = self._globals.setdefault(name, variable.buffer.array)
            elif variable.space == "const" and variable.address is not None:
                place = constants[variable.address : variable.address + variable.size]
                places = self._constants.setdefault(name, [place])
                if places[0] is not place:
                    place[:] = places[0]
                    places.append(place)

    def read(self, name: str) -> np.ndarray:
        """Return a copy of the bytes of a variable."""
        return (self._globals[name] if name in self._globals else self._constants[name][0]).copy()

    def write(self, name: str, data: np.ndarray) -> None:
        """Set the bytes of a variable."""
        for place in (self._globals[name],) if name in self._globals else self._constants[name]:
            place[:] = data

    def __contains__(self, name: str) -> bool:
        return name in self._globals or name in self._constants
