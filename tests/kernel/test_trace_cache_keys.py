"""Keys of the trace cache: whatever changes the PTX of a kernel changes its key, or the kernel is refused.

Each case changes one thing that a kernel reads. The judge is a trace: the change must show in the PTX, so that a key that
misses it would launch the wrong code.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import linecache
import math
import sys
import textwrap
import threading
import typing
from collections.abc import Iterator
from textwrap import dedent
from types import CodeType, ModuleType
from typing import Any

import pytest

from pyptx import ptx
from pyptx.jit.code_reads import reads_of
from pyptx.jit.traces.dependencies import NotCacheableError
from pyptx.jit.traces.trace_cache import _key
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.tracing.trace import TraceContext

HELPER = """
    import builtins, contextlib, enum, functools, math, random, time, os
    from dataclasses import dataclass, field
    from typing import NamedTuple
    import numpy as np
    import pyptx
    from pyptx import reg
    from pyptx.types import f32, u32

    CONSTANT = 1.0
    TABLE = (1.0, (2.0, 3.0))
    LIST = [1.0]
    STEP = np.float32(1.0)
    KIND = f32

    def put(value): return reg.scalar(f32, init=float(value))
    def body(): return put(1.0)
    def outer(): return body()
    def default(value=1.0): return put(value)
    def keyword(*, value=1.0): return put(value)
    def value(): return CONSTANT
    def counted(function):
        @functools.wraps(function)
        def wrapper(*args): return function(*args)
        return wrapper
    def inner(): return 1.0
    wrapped = counted(inner)
    @contextlib.contextmanager
    def block():
        yield CONSTANT
    @pyptx.intrinsic
    def grouped(): put(CONSTANT)
    bound = functools.partial(put, 1.0)
    OPERATIONS = {"one": lambda: 1.0}

    @dataclass(frozen=True)
    class Shape:
        size: float = 1.0
        extra: float = field(default=1.0)
        @property
        def double(self): return 2 * self.size
        def triple(self): return 3 * self.extra
    SHAPE = Shape()
    @dataclass
    class Loose:
        size: float = 1.0
    class Pair(NamedTuple):
        first: float
        second: float = 1.0
    PAIR = Pair(1.0)
    class Color(enum.Enum):
        RED = 1.0
        def _hidden(self): return 1.0
        @enum.property
        def shade(self): return 1.0
    class Flags(enum.Flag):
        A = 1
        B = 2
    FLAGS = Flags.A | Flags.B
    RANGE = range(1, 9)
    RED = Color.RED
    class Base:
        FACTOR = 1.0
        @classmethod
        def of(cls): return cls.FACTOR
        @staticmethod
        def fixed(): return 1.0
        def method(self): return self.FACTOR
        @functools.cached_property
        def late(self): return self.FACTOR
    class Derived(Base): pass
    class Meta(type):
        @property
        def LEVEL(cls): return CONSTANT
    class WithMeta(metaclass=Meta): pass
    class Slotted:
        __slots__ = ("value",)
        def __init__(self): self.value = CONSTANT
"""

KERNEL = """
    import trace_helper
    from trace_helper import *
    from trace_helper import put as emit
    from pyptx import kernel, lib, ptx, Tile
    import pyptx.ptx as instructions

    GLOBAL = 1.0
    def make(captured):
        @kernel(arch="sm_90a", in_specs=[Tile("N", f32)], grid=1)
        def k(x, *, PARAM=1.0):
            {use}
        return k
    k = make({captured})
