"""Everything that the Python of a kernel can read: the functions it reaches by name, and the values they name.

The result is a list of plain tokens; two processes with equal tokens trace the same PTX. A kernel that reads anything whose
value is not provably in the tokens is refused with a reason: its traces are not cached.
"""

from __future__ import annotations

import builtins
import linecache
import sys
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cached_property, partial
from types import BuiltinFunctionType, CellType, CodeType, DynamicClassAttribute, FunctionType, MethodType, ModuleType
from typing import Any

from pyptx._loc import is_users
from pyptx.jit.code_reads import CodeReads, reads_of
from pyptx.jit.traces.code_hash import code_hash
from pyptx.jit.traces.known import BUILTINS, describe, is_deterministic_module, is_library, is_of_pyptx, is_plain_module
from pyptx.types import PtxType

__all__ = ["Dependencies", "NotCacheableError"]

_MOST_OBJECTS = 5000
_DEEPEST = 32
_ATOMS = (type(None), bool, int, float, complex, str, bytes)
# attributes that lead to values which are not followed
_REFLECTION = frozenset(
    "__annotations__ __builtins__ __closure__ __code__ __dict__ __globals__ __subclasses__ __traceback__ ag_frame cr_frame "
    "f_back f_builtins f_globals f_locals gi_frame tb_frame".split()
)
# entries of the namespace of a class that Python makes and a kernel does not read, other than through _REFLECTION
_OF_CLASSES = frozenset(
    "__abstractmethods__ __annotations__ __annotate__ __annotate_func__ __annotations_cache__ __dataclass_fields__ "
    "__dataclass_params__ __dict__ __doc__ __firstlineno__ __match_args__ __module__ __orig_bases__ __parameters__ "
    "__qualname__ __replace__ __slots__ __static_attributes__ __type_params__ __weakref__ _abc_impl __class_getitem__".split()
)
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made by a class statement, not by C
_DESCRIPTORS = frozenset(
    "getset_descriptor member_descriptor method_descriptor wrapper_descriptor classmethod_descriptor _tuplegetter".split()
)


class NotCacheableError(Exception):
    """A trace depends on something whose value is not known before it; the message is a clause that says what."""


