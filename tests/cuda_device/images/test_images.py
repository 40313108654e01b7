"""PTX found in images, compared with what cuobjdump and nvcc's own programs wrote."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyptx.cuda_device.images import ptx_of
from pyptx.cuda_device.images.compression import decompress_lz4
from pyptx.errors import DeviceError, InputError
from pyptx.parser import parse
from pyptx.toolchain import assemble
from pyptx.toolchain.locate import find

MODES = ("none", "speed", "balance", "size")


def kernel(target: str, name: str = "k") -> str:
    return (
        f".version 8.8\n.target {target}\n.address_size 64\n"
        f".visible .entry {name}(.param .u64 p)\n{{\n\t.reg .b64 %a;\n\t.reg .b32 %r;\n\tld.param.u64 %a, [p];\n"
        + "\tmov.u32 %r, %tid.x;\n\tst.global.u32 [%a], %r;\n" * 40
        + "\tret;\n}\n"
    )


@pytest.fixture(scope="module")
def fat_binary(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., bytes]:
    """Return a function that packs (kind, architecture, contents) as nvcc does."""
    folder = tmp_path_factory.mktemp("fat")
    tool = find("ptxas").with_name("fatbinary")
    cache: dict[object, bytes] = {}

    def pack(*images: tuple[str, str, bytes], options: tuple[str, ...] = ()) -> bytes:
        if (images, options) not in cache:
            specifications = []
            for number, (kind, arch, data) in enumerate(images):
                (folder / str(number)).write_bytes(data)
                specifications.append(f"--image3=kind={kind},sm={arch},file={folder / str(number)}")
            made = folder / "made"
            subprocess.run([tool, "--64", f"--create={made}", *options, *specifications], check=True, timeout=30)
            cache[images, options] = made.read_bytes()
        return cache[images, options]

    return pack


@pytest.fixture(scope="module")
def cubin() -> bytes:
    return assemble(kernel("sm_90a", "machine"), target="sm_90a").data


def words(text: str) -> list[str]:
    """The words of a text: fatbinary removes comments and most blanks."""
    return text.split()


def without_text(cubin: bytes) -> bytes:
    return cubin.replace(b".nv_debug_ptx_txt", b".xx_debug_ptx_txt")


THREE = (
    ("ptx", "80", kernel("sm_80").encode()),
    ("ptx", "90a", kernel("sm_90a").encode()),
    ("ptx", "100f", kernel("sm_100f").encode()),
)


@pytest.mark.parametrize("options", [*((f"--compress-mode={m}",) for m in MODES), ("--concat",)], ids=" ".join)
@pytest.mark.parametrize(
    "device, chosen",
    [
        ("sm_80", "sm_80"),
        ("sm_89", "sm_80"),
        ("sm_90a", "sm_90a"),
        ("sm_100a", "sm_100f"),
        ("sm_103a", "sm_100f"),
        ("sm_120a", "sm_80"),
    ],
)
def test_the_highest_target_that_runs_is_chosen(fat_binary, options, device, chosen):
    assert words(ptx_of(fat_binary(*THREE, options=options), device)) == words(kernel(chosen))


@pytest.mark.parametrize("mode", MODES)
def test_cuobjdump_reads_the_same_text(fat_binary, tmp_path: Path, mode):
    image = fat_binary(*THREE, options=(f"--compress-mode={mode}",))
    (tmp_path / "a.fatbin").write_bytes(image)
    subprocess.run([find("cuobjdump"), "-xptx", "all", "a.fatbin"], cwd=tmp_path, check=True, timeout=30)
    read = {path.suffixes[-2].strip("."): path.read_text() for path in tmp_path.glob("*.ptx")}
    assert {name: ptx_of(image, name.replace("f", "a")) for name in read} == read


@pytest.mark.parametrize("end", [b"", b"\0", b"\0garbage"])
def test_text_ends_at_a_zero(end):
    text = "\n// a comment /* \n/* another */ " + kernel("sm_80")
    assert ptx_of(text.encode() + end, "sm_90a") == text


def test_a_cubin_holds_the_text_that_it_was_assembled_from(cubin):
    assert [f.name for f in parse(ptx_of(cubin, "sm_90a")).functions] == ["machine"]


@pytest.mark.parametrize("options", [("--compress-all", "--compress-mode=size"), ()], ids=" ".join)
def test_a_cubin_for_the_device_precedes_older_text(fat_binary, cubin, options):
    image = fat_binary(("elf", "90a", cubin), THREE[0], options=options)
    assert ".entry machine" in ptx_of(image, "sm_90a")
    assert words(ptx_of(image, "sm_89")) == words(kernel("sm_80"))


def test_machine_code_alone_is_refused_by_name(fat_binary, cubin):
    image = fat_binary(("elf", "90a", without_text(cubin)), THREE[2])
    with pytest.raises(DeviceError) as refused:
        ptx_of(image, "sm_90a")
    assert refused.value.code == 209
    assert "PTX for compute_100f and machine code for sm_90a (kernels machine)" in str(refused.value)
    assert "-gencode arch=compute_90a,code=compute_90a" in str(refused.value)


@pytest.mark.parametrize(
    "image, code, message",
    [
        (b"", 200, "starts with nothing"),
        (b"hello", 200, "it starts with 68 65"),
        (b"\xb1\x43\x62\x46" + bytes(20), 200, "holds a pointer"),
        (b"\x7fELF\x02\x01\x01", 200, "complete cubin"),
        (b"\x50\xed\x55\xba\x01\x00\x10\x00" + b"\xff" * 8, 200, "is truncated to 16"),
        (b"\x50\xed\x55\xba\x02\x00\x10\x00" + bytes(8), 200, "of version 2"),
        (b"\x50\xed\x55\xba\x01\x00\x10\x00" + bytes(8), 209, "the image has no code"),
        (kernel("sm_100a").encode(), 218, "does not run on a device of sm_90a"),
    ],
)
def test_other_images_are_refused(image, code, message):
    with pytest.raises(DeviceError, match=message) as refused:
        ptx_of(image, "sm_90a")
    assert refused.value.code == code


@settings(max_examples=150, deadline=2000)
@given(
    st.sampled_from(["none", "speed", "size", "concat", "cubin"]),
    st.lists(st.tuples(st.integers(0, 5000), st.binary(min_size=1, max_size=9)), max_size=3),
    st.integers(0, 5000),
)
def test_damaged_images_are_refused_or_read(fat_binary, cubin, mode, changes, cut):
    match mode:
        case "cubin":
            image = bytearray(cubin)
        case "concat":
            image = bytearray(fat_binary(*THREE, ("elf", "90a", cubin), options=("--concat",)))
        case _:
            options = (f"--compress-mode={mode}", "--compress-all")
            image = bytearray(fat_binary(*THREE, ("elf", "90a", cubin), options=options))
    for at, data in changes:
        at %= len(image)
        image[at : at + len(data)] = data
    try:
        ptx_of(bytes(image[: len(image) - cut % len(image)]), "sm_90a")
    except DeviceError as refused:
        assert refused.code in (200, 209, 218)


@given(st.binary(max_size=60), st.integers(0, 3000))
def test_any_bytes_are_an_lz4_block_of_the_size_or_refused(data, size):
    try:
        assert len(decompress_lz4(data, size)) == size
    except InputError:
        pass