"""

# name -> what the kernel does, and the change: statements in the two modules (h, m), or the same text in the source
CHANGES: dict[str, tuple[str, str]] = {
    "a global": ("put(GLOBAL)", "m.GLOBAL = 2.0"),
    "the type of a global": ("put(len(repr(GLOBAL)))", "m.GLOBAL = 1"),
    "a builtin name": ("put(abs(-1.0))", "m.abs = lambda value: 2.0"),
    "a closure value": ("put(captured)", "m.k = m.make(2.0)"),
    "a closure function": ("put(captured() if callable(captured) else captured)", "m.k = m.make(lambda: 2.0)"),
    "a template parameter": ("put(PARAM)", "PARAM=2.0"),
    "a template function": ("put(PARAM() if callable(PARAM) else PARAM)", "PARAM=lambda: 2.0"),
    "a size": ("put(x.shape[0])", "N=9"),
    "a type": ("reg.scalar(KIND)", "m.KIND = m.u32"),
    "the body of a function": ("body()", "def body(): return put(1.0) -> def body(): return put(2.0)"),
    "the body of an indirect function": ("outer()", "def body(): return put(1.0) -> def body(): return put(2.0)"),
    "a replaced function": ("outer()", "h.body = lambda: h.put(2.0)"),
    "a replaced code object": ("body()", "h.body.__code__ = (lambda: put(2.0)).__code__"),
    "an imported module's constant": ("put(trace_helper.CONSTANT)", "h.CONSTANT = 2.0"),
    "a constant behind a local name": ("local = trace_helper; put(local.CONSTANT)", "h.CONSTANT = 2.0"),
    "a constant behind a call": ("put((lambda any: any.CONSTANT)(trace_helper))", "h.CONSTANT = 2.0"),
    "an imported module's function": ("put(trace_helper.value())", "h.value = lambda: 2.0"),
    "a global of another module": ("put(value())", "h.CONSTANT = 2.0"),
    "a default": ("default()", "h.default.__defaults__ = (2.0,)"),
    "a default in the source": ("default()", "def default(value=1.0) -> def default(value=2.0)"),
    "a keyword default": ("keyword()", "h.keyword.__kwdefaults__ = {'value': 2.0}"),
    "a nested tuple": ("put(TABLE[1][1])", "m.TABLE = (1.0, (2.0, 4.0))"),
    "a list": ("put(LIST[-1])", "h.LIST.append(2.0)"),
    "a dictionary": ("put(OPERATIONS['one']())", "h.OPERATIONS['one'] = lambda: 2.0"),
    "a NumPy scalar": ("put(STEP)", "m.STEP = h.np.float32(2.0)"),
    "the dtype of a NumPy scalar": ("put(STEP.itemsize)", "m.STEP = h.np.float64(1.0)"),
    "a field": ("put(SHAPE.size)", "m.SHAPE = h.Shape(2.0)"),
    "a default of a field": ("put(Shape().extra)", "default=1.0) -> default=2.0)"),
    "a property": ("put(SHAPE.double)", "return 2 * self.size -> return 4 * self.size"),
    "a replaced method": ("put(SHAPE.triple())", "h.Shape.triple = lambda self: 7.0"),
    "an item of a named tuple": ("put(PAIR.first)", "m.PAIR = h.Pair(2.0)"),
    "a default of a named tuple": ("put(Pair(0.0).second)", "second: float = 1.0 -> second: float = 2.0"),
    "a member's value": ("put(Color.RED.value)", "RED = 1.0 -> RED = 2.0"),
    "a private method of an enumeration": (
        "put(RED._hidden())",
        "_hidden(self): return 1.0 -> _hidden(self): return 2.0",
    ),
    "a property of an enumeration": ("put(RED.shade)", "shade(self): return 1.0 -> shade(self): return 2.0"),
    "flags": ("put(FLAGS.value)", "m.FLAGS = h.Flags.A"),
    "a range": ("put(RANGE[1])", "m.RANGE = range(1, 9, 2)"),
    "the line of a check": ("ptx.check_(ptx.tid.x < 2)  # one", "# one -> # two"),
    "a member": ("put(RED.value)", "RED = 1.0 -> RED = 2.0"),
    "a class attribute": ("put(Base.FACTOR)", "h.Base.FACTOR = 2.0"),
    "an inherited attribute": ("put(Derived.FACTOR)", "h.Base.FACTOR = 2.0"),
    "an overridden attribute": ("put(Derived().method())", "h.Derived.FACTOR = 2.0"),
    "a class method": ("put(Derived.of())", "h.Base.FACTOR = 2.0"),
    "a static method": ("put(Base.fixed())", "h.Base.fixed = staticmethod(lambda: 2.0)"),
    "a cached property": ("put(Derived().late)", "h.Base.FACTOR = 2.0"),
    "a metaclass": ("put(WithMeta.LEVEL)", "h.CONSTANT = 2.0"),
    "an object with slots": ("put(Slotted().value)", "h.CONSTANT = 2.0"),
    "an attribute by a computed name": ("put(getattr(Base, 'FAC' + 'TOR'))", "h.Base.FACTOR = 2.0"),
    "a wrapped function": ("put(wrapped())", "def inner(): return 1.0 -> def inner(): return 2.0"),
    "a context manager": ("with block() as v: put(v)", "h.CONSTANT = 2.0"),
    "an intrinsic": ("grouped()", "h.CONSTANT = 2.0"),
    "a partial": ("bound()", "m.bound = h.functools.partial(h.put, 2.0)"),
    "a nested function": ("(lambda: (lambda: put(GLOBAL))())()", "m.GLOBAL = 2.0"),
    "a comprehension": ("[put(GLOBAL) for _ in range(1)]", "m.GLOBAL = 2.0"),
    "a name bound by an import": ("emit(1.0)", "m.emit = lambda value: h.put(2.0)"),
    "a function attribute": ("put(value.level)", "h.value.level = 2.0"),
    "a cycle of lists": ("put(len(CYCLE))", "h.CYCLE.append(h.CYCLE)"),
    "a function of Python": ("put(math.floor(1.5))", "h.math.floor = lambda value: 2.0"),
    "a builtin function": ("put(abs(-1.0))", "h.builtins.abs = lambda value: 2.0"),
    "a class pattern": (
        "match trace_helper:\n                case object(CONSTANT=found): put(found)",
        "h.CONSTANT = 2.0",
    ),
}

# name -> what the kernel does, and the words of the reason
REFUSED: dict[str, tuple[str, str]] = {
    "an environment variable": ("put(len(trace_helper.os.environ))", "module os"),
    "the time": ("put(time.time())", "module time"),
    "a function of time": ("put(clock())", "time.perf_counter"),
    "a random number": ("put(random.random())", "module random"),
    "a bound random number": ("put(chance())", "Random"),
    "a file": ("put(len(open(__file__).read()))", "built-in function open"),
    "input and output": ("print(GLOBAL)", "built-in function print"),
    "the globals": ("put(globals()['GLOBAL'])", "built-in function globals"),
    "the globals of a function": ("put(value.__globals__['CONSTANT'])", "__globals__"),
    "an address": ("put(id(x))", "built-in function id"),
    "evaluated text": ("put(eval('GLOBAL'))", "built-in function eval"),
    "a NumPy array": ("put(ARRAY[0])", "numpy.ndarray"),
    "a NumPy type": ("put(np_type(1.0))", "numpy.float64"),
    "a NumPy function": ("put(np.max(1.0))", "numpy"),
    "an object": ("put(OBJECT.value)", "Slotted"),
    "a mutable record": ("put(LOOSE.size)", "Loose"),
    "a memoized function": ("put(memoized())", "_lru_cache_wrapper"),
    "a generator": ("put(next(GENERATOR))", "generator"),
    "an assigned global": ("count()", "assigns the global CONSTANT"),
    "an import": ("import json; put(1.0)", "imports json"),
    "a module by computed names": ("put(getattr(trace_helper, 'CONST' + 'ANT'))", "computed names"),
    "a module with __getattr__": ("put(dynamic.anything)", "__getattr__"),
    "a set of tuples": ("put(len(SETS))", "a set of tuple"),
}
MORE = """
    np_type = np.float64
    clock = time.perf_counter
    chance = random.random
    ARRAY = np.ones(1)
    OBJECT = Slotted()
    LOOSE = Loose()
    @functools.cache
    def memoized(): return CONSTANT
    GENERATOR = (value for value in [1.0])
    def count():
        global CONSTANT
        CONSTANT += 1
    import types, sys
    dynamic = types.ModuleType("dynamic")
    dynamic.__getattr__ = lambda name: 1.0
    SETS = {(1, 2)}
    CYCLE = []
    CYCLE.append(CYCLE)
    value.level = 1.0
