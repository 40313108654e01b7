"""The trace of one kernel: what its Python function has written so far.

A `TraceContext` collects statements and declarations and hands out names; `trace_scope` installs one for this thread.
Nothing here knows an instruction.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache

from pyptx._loc import Place, boundary, user_place
from pyptx.errors import TraceError
from pyptx.ir.nodes import (
    Block,
    CompoundExpr,
    File,
    Instruction,
    IntrinsicScope,
    Label,
    Operand,
    Predicate,
    RegDecl,
    Statement,
    VarDecl,
)
from pyptx.ir.types import LinkingDirective, ScalarType, StateSpace
from pyptx.tracing.operand import operand
from pyptx.types import PtxType

__all__ = ["DYNAMIC_SMEM", "STATIC_SMEM_LIMIT", "TraceContext", "emit", "get_ctx", "guard", "in_trace", "run",
           "trace_scope", "words"]

STATIC_SMEM_LIMIT = 48 * 1024                   # bytes of statically declared shared memory a CTA may have
DYNAMIC_SMEM = "dyn_smem"

_SCALARS = {member.value: member for member in ScalarType}


class TraceContext:
    """Statements and declarations of one kernel body, and the counters that name things in it."""

    def __init__(self, *, ptx_version: tuple[int, int] | None = None, force_dynamic_smem: bool = False,
                 extern_smem_name: str | None = None, raw_param_types: dict[str, str] | None = None):
        self.ptx_version = ptx_version
        self.force_dynamic_smem = force_dynamic_smem
        self.extern_smem_name = extern_smem_name
        self.raw_param_types = raw_param_types or {}
        self.statements: list[Statement] = []           # of the innermost open scope
        self.prologue: list[Statement] = []             # goes in front of the body
        self.var_decls: list[VarDecl] = []
        self.dyn_smem_offset = 0                        # running offset of all shared allocations, bytes
        self.uses_dynamic_smem = False
        self.tma_tensors: list[str] = []                # names, in order of their first descriptor
        self.scope_depth = 0
        self.names: Counter[str] = Counter()            # one counter per name prefix
        self._decls: list[RegDecl] = []
        self._local_decls: list[list[Statement]] = []   # statement lists of open `ptx.scope()` blocks
        self.faults: list[TraceError] = []              # found where nothing could be raised
        self.module_files: list[File] = []              # `.file` directives, which stand in front of the entry
        self.variables: set[str] = set()                # names that var_decls and raw text declare
        self._types: dict[str, str] = {}                # register, or base of several -> declared type
        self._elements: dict[str, str] = {}             # register of several -> type, where it was asked for
        self._predicates = 0
        self._labels = 0
        self._regions = 0
        self._region: tuple[int, ...] = ()              # those open now, outermost first
        self._joins = 0
        self.unentered: dict[object, tuple[str, Place]] = {}       # blocks that no `with` has entered yet

    def fail(self, message: str, place: Place | None, hint: str | None = None) -> None:
        """Note a fault that cannot be raised where it is found; the trace ends with it."""
        self.faults.append(TraceError(message, at=place, hint=hint))

    # names ----------------------------------------------------------------------------------------------------------

    def label(self, prefix: str) -> str:
        """A fresh label `$_<prefix>_<n>`."""
        self._labels += 1
        return f"$_{prefix}_{self._labels - 1}"

    def predicate(self) -> str:
        """A fresh register of the pooled declaration `.reg .pred %p<N>;`."""
        self._predicates += 1
        return f"%p{self._predicates - 1}"

    def next_index(self, prefix: str) -> int:
        """The next number of a name prefix, from 0."""
        self.names[prefix] += 1
        return self.names[prefix] - 1

    # declarations ---------------------------------------------------------------------------------------------------

    def declare(self, dtype: PtxType, name: str, count: int | None = None, place: Place | None = None) -> None:
        """Declare a register, or `count` of them; at function level, or inside the innermost `ptx.scope()`."""
        type_ = self._types[name] = dtype.register
        if count is not None:
            self._elements.clear()                      # a base may be declared again, in a scope
        declaration = RegDecl(_SCALARS[type_], name, count, None, place or user_place())
        (self._local_decls[-1] if self._local_decls else self._decls).append(declaration)

    def fresh(self, dtype: PtxType, prefix: str, place: Place) -> str:
        """Declare a register under the next name of a prefix, like `declare`; returns the name."""
        names = self.names
        index = names[prefix]
        names[prefix] = index + 1
        name = prefix + str(index)
        type_ = self._types[name] = dtype.register
        (self._local_decls[-1] if self._local_decls else self._decls).append(
            RegDecl(_SCALARS[type_], name, None, None, place))
        return name

    def declare_first(self, dtype: PtxType, name: str) -> None:
        """Declare a register at function level, whatever scope is open: for what the prologue sets."""
        self._types[name] = dtype.register
        self._decls.append(RegDecl(_SCALARS[dtype.register], name, place=user_place()))

    def declare_variable(self, space: StateSpace, dtype: PtxType, name: str, *, size: int | None = None,
                         align: int | None = None, linking: LinkingDirective | None = None,
                         local: bool = False) -> None:
        """Declare a variable at function level; with `local` inside the innermost `ptx.scope()`."""
        self.variables.add(name)
        declared = self._local_decls[-1] if local and self._local_decls else self.var_decls
        declared.append(VarDecl(space, _SCALARS[dtype.register], name, size, align, None, linking, place=user_place()))

    def note_declarations(self, statements: Iterable[Statement]) -> None:
        """Learn what a piece of PTX declares by itself: register types, and names of variables."""
        self._types.update((s.name, s.type.value) for s in statements if isinstance(s, RegDecl))
        self._elements.clear()
        self.variables.update(s.name for s in statements if isinstance(s, VarDecl))

    def type_of(self, name: str) -> str | None:
        """The declared type of a register; None when nothing declares it here."""
        found = self._types.get(name) or self._elements.get(name)
        if found is not None:
            return found
        base = name.rstrip("0123456789")
        if base == "%p":
            return self._types.get(base, "pred")        # the pool, unless somebody took its name
        found = next((self._types[name[:i]] for i in range(len(base), len(name)) if name[:i] in self._types), None)
        if found is not None:
            self._elements[name] = found
        return found

    @property
    def reg_decls(self) -> list[RegDecl]:
        pool = [RegDecl(ScalarType.PRED, "%p", self._predicates)] if self._predicates else []
        return pool + self._decls

    # shared memory --------------------------------------------------------------------------------------------------

    def allocate_shared(self, size_bytes: int, align: int) -> int:
        """Reserve shared memory; returns its byte offset from the start of all allocations."""
        start = -(-self.dyn_smem_offset // align) * align
        self.dyn_smem_offset = start + size_bytes
        if self.force_dynamic_smem:
            self.uses_dynamic_smem = True
        return start

    # statements -----------------------------------------------------------------------------------------------------

    def append(self, statement: Statement) -> None:
        self.statements.append(statement)

    def place_label(self, name: str) -> None:
        self.append(Label(name, place=user_place()))

    def emit(self, opcode: str, modifiers: tuple[str, ...], operands: tuple[Operand, ...],
             predicate: Predicate | None = None, place: Place | None = None) -> Instruction:
        """Append one instruction written at `place`, the user's current line unless told. Operands are nodes."""
        instruction = Instruction(opcode, modifiers, operands, predicate, None, place or user_place())
        self.statements.append(instruction)
        return instruction

    @contextmanager
    def collecting(self) -> Iterator[list[Statement]]:
        """Statements written meanwhile go into a list of their own."""
        outer, self.statements = self.statements, []
        self.scope_depth += 1
        try:
            yield self.statements
        finally:
            self.statements = outer
            self.scope_depth -= 1

    # what may be relied on ------------------------------------------------------------------------------------------

    @contextmanager
    def region(self) -> Iterator[None]:
        """A stretch of code that may be skipped, or whose registers are local."""
        outer = self._region
        self._regions += 1
        self._region = (*outer, self._regions)
        try:
            yield
        finally:
            self._region = outer

    def join(self) -> None:
        """From here on code may come from anywhere: a label that the user's jumps may name."""
        self._joins += 1

    @property
    def here(self) -> tuple[int, ...]:
        """Where in the kernel's flow of control this is, for `still_holds`."""
        return self._joins, *self._region

    def still_holds(self, computed_in: tuple[int, ...]) -> bool:
        """Whether a register that was set while `here` was `computed_in` is set on every path to this point."""
        return self.here[:len(computed_in)] == computed_in

    @contextmanager
    def block(self) -> Iterator[None]:
        """A `{ }` scope: registers declared inside are local to it."""
        place = user_place()
        with self.region(), self.collecting() as body:
            self._local_decls.append(body)
            try:
                yield
            finally:
                self._local_decls.pop()
        self.append(Block(tuple(body), place=place))

    @contextmanager
    def intrinsic(self, name: str, args_repr: str) -> Iterator[None]:
        place = user_place()
        with self.collecting() as body:
            yield
        self.append(IntrinsicScope(name, args_repr, tuple(body), place=place))

    @contextmanager
    def compound(self) -> Iterator[None]:
        """Instructions in one node. A label or block among them stays where it is and parts them into two."""
        place = user_place()
        with self.collecting() as body:
            yield
        together: list[Instruction] = []
        for statement in (*body, None):
            if isinstance(statement, (Instruction, CompoundExpr)):
                together += statement.body if isinstance(statement, CompoundExpr) else (statement,)
                continue
            if together:
                self.append(CompoundExpr(tuple(together), place=place))
                together = []
            if statement is not None:
                self.append(statement)

    def end(self) -> None:
        """The function has returned: what it leaves open is a fault."""
        for name, place in self.unentered.values():
            self.fail(f"ptx.{name} without `with`: nothing is in it", place, f"write `with ptx.{name}(...):`, and what "
                      "belongs to it below, indented")

    def body(self) -> tuple[Statement, ...]:
        """The whole body: registers, variables, prologue, statements."""
        return (*self.reg_decls, *self.var_decls, *self.prologue, *self.statements)


