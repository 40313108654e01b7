"""Modules as Python files: imports, a `Unit` where one is needed, and a decorated function per kernel."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from pyptx.codegen.body_writer import BodyWriter, node_text, variable_arguments
from pyptx.codegen.execution import Part, TranspileError, text_of, trace_parts
from pyptx.codegen.python_source import Lines, identifier, literal
from pyptx.codegen.scopes import RegisterScopes
from pyptx.codegen.verify import differences
from pyptx.ir.nodes import (
    SILENT,
    FieldOperand,
    File,
    Function,
    FunctionDirective,
    ImmediateOperand,
    LabelOperand,
    Module,
    Operand,
    Param,
    RegisterOperand,
    Section,
    VarDecl,
    VectorOperand,
)
from pyptx.ir.types import LinkingDirective, ScalarType, StateSpace

__all__ = ["FileWriter", "plain_python"]

_IMPORTED = frozenset({"kernel", "reg", "smem", "ptx", "unit", "Unit"})
_EXTERN_ALIGNMENT = 128  # bytes, of the array that `extern_smem=` declares

WriteBody = Callable[[Lines, RegisterScopes, set[str], Function], None]


class FileWriter:
    """Writes one Python file.

    Args:
        module: the tree to write.
        function_name: maps a PTX function to its Python name; default: its PTX name.
        write_body: writes the body of a function; default: one call per instruction.
    """

    def __init__(
        self,
        module: Module,
        *,
        function_name: Callable[[Function], str] | None = None,
        write_body: WriteBody | None = None,
    ):
        self.module = module
        self.debug = "debug" in module.target.targets
        self.types: set[str] = set()
        self.taken = set(_IMPORTED)
        self._function_name = function_name or (lambda function: function.name)
        self._write_body = write_body or self._plain_body
        self.unit = _needs_unit(module)

    def parts(self) -> list[Part]:
        """Return the text of the file, in parts that can be executed one after the other."""
        lines = Lines()
        if self.unit:
            self._unit(lines)
        for node in self.module.directives:
            match node:
                case Function(declaration=False, attributes=()):
                    lines.begin_part()
                    lines.out += ["", ""]
                    self._function(lines, node)
                    lines.begin_part()
                case Function():
                    self._declaration(lines, node)
                case VarDecl():
                    if self.unit:
                        self._variable(lines, node)
                case _ if isinstance(node, SILENT) and not (self.debug and isinstance(node, (File, Section))):
                    pass
                case _:
                    lines.add(f"unit.raw({literal(node_text(node))})")
        return [Part(self._imports(), False), *(Part(text, inside) for text, inside in lines.parts())]

    def _imports(self) -> str:
        text = "from pyptx import kernel, reg, smem, ptx\n"
        if self.types:
            names = Lines()
            names.call("from pyptx.types import ", sorted(self.types, key=_natural), "")
            if len(names.out) > 1:
                names.out[0] = names.out[0].replace("import ", "import (", 1)
                names.out[-1] += ")"
            text += "\n".join(names.out) + "\n"
        return text + ("from pyptx.unit import Unit\n" if self.unit else "")

    def type(self, name: str) -> str:
        """Return the Python name of a type and record its use."""
        self.types.add(name)
        return name

    # parts of the unit ------------------------------------------------------------------------------------------------

    def _unit(self, lines: Lines) -> None:
        arguments = self._arch()
        if len(self.module.target.targets) > 1:
            arguments.append(f"options={list(self.module.target.targets[1:])!r}".replace("'", '"'))
        if self.module.address_size.size != 64:
            arguments.append(f"address_size={self.module.address_size.size}")
        lines.add()
        lines.call("unit = Unit(", arguments)

    def _arch(self) -> list[str]:
        version = self.module.version
        return [f"arch={literal(self.module.target.targets[0])}", f"version=({version.major}, {version.minor})"]

    def _variable(self, lines: Lines, node: VarDecl) -> None:
        arguments = variable_arguments(node, self.type)
        if arguments is not None and node.initializer is not None:
            rendered = _initial(node.initializer)
            arguments = None if rendered is None else [*arguments, f"init={rendered}"]
        if arguments is None:
            lines.add(f"unit.raw({literal(node_text(replace(node, formatting=None)))})")
        else:
            lines.call("unit.var(", arguments)

    def _declaration(self, lines: Lines, node: Function) -> None:
        if node.is_entry or node.attributes:
            bare = replace(node, formatting=None)
            lines.add(f"unit.raw({literal(node_text(bare))})")
            return
        lines.call("unit.declare(", [literal(node.name), *self._head(node)])

    # functions --------------------------------------------------------------------------------------------------------

    def _head(self, node: Function) -> list[str]:
        """Return parameters, linking and directives as keyword arguments of `unit.func` and `unit.declare`."""
        found = []
        if node.params:
            found.append(f"params={_parameters(node.params)}")
        if node.return_params is not None:
            found.append(f"returns={_parameters(node.return_params)}")
        if node.linking is not None:
            found.append(f"linking={literal(node.linking.value)}")
        if node.directives:
            found.append(f"raw_directives={_directives(node.directives)}")
        return found

    def _function(self, lines: Lines, node: Function) -> None:
        name = identifier(self._function_name(node), self.taken | self.types)
        self.taken.add(name)
        if node.is_entry:
            arguments = self._arch()
            if name != node.name:
                arguments.append(f"name={literal(node.name)}")
            if node.params:
                arguments.append(f"raw_params={_parameters(node.params)}")
            extern = None if self.unit else _extern(self.module)
            if extern is not None:
                arguments.append(f"extern_smem={literal(extern)}")
            if node.directives:
                arguments.append(f"raw_directives={_directives(node.directives)}")
            if node.linking is not LinkingDirective.VISIBLE:
                arguments.append(f"linking={literal(node.linking.value) if node.linking else None}")
            if self.unit:
                arguments.append("unit=unit")
            lines.call("@kernel(", arguments)
        else:
            arguments = self._head(node)
            if name != node.name:
                arguments.insert(0, f"name={literal(node.name)}")
            lines.call("@unit.func" + ("(" if arguments else ""), arguments, ")" if arguments else "")
        lines.add(f"def {name}():")
        lines.begin_part(inside=True)
        lines.depth += 1
        names = RegisterScopes(self.taken | {"range"} | _TYPES)
        self._write_body(lines, names, self.types, node)
        lines.depth -= 1

    def _plain_body(self, lines: Lines, names: RegisterScopes, types: set[str], node: Function) -> None:
        BodyWriter(lines, names, types, debug=self.debug).body(node.body)


def plain_python(module: Module, *, kernel_name: str | None = None) -> str:
    """Return Python with one call per instruction and exact names, which every program can be written as; verified.

    Raises:
        TranspileError: the Python does not trace back to the module.
    """
    first = next((f.name for f in module.entries), None)

    def name(function: Function) -> str:
        return kernel_name if kernel_name and function.name == first and function.is_entry else function.name

    parts = FileWriter(module, function_name=name).parts()
    found = differences(module, trace_parts(parts))
    if found:
        raise TranspileError("the generated Python traces to a different program: " + "; ".join(found[:3]))
    return text_of(parts)


_TYPES = frozenset(t.value for t in ScalarType)


def _needs_unit(module: Module) -> bool:
    """Return True if one `@kernel` cannot express the module."""
    functions = [d for d in module.directives if isinstance(d, Function)]
    expressible = (VarDecl, Function, *SILENT)
    return (
        len(functions) != 1
        or not functions[0].is_entry
        or functions[0].declaration
        or bool(functions[0].attributes)
        or len(module.target.targets) > 1
        or module.address_size.size != 64
        or not all(isinstance(d, expressible) for d in module.directives)
        or (any(isinstance(d, VarDecl) for d in module.directives) and _extern(module) is None)
    )


def _extern(module: Module) -> str | None:
    """Return the value of `extern_smem=` if that array is the module's only variable, else None."""
    variables = [d for d in module.directives if isinstance(d, VarDecl)]
    if len(variables) != 1:
        return None
    plain = VarDecl(
        StateSpace.SHARED, ScalarType.B8, variables[0].name, 0, _EXTERN_ALIGNMENT, None, LinkingDirective.EXTERN
    )
    return plain.name if variables[0] == plain else None


