"""Variables of C++ at each instruction: the names of a kernel that was compiled with -G."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyptx._loc import SourceLocation
from pyptx.debug.inspect.c_types import CType, Located, Scalar
from pyptx.debug.inspect.debug_sections import debug_sections
from pyptx.debug.inspect.python_names import Binding, Memory
from pyptx.debug.inspect.variable_scopes import CodeScope, InMemory, InRegister, SourceVariable
from pyptx.ir.nodes import Module, Section
from pyptx.sim import Program

__all__ = ["SourceVariables", "source_variables"]


class SourceVariables:
    """Variables by instruction, as `PythonNames` gives the names of Python kernels.

    Attributes:
        problem: why they are unknown, if they are.
    """

    memories: Mapping[str, Memory]
    problem: str

    def __init__(self, program: Program, scopes: tuple[CodeScope, ...], problem: str = ""):
        self._program, self._scopes, self.problem, self.memories = program, scopes, problem, {}
        self._found: dict[int, dict[str, tuple[Located | None, bool]]] = {}

    def at(self, instruction: int) -> dict[str, Binding]:
        """Return the variables in scope that are somewhere, those of inner blocks first."""
        return {name: place for name, (place, _) in self._visible(instruction).items() if place is not None}

    def bound(self, instruction: int) -> list[str]:
        """Return the names of `at` that have a value: parameters, and what was declared on a line before."""
        return [name for name, (place, bound) in self._visible(instruction).items() if place is not None and bound]

    def absent(self, instruction: int, name: str) -> str:
        """Return why a variable in scope has no value at an instruction; "" for others."""
        found = self._visible(instruction)
        if name not in found or found[name][0] is not None:
            return ""
        return f"{name} has no value here: it is not assigned yet, or no longer used"

    def owners_at(self, instruction: int) -> dict[str, str]:
        """Return the first variable of each register of the function at an instruction, by PTX name."""
        found: dict[str, str] = {}
        for variable, place in self._in_function(instruction):
            if isinstance(place, InRegister):
                found.setdefault(place.name, variable.name)
        return found

    def types_at(self, instruction: int) -> dict[str, str]:
        """Return the type of each register that holds a number in the function at an instruction, by PTX name."""
        return {
            place.name: variable.type.type
            for variable, place in self._in_function(instruction)
            if isinstance(place, InRegister) and isinstance(variable.type, Scalar)
        }

    def _in_function(self, instruction: int) -> Iterator[tuple[SourceVariable, InRegister | InMemory | None]]:
        functions = [function for function in self._scopes if function.holds(instruction)]
        for scope in (scope for function in functions for scope in function.walk()):
            for variable in scope.variables:
                yield from ((variable, place) for place in (variable.always, *(place for *_, place in variable.places)))

    def _visible(self, instruction: int) -> dict[str, tuple[Located | None, bool]]:
        instruction = min(instruction, len(self._program.instructions) - 1)
        if instruction not in self._found:
            place = self._program.instructions[instruction].place
            line = place.line if isinstance(place, SourceLocation) else 0
            found: dict[str, tuple[Located | None, bool]] = {}
            scopes = [scope for scope in self._scopes if scope.holds(instruction)]
            while scopes:
                for variable in scopes[0].variables:
                    where = variable.at(instruction)
                    bound = variable.is_parameter or bool(variable.places) or variable.line < line
                    found.pop(variable.name, None)  # of an outer block
                    found[variable.name] = (None if where is None else _located(variable.type, where)), bound
                scopes = [scope for scope in scopes[0].inner if scope.holds(instruction)]
            self._found[instruction] = dict(reversed(found.items()))
        return self._found[instruction]


def _located(kind: CType, place: InRegister | InMemory) -> Located:
    if isinstance(place, InRegister):
        return Located(kind, place.name)
    return Located(kind, None, place.space, place.symbol, place.offset)


def source_variables(module: Module, program: Program) -> SourceVariables | None:
    """Return the variables of a module that was compiled with -G; None for one without debug information."""
    if not any(isinstance(d, Section) and d.name == ".debug_info" for d in module.directives):
        return None
    try:
        from pyptx.debug.inspect.dwarf import UnreadableDebugInfo, read_scopes
    except ImportError:
        missing = "the names of variables need pyelftools: pip install 'pyptx-workbench[cuda]'"
        return SourceVariables(program, (), missing)
    numbers = {id(node): number for number, node in enumerate(program.instructions)}
    try:
        return SourceVariables(program, read_scopes(debug_sections(module, numbers)))
    except UnreadableDebugInfo as error:
        return SourceVariables(program, (), f"the debug information is not readable ({error})")
