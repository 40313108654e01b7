"""A kernel that takes the best configuration known for its arrays at each call; it is tuned on request only."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from pyptx._outside import hashable
from pyptx.kernel import Kernel
from pyptx.kernel.calls import Calls
from pyptx.runtime import Runtime, runtime_for
from pyptx.runtime.arrays import register
from pyptx.tune import results
from pyptx.tune.places import key_of
from pyptx.tune.problem import Problem
from pyptx.tune.space import Config, Space
from pyptx.tune.study import Study

__all__ = ["Autotuned", "autotune"]


class Autotuned(Kernel):
    """A kernel and the space of its template parameters.

    A call of a kind that was not made before looks up, for the shapes and types of its arrays on their device, the best
    configuration the store has; parameters given in the call win. Where nothing is stored, the kernel's defaults run.
    `tune(...)` tries the space and is remembered, by later processes too.
    """

    def __init__(self, kernel: Kernel, space: Space, options: Mapping[str, Any]):
        self.__dict__.update(vars(kernel))
        self.plain, self.space, self.tuning = kernel, space, dict(options)
        space.check_names(self.name, tuple(self.template_params))
        self.calls, self._number = Calls(self), register(self)          # recorded calls find this one
        self._chosen: dict[Hashable, Config] = {}

    def run(self, runtime: Runtime, inputs: Sequence[Any], out: Any, params: Mapping[str, Any],
            key: Hashable | None = None) -> list[Any]:
        """As of a kernel, with the best known configuration of the arrays' shapes."""
        return super().run(runtime, inputs, out, {**self._choice(runtime, inputs, params), **params}, key)

    def tune(self, *arrays: Any, **options: Any) -> Study:
        """Try the space on these arrays, and use what was found from now on.

        Args:
            arrays: inputs of a call, or one mapping of sizes.
            options: of Study; by default those given to the decorator.
        """
        args = arrays[0] if len(arrays) == 1 and isinstance(arrays[0], Mapping) else arrays
        try:
            return Study(self.plain, self.space, args, **{**self.tuning, **options}).run()
        finally:
            self.forget()

    def forget(self) -> None:
        """Look into the store again at the next call."""
        self._chosen.clear()
        self.calls.found.clear()

    def best(self, *arrays: Any, **params: Any) -> Config | None:
        """The configuration that a call with these arrays takes; None: its defaults, nothing is stored.

        Args:
            arrays: inputs of a call, or one mapping of sizes.
        """
        if len(arrays) == 1 and isinstance(arrays[0], Mapping):
            return self._stored(arrays[0], params, None) or None
        return self._choice(runtime_for(arrays), arrays, params) or None

    def _choice(self, runtime: Runtime, inputs: Sequence[Any], params: Mapping[str, Any]) -> Config:
        if any(name in params for name in self.space.names):
            return {}                                   # the caller knows better
        kind = tuple((tuple(array.shape), runtime.arrays.dtype_name(array)) for array in inputs)
        key = (runtime.name, runtime.device, kind, tuple((name, hashable(value)) for name, value in params.items()))
        if key not in self._chosen:
            self._chosen[key] = self._stored(inputs, params, runtime)
        return self._chosen[key]

    def _stored(self, args: Any, params: Mapping[str, Any], runtime: Runtime | None) -> Config:
        fixed = {**self.tuning.get("params", {}), **params}
        problem = Problem(self.plain, args, {name: fixed[name] for name in fixed if name not in self.symbolic_dims},
                          runtime=runtime)
        key = key_of(problem, self.tuning.get("gpu"), self.tuning.get("options", ()))
        choice = results.best_of(key, self.space.given(**problem.sizes, **problem.params))
        return choice.config if choice else {}

    def __repr__(self) -> str:
        return f"<pyptx kernel {self.name}, {self.arch}, tuned over {', '.join(self.space.names)}>"


def autotune(space: Space | Mapping[str, Iterable[Any]] | None = None, /, **options: Any) -> Callable[[Kernel],
                                                                                                     Autotuned]:
    """Let a kernel choose its template parameters by what tuning found.

        @autotune(Space(BM=[64, 128], BN=[64, 128, 256]), reference=lambda a, b: a @ b)
        @kernel(in_specs=..., out_specs=..., grid=...)
        def gemm(a, b, c, *, BM=128, BN=128): ...

        gemm.tune(a, b)             # once; stored
        gemm(a, b)                  # the best configuration for these shapes

    Args:
        space: a Space or a mapping; or the parameters' values by name: autotune(BM=[64, 128]).
        options: of Study, for `tune`: reference=, check_args=, budget=, strategy= ...
    Raises:
        SpaceError: the kernel has no such template parameter.
    """
    if space is None:
        known = {"reference", "check_args", "budget", "strategy", "objective", "params", "gpu", "options", "spills",
                 "rtol", "atol", "limit_s", "workers", "cluster", "resume", "seed"}
        space = Space(**{name: options.pop(name) for name in list(options) if name not in known})
    chosen = Space.of(space)

    def wrap(kernel: Kernel) -> Autotuned:
        if not isinstance(kernel, Kernel):
            raise TypeError(f"@autotune stands above @kernel; it got {kernel!r}")
        return Autotuned(kernel, chosen, options)
    return wrap

