"""Search spaces: named parameters with their values, and restrictions on combinations."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from pyptx.errors import BoundsError, PtxError

__all__ = ["Config", "Restriction", "Space", "SpaceError", "restrict"]

Config = dict[str, Any]


class SpaceError(PtxError, ValueError):
    """A space is invalid: a parameter without values, a restriction on an unknown name."""


@dataclass(frozen=True)
class Restriction:
    """A predicate over named parameters.

    Attributes:
        rule: function of the values of `names`; true (or None) accepts them; false, or a text with the reason, refuses
            them.
        names: names of parameters, or of sizes of the problem ("M").
        reason: reason for a refusal; {NAME} is replaced by a value.
    """

    rule: Callable[..., Any]
    names: tuple[str, ...]
    reason: str

    def refuses(self, values: Mapping[str, Any]) -> str | None:
        """Return the reason for refusing the values, or None."""
        answer = self.rule(**{name: values[name] for name in self.names})
        if isinstance(answer, str):
            return answer or None
        if answer is None or answer:
            return None
        try:
            return self.reason.format(**values)
        except (KeyError, IndexError, ValueError):  # braces that are not placeholders
            return self.reason


def restrict(rule: Callable[..., Any], reason: str | None = None) -> Restriction:
    """Return a restriction: `restrict(lambda BM, BN: BM * BN <= 128 * 256, "the sums of {BM} x {BN} do not fit registers")`.

    Args:
        rule: function of named parameters, or of sizes of the problem; true accepts, false or a text with the reason
            refuses.
        reason: reason for refusals; default: the source of the rule.
    Raises:
        SpaceError: the rule has parameters without names.
    """
    parameters = inspect.signature(rule).parameters.values()
    if any(p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        raise SpaceError(f"{rule}: a restriction takes named parameters, as in lambda BM, BN: BM <= BN")
    return Restriction(rule, tuple(p.name for p in parameters), reason or _text_of(rule))


class Space:
    """The Cartesian product of the parameters' values, in order, without refused combinations; enumerated lazily.

        Space(BM=[64, 128], BN=[64, 128, 256])
        Space(restrict(lambda BM, BN: BM <= BN), BM=[64, 128], BN=[64, 128, 256])

    Args:
        restrictions: results of `restrict`, or functions.
        parameters: values of each parameter; the last one varies fastest.
    Raises:
        SpaceError: a parameter has no values, or a repeated one.
    Examples:
        >>> space = pyptx.tune.Space(lambda BM, BN: BM <= BN, BM=[64, 128], BN=[64, 128])
        >>> list(space)
        [{'BM': 64, 'BN': 64}, {'BM': 64, 'BN': 128}, {'BM': 128, 'BN': 128}]
    """

    restrictions: tuple[Restriction, ...]

    def __init__(self, *restrictions: Restriction | Callable[..., Any], **parameters: Iterable[Any]):
        if not parameters:
            raise SpaceError("a space needs a parameter, as in Space(BM=[64, 128])")
        self.parameters: dict[str, tuple[Any, ...]] = {}
        for name, values in parameters.items():
            if isinstance(values, str | bytes) or not isinstance(values, Iterable):
                raise SpaceError(f"{name}={values!r}; expected its values, as in {name}=[64, 128]")
            self.parameters[name] = values = tuple(values)
            if not values:
                raise SpaceError(f"{name} has no values")
            if repeated := next((v for i, v in enumerate(values) if v in values[:i]), None):
                raise SpaceError(f"{name} has the value {repeated!r} twice")
        self.restrictions = tuple(r if isinstance(r, Restriction) else restrict(r) for r in restrictions)
        self.sizes: dict[str, Any] = {}

    @classmethod
    def of(cls, value: Space | Mapping[str, Iterable[Any]]) -> Space:
        """Return a space as it is, or the space of a mapping from names to values."""
        return value if isinstance(value, Space) else cls(**value)

    def check_names(self, kernel: str, template: Sequence[str]) -> None:
        """Check that all names are template parameters of a kernel.

        Args:
            kernel: name of the kernel.
            template: names of its template parameters.
        Raises:
            SpaceError: a name is unknown.
        """
        if unknown := [name for name in self.names if name not in template]:
            raise SpaceError(
                f"{kernel} has no template parameter {', '.join(unknown)}; it has {', '.join(template) or 'none'}"
            )

    def restrict(self, rule: Callable[..., Any], reason: str | None = None) -> Space:
        """Return the space with one more restriction."""
        other = Space(*self.restrictions, restrict(rule, reason), **self.parameters)
        other.sizes = dict(self.sizes)
        return other

    def given(self, **sizes: Any) -> Space:
        """Return the space with the sizes of a problem, for restrictions that refer to them.

        Raises:
            SpaceError: a restriction refers to a name that is neither a parameter nor a size.
        """
        other = Space(*self.restrictions, **self.parameters)
        other.sizes = {name: value for name, value in sizes.items() if name not in self.parameters}
        other._by_depth()
        return other

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters' names, in order."""
        return tuple(self.parameters)

    def __len__(self) -> int:
        """Return the number of combinations, including refused ones."""
        return prod(map(len, self.parameters.values()))

    def __iter__(self) -> Iterator[Config]:
        return self.feasible()

    def __getitem__(self, index: int) -> Config:
        """Return the combination of an index, refused or not."""
        if not -len(self) <= index < len(self):
            raise BoundsError(f"combination {index} of {len(self)}")
        index, config = index % len(self), {}
        for name, values in reversed(self.parameters.items()):
            index, place = divmod(index, len(values))
            config[name] = values[place]
        return {name: config[name] for name in self.parameters}

    def __contains__(self, config: object) -> bool:
        return (
            isinstance(config, Mapping)
            and config.keys() == self.parameters.keys()
            and all(config[name] in values for name, values in self.parameters.items())
            and self.refusal(config) is None
        )

    def refusal(self, config: Mapping[str, Any]) -> str | None:
        """Return the reason for refusing a combination, or None."""
        values = {**self.sizes, **config}
        return next(filter(None, (r.refuses(values) for r in self.restrictions)), None)

    def feasible(self) -> Iterator[Config]:
        """Yield the combinations that no restriction refuses; a refused prefix prunes the enumeration."""
        return self._walk({**self.sizes}, 0, self._by_depth())

    def points(self) -> Iterator[tuple[Config, str | None]]:
        """Yield all combinations, each with the reason for its refusal, or None."""
        for index in range(len(self)):
            config = self[index]
            yield config, self.refusal(config)

    def count(self) -> int:
        """Return the number of feasible combinations, by enumeration."""
        return sum(1 for _ in self.feasible())

    def _walk(self, values: dict[str, Any], depth: int, by_depth: list[list[Restriction]]) -> Iterator[Config]:
        if any(r.refuses(values) for r in by_depth[depth]):
            return
        if depth == len(self.parameters):
            yield {name: values[name] for name in self.parameters}
            return
        name = self.names[depth]
        for value in self.parameters[name]:
            values[name] = value
            yield from self._walk(values, depth + 1, by_depth)
        del values[name]

    def _by_depth(self) -> list[list[Restriction]]:
        """Group the restrictions by the number of parameters that must be set before they can be evaluated."""
        depths = {**dict.fromkeys(self.sizes, 0), **{name: i + 1 for i, name in enumerate(self.parameters)}}
        by_depth: list[list[Restriction]] = [[] for _ in range(len(self.parameters) + 1)]
        for restriction in self.restrictions:
            if unknown := [name for name in restriction.names if name not in depths]:
                raise SpaceError(
                    f"the restriction {restriction.reason!r} names {', '.join(unknown)}; known are {', '.join(depths)}"
                )
            by_depth[max((depths[name] for name in restriction.names), default=0)].append(restriction)
        return by_depth

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={list(values)!r}" for name, values in self.parameters.items())
        more = f"; {len(self.restrictions)} restrictions" if self.restrictions else ""
        return f"<Space {values}: {len(self)} combinations{more}>"


def _text_of(rule: Callable[..., Any]) -> str:
    """Return the text of a rule: the body of a lambda, or the docstring or name of a function."""
    if rule.__name__ != "<lambda>":
        return (inspect.getdoc(rule) or "").partition("\n")[0] or f"refused by {rule.__name__}"
    wanted = set(inspect.signature(rule).parameters)
    try:
        source = textwrap.dedent(inspect.getsource(rule)).strip()
    except (OSError, TypeError):  # typed at a prompt, or created by eval
        return f"refused by a rule on {', '.join(wanted)}"
    for end in range(len(source), 0, -1):  # getsource may return part of a statement
        try:
            tree = ast.parse(source[source.index("lambda") : end] if end < len(source) else source)
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Lambda) and {a.arg for a in (*node.args.args, *node.args.kwonlyargs)} == wanted:
                return f"not {ast.unparse(node.body)}"
        break
    return f"refused by a rule on {', '.join(sorted(wanted))}"
