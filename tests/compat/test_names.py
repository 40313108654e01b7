"""Every public name of the 0.1 API is importable and accepts the signature of that API."""

import ast
import inspect
import re
import subprocess
import sys
from importlib import import_module
from itertools import count

import pytest
from compat.names import PUBLIC_NAMES
from support.groups import check_each

LINE = re.compile(r"(?P<name>[\w.]+)(?P<signature>\(.*\))?( = (?P<value>.*))?")
ENTRIES = [
    (module, line.strip()) for module, text in PUBLIC_NAMES.items() for line in text.splitlines() if line.strip()
]


def find(module: str, name: str) -> object:
    """Return the object the name was looked up in, and the object itself."""
    found = owner = import_module(module)
    for word in name.split("."):
        owner, found = found, getattr(found, word)
    return owner, found


def parameters(owner: object, found: object) -> list[inspect.Parameter]:
    """Return the parameters of `found` without `self`."""
    given = list(inspect.signature(found).parameters.values())
    return (
        given[1:]
        if inspect.isclass(owner) and inspect.isfunction(inspect.getattr_static(owner, found.__name__))
        else given
    )


def check_signature(signature: str, given: list[inspect.Parameter], names: dict) -> None:
    """Check that every call valid for the 0.1 signature is valid for ours."""
    numbers = count()
    text = re.sub(r"\b_\b", lambda _: f"_{next(numbers)}", f"def f{signature}: pass")
    args, left = ast.parse(text).body[0].args, {p.name: p for p in given}
    positional = [p for p in given if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    taken = {p.name for p in given if p.kind is p.VAR_POSITIONAL}  # optional
    assert bool(args.vararg) <= any(p.kind is p.VAR_POSITIONAL for p in given), "takes no *args"
    assert bool(args.kwarg) <= any(p.kind is p.VAR_KEYWORD for p in given), "takes no **kwargs"
    taken |= {p.name for p in given if p.kind is p.VAR_KEYWORD}
    defaults = [None] * (len(args.args) - len(args.defaults)) + args.defaults
    for i, (arg, default) in enumerate(zip(args.args, defaults, strict=True)):
        assert i < len(positional), f"argument {i}, {arg.arg!r}, cannot be given by position"
        own = positional[i]
        assert arg.arg == own.name or re.fullmatch(r"_\d+", arg.arg), f"argument {i} is {own.name!r}, not {arg.arg!r}"
        check_default(own, default, names)
        taken.add(own.name)
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        assert arg.arg in left, f"takes no {arg.arg}="
        check_default(left[arg.arg], default, names)
        taken.add(arg.arg)
    more = [p.name for p in given if p.name not in taken and p.default is p.empty]
    assert not more, f"needs {more}, which the 0.1 signature does not have"


def check_default(own: inspect.Parameter, default: ast.expr | None, names: dict) -> None:
    if default is not None:
        wanted = eval(compile(ast.Expression(default), "signature", "eval"), dict(names))
        assert own.default == wanted, f"{own.name} defaults to {own.default!r}, not {wanted!r}"


@pytest.mark.parametrize("module", PUBLIC_NAMES)
def test_the_names_exist_with_their_signatures(module):
    check_each(check_entry, ((entry, (module, entry)) for of, entry in ENTRIES if of == module))


def check_entry(module: str, entry: str) -> None:
    line = LINE.fullmatch(entry)
    owner, found = find(module, line["name"])
    if line["signature"]:
        check_signature(line["signature"], parameters(owner, found), vars(import_module(module)))
    if line["value"]:
        assert found == ast.literal_eval(line["value"])


def test_a_missing_parameter_is_detected():
    def ours(a, *, b=1): ...

    given = parameters(None, ours)
    check_signature("(a, *, b=1)", given, {})
    for other in ("(a, c)", "(x)", "(a, *, b=2)", "(a, *, c=None)", "()", "(*a)"):
        with pytest.raises(AssertionError):
            check_signature(other, given, {})


def test_the_module_and_the_decorator_of_one_name():
    """`from pyptx import kernel` is the decorator, also after `from pyptx.kernel import Kernel`."""
    code = (
        "import pyptx, pyptx.ptx as p; from pyptx.kernel import Kernel; from pyptx import kernel, ptx; import sys\n"
        "assert callable(kernel) and kernel is pyptx.kernel and p is ptx is pyptx.ptx\n"
        "assert not {'torch', 'jax', 'cuda', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