_thread = threading.local()


def get_ctx() -> TraceContext:
    """The trace this thread is in.

    Raises:
        TraceError: no kernel is being traced.
    """
    ctx = getattr(_thread, "ctx", None)
    if ctx is None:
        raise TraceError("No active kernel trace: reg, smem and ptx calls only work inside a function decorated with "
                         "@kernel, while it is traced", at=user_place())
    return ctx


def in_trace() -> bool:
    """Whether this thread is tracing a kernel."""
    return getattr(_thread, "ctx", None) is not None


@contextmanager
def trace_scope(*, ptx_version: tuple[int, int] | None = None, **options) -> Iterator[TraceContext]:
    """Install a fresh context for this thread, and the previous one again at the end."""
    previous = getattr(_thread, "ctx", None)
    _thread.ctx = ctx = TraceContext(ptx_version=ptx_version, **options)
    try:
        yield ctx
    finally:
        _thread.ctx = previous


@boundary
def run(function: Callable, *args, **kwargs) -> object:
    """Call the kernel's Python function; callers of a place are counted up to here."""
    return function(*args, **kwargs)


def emit(opcode: str, modifiers: str, *operands: object, pred: object = None) -> Instruction:
    """Append `opcode` with dotted `modifiers`, converting operands and guard from Python values."""
    nodes = tuple([operand(o) for o in operands])
    return get_ctx().emit(opcode, words(modifiers), nodes, None if pred is None else guard(pred))


@cache
def words(modifiers: str) -> tuple[str, ...]:
    """Dotted text as the tree holds it: "rn.f32" is (".rn", ".f32")."""
    return tuple("." + word for word in modifiers.split(".") if word)


def guard(pred: object) -> Predicate | None:
    """The guard `pred=` stands for: a predicate register, or its negation `~p`."""
    if pred is None:
        return None
    negated = getattr(pred, "negated_register", None)
    if negated is not None:
        return Predicate(negated, True)
    dtype = getattr(pred, "dtype", None)
    if dtype is None or dtype.name != "pred":
        raise TypeError(f"pred= takes a predicate register or ~predicate, not {pred!r}"
                        f"{getattr(pred, 'why_no_guard', '')}")
    return Predicate(pred.name)

