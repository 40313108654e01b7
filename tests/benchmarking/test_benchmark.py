"""Benchmarks: the race on a substitute driver with a clock of its own, modeled times, outputs, and all forms of the result."""

from __future__ import annotations

import itertools
import json
import random
from contextlib import contextmanager, nullcontext
from html.parser import HTMLParser

import numpy as np
import pytest
from tune.fake_gpu import FakeGpu

import pyptx
from pyptx import Tile, kernel, ptx
from pyptx.benchmarking.candidates import Candidate, candidates_of
from pyptx.benchmarking.function_calls import FunctionCalls
from pyptx.benchmarking.measured import CallTimer, race, summary
from pyptx.errors import OperandError, OptionError, UnknownNameError
from pyptx.runtime.cuda import CudaBackend
from pyptx.runtime.cuda.driver import Driver
from pyptx.tune.device import DeviceTimer
from pyptx.tune.race import RaceSettings
from pyptx.tune.statistics import signed_rank_test
from pyptx.types import f32

X = np.arange(256, dtype=np.float32)


@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 128, block=128)
def double(x, y):
    i = ptx.global_id()
    y[i] = x[i] + x[i]


@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 128, block=128)
def triple(x, y):
    i = ptx.global_id()
    y[i] = x[i] * 3.0


@pytest.mark.parametrize("values", [(3, -1, 2, 2, 5), (1, 2, 3, 4, 5, 6, 7), (-1, 1, 0, 2, -2), (0, 0)])
def test_the_rank_test_agrees_with_counting_all_signs(values):
    """The judge assigns every choice of signs to the ranks."""
    kept = [v for v in values if v]
    sizes = [abs(v) for v in kept]
    ranks = [np.mean([k + 1 for k, other in enumerate(sorted(sizes)) if other == size]) for size in sizes]
    sums = [
        sum(r for r, s in zip(ranks, signs, strict=True) if s) for signs in itertools.product((0, 1), repeat=len(kept))
    ]
    least = min(
        sum(r for r, v in zip(ranks, kept, strict=True) if v > 0),
        sum(r for r, v in zip(ranks, kept, strict=True) if v < 0),
    )
    wanted = min(1.0, 2 * np.mean([one <= least for one in sums])) if kept else 1.0
    assert signed_rank_test(values) == pytest.approx(wanted)


def test_the_rank_test_of_many_differences_continues_the_exact_one(monkeypatch):
    rng = random.Random(1)
    values = [[rng.gauss(shift, 1.0) for _ in range(60)] for shift in (0.0, 0.2, 0.4)]
    exact = [signed_rank_test(one) for one in values]
    monkeypatch.setattr("pyptx.tune.statistics._EXACT", 59)
    assert [signed_rank_test(one) for one in values] == pytest.approx(exact, abs=0.01)


class Calls:
    """Callables that take GPU time of a substitute driver: `seconds` with noise."""

    def __init__(self, noise: float = 0.002, **seconds: float):
        self.gpu, self.order, rng = FakeGpu(256), [], random.Random(0)
        self.driver = Driver(self.gpu)

        def call(name: str, value: float):
            def run() -> None:
                if value < 0:
                    raise ValueError("not supported")
                self.order.append(name)
                taken = value * (1 + noise * rng.random())
                if self.gpu._recording is not None:
                    if name == "eager":
                        raise RuntimeError("it waits for the GPU")
                    self.gpu._recording.append(taken)
                else:
                    self.gpu.clock += taken

            return run

        self.calls = {name: call(name, value) for name, value in seconds.items()}

    def race(self, baseline: str, conditions=dict, capture=None, **settings):
        device = self.driver.device(0)
        with self.driver.on(device):
            timer = CallTimer(self.driver, device, 0, self.calls, conditions, capture)
            given = [Candidate(name, call, call, None, name == baseline) for name, call in self.calls.items()]
            options = RaceSettings(pause_s=0, eliminate=False, **settings)
            return race(timer, given, baseline, options, note=lambda name: timer.notes.get(name, ""))


def test_candidates_run_interleaved_and_cold_and_speedups_have_intervals():
    calls = Calls(ours=1e-4, theirs=1.2e-4, same=1.2e-4)
    rows, log = calls.race("theirs")
    value, low, high = rows["ours"].speedup
    assert low < value < high and 1.19 < low and high < 1.21
    assert rows["ours"].p_value < 0.01 and rows["ours"].kind == "measured"
    value, low, high = rows["same"].speedup
    assert low <= 1 <= high or abs(value - 1) < 2e-3
    assert rows["ours"].seconds.value == pytest.approx(1e-4, rel=0.01)
    assert rows["ours"].rounds == len({entry["round"] for entry in log}) >= 9
    per_round = 5  # three candidates between two runs of the baseline
    first = calls.order[-per_round:]
    assert first[0] == first[-1] == "theirs" and sorted(first[1:-1]) == ["ours", "same", "theirs"]
    assert calls.gpu.flushed >= len(calls.order)


def test_a_candidate_that_fails_says_why_and_the_others_are_timed():
    rows, _ = Calls(ours=1e-4, broken=-1.0, theirs=2e-4).race("theirs")
    assert rows["broken"].problem == "ValueError: not supported" and rows["broken"].seconds is None
    assert rows["ours"].speedup.value == pytest.approx(2.0, rel=0.01)