class Dependencies:
    """The tokens of a kernel, and the code that they cover.

    Args:
        roots: functions and values that a trace starts from.
    Attributes:
        tokens: nested tuples of plain values.
        codes: code objects by id that are covered, nested ones included.
    Raises:
        NotCacheableError: a value cannot be part of a key.
    """

    def __init__(self, roots: Iterable[Any]):
        self.tokens: list[Any] = []
        self.codes: dict[int, CodeType] = {}
        self._seen: dict[int, tuple[int, Any]] = {}  # id -> number; the object is kept alive
        self._modules: dict[int, tuple[ModuleType, set[str]]] = {}  # and the attributes that are read
        self._names: set[str] = set()
        self._reader: CodeType | str = "the kernel"
        self._by_name: str | None = None  # function that reads attributes by computed names
        self._depth = 0
        for root in roots:
            self._value(root)
        self._attributes_of_modules()
        if "check_" in self._names:
            self._lines()

    @property
    def _where(self) -> str:
        """The function, class or module that is read now, for messages."""
        return self._reader if isinstance(self._reader, str) else describe(self._reader)

    def _lines(self) -> None:
        """Add the source lines, which are in the messages of `ptx.check_`."""
        for code in self.codes.values():
            last = max((line for _, _, line in code.co_lines() if line is not None), default=code.co_firstlineno)
            self.tokens.append(tuple(linecache.getlines(code.co_filename)[code.co_firstlineno - 1 : last]))

    # values -----------------------------------------------------------------------------------------------------------

    def _value(self, value: Any) -> None:
        kind = type(value)
        if kind in _ATOMS:
            self.tokens.append((kind.__name__, repr(value)))
        elif kind is range:
            self.tokens.append(("range", value.start, value.stop, value.step))
        elif kind is PtxType:
            self.tokens.append(("PtxType", value.name, value.bits))
        elif kind is tuple:
            self.tokens.append(("tuple", len(value)))
            self._all(value)
        elif id(value) in self._seen:
            self.tokens.append(("again", self._seen[id(value)][0]))
        else:
            if len(self._seen) >= _MOST_OBJECTS:
                raise NotCacheableError(f"it reaches more than {_MOST_OBJECTS} objects")
            self._seen[id(value)] = len(self._seen), value
            self._object(value, kind)

    def _all(self, values: Iterable[Any]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NotCacheableError(f"{self._where} reads values that are nested more than {_DEEPEST} deep")
        for value in values:
            self._value(value)
        self._depth -= 1

    def _object(self, value: Any, kind: type) -> None:
        if kind is FunctionType:
            self._function(value)
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, ModuleType):
            self._module(value)
        elif kind in (list, dict, set, frozenset):
            self._container(value, kind)
        elif kind is BuiltinFunctionType:
            self._builtin(value)
        elif kind is MethodType:
            self.tokens.append(("method",))
            self._all((value.__func__, value.__self__))
        elif kind in (staticmethod, classmethod):
            self.tokens.append((kind.__name__,))
            self._value(value.__func__)
        elif kind is property or isinstance(value, DynamicClassAttribute):
            self.tokens.append(("property",))
            self._all((value.fget, value.fset, value.fdel))
        elif kind is cached_property:
            self.tokens.append(("cached_property",))
            self._value(value.func)
        elif kind is partial:
            self.tokens.append(("partial",))
            self._all((value.func, value.args, value.keywords))
        elif kind.__name__ in _DESCRIPTORS and kind.__module__ in ("builtins", "collections", "_collections"):
            self.tokens.append(("descriptor", kind.__name__, getattr(value, "__name__", "")))
        elif isinstance(value, Enum):
            self.tokens.append(("member", value.name))
            self._all((kind, value.value))
        elif is_dataclass(value):
            self._record(value, kind)
        elif isinstance(value, tuple) and isinstance(getattr(kind, "_fields", None), tuple):
            self.tokens.append(("named tuple", len(value)))
            self._all((kind, *tuple(value)))
        elif kind.__module__ in ("typing", "types") and kind.__name__ not in ("SimpleNamespace", "MappingProxyType"):
            self.tokens.append(("type", repr(value)))
        elif kind.__module__ == "dataclasses":
            self.tokens.append(("dataclasses", kind.__qualname__))
        elif kind.__module__ == "numpy" and hasattr(kind, "tobytes") and getattr(value, "shape", None) == ():
            self._number(value)
        elif is_of_pyptx(kind.__module__) and self._is_of_pyptx_module(value):
            self.tokens.append(("pyptx", kind.__module__, kind.__qualname__))
        else:
            raise NotCacheableError(f"{self._where} reads an object of type {kind.__module__}.{kind.__qualname__}")

    def _container(self, value: Any, kind: type) -> None:
        self.tokens.append((kind.__name__, len(value)))
        if kind is dict:
            self._all(part for item in value.items() for part in item)
        elif kind is list:
            self._all(value)
        else:  # sets have no order; only plain values, whose order by repr is the same in all processes
            for item in value:
                if type(item) not in _ATOMS:
                    raise NotCacheableError(f"{self._where} reads a set of {type(item).__name__}")
            self.tokens.append(tuple(sorted((type(item).__name__, repr(item)) for item in value)))

    def _record(self, value: Any, kind: type) -> None:
        if not kind.__dataclass_params__.frozen:
            raise NotCacheableError(f"{self._where} reads a {kind.__qualname__}, a dataclass that is not frozen")
        self.tokens.append(("dataclass",))
        declared = [field.name for field in fields(value)]
        extra = getattr(value, "__dict__", {}).keys() - set(declared)
        if any(not isinstance(getattr(kind, name, None), cached_property) for name in extra):
            raise NotCacheableError(f"{self._where} reads a {kind.__qualname__} with attributes that are not fields")
        self._all((kind, *(getattr(value, name) for name in declared)))

    def _number(self, value: Any) -> None:
        if value.dtype.hasobject:
            raise NotCacheableError(f"{self._where} reads an array of objects")
        version = getattr(sys.modules.get("numpy"), "__version__", "")
        self.tokens.append(("numpy", version, type(value).__name__, value.dtype.str, value.tobytes()))

    def _builtin(self, value: Any) -> None:
        owner, name = value.__self__, value.__name__
        if isinstance(owner, ModuleType) or owner is None:
            module = owner.__name__ if owner is not None else value.__module__
            if module == "builtins" and name not in BUILTINS:
                raise NotCacheableError(f"{self._where} reads the built-in function {name}")
            if module != "builtins" and not is_deterministic_module(module):
                raise NotCacheableError(f"{self._where} reads {module}.{name}")
            self.tokens.append(("builtin", module, name))
        else:
            self.tokens.append(("bound", name))
            self._value(owner)

    def _is_of_pyptx_module(self, value: Any) -> bool:
        """Return True for an object that a module of pyptx defines, such as `ptx.inst`."""
        return any(
            value is found
            for name, module in list(sys.modules.items())
            if is_of_pyptx(name)
            for found in list(vars(module).values())
        )

    # functions --------------------------------------------------------------------------------------------------------

    def _function(self, function: FunctionType) -> None:
        code, before = function.__code__, self._reader
        self.tokens.append(("function", function.__module__, function.__qualname__))
        if is_library(code.co_filename):
            home = function.__globals__.get(
                "__name__"
            )  # the module of the code; `__module__` may be that of a wrapped one
            if is_users(code) and not is_deterministic_module(home):
                raise NotCacheableError(f"{self._where} reads {home}.{function.__qualname__}")
            self._closure(function)
            return
        self._reader = code
        reads = reads_of(code)
        self._check(reads)
        self._cover(code)
        self._names |= reads.names
        self.tokens.append(code_hash(code))
        self._all((function.__defaults__, function.__kwdefaults__))
        self._closure(function)
        for name in reads.globals:
            self.tokens.append(name)
            if name in function.__globals__:
                self._value(function.__globals__[name])
            elif name == "hash" and function.__name__ == "__hash__":  # used by containers only
                continue
            elif name not in BUILTINS and hasattr(builtins, name):
                raise NotCacheableError(f"{self._where} reads the built-in function {name}")
            elif isinstance(value := getattr(builtins, name, None), FunctionType):  # replaced
                self._value(value)
            else:
                self.tokens.append("builtin")
        self._reader = before

    def _check(self, reads: CodeReads) -> None:
        if reads.stored:
            raise NotCacheableError(f"{self._where} assigns the global {reads.stored[0]}")
        for name in reads.imports:
            if not is_of_pyptx(name) and not is_deterministic_module(name):
                raise NotCacheableError(f"{self._where} imports {name}")
        if found := sorted(_REFLECTION & (reads.names | reads.strings)):
            raise NotCacheableError(f"{self._where} reads {found[0]}")
        if "getattr" in reads.globals or reads.names & {"attrgetter", "methodcaller", "format", "format_map"}:
            self._by_name = self._where

    def _closure(self, function: FunctionType) -> None:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self.tokens.append(name)
            self._cell(cell)
        for name, value in function.__dict__.items():
            self.tokens.append(name)
            self._value(value)
        self.tokens.append("end")

    def _cell(self, cell: CellType) -> None:
        try:
            value = cell.cell_contents
        except ValueError:  # not assigned yet
            self.tokens.append("empty")
            return
        self._value(value)

    def _cover(self, code: CodeType) -> None:
        self.codes[id(code)] = code
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._cover(constant)

    # classes ----------------------------------------------------------------------------------------------------------

    def _class(self, kind: type) -> None:
        module, name = kind.__module__, kind.__qualname__
        self.tokens.append(("class", module, name))
        if is_of_pyptx(module) or is_deterministic_module(module):
            return
        if module == "builtins":
            if name not in BUILTINS and getattr(builtins, name, None) is kind:
                raise NotCacheableError(f"{self._where} reads the built-in class {name}")
            return
        home = sys.modules.get(module)
        file = getattr(home, "__file__", None)
        made_in_c = not kind.__flags__ & _HEAP_TYPE
        if made_in_c or (file is not None and (is_library(file) or not file.endswith(".py"))):
            raise NotCacheableError(f"{self._where} reads {module}.{name}")
        before, self._reader = self._reader, f"class {name} of {module}"
        if not is_of_pyptx(type(kind).__module__) and not is_deterministic_module(type(kind).__module__):
            self._value(type(kind))
        self._all(kind.__bases__)
        for attribute, value in list(vars(kind).items()):
            if attribute in _OF_CLASSES or (issubclass(kind, Enum) and _is_sunder(attribute)):
                continue
            self.tokens.append(attribute)
            self._value(value.value if isinstance(value, Enum) and type(value) is kind else value)
        self.tokens.append("end")
        self._reader = before

    # modules ----------------------------------------------------------------------------------------------------------

    def _module(self, module: ModuleType) -> None:
        name = module.__name__
        self.tokens.append(("module", name))
        if not _is_known(name):
            file = vars(module).get("__file__") or ""
            if is_library(file) or (file and not file.endswith(".py")) or name in sys.builtin_module_names:
                raise NotCacheableError(f"{self._where} reads the module {name}")
            if not is_plain_module(module):
                raise NotCacheableError(f"{self._where} reads the module {name}, which defines __getattr__")
        self._modules[id(module)] = module, set()

    def _attributes_of_modules(self) -> None:
        """Add the attributes of reached modules that any reached function could read, until nothing is new."""
        while True:
            new = [
                (module, name)
                for module, known in self._modules.values()
                for name in sorted((self._names & vars(module).keys()) - known)
            ]
            if not new:
                break
            for module, name in new:
                self._modules[id(module)][1].add(name)
                self._attribute(module, name, vars(module)[name])
        users = [module for module, _ in self._modules.values() if not _is_known(module.__name__)]
        if users and self._by_name:
            raise NotCacheableError(
                f"{self._by_name} reads attributes by computed names, and the module {users[0].__name__} is reached"
            )

    def _attribute(self, module: ModuleType, name: str, value: Any) -> None:
        if is_of_pyptx(module.__name__):
            return  # see `replaced`
        if _is_known(module.__name__):
            if not self._is_foreign(value):
                return
            self._reader = f"the replaced {module.__name__}.{name}"
        else:
            self._reader = f"the module {module.__name__}"
        self.tokens.append(("attribute", module.__name__, name))
        self._value(value)

    @staticmethod
    def _is_foreign(value: Any) -> bool:
        """Return True for an attribute of a module of Python that somebody else has put there."""
        return isinstance(value, FunctionType) and not is_library(value.__code__.co_filename)


def _is_sunder(name: str) -> bool:
    """Return True for the name of an attribute that `enum` makes, such as `_member_map_`."""
    return name[:1] == "_" == name[-1:] and name[1:2] != "_"


def _is_known(module: object) -> bool:
    return is_of_pyptx(module) or is_deterministic_module(module)
