"""Functions sent as data are the same functions where they are defined again."""

from __future__ import annotations

import functools
import inspect
import json
import math
import operator

import numpy as np
import pytest

from pyptx.benchmarking.function_calls import FunctionCalls, sendable
from pyptx.benchmarking.function_loading import loaded
from pyptx.benchmarking.function_source import NamedFunction, described
from pyptx.errors import BackendError, OptionError
from pyptx.remote.codec import Decoder, Encoder
from pyptx.runtime.numpy_arrays import named_dtype

X = np.arange(6, dtype=np.float32).reshape(2, 3)
FACTOR, TABLE = 3, {"shift": np.float32(1), "kinds": [np.dtype("f4"), math.pi]}


def sent(value):
    """Define a value again from what goes over a connection."""
    encoder = Encoder()
    text = json.dumps(encoder.encode(described(value)))
    return loaded(Decoder(encoder.parts.get).decode(json.loads(text)))


def helper(x, *, by=FACTOR):
    """Multiply."""
    return x * by


def nested(x):
    def inner(value):
        return helper(value) + TABLE["shift"]

    return inner(x)


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def adder(amount):
    return lambda x: x + amount


def marked(function):
    @functools.wraps(function)
    def wrapper(*args):
        return -function(*args)

    return wrapper


@marked
def decorated(x):
    return x + FACTOR


PAIR = (lambda x: x + 1, lambda x: x * 2)  # two on one line


def even(n):
    return n == 0 or odd(n - 1)


def odd(n):
    return n != 0 and even(n - 1)


@pytest.mark.parametrize(
    "function",
    [
        helper,
        nested,
        adder(5),
        decorated,
        *PAIR,
        operator.neg,
        np.abs,
        np.linalg.norm,
        functools.partial(helper, by=7),
        lambda x: np.sum(x) * (lambda y: y + FACTOR)(2),
    ],
    ids=lambda f: getattr(f, "__name__", "partial"),
)
def test_a_function_defined_again_returns_the_same(function):
    again = sent(function)
    assert np.array_equal(again(X), function(X))
    if inspect.isfunction(again) and function.__module__ == __name__:
        assert inspect.getsource(again), "Triton reads the source of its kernels"


def test_a_function_may_call_itself_but_not_two_each_other():
    assert sent(factorial)(5) == 120
    with pytest.raises(OptionError, match="even calls a function that calls it again"):
        described(even)


def test_what_cannot_be_sent_is_named():
    model = object()
    with pytest.raises(OptionError, match="model, of type object, cannot be sent"):
        described(lambda x: model)
    space: dict = {}
    exec("def typed(x): return x", space)
    with pytest.raises(OptionError, match="the source of typed is not available"):
        described(space["typed"])


def test_functions_of_torch_run_on_tensors_and_one_that_is_missing_is_named():
    torch = pytest.importorskip("torch")
    from pyptx.torch_support.from_host import tensor_of

    x = torch.arange(4, dtype=torch.bfloat16)
    functions = {"relu": described(torch.nn.functional.relu), "add": described(lambda x: x.to(torch.float32) + 1)}
    functions["name"] = described(NamedFunction("torch.abs"))
    calls = FunctionCalls(functions, sendable([x]), "cpu")
    (found,) = calls.outputs("add")["outputs"]
    assert found.tolist() == [1, 2, 3, 4] and found.dtype == np.float32
    assert calls.outputs("name")["outputs"][0].dtype.name == "bfloat16" and "outputs" in calls.outputs("relu")
    kept = named_dtype("bfloat16").type(3) * np.ones(2, named_dtype("bfloat16"))
    assert tensor_of(kept, "bfloat16", "cpu").tolist() == [3.0, 3.0]
    wrong = FunctionCalls({"f": described(lambda x: x @ torch.ones(3))}, sendable([x]), "cpu").outputs("f")
    assert wrong["problem"].startswith("RuntimeError")
    with pytest.raises(BackendError, match="the package nosuch is not installed(.|\n)*hint: .*pip install nosuch"):
        loaded(described(NamedFunction("nosuch.matmul")))