"""


REPLACED = ((builtins, "abs"), (math, "floor"))  # by changes


def modules(use: str, old: str = "", new: str = "", folder: str = "/") -> tuple[Any, Any]:
    """Import the two modules as a new process would, with a text replaced in their sources."""
    made = []
    sources = {"trace_helper": HELPER + MORE, "trace_kernel": KERNEL.format(use=use, captured="1.0")}
    for name, source in sources.items():
        module = ModuleType(name)
        module.__file__ = f"{folder}{name}.py"
        sys.modules[name] = module
        text = dedent(source).replace(old, new) if old else dedent(source)
        linecache.cache[module.__file__] = len(text), None, text.splitlines(keepends=True), module.__file__
        exec(compile(text, module.__file__, "exec"), vars(module))
        made.append(module)
    return made[0], made[1]


@pytest.fixture(autouse=True)
def forget_modules() -> Iterator[None]:
    before = [(owner, name, getattr(owner, name)) for owner, name in REPLACED]
    yield
    for owner, name, value in before:
        setattr(owner, name, value)
    for name in ("trace_helper", "trace_kernel"):
        sys.modules.pop(name, None)


def ptx_and_key(kernel: Kernel, **values: Any) -> tuple[str, str]:
    values = {"N": 8, **values}
    sizes, template, _ = kernel.binder.split(values)
    key, _ = _key(kernel.declaration, kernel.arch, None, sizes, template)
    return kernel.ptx(**values), key


def named_in(code: CodeType) -> dict[str, set[str]]:
    """Return the names that a code object reads, assigns and imports, by `dis`."""
    kinds = {"LOAD_GLOBAL": "globals", "LOAD_NAME": "globals", "LOAD_FROM_DICT_OR_GLOBALS": "globals"}
    kinds |= {"STORE_GLOBAL": "stored", "DELETE_GLOBAL": "stored", "IMPORT_NAME": "imports"}
    found: dict[str, set[str]] = {kind: set() for kind in kinds.values()}
    for one in dis.get_instructions(code):
        if one.opname in kinds:
            found[kinds[one.opname]].add(one.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            for kind, names in named_in(constant).items():
                found[kind] |= names
    return found


MANY = "def function():\n" + "".join(f"    g{n}; a.n{n}\n" for n in range(300))  # more than fit into one byte


@pytest.mark.parametrize(
    "source",
    [*map(inspect.getsource, (textwrap, typing, threading)), MANY],
    ids=["textwrap", "typing", "threading", "many"],
)
def test_names_are_read_from_bytecode_as_dis_does(source):
    code = compile(source, "module.py", "exec")
    found = reads_of(code)
    assert {kind: set(getattr(found, kind)) for kind in ("globals", "stored", "imports")} == named_in(code)


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_the_ptx_changes_the_key(name):
    use, change = CHANGES[name]
    before = ptx_and_key(modules(use)[1].k)
    again = ptx_and_key(modules(use)[1].k)
    values: dict[str, Any] = {}
    if " -> " in change:
        _, m = modules(use, *change.split(" -> "))
    else:
        h, m = modules(use)
        if change.startswith(("h.", "m.")):
            exec(change, {"h": h, "m": m})
        else:
            exec(change, values)
            values.pop("__builtins__")
    after = ptx_and_key(m.k, **values)
    assert before == again, "the key of an unchanged kernel is stable"
    assert before[0] != after[0], "the change shows in the PTX"
    assert before[1] != after[1]


def test_a_moved_file_keeps_its_key_and_a_renamed_or_shifted_one_does_not():
    """As the cells of a notebook, whose folder has the number of its process."""
    use = "ptx.check_(ptx.tid.x < 2)"
    here = ptx_and_key(modules(use)[1].k)
    assert ptx_and_key(modules(use, folder="/tmp/ipykernel_1/")[1].k) == here
    renamed = ptx_and_key(modules(use, folder="/other_")[1].k)
    shifted = ptx_and_key(modules(use, "import trace_helper\n", "\n\nimport trace_helper\n")[1].k)
    assert len({here[0], renamed[0], shifted[0]}) == len({here[1], renamed[1], shifted[1]}) == 3


@pytest.mark.parametrize(
    ("owner", "name"),
    [(ptx, "global_ptrs"), (ptx.memory, "addr"), (Reg, "__add__"), (Reg, "name"), (TraceContext, "emit")],
    ids=["a function", "an inner function", "an operator", "an attribute", "an inner method"],
)
def test_a_replaced_function_of_pyptx_is_refused(owner, name, monkeypatch):
    kernel = modules("put(1.0)")[1].k
    ptx_and_key(kernel)
    monkeypatch.setattr(owner, name, lambda self: 1.0)
    with pytest.raises(NotCacheableError, match=rf"{name} is replaced by .*test_trace_cache_keys.py"):
        ptx_and_key(kernel)


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_key_cannot_hold_is_refused_with_a_reason(name):
    use, reason = REFUSED[name]
    with pytest.raises(NotCacheableError) as refused:
        print(ptx_and_key(modules(use)[1].k))
    assert reason in str(refused.value)
    assert "trace_helper" in str(refused.value) or "trace_kernel" in str(refused.value)
