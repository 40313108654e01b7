"""The parser has no list of opcodes, yet parses an example of every form of the ISA table."""

from oracle.examples import examples

from pyptx import isa
from pyptx.emitter import instruction_text
from pyptx.ir.nodes import Instruction
from pyptx.parser import statements


def test_an_example_of_every_form_is_one_instruction_with_its_mnemonic():
    for op in isa.OPS.values():
        for form in op.forms:
            for example in examples(form):
                (node,) = statements(example.text)
                assert isinstance(node, Instruction) and node.opcode == op.opcode, example.text
                assert node.mnemonic == example.text.split()[0].rstrip(";"), example.text
                assert statements(instruction_text(node)) == (node,)