def test_short_candidates_are_timed_in_graphs_or_say_why_not():
    """The substitute's graphs take the sum of their parts; a run between events takes as long, here."""
    calls = Calls(short=3e-6, eager=4e-6, long=1e-4)
    rows, _ = calls.race("long", capture=lambda keep: nullcontext(7))
    assert rows["short"].seconds.value == pytest.approx(3e-6, rel=0.01) and "in graphs of 20 runs" in rows["short"].note
    assert rows["eager"].seconds.value == pytest.approx(4e-6, rel=0.01) and rows["long"].note == ""
    assert (
        rows["eager"].note.endswith("cannot be captured in a graph: it waits for the GPU") and not calls.gpu.capturing
    )
    rows, _ = Calls(short=3e-6).race("short")
    assert rows["short"].note == "short: the resolution of events is about 0.5 us"


def test_conditions_are_summarized_and_throttled_rounds_repeated():
    states = itertools.chain(
        [{"clock_hz": 1e9, "watts": 500.0, "throttled": True}] * 4, itertools.repeat({"clock_hz": 1.98e9})
    )
    _, log = Calls(ours=1e-4, theirs=2e-4).race("theirs", lambda: next(states))
    found = summary(log)
    assert found["repeated"] == 2 and found["throttled"] == 2
    assert found["clock_hz"] == [1e9, 1.98e9] and found["watts"] == [500.0, 500.0]


def test_without_a_gpu_times_are_those_of_the_model():
    result = pyptx.benchmark([double, triple], X, against={"NumPy": lambda x: x + x}, device="h100")
    assert result.kind == "modeled" and result.gpu == "H100 SXM" and result.baseline == "double"
    assert result["double"].seconds.value == double.estimate(X, device="h100").seconds
    assert result["double"].correct and result["triple"].correct is False
    assert result["triple"].problem.startswith("wrong: 255 of 256 values") and result["triple"].seconds is None
    assert "measure it on a GPU" in result["NumPy"].problem
    assert all("modeled, not measured" in text for text in (result.text(), result.to_markdown(), result.html()))
    assert json.loads(json.dumps(result.to_json()))["rows"][0]["kind"] == "modeled"
    assert result["double"].cubin_hash and result["NumPy"].cubin_hash is None


def test_two_kernels_are_compared_by_the_model():
    result = pyptx.benchmark({"a": double, "b": double}, X, against=double, check=False)
    assert result.baseline == "double" and result["a"].speedup.value == 1.0
    assert "not distinguished by the model" in result["a"].note and "check=False" in result.checked


def test_all_forms_show_names_as_text():
    result = pyptx.benchmark({"a <b> | c": double}, X, check=False)

    texts = []
    parser = HTMLParser()
    parser.handle_data = texts.append
    parser.feed(result.html())
    assert "a <b> | c" in texts
    assert "a <b> \\| c" in result.to_markdown()
    lines = result.to_markdown().splitlines()[2:5]
    assert len({line.replace("\\|", "").count("|") for line in lines}) == 1


def test_candidates_that_cannot_be_timed_are_refused():
    with pytest.raises(OptionError, match="no kernel was given"):
        pyptx.benchmark([], X)
    with pytest.raises(OptionError, match="two candidates are named 'double'"):
        pyptx.benchmark([double, double], X)
    with pytest.raises(OperandError, match="cannot time int"):
        candidates_of(double, 3, (X,), {})
    with pytest.raises(UnknownNameError, match="'cutlass'"):
        candidates_of(double, "cutlass", (X,), {})
    (_, product) = candidates_of(double, "cublas", (np.eye(2), np.eye(2)), {})
    assert product.name == "cuBLAS (matmul)" and (product.call() == np.eye(2)).all()


class Machine:
    """Another machine, whose GPU is a substitute driver in this process."""

    name, measures, generation = "ssh://far", True, 0

    def __init__(self, simulated: bool = False):
        self.simulated, self.gpu, self.timer = simulated, FakeGpu(256, seconds=3e-4), None

    def device(self):
        return {"backend": "cuda", "name": "NVIDIA H100", "driver": "13.0", "simulated": self.simulated}

    @contextmanager
    def children(self, count, *, measuring):
        yield [self]

    def prepare(self, *setups):
        self.timer = self.timer or DeviceTimer(0, backend=CudaBackend(self.gpu))
        for kind, *arguments in setups:
            if kind == "arrays":
                self.timer.arrays(*arguments)
            elif kind == "functions":
                self.calls = FunctionCalls(*arguments, "cpu").calls()

    def ask(self, what, name, *arguments, limit_s):
        if what == "function_note":
            return ""
        if what == "function_times":
            assert np.array_equal(self.calls[name](), 2 * X)
            return [6e-4] * arguments[0]
        assert what == "on_gpu"
        return getattr(self.timer, name)(*arguments)


def test_kernels_are_measured_on_the_machine_that_is_selected(monkeypatch):
    machine = Machine()
    monkeypatch.setattr("pyptx.benchmarking.runner.selected_machine", lambda: machine)
    machine.gpu.sizes |= {"triple": [8, 8]}
    result = pyptx.benchmark([double, triple], X, against={"NumPy": lambda x: x + x}, check=False, record=False)
    assert result.kind == "measured" and result.method.endswith("on ssh://far") and result.baseline == "NumPy"
    assert result["double"].seconds.value == pytest.approx(3e-4) and result["double"].rounds >= 9
    assert result["triple"].speedup.value == pytest.approx(2.0) and result["NumPy"].seconds.value == pytest.approx(6e-4)
    machine.simulated = True
    assert pyptx.benchmark(double, X, check=False, record=False).kind == "modeled"
