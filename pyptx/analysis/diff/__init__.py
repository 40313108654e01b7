"""What two pieces of code have in common: texts by their lines, machine code by what it does."""
