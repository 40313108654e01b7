"""The trace of a kernel: statements and declarations recorded while its Python function runs.

A `TraceContext` collects them and assigns names; `trace_scope` installs one for the current thread. This module does
not know individual instructions.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache

from pyptx._loc import SourceLocation, boundary, forget_frame, raised_at, user_place
from pyptx.errors import OperandError, PtxError, ShapeError, SharedMemoryError, TraceError
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
from pyptx.ir.visit import statements
from pyptx.tracing.misuse import explained
from pyptx.tracing.operand import operand
from pyptx.types import PtxType

__all__ = [
    "DYNAMIC_SMEM",
    "EXTERN_SMEM_ALIGN",
    "STATIC_SMEM_LIMIT",
    "StaticLimitExceeded",
    "TraceContext",
    "emit",
    "get_ctx",
    "guard",
    "in_trace",
    "run",
    "trace_scope",
    "split_modifiers",
]

STATIC_SMEM_LIMIT = 48 * 1024  # bytes of static shared memory a CTA can have
DYNAMIC_SMEM = "dyn_smem"
EXTERN_SMEM_ALIGN = 128  # bytes, of an extern array whose contents require no more

_SCALARS = {member.value: member for member in ScalarType}


class StaticLimitExceeded(BaseException):
    """Ends a trace that allocates more shared memory than is allowed; not an error, so that kernels do not catch it."""


class TraceContext:
    """Statements and declarations of one kernel body, and the counters that assign names.

    Args:
        ptx_version: `.version` of the module; some wrappers depend on it.
        force_dynamic_smem: put all shared memory into one extern array.
        static_smem_limit: end the trace with StaticLimitExceeded when more bytes are allocated; None for no limit.
        extern_smem_name: name of the kernel's own extern shared array.
        raw_param_types: parameter name -> type string of `raw_params`.
        debug: emit `ptx.printf` and `ptx.check_`.
        maps_by_value: tensor maps are parameters by value, not pointers.
        shared_limit: bytes of shared memory that a CTA has on the GPUs of the target; None for no limit.
        threads: threads of a CTA, as declared; None if it is not known.
    """

    raw_param_types: dict[str, str]
    dyn_smem_offset: int
    dyn_smem_align: int
    uses_dynamic_smem: bool
    scope_depth: int

    def __init__(
        self,
        *,
        ptx_version: tuple[int, int] | None = None,
        force_dynamic_smem: bool = False,
        static_smem_limit: int | None = None,
        extern_smem_name: str | None = None,
        raw_param_types: dict[str, str] | None = None,
        debug: bool = True,
        maps_by_value: bool = False,
        shared_limit: int | None = None,
        threads: int | None = None,
    ):
        self.ptx_version = ptx_version
        self.force_dynamic_smem = force_dynamic_smem
        self.static_smem_limit = static_smem_limit
        self.extern_smem_name = extern_smem_name
        self.raw_param_types = raw_param_types or {}
        self.debug, self.maps_by_value = debug, maps_by_value
        self.shared_limit, self.threads = shared_limit, threads
        self._allocations: list[tuple[int, SourceLocation]] = []  # bytes of shared memory, and where
        self.externs: dict[str, str] = {}  # name -> declaration of an external function that the body calls
        self.statements: list[Statement] = []  # those of the innermost open scope
        self.prologue: list[Statement] = []  # emitted before the body
        self.hoisted: dict[str, str] = {}  # value that the prologue computes -> its register
        self.var_decls: list[VarDecl] = []
        self.dyn_smem_offset = 0  # running offset of all shared allocations, bytes
        self.dyn_smem_align = EXTERN_SMEM_ALIGN  # of all shared allocations, bytes
        self.uses_dynamic_smem = False
        self.tma_tensors: list[str] = []  # names, in order of their first descriptor
        self.scope_depth = 0
        self.names: Counter[str] = Counter()  # one counter per name prefix
        self._decls: list[RegDecl] = []
        self._local_decls: list[list[Statement]] = []  # statement lists of open `ptx.scope()` blocks
        self.faults: list[TraceError] = []  # errors deferred to the end of the trace
        self.module_files: list[File] = []  # `.file` directives, emitted before the entry
        self.variables: set[str] = set()  # names that var_decls and raw text declare
        self._types: dict[str, str] = {}  # register, or base of an array -> declared type
        self._elements: dict[str, str] = {}  # register of an array -> type, a cache
        self._predicates = 0
        self._labels = 0
        self._regions = 0
        self._region: tuple[int, ...] = ()  # open regions, outermost first
        self._joins = 0
        self.cluster_needed: tuple[int, SourceLocation] | None = None  # CTAs that a constant rank needs, and where
        self.unentered: dict[object, tuple[str, str, SourceLocation]] = {}  # blocks and loops not entered yet

    def fail(self, message: str, place: SourceLocation | None, hint: str | None = None) -> None:
        """Record an error that cannot be raised here; it is raised when the trace ends."""
        self.faults.append(TraceError(message, at=place, hint=hint))

    def need_cluster(self, ctas: int) -> None:
        """Record that the code is right only in clusters of at least `ctas` CTAs; checked when it is launched.

        Code that may be skipped is not recorded.
        """
        if not self._region and (self.cluster_needed is None or self.cluster_needed[0] < ctas):
            self.cluster_needed = ctas, user_place()

    def need_threads(self, count: int, what: str, hint: str, *, exactly: bool = False) -> None:
        """Require CTAs of at least `count` threads, where their number is declared.

        Args:
            what: for the message: "lib.copy divides a tile over".
            exactly: more threads are refused, too.
        Raises:
            ShapeError: the kernel is declared with other CTAs.
        """
        if self.threads is not None and (self.threads < count or (exactly and self.threads != count)):
            raise ShapeError(
                f"{what} {count} threads; the CTAs of this kernel have {self.threads}", at=user_place(), hint=hint
            )

    # names ----------------------------------------------------------------------------------------------------------

    def label(self, prefix: str) -> str:
        """Return a new label `$_<prefix>_<n>`."""
        self._labels += 1
        return f"$_{prefix}_{self._labels - 1}"

    def predicate(self) -> str:
        """Return a new register of the pooled declaration `.reg .pred %p<N>;`."""
        self._predicates += 1
        return f"%p{self._predicates - 1}"

    def next_index(self, prefix: str) -> int:
        """Return the next number of a name prefix, from 0."""
        self.names[prefix] += 1
        return self.names[prefix] - 1

    # declarations ---------------------------------------------------------------------------------------------------

    def declare(self, dtype: PtxType, name: str, count: int | None = None, place: SourceLocation | None = None) -> None:
        """Declare a register, or `count` of them, in the innermost `ptx.scope()` or at function level."""
        type_ = self._types[name] = dtype.register
        if count is not None:
            self._elements.clear()  # a scope may declare the base again
        declaration = RegDecl(_SCALARS[type_], name, count, None, place or user_place())
        (self._local_decls[-1] if self._local_decls else self._decls).append(declaration)

    def fresh(self, dtype: PtxType, prefix: str, place: SourceLocation) -> str:
        """Declare a register with the next name of a prefix, as `declare` does; return the name."""
        names = self.names
        index = names[prefix]
        names[prefix] = index + 1
        name = prefix + str(index)
        type_ = self._types[name] = dtype.register
        (self._local_decls[-1] if self._local_decls else self._decls).append(
            RegDecl(_SCALARS[type_], name, None, None, place)
        )
        return name

    def declare_first(self, dtype: PtxType, name: str) -> None:
        """Declare a register at function level, for values the prologue sets, whatever scope is open."""
        self._types[name] = dtype.register
        self._decls.append(RegDecl(_SCALARS[dtype.register], name, place=user_place()))

    def declare_variable(
        self,
        space: StateSpace,
        dtype: PtxType,
        name: str,
        *,
        size: int | None = None,
        align: int | None = None,
        linking: LinkingDirective | None = None,
        local: bool = False,
    ) -> None:
        """Declare a variable at function level; with `local` in the innermost `ptx.scope()`."""
        self.variables.add(name)
        declared = self._local_decls[-1] if local and self._local_decls else self.var_decls
        declared.append(VarDecl(space, _SCALARS[dtype.register], name, size, align, None, linking, place=user_place()))

    def note_declarations(self, statements: Iterable[Statement]) -> None:
        """Record the register types and variable names that PTX text declares."""
        self._types.update((s.name, s.type.value) for s in statements if isinstance(s, RegDecl))
        self._elements.clear()
        self.variables.update(s.name for s in statements if isinstance(s, VarDecl))

    def type_of(self, name: str) -> str | None:
        """Return the declared type of a register; None if it is not declared here."""
        found = self._types.get(name) or self._elements.get(name)
        if found is not None:
            return found
        base = name.rstrip("0123456789")
        if base == "%p":
            return self._types.get(base, "pred")  # the pool, unless the name is declared
        found = next((self._types[name[:i]] for i in range(len(base), len(name)) if name[:i] in self._types), None)
        if found is not None:
            self._elements[name] = found
        return found

    @property
    def reg_decls(self) -> list[RegDecl]:
        """Register declarations at function level."""
        pool = [RegDecl(ScalarType.PRED, "%p", self._predicates)] if self._predicates else []
        return pool + self._decls

    # shared memory --------------------------------------------------------------------------------------------------

    def allocate_shared(self, size_bytes: int, align: int) -> int:
        """Reserve shared memory; return its byte offset from the start of all allocations.

        Raises:
            SharedMemoryError: all allocations together exceed the shared memory of a CTA.
        """
        start = -(-self.dyn_smem_offset // align) * align
        self.dyn_smem_offset = start + size_bytes
        self._allocations.append((size_bytes, user_place()))
        if self.shared_limit is not None and self.dyn_smem_offset > self.shared_limit:
            raise self._no_room(self.shared_limit)
        self.dyn_smem_align = max(self.dyn_smem_align, align)
        if self.force_dynamic_smem:
            self.uses_dynamic_smem = True
        if self.static_smem_limit is not None and self.dyn_smem_offset > self.static_smem_limit:
            raise StaticLimitExceeded
        return start

    def _no_room(self, limit: int) -> SharedMemoryError:
        sizes: dict[str, int] = {}  # of the allocations of a line
        for size, place in self._allocations:
            sizes[str(place)] = sizes.get(str(place), 0) + size
        listed = "".join(f"\n{size:>9,} bytes allocated at {place}" for place, size in sizes.items())
        return SharedMemoryError(
            f"{self.dyn_smem_offset:,} bytes of shared memory, with alignment; a CTA has at most {limit:,}{listed}",
            at=user_place(),
            hint="use fewer stages or smaller tiles",
        )

    # statements -----------------------------------------------------------------------------------------------------

    def append(self, statement: Statement) -> None:
        """Append a statement to the innermost open scope."""
        self.statements.append(statement)

    def place_label(self, name: str) -> None:
        """Append a label."""
        self.append(Label(name, place=user_place()))

    def emit(
        self,
        opcode: str,
        modifiers: tuple[str, ...],
        operands: tuple[Operand, ...],
        predicate: Predicate | None = None,
        place: SourceLocation | None = None,
    ) -> Instruction:
        """Append an instruction; operands are nodes, `place` defaults to the user's current line."""
        instruction = Instruction(opcode, modifiers, operands, predicate, None, place or user_place())
        self.statements.append(instruction)
        return instruction

    @contextmanager
    def collecting(self) -> Iterator[list[Statement]]:
        """Collect the statements appended in the block in a separate list."""
        outer, self.statements = self.statements, []
        self.scope_depth += 1
        try:
            yield self.statements
        finally:
            self.statements = outer
            self.scope_depth -= 1

    # validity of computed registers -----------------------------------------------------------------------------------

    @contextmanager
    def region(self) -> Iterator[None]:
        """Open a region of code that may be skipped, or whose registers are local."""
        outer = self._region
        self._regions += 1
        self._region = (*outer, self._regions)
        try:
            yield
        finally:
            self._region = outer

    def join(self) -> None:
        """Record a join point: a label that user branches may target."""
        self._joins += 1

    def leaves_early(self) -> bool:
        """Return True if threads may have left: by `ret` or `exit`, or by a branch to a label of the user."""
        return self._joins > 0 or any(
            isinstance(one, Instruction) and one.opcode in ("ret", "exit", "brx") for one in statements(self.statements)
        )

    @property
    def here(self) -> tuple[int, ...]:
        """The current point of the control flow, for `still_holds`."""
        return self._joins, *self._region

    def still_holds(self, computed_in: tuple[int, ...]) -> bool:
        """Return True if a register set at the point `computed_in` is set on every path to this point."""
        return self.here[: len(computed_in)] == computed_in

    @contextmanager
    def block(self) -> Iterator[None]:
        """Open a `{ }` scope; registers declared inside are local to it."""
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
        """Group the statements of the block under a name."""
        place = user_place()
        with self.collecting() as body:
            yield
        self.append(IntrinsicScope(name, args_repr, tuple(body), place=place))

    @contextmanager
    def compound(self) -> Iterator[None]:
        """Group the instructions of the block in one node; a label or block among them splits the group."""
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
        """Record an error for each block or loop that was never entered. Called when the kernel function has returned."""
        for name, word, place in self.unentered.values():
            start = "with" if word == "with" else "for ... in"
            self.fail(
                f"{name} without `{word}` has no effect",
                place,
                f"write `{start} {name}(...):` with its body indented below",
            )

    def body(self) -> tuple[Statement, ...]:
        """Return the whole body: registers, variables, prologue, statements."""
        return (*self.reg_decls, *self.var_decls, *self.prologue, *self.statements)


