"""Modules and libraries: PTX that the client loads, their variables in the device's memory, and their kernels."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pyptx.cuda_device.error_codes import CODES
from pyptx.cuda_device.images import ptx_of, with_device_functions
from pyptx.cuda_device.server.device_memory import READ_WRITE, Allocation
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.source_lines import with_source_lines
from pyptx.errors import DeviceError, MissingToolError, PtxError
from pyptx.ir.nodes import Module as Tree
from pyptx.parser import parse
from pyptx.sim.memory.address_space import Buffer, Segment
from pyptx.sim.program.program import Program, load
from pyptx.sim.symbols.symbol_table import SymbolTable

__all__ = ["Kernel", "Module", "read_file"]

_VARIABLES = parse(".version 7.0\n.target sm_70\n.address_size 64\n.entry variables() { ret; }\n").entries[0]
_ERROR_LOG, _ERROR_LOG_BYTES = 5, 6  # CUjit_option


@dataclass(eq=False)
class Module:
    """A loaded module; a library is one too.

    Attributes:
        context: that it belongs to; 0 for a library.
        image: what the client passed.
        kernels: the kernels that were asked for, by name.
        variables: memory of `.global` variables, by (name, how many of that name came before).
        constants: memory of the `.const` variables of the module.
        places: offset and size in `constants` of each of them.
    """

    session: Session
    context: int
    image: bytes
    text: str
    tree: Tree
    handle: int = 0
    kernels: dict[str, Kernel] = field(default_factory=dict)
    variables: dict[tuple[str, int], Allocation] = field(default_factory=dict)
    constants: Allocation | None = None
    places: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def is_owned(self) -> bool:
        """True for a library, which belongs to no context and lives as long as the process."""
        return not self.context

    @cached_property
    def names(self) -> list[str]:
        """Names of its entries."""
        return [function.name for function in self.tree.entries]

    def kernel(self, name: str) -> Kernel:
        """Return a kernel by its name.

        Raises:
            DriverError: the module has no such entry.
        """
        found = self.kernels.get(name)
        if found is None:
            if name not in self.names:
                raise DriverError(
                    "NOT_FOUND", f"the module has no kernel {name}; it has {', '.join(self.names) or 'none'}"
                )
            handle = self.session.new_handle()
            found = self.kernels[name] = Kernel(self, name, handle)
            self.session.add(found, handle)
        return found

    def place(self, buffers: Iterable[Buffer]) -> dict[int, Segment]:
        """Place the variables of an entry: those of the module have one address for all of its entries."""
        placed: dict[int, Segment] = {}
        seen: Counter[str] = Counter()
        for buffer in buffers:
            key = buffer.name, seen[buffer.name]
            seen[buffer.name] += 1
            if key not in self.variables:
                size = max(1, buffer.array.nbytes)
                self.variables[key] = self.session.memory.allocate(size, self.context, "variable", name=buffer.name)
            placed[id(buffer)] = Segment(self.variables[key].address, buffer)
        return placed

    def adopt(self, symbols: SymbolTable) -> None:
        """Give variables that were not known before their initial values."""
        seen: Counter[str] = Counter()
        for variable in symbols.globals:
            buffer = variable.buffer
            key = variable.name, seen[variable.name]
            seen[variable.name] += 1
            if buffer is not None and buffer.array.nbytes:
                memory = self.variables[key].bytes
                if not self.variables[key].flags:
                    memory[: buffer.array.nbytes] = buffer.bytes
                    self.variables[key].flags = 1  # it has its initial value
                buffer.array = memory

    def free(self) -> None:
        """Release its memory and its kernels."""
        for allocation in (*self.variables.values(), *([self.constants] if self.constants else [])):
            if self.session.memory.find(allocation.address) is allocation:
                self.session.memory.free(allocation.address)
        for kernel in self.kernels.values():
            self.session.discard(kernel.handle)


@dataclass(eq=False)
class Kernel:
    """A kernel; its handle is both CUkernel and CUfunction.

    Attributes:
        settings: values of cuFuncSetAttribute.
        older: the next launch by functions of CUDA before 4.0.
    """

    module: Module
    name: str
    handle: int
    settings: dict[int, int] = field(default_factory=dict)
    older: Any = None

    @property
    def context(self) -> int:
        return self.module.context

    @cached_property
    def program(self) -> Program:
        """The kernel as the simulator runs it.

        Raises:
            DriverError: it uses forms that are not simulated.
        """
        try:
            program = load(self.module.tree, self.name, self.module.place)
        except PtxError as error:
            raise DriverError("NOT_SUPPORTED", f"kernel {self.name} cannot be simulated: {error}") from error
        self.module.adopt(program.symbols)
        return program


def load_module(session: Session, image: bytes, context: int) -> Module:
    """Load an image: PTX, a fat binary, or a cubin that embeds its PTX.

    Raises:
        DriverError: it is invalid or for another GPU.
    """
    try:
        text = with_device_functions(ptx_of(image, session.gpu.target))
        tree = with_source_lines(parse(text), text)
    except DeviceError as error:
        name = CODES.get(error.code, CODES[999])[0].removeprefix("CUDA_ERROR_")
        raise DriverError(name, f"cannot load a module: {error}") from error
    except MissingToolError as error:
        raise DriverError("NOT_SUPPORTED", f"cannot load a module: {error}") from error
    except PtxError as error:
        raise DriverError("INVALID_PTX", f"cannot load a module: {error}") from error
    module = Module(session, context, image, text, tree)
    try:
        symbols = SymbolTable(tree, _VARIABLES, module.place)
    except PtxError as error:
        raise DriverError("INVALID_PTX", f"cannot load a module: {error}") from error
    module.adopt(symbols)
    if symbols.const_bytes:
        module.constants = session.memory.allocate(len(symbols.const_bytes), context, "variable", name="constants")
        module.constants.bytes[:] = np.frombuffer(symbols.const_bytes, np.uint8)
    for name, variable in symbols.top.variables.items():
        if variable.space == "const" and variable.address is not None:
            module.places[name] = variable.address, variable.size
    module.handle = session.add(module)
    return module


def _load(session: Session, image: bytes, context: int, count: int = 0, options: int = 0, values: int = 0) -> int:
    """Load an image; an error is also written to the log buffer that JIT options name."""
    try:
        return load_module(session, image, context).handle
    except DriverError as error:
        if count and options and values:
            numbers = struct.unpack(f"<{count}i", session.read(options, 4 * count))
            given = dict(zip(numbers, struct.unpack(f"<{count}Q", session.read(values, 8 * count)), strict=True))
            room = given.get(_ERROR_LOG_BYTES, 0) & 0xFFFFFFFF
            if given.get(_ERROR_LOG) and room:
                session.write(given[_ERROR_LOG], error.diagnosis.encode()[: room - 1] + b"\0")
        raise


def read_file(session: Session, name: bytes) -> bytes:
    """Return the contents of a file that the client names.

    Raises:
        DriverError: it cannot be read.
    """
    try:
        return session.path(name).read_bytes()
    except OSError as error:
        raise DriverError("FILE_NOT_FOUND", f"cannot read an image: {error}") from error


@handles("cuModuleLoad")
def load_file(session: Session, name: bytes) -> int:
    return _load(session, read_file(session, name), session.context)


@handles("cuModuleLoadData", "cuModuleLoadFatBinary")
def load_data(session: Session, image: bytes) -> int:
    return _load(session, image, session.context)


@handles("cuModuleLoadDataEx")
def load_data_with_options(session: Session, image: bytes, count: int, options: int, values: int) -> int:
    return _load(session, image, session.context, count, options, values)


@handles("cuModuleUnload", "cuLibraryUnload")
def unload(session: Session, handle: int) -> None:
    session.remove(handle, Module).free()


@handles("cuModuleGetLoadingMode")
def loading_mode(session: Session) -> int:
    return 2  # CU_MODULE_LAZY_LOADING: kernels are decoded when they are first used


@handles("cuLibraryLoadData")
def load_library(
    session: Session, image: bytes, options: int, values: int, count: int, more: int, more_values: int, more_count: int
) -> int:
    return _load(session, image, 0, count, options, values)


@handles("cuLibraryLoadFromFile")
def load_library_file(
    session: Session, name: bytes, options: int, values: int, count: int, more: int, more_values: int, more_count: int
) -> int:
    return _load(session, read_file(session, name), 0, count, options, values)


@handles("cuLibraryGetModule")
def module_of_library(session: Session, handle: int) -> int:
    return session.get(handle, Module).handle


@handles("cuModuleGetFunction", "cuLibraryGetKernel")
def function(session: Session, handle: int, name: bytes) -> int:
    return session.get(handle, Module).kernel(name.decode(errors="replace")).handle


@handles("cuModuleGetFunctionCount", "cuLibraryGetKernelCount")
def function_count(session: Session, handle: int) -> int:
    return len(session.get(handle, Module).names)


@handles("cuModuleEnumerateFunctions", "cuLibraryEnumerateKernels")
def enumerate_functions(session: Session, place: int, count: int, handle: int) -> None:
    module = session.get(handle, Module)
    handles_of = [module.kernel(name).handle for name in module.names[:count]]
    session.write(place, struct.pack(f"<{len(handles_of)}Q", *handles_of))


@handles("cuModuleGetGlobal_v2", "cuLibraryGetGlobal")
def variable(session: Session, handle: int, name: bytes) -> tuple[int, int]:
    module, text = session.get(handle, Module), name.decode(errors="replace")
    found = module.variables.get((text, 0))
    if found is not None:
        return found.address, found.size
    if text in module.places and module.constants is not None:
        offset, size = module.places[text]
        return module.constants.address + offset, size
    names = [*(name for name, _ in module.variables), *module.places]
    raise DriverError("NOT_FOUND", f"the module has no variable {text}; it has {', '.join(names) or 'none'}")


@handles("cuLibraryGetManaged")
def managed_variable(session: Session, handle: int, name: bytes) -> tuple[int, int]:
    address, size = variable(session, handle, name)
    if (found := session.memory.find(address)) is not None and found.kind == "variable":
        found.kind = "managed variable"
        session.memory.let_host_access(address, size, READ_WRITE)
    return address, size


@handles("cuKernelGetFunction")
def function_of_kernel(session: Session, handle: int) -> int:
    return session.get(handle, Kernel).handle


@handles("cuKernelGetLibrary", "cuFuncGetModule")
def library_of_kernel(session: Session, handle: int) -> int:
    return session.get(handle, Kernel).module.handle


@handles("cuKernelGetName", "cuFuncGetName")
def kernel_name(session: Session, handle: int) -> bytes:
    return session.get(handle, Kernel).name.encode()
