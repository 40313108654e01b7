"""Speed of the simulator beside NumPy:  python tests/benchmarks/sim_speed.py [rounds]

Kernels of the examples over real arrays: rms_norm and softmax of 512 x 1024 f32, the sum of two vectors of 10 M f32, sgemm
256^3 f32. Each round runs every
candidate once, in a new random order, so that drift hits all alike; times are medians over the rounds, and a ratio is
the median of the ratios within a round, with its 95 % interval. Printed apart are

    fresh     the simulator's whole call and NumPy's, both with new output arrays, page faults included
    out=      the same into arrays that exist, NumPy with `out=` at every step
    core      what a call spends in the engine, by the wall clock, of the rounds with out=
    prepare   resolving and encoding the module, warm

The process keeps to one core, so both run on one thread, and times are of its CPU, so that what else the machine does
counts as little as it can.
"""

from __future__ import annotations

import importlib.util
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # read when NumPy is loaded

import numpy as np  # noqa: E402

from pyptx import sim  # noqa: E402
from pyptx.sim.core.encoding.actions import encode  # noqa: E402

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))  # what they share: rows, vectors
WARM_UP = 5  # rounds that are not counted
VECTOR = 10_000_000  # elements


def example(name: str):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def interleaved(
    candidates: dict[str, Callable[[], float | None]], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, np.ndarray]:
    """Seconds of each candidate in each round; a candidate may return a further time, kept as "<name> inside"."""
    times: dict[str, list[float]] = {}
    order = list(candidates)
    shuffle = random.Random(0).shuffle
    for number in range(WARM_UP + rounds):
        shuffle(order)
        for name in order:
            start = clock()
            inside = candidates[name]()
            seconds = clock() - start
            if number >= WARM_UP:
                times.setdefault(name, []).append(seconds)
                if inside is not None:
                    times.setdefault(f"{name} inside", []).append(inside)
    return {name: np.array(values) for name, values in times.items()}


def ratio_text(ours: np.ndarray, theirs: np.ndarray) -> str:
    """The median ratio of paired times and the interval that holds it with 95 % (order statistics)."""
    ratios = np.sort(ours / theirs)
    n, half = len(ratios), 0.98 * len(ratios) ** 0.5
    low, high = ratios[max(0, int(n / 2 - half))], ratios[min(n - 1, int(np.ceil(n / 2 + half)))]
    return f"{np.median(ratios):6.1f} ({low:.1f}..{high:.1f})"


def prepare(module, rounds: int) -> tuple[float, int]:
    """Median milliseconds to resolve and encode a module, and its instructions."""
    count = len(sim.load(module).instructions)
    seconds = interleaved({"prepare": lambda: encode(sim.load(module)) and None}, rounds, time.thread_time)["prepare"]
    return 1e3 * float(np.median(seconds)), count


def report(name: str, kernel, module, fresh, into, arrays: tuple, rounds: int) -> None:
    """Measure a kernel beside NumPy: `fresh(*arrays)` makes its result, `into()` writes one that exists."""
    out = np.empty_like(kernel(*arrays))

    def simulated_fresh() -> float:
        kernel(*arrays)
        return kernel.last_run.seconds

    def simulated_into() -> float:
        kernel(*arrays, out=out)
        return kernel.last_run.seconds

    def plain_fresh() -> None:
        fresh(*arrays)

    def plain_into() -> None:
        into()

    times = interleaved(
        {"sim": simulated_fresh, "numpy": plain_fresh, "sim out=": simulated_into, "numpy out=": plain_into},
        rounds,
        time.thread_time,
    )
    issued = kernel.last_run.counters.warp_instructions
    print(f"{name}: {issued} warp-instructions, medians of {rounds} interleaved rounds")
    rows = (
        ("fresh", times["sim"], times["numpy"]),
        ("out=", times["sim out="], times["numpy out="]),
        ("core", times["sim out= inside"], None),
    )
    for label, ours, theirs in rows:
        rate = issued / np.median(ours) / 1e6
        beside = (
            "" if theirs is None else (f"   numpy {1e3 * np.median(theirs):6.3f} ms   ratio {ratio_text(ours, theirs)}")
        )
        print(f"  {label:6} sim {1e3 * np.median(ours):7.3f} ms ({rate:5.1f} M warp-instructions/s){beside}")
    milliseconds, instructions = prepare(module, rounds)
    each = 1e3 * milliseconds / instructions
    print(f"  prepare {milliseconds:.2f} ms for {instructions} instructions, {each:.1f} us each")


def rms_norm_into(x: np.ndarray, weight: np.ndarray) -> Callable[[], None]:
    """examples/rms_norm.py's reference, every step into an array that exists."""
    squares, y = np.empty_like(x), np.empty_like(x)
    scale = np.empty((x.shape[0], 1), np.float32)

    def run() -> None:
        np.multiply(x, x, out=squares)
        np.mean(squares, axis=1, keepdims=True, out=scale)
        np.add(scale, np.float32(1e-6), out=scale)
        np.sqrt(scale, out=scale)
        np.divide(x, scale, out=y)
        np.multiply(y, weight, out=y)

    run.result = y
    return run


def softmax_into(x: np.ndarray) -> Callable[[], None]:
    """Softmax of rows, every step into an array that exists."""
    y, most = np.empty_like(x), np.empty((x.shape[0], 1), x.dtype)

    def run() -> None:
        np.max(x, axis=1, keepdims=True, out=most)
        np.subtract(x, most, out=y)
        np.exp(y, out=y)
        np.sum(y, axis=1, keepdims=True, out=most)
        np.divide(y, most, out=y)

    run.result = y
    return run


def softmax_fresh(x: np.ndarray) -> np.ndarray:
    y = np.exp(x - x.max(axis=1, keepdims=True))
    return y / y.sum(axis=1, keepdims=True)


def main(rounds: int) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rng = np.random.default_rng(0)
    rms, sgemm, softmax, vectors = example("rms_norm"), example("sgemm"), example("softmax"), example("vector_add")
    x, weight = rng.standard_normal((512, 1024)).astype(np.float32), rng.standard_normal(1024).astype(np.float32)
    a, b = (rng.standard_normal((256, 256)).astype(np.float32) for _ in range(2))
    normalized, product = rms_norm_into(x, weight), np.empty((256, 256), np.float32)
    normalized()
    np.testing.assert_allclose(normalized.result, rms.reference(x, weight), rtol=1e-5)
    report("rms_norm", rms.rms_norm, rms.rms_norm.module(M=512, N=1024), rms.reference, normalized, (x, weight), rounds)
    exponentials = softmax_into(x)
    exponentials()
    np.testing.assert_allclose(softmax.softmax(x), exponentials.result, rtol=1e-5)
    report("softmax", softmax.softmax, softmax.softmax.module(M=512, N=1024), softmax_fresh, exponentials, (x,), rounds)
    one, other = (rng.standard_normal(VECTOR).astype(np.float32) for _ in range(2))
    total = np.empty_like(one)
    report(
        "vector_add",
        vectors.vector_add,
        vectors.vector_add.module(N=VECTOR),
        np.add,
        lambda: np.add(one, other, out=total),
        (one, other),
        rounds,
    )
    report(
        "sgemm",
        sgemm.sgemm,
        sgemm.sgemm.module(M=256, N=256, K=256),
        np.matmul,
        lambda: np.matmul(a, b, out=product),
        (a, b),
        rounds,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 51)