def _parameter(node: Param) -> str:
    """Return a parameter as an item of `raw_params`: a pair, or a whole declaration."""
    plain = Param(
        node.state_space,
        node.type,
        node.name,
        node.array_size,
        node.alignment,
        node.ptr_state_space,
        node.ptr_alignment,
    )
    if plain != node or node.state_space is not StateSpace.PARAM or (node.ptr_state_space and not node.ptr_alignment):
        return literal(_parameter_text(node))
    words = node.type.value
    if node.ptr_alignment is not None:
        words += ".ptr" + (f".{node.ptr_state_space.value}" if node.ptr_state_space else "")
    if node.alignment is not None:
        words += f".align{node.alignment}"
    if node.ptr_alignment is not None and node.ptr_alignment != 1:
        words += f".palign{node.ptr_alignment}"
    if node.array_size is not None:
        words += f".array{node.array_size}"
    return f"({literal(words)}, {literal(node.name)})"


def _parameter_text(node: Param) -> str:
    declared = Function(False, "f", (replace(node, formatting=None),), declaration=True)
    return re.sub(r"\s+", " ", node_text(declared).partition("(")[2].rpartition(")")[0]).strip()


def _parameters(params: tuple[Param, ...]) -> str:
    return f"[{', '.join(map(_parameter, params))}]"


def _directives(directives: tuple[FunctionDirective, ...]) -> str:
    shown = []
    for directive in directives:
        values = ", ".join(literal(v) if isinstance(v, str) else str(v) for v in directive.values)
        shown.append(f"({literal(directive.name)}, ({values}{',' if len(directive.values) == 1 else ''}))")
    return f"[{', '.join(shown)}]"


def _initial(node: Operand | str) -> str | None:
    """Return an initializer as Python (numbers, names and lists of them); None for anything else."""
    match node:
        case ImmediateOperand(text):
            return text if re.fullmatch(r"-?[1-9]\d*|0", text) else literal(text)
        case LabelOperand(name) | RegisterOperand(name):
            return literal(name)
        case VectorOperand(elements):
            if any(isinstance(e, FieldOperand) for e in elements):
                return None
            found = [text for e in elements if (text := _initial(e)) is not None]
            return f"[{', '.join(found)}]" if len(found) == len(elements) else None
    return None


def _natural(name: str) -> tuple:
    return tuple(int(p) if p.isdigit() else p for p in re.split(r"(\d+)", name))