_thread = threading.local()


def get_ctx() -> TraceContext:
    """Return the trace of the current thread.

    Raises:
        TraceError: no kernel is being traced.
    """
    ctx = getattr(_thread, "ctx", None)
    if ctx is None:
        raise TraceError(
            "No active kernel trace: reg, smem and ptx calls only work inside a function decorated with "
            "@kernel, while it is traced",
            at=user_place(),
        )
    return ctx


def in_trace() -> bool:
    """Return True while the current thread traces a kernel."""
    return getattr(_thread, "ctx", None) is not None


@contextmanager
def trace_scope(*, ptx_version: tuple[int, int] | None = None, **options) -> Iterator[TraceContext]:
    """Install a new context for the current thread; restore the previous one at the end of the block."""
    previous = getattr(_thread, "ctx", None)
    _thread.ctx = ctx = TraceContext(ptx_version=ptx_version, **options)
    try:
        yield ctx
    finally:
        _thread.ctx = previous


@boundary
def run(function: Callable[..., object], *args: object, **kwargs: object) -> object:
    """Call the kernel's Python function; stacks of locations end here."""
    try:
        return function(*args, **kwargs)
    except PtxError as error:
        if error.place is None:
            error.place = raised_at(error)
        raise
    except Exception as error:
        found = explained(error)
        if found is None:
            raise
        raise found from error
    finally:
        forget_frame()


