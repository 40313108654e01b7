"""Variables of a loaded program: read and set between launches, shared by its entries."""

from __future__ import annotations

import numpy as np
import pytest
from support.fake_cuda import FakeDriver

import pyptx
from pyptx.errors import ArgumentTypeError, ArgumentValueError, DeviceError, UnknownNameError
from pyptx.runtime import cuda

TEXT = """\
.version 8.5
.target sm_90a
.address_size 64
.visible .global .align 4 .u32 counter = 5;
.const .align 4 .f32 weights[4] = {1.0, 2.0, 3.0, 4.0};
.visible .global .align 8 .u64 place = counter;
.visible .global .align 8 .v2 .s16 pairs[2][3];
.global .align 2 .b8 text[] = {104, 105};
.global .align 2 .f16x2 halves;
.visible .entry count() {
    .reg .b32 %r;
    atom.global.add.u32 %r, [counter], 1;
    ret;
}
.visible .entry scale(.param .u64 out) {
    .reg .b64 %o, %p;
    .reg .b32 %r;
    .reg .f32 %f;
    ld.param.u64 %o, [out];
    ld.const.f32 %f, [weights+8];
    st.global.f32 [%o], %f;
    ld.global.u64 %p, [place];
    ld.u32 %r, [%p];
    st.global.u32 [%o+4], %r;
    ret;
}
"""


@pytest.fixture
def program() -> pyptx.Program:
    return pyptx.load(TEXT)


def scaled(program: pyptx.Program, **settings) -> tuple[float, int]:
    out = np.zeros(2, np.float32)
    program["scale"].launch(1, 1, out, backend="sim", **settings)
    return float(out[0]), int(out.view(np.uint32)[1])


def test_initial_values_have_the_type_and_shape_of_the_declaration(program):
    assert int(program["counter"]) == 5 and program["counter"].shape == () and program["counter"].dtype == np.uint32
    np.testing.assert_array_equal(program["weights"], np.array([1, 2, 3, 4], np.float32))
    assert program["pairs"].shape == (2, 3, 2) and program["pairs"].dtype == np.int16
    assert bytes(program["text"].get()) == b"hi" and program["halves"].shape == (2,)
    assert list(program.variables) == ["counter", "weights", "place", "pairs", "text", "halves"]


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_entries_share_variables_that_are_set_before_and_kept_between_launches(program, engine):
    program["counter"] = 40
    program["weights"][2:] = [7.5, 8]
    assert scaled(program, engine=engine) == (7.5, 40)
    program["count"].launch(1, 32, backend="sim", engine=engine)
    program["count"].launch(1, 32, backend="sim", engine=engine)
    assert int(program["counter"]) == 104 and scaled(program, engine=engine) == (7.5, 104)
    program["weights"] = 0.25
    assert scaled(program, engine=engine) == (0.25, 104)
    assert int(pyptx.load(TEXT)["counter"]) == 5


def test_a_check_leaves_the_variables_as_they_are(program):
    assert program["count"].check(1, 32).ok
    assert int(program["counter"]) == 5


def test_unknown_names_and_values_that_do_not_fit_are_refused(program):
    with pytest.raises(
        UnknownNameError, match=r"no entry or variable 'c'; its entries are count, scale, its variables are"
    ):
        program["c"]
    with pytest.raises(UnknownNameError, match="has no variable 'count'; it has counter, weights"):
        program["count"] = 3
    with pytest.raises(ArgumentValueError, match=r"weights is float32\[4\]"):
        program["weights"] = [1, 2, 3]
    with pytest.raises(ArgumentValueError, match=r"counter is uint32\[\]"):
        program["counter"] = -1
    with pytest.raises(ArgumentTypeError, match=r"weights is float32\[4\]"):
        program["weights"] = [object()] * 4
    with pytest.raises(ArgumentValueError, match=r"no \.entry"):
        pyptx.load(TEXT.partition(".visible .entry")[0])["counter"].get()


def test_variables_of_linked_modules_are_those_of_all_of_them(program):
    other = ".version 8.5\n.target sm_90a\n.address_size 64\n.visible .global .u32 more = 9;\n"
    linked = pyptx.load([TEXT, other])
    assert int(linked["more"]) == 9 and scaled(linked) == (3.0, 5)


def test_on_a_gpu_the_entries_share_one_library_whose_variables_are_copied(program, monkeypatch):
    fake = FakeDriver()
    fake.variables = {"counter": 4, "weights": 16}
    monkeypatch.setattr(cuda, "BACKEND", cuda.CudaBackend(fake))
    with pyptx.use("cuda"):
        program["counter"] = 77
        assert int(program["counter"]) == 77
        program["count"].launch(1, 32)
        program["weights"][1] = 6
        assert program["weights"][1] == 6
        with pytest.raises(DeviceError, match=r"finding the variable text, which must be \.visible"):
            program["text"].get()
    assert fake.names().count("cuLibraryLoadData") == 1 and fake.names().count("cuCtxSynchronize") >= 4
