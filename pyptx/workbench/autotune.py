"""`@autotune`: a kernel that uses the best stored configuration for the shapes of each call."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from pyptx.errors import OperandError
from pyptx.jit.captures import hashable
from pyptx.jit.launch_cache import LaunchCache
from pyptx.jit.launcher import Launcher
from pyptx.runtime import LaunchResult, Runtime, runtime_for
from pyptx.runtime.identity import KernelIdentity, resolve
from pyptx.tune import result_store
from pyptx.tune.clusters import machine_of
from pyptx.tune.environment import study_key
from pyptx.tune.problem import Problem
from pyptx.tune.space import Config, Space
from pyptx.tune.study import Study
from pyptx.workbench.kernel import Kernel

__all__ = ["Autotuned", "autotune"]


class Autotuned(Kernel):
    """A kernel with the search space of its template parameters.

    The first call with new shapes, types or device looks up the best stored configuration; parameters given in the call
    take precedence, and the kernel's defaults apply when nothing is stored. Only `tune` runs a search; its results are
    stored for later processes.
    """

    plain: Kernel
    space: Space
    tuning: dict[str, Any]

    def __init__(self, kernel: Kernel, space: Space, options: Mapping[str, Any]):
        self.__dict__.update(vars(kernel))
        self.plain, self.space, self.tuning = kernel, space, dict(options)
        space.check_names(self.name, tuple(self.template_params))
        self.launcher, self.launch_cache = Launcher(self), LaunchCache(self)
        self._chosen: dict[Hashable, Config] = {}
        self._declare()

    def run(
        self,
        runtime: Runtime,
        inputs: Sequence[Any],
        out: Any,
        params: Mapping[str, Any],
        key: Hashable | None = None,
        settings: Mapping[str, Any] = MappingProxyType({}),
    ) -> LaunchResult:
        """Launch as a kernel does, with the best known configuration for the arrays' shapes."""
        return super().run(runtime, inputs, out, {**self._choice(runtime, inputs, params), **params}, key, settings)

    @property
    def identity(self) -> str:
        """Identity of the tuned kernel, which differs from that of the kernel without tuning."""
        found = KernelIdentity.parse(super().identity)
        return str(replace(found, launch=f"{found.launch}-autotuned"))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the identity; the results of tuning are in the store."""
        return resolve, (self.recorded_identity(),)

    def tune(self, *arrays: Any, **options: Any) -> Study:
        """Run the search on these arrays; later calls use its result.

        Args:
            arrays: inputs of a call, or one mapping of sizes.
            options: options of Study; default: those given to the decorator.
        """
        args = arrays[0] if len(arrays) == 1 and isinstance(arrays[0], Mapping) else arrays
        try:
            return Study(self.plain, self.space, args, **{**self.tuning, **options}).run()
        finally:
            self.forget()

    def forget(self) -> None:
        """Read the store again at the next call."""
        self._chosen.clear()
        self.launch_cache.entries.clear()

    def best(self, *arrays: Any, **params: Any) -> Config | None:
        """Return the configuration that a call with these arrays uses; None: nothing is stored, so the defaults apply.

        Args:
            arrays: inputs of a call, or one mapping of sizes.
        """
        if len(arrays) == 1 and isinstance(arrays[0], Mapping):
            return self._stored(arrays[0], params, None) or None
        return self._choice(runtime_for(arrays), arrays, params) or None

    def _choice(self, runtime: Runtime, inputs: Sequence[Any], params: Mapping[str, Any]) -> Config:
        if any(name in params for name in self.space.names):
            return {}  # parameters of the call take precedence
        signature = tuple((tuple(array.shape), runtime.arrays.dtype_name(array)) for array in inputs)
        key = (
            runtime.name,
            runtime.device,
            signature,
            tuple((name, hashable(value)) for name, value in params.items()),
        )
        if key not in self._chosen:
            self._chosen[key] = self._stored(inputs, params, runtime)
        return self._chosen[key]

    def _stored(self, args: Any, params: Mapping[str, Any], runtime: Runtime | None) -> Config:
        fixed = {**self.tuning.get("params", {}), **params}
        problem = Problem(
            self.plain, args, {name: fixed[name] for name in fixed if name not in self.symbolic_dims}, runtime=runtime
        )
        machine = machine_of(self.tuning.get("cluster"), problem.runtime)
        key = study_key(problem, self.tuning.get("gpu"), self.tuning.get("options", ()), machine=machine)
        choice = result_store.best_of(key, self.space.given(**problem.sizes, **problem.params))
        return choice.config if choice else {}

    def __repr__(self) -> str:
        return f"<pyptx kernel {self.name}, {self.arch}, tuned over {', '.join(self.space.names)}>"


def autotune(
    space: Space | Mapping[str, Iterable[Any]] | None = None, /, **options: Any
) -> Callable[[Kernel], Autotuned]:
    """Decorate a kernel so that it uses tuned values of its template parameters::

        @autotune(Space(BM=[64, 128], BN=[64, 128, 256]), reference=lambda a, b: a @ b)
        @kernel(in_specs=..., out_specs=..., grid=...)
        def gemm(a, b, c, *, BM=128, BN=128): ...

        gemm.tune(a, b)             # once; the results are stored
        gemm(a, b)                  # uses the best configuration for these shapes

    Args:
        space: a Space or a mapping; alternatively the parameters' values by keyword: autotune(BM=[64, 128]).
        options: options of Study for `tune`: reference=, check_args=, budget=, strategy=, ...
    Raises:
        SpaceError: the kernel has no such template parameter.
        OperandError: the decorated object is not a kernel.
    """
    if space is None:
        known = {
            "reference",
            "check_args",
            "budget",
            "strategy",
            "objective",
            "params",
            "gpu",
            "options",
            "spills",
            "rtol",
            "atol",
            "limit_s",
            "workers",
            "cluster",
            "resume",
            "seed",
        }
        space = Space(**{name: options.pop(name) for name in list(options) if name not in known})
    chosen = Space.of(space)

    def wrap(kernel: Kernel) -> Autotuned:
        if not isinstance(kernel, Kernel):
            raise OperandError(f"@autotune decorates a kernel, not {kernel!r}", hint="write @autotune above @kernel")
        return Autotuned(kernel, chosen, options)

    return wrap
