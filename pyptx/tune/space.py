"""What is tried: named parameters with their values, and restrictions that say which combinations make no sense."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

__all__ = ["Config", "Restriction", "Space", "SpaceError", "restrict"]

Config = dict[str, Any]


class SpaceError(ValueError):
    """A space that cannot be: a parameter with no values, a restriction on a name that nothing has.

    Examples:
        >>> space = pyptx.tune.Space(lambda BM, BN: BM <= BN, BM=[64, 128], BN=[64, 128])
        >>> list(space)
        [{'BM': 64, 'BN': 64}, {'BM': 64, 'BN': 128}, {'BM': 128, 'BN': 128}]
    """


@dataclass(frozen=True)
class Restriction:
    """A rule over the parameters it names.

    Attributes:
        rule: gets the values of `names`; true (or None) lets them pass; false, or a text that says why, refuses them.
        names: of parameters, or of sizes of the problem ("M").
        reason: what is said of a combination that it refuses; {NAME} stands for a value.
    """

    rule: Callable[..., Any]
    names: tuple[str, ...]
    reason: str

    def refuses(self, values: Mapping[str, Any]) -> str | None:
        """Why the values are refused, None when they are not."""
        answer = self.rule(**{name: values[name] for name in self.names})
        if isinstance(answer, str):
            return answer or None
        if answer is None or answer:
            return None
        try:
            return self.reason.format(**values)
        except (KeyError, IndexError, ValueError):      # braces that are none of ours
            return self.reason


def restrict(rule: Callable[..., Any], reason: str | None = None) -> Restriction:
    """A restriction: `restrict(lambda BM, BN: BM * BN <= 128 * 256, "the sums of {BM} x {BN} do not fit registers")`.

    Args:
        rule: named parameters in, truth out; or a text that says why not. It may name sizes of the problem too.
        reason: what to say of what it refuses; by default the rule's own text.
    Raises:
        SpaceError: the rule's parameters have no names.
    """
    parameters = inspect.signature(rule).parameters.values()
    if any(p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        raise SpaceError(f"{rule}: a restriction names the parameters it is about, as in lambda BM, BN: BM <= BN")
    return Restriction(rule, tuple(p.name for p in parameters), reason or _text_of(rule))


class Space:
    """The product of the parameters' values, in order, less what restrictions refuse. Nothing is listed in advance.

        Space(BM=[64, 128], BN=[64, 128, 256])
        Space(restrict(lambda BM, BN: BM <= BN), BM=[64, 128], BN=[64, 128, 256])

    Args:
        restrictions: of `restrict`, or plain functions.
        parameters: values of each parameter; the last one varies fastest.
    Raises:
        SpaceError: a parameter without values, or with one value twice.
    """

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
            if twice := next((v for i, v in enumerate(values) if v in values[:i]), None):
                raise SpaceError(f"{name} has the value {twice!r} twice")
        self.restrictions = tuple(r if isinstance(r, Restriction) else restrict(r) for r in restrictions)
        self.sizes: dict[str, Any] = {}

    @classmethod
    def of(cls, value: Space | Mapping[str, Iterable[Any]]) -> Space:
        """A space, or one of a mapping from names to values."""
        return value if isinstance(value, Space) else cls(**value)

    def check_names(self, kernel: str, template: Sequence[str]) -> None:
        """Refuse names that are none of a kernel's template parameters.

        Raises:
            SpaceError: says which, and what there is.
        """
        if unknown := [name for name in self.names if name not in template]:
            raise SpaceError(f"{kernel} has no template parameter {', '.join(unknown)}; it has "
                             f"{', '.join(template) or 'none'}")

    def restrict(self, rule: Callable[..., Any], reason: str | None = None) -> Space:
        """The space with one more restriction."""
        other = Space(*self.restrictions, restrict(rule, reason), **self.parameters)
        other.sizes = dict(self.sizes)
        return other

    def given(self, **sizes: Any) -> Space:
        """The space with the sizes of a problem, which restrictions may name.

        Raises:
            SpaceError: a restriction names what is neither a parameter nor a size.
        """
        other = Space(*self.restrictions, **self.parameters)
        other.sizes = {name: value for name, value in sizes.items() if name not in self.parameters}
        other._waiting()
        return other

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters' names, in order."""
        return tuple(self.parameters)

    def __len__(self) -> int:
        """Combinations, those that are refused among them."""
        return prod(map(len, self.parameters.values()))

    def __iter__(self) -> Iterator[Config]:
        return self.feasible()

    def __getitem__(self, index: int) -> Config:
        """The combination of a number, refused or not."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"combination {index} of {len(self)}")
        index, config = index % len(self), {}
        for name, values in reversed(self.parameters.items()):
            index, place = divmod(index, len(values))
            config[name] = values[place]
        return {name: config[name] for name in self.parameters}

    def __contains__(self, config: object) -> bool:
        return (isinstance(config, Mapping) and config.keys() == self.parameters.keys()
                and all(config[name] in values for name, values in self.parameters.items())
                and self.refusal(config) is None)

    def refusal(self, config: Mapping[str, Any]) -> str | None:
        """Why a restriction refuses the combination; None when none does."""
        values = {**self.sizes, **config}
        return next(filter(None, (r.refuses(values) for r in self.restrictions)), None)

    def feasible(self) -> Iterator[Config]:
        """The combinations that no restriction refuses; a restriction cuts off all that its values lead to at once."""
        return self._walk({**self.sizes}, 0, self._waiting())

    def points(self) -> Iterator[tuple[Config, str | None]]:
        """All combinations, each with the reason why it is refused, or None."""
        for index in range(len(self)):
            config = self[index]
            yield config, self.refusal(config)

    def count(self) -> int:
        """How many combinations no restriction refuses; walks through them."""
        return sum(1 for _ in self.feasible())

    def _walk(self, values: dict[str, Any], depth: int, waiting: list[list[Restriction]]) -> Iterator[Config]:
        if any(r.refuses(values) for r in waiting[depth]):
            return
        if depth == len(self.parameters):
            yield {name: values[name] for name in self.parameters}
            return
        name = self.names[depth]
        for value in self.parameters[name]:
            values[name] = value
            yield from self._walk(values, depth + 1, waiting)
        del values[name]

    def _waiting(self) -> list[list[Restriction]]:
        """The restrictions by how many parameters must be set before they can be asked."""
        places = {**dict.fromkeys(self.sizes, 0), **{name: i + 1 for i, name in enumerate(self.parameters)}}
        waiting: list[list[Restriction]] = [[] for _ in range(len(self.parameters) + 1)]
        for restriction in self.restrictions:
            if unknown := [name for name in restriction.names if name not in places]:
                raise SpaceError(f"the restriction {restriction.reason!r} names {', '.join(unknown)}; known are "
                                 f"{', '.join(places)}")
            waiting[max((places[name] for name in restriction.names), default=0)].append(restriction)
        return waiting

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={list(values)!r}" for name, values in self.parameters.items())
        more = f"; {len(self.restrictions)} restrictions" if self.restrictions else ""
        return f"<Space {values}: {len(self)} combinations{more}>"


def _text_of(rule: Callable[..., Any]) -> str:
    """The text of a rule: what follows `lambda ...:`, or the name of a function."""
    if rule.__name__ != "<lambda>":
        return (inspect.getdoc(rule) or "").partition("\n")[0] or f"refused by {rule.__name__}"
    wanted = set(inspect.signature(rule).parameters)
    try:
        source = textwrap.dedent(inspect.getsource(rule)).strip()
    except (OSError, TypeError):                        # typed at a prompt, or made by eval
        return f"refused by a rule on {', '.join(wanted)}"
    for end in range(len(source), 0, -1):               # the statement may be cut off in the middle
        try:
            tree = ast.parse(source[source.index("lambda"):end] if end < len(source) else source)
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Lambda) and {a.arg for a in (*node.args.args, *node.args.kwonlyargs)} == wanted:
                return f"not {ast.unparse(node.body)}"
        break
    return f"refused by a rule on {', '.join(sorted(wanted))}"
