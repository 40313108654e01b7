"""Images linked at run time."""

from __future__ import annotations

import pytest

from pyptx.cuda_device.images import link_images
from pyptx.errors import DeviceError
from pyptx.parser import parse

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
CALLER = (
    HEAD
    + ".extern .func (.param .b32 r) twice (.param .b32 x);\n.visible .entry k() {\n.reg .b32 %r<3>;\n"
    + (
        "{\n.param .b32 x;\n.param .b32 r;\nst.param.b32 [x], %r1;\ncall (r), twice, (x);\nld.param.b32 %r2, [r];\n}\nret;\n}\n"
    )
)
CALLEE = HEAD + ".visible .func (.param .b32 r) twice (.param .b32 x) {\nret;\n}\n"
OTHER = HEAD.replace("sm_80", "sm_100a") + ".visible .entry other() { ret; }\n"


def test_a_function_of_another_image_is_found():
    text = link_images([("a", CALLER.encode()), ("b", CALLEE.encode() + b"\0")], "sm_90a")
    assert [f.name for f in parse(text).functions if not f.declaration] == ["k", "twice"]


def test_one_image_stays_as_it_is():
    assert link_images([("a", CALLEE.encode())], "sm_90a") == CALLEE


@pytest.mark.parametrize(
    "images, code, message",
    [
        ([], 209, "nothing is to be linked"),
        ([("a", CALLER.encode()), ("b", HEAD.encode())], 218, "cannot be linked"),
        ([("a", CALLEE.encode()), ("b", CALLEE.encode())], 218, "twice"),
        ([("a", OTHER.encode())], 218, "does not run on a device of sm_90a"),
        ([("a", b"\x7fELF")], 200, "invalid image"),
        ([("a", (HEAD + "nonsense").encode()), ("b", CALLEE.encode())], 218, "nonsense"),
    ],
    ids=["none", "undefined", "twice", "target", "damaged", "syntax"],
)
def test_images_that_cannot_be_linked_are_refused(images, code, message):
    with pytest.raises(DeviceError, match=message) as refused:
        link_images(images, "sm_90a")
    assert refused.value.code == code
