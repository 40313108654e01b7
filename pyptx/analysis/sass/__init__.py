"""Analysis of machine code: opcodes, registers, control flow, dependences, issue cycles."""
