"""How long a launch will take, predicted from its machine code and its work: a model, never a measurement."""
