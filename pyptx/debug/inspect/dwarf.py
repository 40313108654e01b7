"""Variables of C++ from the DWARF of PTX that was compiled with -G."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any, cast

from elftools.common.exceptions import DWARFError, ELFError, ELFParseError
from elftools.dwarf.dwarf_expr import DWARFExprParser
from elftools.dwarf.dwarfinfo import DebugSectionDescriptor, DwarfConfig, DWARFInfo
from elftools.dwarf.locationlists import LocationParser

from pyptx.debug.inspect.c_types import Array, CType, Pointer, Scalar, Structure
from pyptx.debug.inspect.debug_sections import DebugSections
from pyptx.debug.inspect.variable_scopes import CodeScope, InMemory, InRegister, SourceVariable

__all__ = ["UnreadableDebugInfo", "read_scopes"]

_SECTIONS = (
    ".debug_info", ".debug_aranges", ".debug_abbrev", ".debug_frame", ".eh_frame", ".debug_str", ".debug_loc",
    ".debug_ranges", ".debug_line", ".debug_pubtypes", ".debug_pubnames", ".debug_addr", ".debug_str_offsets",
    ".debug_line_str", ".debug_loclists", ".debug_rnglists", ".debug_sup", ".gnu_debugaltlink", ".debug_types",
)  # fmt: skip
_SPACES = {4: "const", 5: "global", 6: "local", 7: "param", 8: "shared"}  # NVIDIA's address classes
_LETTERS = {2: "u", 4: "f", 5: "s", 6: "s", 7: "u", 8: "u"}  # of DW_ATE_...
_HALVES = {"__half": "f16", "__nv_bfloat16": "bf16"}
_QUALIFIERS = ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_restrict_type")
_SCOPES = ("DW_TAG_lexical_block", "DW_TAG_inlined_subroutine", "DW_TAG_namespace")
_MOST_DEPTH = 6  # of types in types


class UnreadableDebugInfo(Exception):
    """The debug information cannot be read; the message says why."""


def read_scopes(sections: DebugSections) -> tuple[CodeScope, ...]:
    """Return the functions of a module with their variables; none if it has no debug information.

    Raises:
        UnreadableDebugInfo: the sections are not valid DWARF.
    """
    if ".debug_info" not in sections.content:
        return ()
    given = [sections.content.get(name) for name in _SECTIONS]
    descriptors = [
        None if data is None else DebugSectionDescriptor(BytesIO(data), name, 0, len(data), 0)
        for name, data in zip(_SECTIONS, given, strict=True)
    ]
    info: Any = DWARFInfo(DwarfConfig(True, "x64", 8), *descriptors)
    try:
        return tuple(scope for unit in info.iter_CUs() for scope in _Unit(info, unit, sections).functions())
    except (DWARFError, ELFError, ELFParseError, KeyError, ValueError) as error:
        raise UnreadableDebugInfo(f"{type(error).__name__}: {error}") from error


class _Unit:
    """One compilation unit."""

    def __init__(self, info: Any, unit: Any, sections: DebugSections):
        self._unit, self._sections = unit, sections
        self._locations = LocationParser(info.location_lists())
        self._expressions = DWARFExprParser(unit.structs)

    def functions(self) -> Iterator[CodeScope]:
        for entry in self._unit.get_top_DIE().iter_children():
            if entry.tag == "DW_TAG_subprogram" and (scope := self._scope(entry)) is not None:
                yield scope

    def _scope(self, entry: Any) -> CodeScope | None:
        """Return a function or block that has code."""
        found = entry.attributes
        if "DW_AT_low_pc" not in found or "DW_AT_high_pc" not in found:
            return None
        first, high = found["DW_AT_low_pc"].value, found["DW_AT_high_pc"]
        end = high.value if high.form == "DW_FORM_addr" else first + high.value
        children = list(entry.iter_children())
        variables = [self._variable(c) for c in children if c.tag in ("DW_TAG_variable", "DW_TAG_formal_parameter")]
        inner = [self._scope(child) for child in children if child.tag in _SCOPES]
        number = self._sections.instruction
        return CodeScope(number(first), number(end), tuple(filter(None, variables)), tuple(filter(None, inner)))

    def _variable(self, entry: Any) -> SourceVariable | None:
        about = _origin(entry)
        name = _text(about, "DW_AT_name")
        kind = self._type(about, 0)
        if not name or kind is None:
            return None
        space = _SPACES.get(_number(entry, "DW_AT_address_class"), "global")
        line = _number(about, "DW_AT_decl_line")
        parameter = entry.tag == "DW_TAG_formal_parameter"
        attribute = entry.attributes.get("DW_AT_location")
        if attribute is None:
            return SourceVariable(name, kind, line, parameter, None)
        parsed = self._locations.parse_from_attribute(attribute, self._unit["version"], entry)
        if not isinstance(parsed, list):
            return SourceVariable(name, kind, line, parameter, self._place(parsed.loc_expr, space))
        places = []
        for item in cast("list[Any]", parsed):
            if (place := self._place(getattr(item, "loc_expr", None), space)) is not None:
                number = self._sections.instruction
                places.append((number(item.begin_offset), number(item.end_offset), place))
        return SourceVariable(name, kind, line, parameter, None, tuple(places))

    def _place(self, expression: Sequence[int] | None, space: str) -> InRegister | InMemory | None:
        """Return the place that a location expression describes; None for other expressions."""
        operations = [] if expression is None else self._expressions.parse_expr(expression)
        match [(operation.op_name, *operation.args) for operation in operations]:
            case [("DW_OP_regx", number)]:
                return InRegister(number.to_bytes(8, "big").lstrip(b"\0").decode("ascii", "replace"))
            case [("DW_OP_addr", address), *rest]:
                symbol = self._sections.symbol(address)
                if symbol is None or any(name != "DW_OP_plus_uconst" for name, *_ in rest):
                    return None
                return InMemory(space, symbol[0], symbol[1] + sum(arguments[0] for _, *arguments in rest))
        return None

    def _type(self, entry: Any, depth: int) -> CType | None:
        """Return the type of a variable, member or element; None if its values are not shown."""
        if "DW_AT_type" not in entry.attributes or depth > _MOST_DEPTH:
            return None
        found = entry.get_DIE_from_attribute("DW_AT_type")
        name, size = _text(found, "DW_AT_name"), _number(found, "DW_AT_byte_size")
        match found.tag:
            case "DW_TAG_base_type":
                letter = _LETTERS.get(_number(found, "DW_AT_encoding"))
                return Scalar(name, f"{letter}{8 * size}") if letter and size <= 8 else None
            case "DW_TAG_enumeration_type":
                return Scalar(name, f"s{8 * size}")
            case "DW_TAG_pointer_type" | "DW_TAG_reference_type" | "DW_TAG_rvalue_reference_type":
                return Pointer(self._type(found, max(depth + 1, _MOST_DEPTH - 2)))
            case "DW_TAG_array_type":
                return self._array(found, depth)
            case "DW_TAG_structure_type" | "DW_TAG_class_type" | "DW_TAG_union_type":
                if name in _HALVES:
                    return Scalar(name, _HALVES[name])
                return Structure(name, size, tuple(self._members(found, depth)))
            case tag if tag in _QUALIFIERS:
                return self._type(found, depth)
        return None

    def _array(self, entry: Any, depth: int) -> CType | None:
        kind = self._type(entry, depth + 1)
        for part in reversed([child for child in entry.iter_children() if child.tag == "DW_TAG_subrange_type"]):
            count = _number(part, "DW_AT_count") or _number(part, "DW_AT_upper_bound") + 1
            kind = None if kind is None else Array(kind, count)
        return kind

    def _members(self, entry: Any, depth: int) -> Iterator[tuple[str, int, CType]]:
        for child in entry.iter_children():
            if child.tag not in ("DW_TAG_member", "DW_TAG_inheritance"):
                continue
            kind, name = self._type(child, depth + 1), _text(child, "DW_AT_name")
            at = child.attributes.get("DW_AT_data_member_location")
            offset = 0 if at is None else at.value
            if not isinstance(offset, int):
                operations = self._expressions.parse_expr(offset)
                offset = operations[0].args[0] if operations and operations[0].op_name == "DW_OP_plus_uconst" else None
            if offset is None or kind is None:
                continue
            if not name and isinstance(kind, Structure):  # a base class, an anonymous union
                yield from ((inner, offset + at, part) for inner, at, part in kind.members)
            elif name:
                yield name, offset, kind


def _origin(entry: Any) -> Any:
    """Return the entry that has name and type: of an inlined variable, its declaration."""
    for link in ("DW_AT_abstract_origin", "DW_AT_specification"):
        if link in entry.attributes:
            return _origin(entry.get_DIE_from_attribute(link))
    return entry


def _text(entry: Any, name: str) -> str:
    value = entry.attributes[name].value if name in entry.attributes else b""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _number(entry: Any, name: str) -> int:
    value = entry.attributes[name].value if name in entry.attributes else 0
    return value if isinstance(value, int) else 0