def emit(opcode: str, modifiers: str, *operands: object, pred: object = None) -> Instruction:
    """Append `opcode` with dotted `modifiers`; operands and guard are converted from Python values."""
    nodes = tuple([operand(o) for o in operands])
    instruction = Instruction(
        opcode, split_modifiers(modifiers), nodes, None if pred is None else guard(pred), None, user_place(2)
    )
    get_ctx().statements.append(instruction)
    return instruction


@cache
def split_modifiers(modifiers: str) -> tuple[str, ...]:
    """Split dotted text into modifiers: "rn.f32" is (".rn", ".f32")."""
    return tuple("." + word for word in modifiers.split(".") if word)


def guard(pred: object) -> Predicate | None:
    """Convert the value of `pred=`, a predicate register or its negation `~p`, to a guard.

    Raises:
        TypeError: any other value.
    """
    if pred is None:
        return None
    negated = getattr(pred, "negated_register", None)
    if negated is not None:
        return Predicate(negated, True)
    dtype = getattr(pred, "dtype", None)
    if dtype is None or dtype.name != "pred":
        raise OperandError(
            f"pred= takes a predicate register or ~predicate, not {pred!r}{getattr(pred, 'why_no_guard', '')}"
        )
    return Predicate(str(getattr(pred, "name", "")))
