"""Debug sessions: movements and inspection, on a warp-specialized Hopper GEMM."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from examples.hopper import gemm
from pyptx.debug import DebugError, Session
from tests.debug import kernels

SIZES = {"BM": 128, "BN": 64, "BK": 64, "STAGES": 2}


def line_of(text: str) -> int:
    """The line of the example that holds a text."""
    source = open(gemm.__file__, encoding="utf-8").read().split("\n")
    return next(number for number, line in enumerate(source, 1) if text in line)


WAIT = line_of("ptx.wgmma.wait_group(1)")


@pytest.fixture(scope="module")
def arrays():
    random = np.random.default_rng(0)
    return [random.standard_normal(shape).astype(np.float16) for shape in ((150, 264), (264, 72))]


@pytest.fixture
def session(arrays) -> Session:
    with gemm.gemm_of(gemm.f16, gemm.f32).debug(*arrays, **SIZES) as session:
        yield session


def test_a_session_starts_before_the_first_instruction(session: Session):
    assert (session.stop.reason, session.stop.step, session.stop.cta, session.stop.warp) == ("start", 0, (0, 0, 0), 0)
    assert session.stop.line is not None and session.stop.instruction.startswith("ld.param")


def test_next_goes_from_line_to_line_and_back_again(session: Session):
    stops = [session.next() for _ in range(12)]
    lines = [stop.line for stop in stops]
    assert all(a != b for a, b in pairwise(lines))
    assert {stop.warp for stop in stops} == {0}
    assert session.back_line().line == lines[-2]
    assert session.rewind().step == 0


def test_a_breakpoint_with_a_condition_stops_where_it_holds(session: Session):
    made = session.breakpoints.add(f"gemm.py:{WAIT}", "stage.index == 0 and warp >= 8")
    stop = session.resume()
    assert (stop.reason, stop.breakpoint, stop.line) == ("breakpoint", made.id, WAIT)
    assert stop.warp >= 8 and set(session.evaluate("stage.index")) == {0}
    session.breakpoints.condition(made.id, "parts[0].sums[0] > 1e9")
    assert session.resume().reason == "exit" and made.hits == 1


def test_a_run_with_stops_computes_the_right_product(session: Session, arrays):
    session.breakpoints.add(f"gemm.py:{WAIT}")
    before = [a.copy() for a in arrays]
    while not session.resume().over:
        session.step(3)
    assert session.breakpoints[1].hits > 20
    np.testing.assert_array_equal(session.outputs()["c"], gemm.gemm_of(gemm.f16, gemm.f32)(*arrays, **SIZES))
    assert all(np.array_equal(a, b) for a, b in zip(arrays, before, strict=True))
    with pytest.raises(DebugError, match="the run is over\nhint: `back` and `rewind` go back"):
        session.step()
    assert session.back().step == session.state.last_step - 1


def test_the_document_is_json_with_everything_the_views_draw(session: Session):
    session.breakpoints.add(f"gemm.py:{WAIT}")
    session.resume()
    session.show_fragment("parts[0].sums")
    session.show_memory("ring.memory[1]", type="f16", shape=(128, 64), swizzle="128B")
    session.watch("stage.index + 1")
    document = json.loads(json.dumps(session.document()))
    assert document["place"]["line"] == WAIT and document["stop"]["breakpoint"] == 1
    assert {b["name"] for b in document["barriers"]} >= {
        "ring.full[0]",
        "ring.full[1]",
        "ring.empty[0]",
        "ring.empty[1]",
    }
    assert document["fragments"][0]["shape"] == [64, 64] and len(document["fragments"][0]["values"]) == 64
    assert document["memory"][0]["shape"] == [128, 64] and document["watches"][0]["value"] in ("1", "2")
    named = {r["python"]: r for r in document["registers"] if r["python"]}
    assert named["parts[0].sums[0]"]["type"] == ".f32" and len(named["stage.index"]["lanes"]) == 32
    assert any(row["name"].endswith("TMA") for row in document["timeline"]["rows"])
    assert {w["state"] for w in document["warps"]} >= {"running", "waiting", "exited"}


def test_fragments_and_tiles_show_the_matrices(session: Session, arrays):
    a, b = arrays
    session.breakpoints.add("op:wgmma.wait_group", warp=4)
    session.resume()
    session.show_memory("ring.memory[0]", type="f16", shape=(128, 64), swizzle="128B")
    tile = session.displays.items[0].read(session.launch)
    np.testing.assert_array_equal(tile.values, a[:64, :64])
    session.show_fragment("parts[0].sums")
    sums = session.displays.items[1].read(session.launch)
    done = 128  # two stages of K, as nothing waits in the eager schedule
    expected = a[:64, :done].astype(np.float32) @ b[:done, :64].astype(np.float32)
    np.testing.assert_allclose(sums.values[:16], expected[:16], atol=1e-4)
    assert sums.owner[17][3].tolist() == [5, 5, 1]  # row 17 is row 1 of the second warp


def test_an_invalid_request_is_explained(session: Session):
    for move, message in (
        (lambda: session.breakpoints.add("gemm.py:9999"), "no instruction was emitted by this line"),
        (lambda: session.breakpoints.add("other.py:1"), "files of this kernel: .*gemm.py"),
        (lambda: session.breakpoints.add("$nowhere"), "expected a Python line"),
        (lambda: session.breakpoints.add("op:mma"), "in this kernel; it has"),
        (lambda: session.breakpoints.add("12", "stage =="), "is not a Python expression"),
        (lambda: session.look_at(warp=99), "a CTA has warps 0 to 11"),
        (lambda: session.evaluate("nothing_like_it"), "is not defined here; names here:"),
        (lambda: session.show_fragment("tid"), "is not an operand of a matrix instruction"),
        (lambda: session.show_tmem(), "no tensor memory is allocated"),
    ):
        with pytest.raises(DebugError, match=message):
            move()


def test_a_warp_can_be_inspected_at_its_end(session: Session):
    session.breakpoints.add(f"gemm.py:{WAIT}", warp=5)
    session.resume()
    session.breakpoints.clear()
    stop = session.finish()
    assert (stop.warp, stop.instruction) == (5, "the end of the kernel")
    assert session.document()["place"]["ptx"] is None and len(session.evaluate("parts[0].sums")) == 32
    assert session.step().warp != 5
    with pytest.raises(DebugError, match="is not running|has exited"):
        session.look_at(cta=0, warp=5)
        session.step()


def test_a_race_stops_the_run():
    x = np.arange(64, dtype=np.float32)
    with kernels.racy.debug(x, sanitize=True) as session:
        stops = [session.resume(), session.resume()]
        assert [stop.reason for stop in stops] == ["finding", "finding"]
        assert stops[0].text.startswith("error[uninitialized-memory]") and "data-race" in stops[1].text
        assert "bar.sync between the two" in stops[1].text and stops[1].warp == 1
        session.back()
        assert session.stop.instruction.startswith("st.shared") and session.resume().step == stops[1].step
        assert session.resume().text != stops[1].text  # the other way round: a read of what warp 0 wrote
        while session.resume().reason == "finding":
            pass
        assert session.stop.reason == "exit"


def test_a_clean_kernel_has_no_findings(arrays):
    with gemm.gemm_of(gemm.f16, gemm.f32).debug(*arrays, **SIZES, sanitize=True, schedule="late") as session:
        stop = session.resume()
        assert stop.reason == "exit" and "\n" not in stop.text


def test_python_names_of_a_nondeterministic_function_are_unknown():
    with kernels.fickle.debug(np.zeros(32, np.uint32)) as session:
        assert session.launch.names.problem
        with pytest.raises(DebugError, match="does it depend on state that changes"):
            session.evaluate("number")
        assert session.evaluate("%r0")[0] == 0 and session.document()["registers"]


def test_mbarriers_have_their_python_names():
    with kernels.stuck.debug(np.zeros(128, np.float32)) as session:
        stop = session.resume()
        assert stop.reason == "deadlock" and "bar was initialized with 2 arrivals; 1 arrived" in stop.text
        assert session.document()["barriers"][0]["name"] == "bar"
        assert session.evaluate("full").address == session.evaluate("bar").address == 0x400
        assert session.launch.names.owners["%r0"] == "full.base"


@pytest.mark.parametrize(("text", "stops"), [("place = (reg", 1), ("add(total, place", 3)])
def test_a_line_in_a_python_loop_is_a_stop_in_each_iteration(text: str, stops: int):
    lines = Path(kernels.__file__).read_text(encoding="utf-8").split("\n")
    with kernels.unrolled.debug(np.zeros(32, np.uint32)) as session:
        made = session.breakpoints.add(f"kernels.py:{next(n for n, line in enumerate(lines, 1) if text in line)}")
        while not session.resume().over:
            assert text in lines[session.stop.line - 1]
        assert made.hits == stops
