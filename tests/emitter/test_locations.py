"""`.loc` directives: ptxas accepts them, they name Python lines, and the machine code stays the same."""

from pyptx import kernel, ptx, reg
from pyptx.types import f32, u32


def doubled(x):
    ptx.inst.add.f32(x, x, x)


@kernel(arch="sm_80", raw_params=[("u64", "out")])
def twice():
    x = reg.scalar(f32)
    address = ptx.param(reg_type(), "out")
    ptx.inst.ld.global_.f32(x, ptx.addr(address))
    doubled(x)
    ptx.inst.st.global_.f32(ptx.addr(address), x)


def reg_type():
    from pyptx.types import u64

    return u64


def test_loc_directives_do_not_change_the_machine_code():
    plain, located = twice.compile(), twice.compile(lineinfo=True)
    assert [line.text for line in located.sass] == [line.text for line in plain.sass]


def test_every_instruction_line_keeps_its_location():
    plain, located = twice.compile(), twice.compile(lineinfo=True)
    code = [
        (text, place)
        for text, place in zip(located.ptx.splitlines(), located.places, strict=True)
        if not text.strip().startswith((".loc", ".file", ".section", ".b8", "$L__", "{", "}"))
    ]
    kept = [
        (text, place)
        for text, place in zip(plain.ptx.splitlines(), plain.places, strict=True)
        if not text.strip().startswith(("{", "}"))
    ]
    assert code == kept


def test_a_helper_function_is_inlined_at_its_call():
    text = twice.compile(lineinfo=True).ptx
    helper, call = doubled.__code__.co_firstlineno + 1, twice._fn.__code__.co_firstlineno + 5
    assert f'.file 1 "{__file__}"' in text
    call_then_helper = f".loc 1 {call} 5\n\t.loc 1 {helper} 5, function_name $L__info_string0, inlined_at 1 {call} 5"
    assert call_then_helper + "\n\tadd.f32" in text


def test_file_and_loc_directives_of_the_kernel_are_kept():
    @kernel(arch="sm_90a")
    def own():
        ptx.file_(3, "mine.cu")
        a = reg.scalar(u32, 1)
        ptx.loc(3, 40, 2)
        a += 1
        ptx.ret()

    compiled = own.compile(lineinfo=True)
    assert '.file 3 "mine.cu"' in compiled.ptx and f'.file 4 "{__file__}"' in compiled.ptx
    locations = [line.split()[1] for line in compiled.ptx.splitlines() if line.strip().startswith(".loc")]
    assert locations == ["4", "3"]
