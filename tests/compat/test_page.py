"""The compatibility page lists every compatibility name, and each of them exists."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

from pyptx.compat import ALIASES

PAGE = Path(__file__).parents[2] / "docs" / "migration" / "pyptx-0.1.md"


def resolve(dotted: str) -> object:
    """Import the longest module prefix of a dotted name and follow the rest as attributes."""
    words = dotted.split(".")
    for end in range(len(words), 0, -1):
        try:
            found = import_module(".".join(words[:end]))
        except ImportError:
            continue
        for word in words[end:]:
            found = getattr(found, word)
        return found
    raise AssertionError(f"{dotted} cannot be imported")


def test_the_page_and_the_list_agree():
    rows = re.findall(r"^\| `(\S+)` \| .+ \| (yes|no) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    assert rows == [(alias.name, "yes" if alias.frozen else "no") for alias in ALIASES]


@pytest.mark.parametrize("alias", ALIASES, ids=lambda alias: alias.name)
def test_a_compatibility_name_exists(alias):
    name, _, parameter = alias.name.partition("(")
    if name.startswith("pyptx.jax_support"):
        pytest.importorskip("jax")
    if name.startswith("pyptx.torch_support"):
        pytest.importorskip("torch")
    found = resolve(name)
    if parameter:
        assert parameter.rstrip("=)") in inspect.signature(found).parameters


@pytest.mark.parametrize(
    "alias", [a for a in ALIASES if re.fullmatch(r"pyptx(\.\w+)+", a.replacement)], ids=lambda a: a.name
)
def test_its_replacement_exists(alias):
    resolve(alias.replacement)
