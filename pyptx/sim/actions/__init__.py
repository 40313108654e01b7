"""What an instruction does, decoded: the closed set of things both engines know how to do."""
